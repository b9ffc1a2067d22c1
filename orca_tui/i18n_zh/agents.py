"""Subagents, tools, permissions and the trace panel."""

TEXTS: dict[str, str] = {
    "The turn has taken in text from outside, which may have led the model to this call.": (
        "本轮读入了外部文本，这次调用可能是它引出的。"
    ),
    "It would put this into the inbox of memories; it is remembered only after you accept it there.": (
        "会把这段文字放进记忆收件箱；在那里接受之后才会记住。"
    ),
    "It would read in a directory that the settings allow ([tools] roots).": "会读取设置允许的目录（[tools] roots）。",
    "The address goes to a host on the internet, and what it answers comes into the conversation.": (
        "会访问互联网上的一台主机，它的回答会进入对话。"
    ),
    "The address is on this machine or in a private network. Programs there may act on what they are asked.": (
        "这个地址在本机或内网。那里的程序可能会按请求采取行动。"
    ),
    "An MCP server offers tools that are new. What it says of them goes to the model.": (
        "MCP 服务器提供了新工具。它对工具的说明会发给模型。"
    ),
    "An MCP server has changed what it says of its tools. What it says goes to the model.": (
        "MCP 服务器更改了对工具的说明。这些说明会发给模型。"
    ),
    "The call goes to an MCP server, a program that is not orca's.": "调用会发给 MCP 服务器，它不是 orca 的程序。",
    "Waits until another agent is done.": "等待另一个智能体完成。",
    "The model cannot call tools; the agent works without them.": "该模型不能调用工具；智能体在没有工具的情况下工作。",
    "Orca ended while the agent was at work; what it had written is lost.": (
        "orca 在智能体工作时退出了；它写下的内容已丢失。"
    ),
}
