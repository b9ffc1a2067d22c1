"""What the core says of tools, MCP servers and agents."""

SAID: dict[str, str] = {
    'There is no agent "{name}".': "没有智能体“{name}”。",
    'Did you mean "{name}"?': "是不是“{name}”？",
    "There are: {names}.": "可用：{names}。",
    "There are none.": "没有可用的。",
    "None is configured.": "没有配置。",
    "The agent answered nothing.": "智能体没有给出回答。",
    "Call it again, in other words perhaps.": "请换个说法再调用。",
    "This agent is not at work any more.": "这个智能体已不在工作。",
    "Agents may call agents {n} deep, and this is the limit.": "智能体最多嵌套调用 {n} 层，已到上限。",
    "Do the task without calling one.": "请不调用智能体完成任务。",
    "The agent was given no task.": "没有给智能体任务。",
    "Say in the task all that it needs to know.": "请在任务里写明它需要知道的一切。",
    "The task is longer than {n} characters.": "任务超过 {n} 个字符。",
    "Give it a shorter one.": "请写短一些。",
    "The agent could not begin: {error}": "智能体无法开始：{error}",
    # addresses
    "The host {host} has no address.": "主机 {host} 没有地址。",
    "The host {host} was not found.": "找不到主机 {host}。",
    "Look at the address.": "请检查地址。",
    "{host} leads to {address}, which is never asked.": "{host} 指向 {address}，一律不访问。",
    "{host} leads to {address}, which is on this machine or in a private network.": (
        "{host} 指向 {address}，在本机或内网。"
    ),
    "If the user wants that, call it with this address in the place of the name.": (
        "如果用户需要，请把名称换成这个地址再调用。"
    ),
    "{url} redirects to another host: {target}": "{url} 跳转到另一台主机：{target}",
    "Call fetch_url with that address; the user is asked for it.": "请用那个地址调用 fetch_url；会询问用户。",
    "{url} redirects without end.": "{url} 不停跳转。",
    "Only http and https addresses can be fetched.": "只能获取 http 和 https 地址。",
    "Call it with a whole address.": "请用完整的地址调用。",
    "Addresses with a name or a password in them are not fetched.": "不获取含用户名或密码的地址。",
    "{address} is never asked: it may give away keys of this machine.": "{address} 一律不访问：可能泄露本机密钥。",
    "The address holds no text ({kind}, {n} bytes).": "该地址的内容不是文本（{kind}，{n} 字节）。",
    "This is not an address: {text}": "这不是地址：{text}",
    "{url} did not answer within {seconds} seconds.": "{url} 在 {seconds} 秒内没有应答。",
    # arguments
    "The call lacks {names}.": "调用缺少 {names}。",
    "The call has no argument {names}.": "调用没有参数 {names}。",
    "Its arguments: {names}.": "它的参数：{names}。",
    "It takes no arguments.": "它没有参数。",
    "The arguments are too long.": "参数过长。",
    "Call the tool with less.": "请减少参数内容。",
    "The arguments are not an object.": "参数不是对象。",
    "Call again with one JSON object.": "请用一个 JSON 对象重新调用。",
    "The argument {name} {problem}.": "参数 {name} 有误：{problem}。",
    "The arguments are not valid JSON: {words}.": "参数不是有效的 JSON：{words}。",
    # files
    "{path} is no text file.": "{path} 不是文本文件。",
    "{path} has {n} MB; at most {most} MB are read.": "{path} 有 {n} MB，最多读取 {most} MB。",
    "{path} cannot be listed: {why}.": "{path} 无法列出：{why}。",
    "{path} is not in a directory that may be read.": "{path} 不在允许读取的目录里。",
    "Allowed: {names}.": "允许的目录：{names}。",
    "{path} is no directory.": "{path} 不是目录。",
    "Read it with read_file.": "请用 read_file 读取。",
    "Look into it with list_dir.": "请用 list_dir 查看。",
    "{path} is no regular file: devices, pipes and sockets are not read.": (
        "{path} 不是普通文件：不读取设备、管道和套接字。"
    ),
    "{path} cannot be opened: {why}.": "{path} 无法打开：{why}。",
    # permission
    "The user has refused this very call.": "用户已拒绝过这次调用。",
    "Do not ask for it again.": "请不要再次请求。",
    "{tool} needs the user's permission, and nobody can be asked here.": "{tool} 需要用户许可，而这里无法询问。",
    "Go on without it.": "请不用它继续。",
    "The user did not allow {tool}.": "用户不允许 {tool}。",
    "Go on without it, or ask the user.": "请不用它继续，或询问用户。",
    "The user could not be asked: {error}": "无法询问用户：{error}",
    'There is no tool "{name}".': "没有工具“{name}”。",
    "{tool} took longer than {seconds} seconds and was ended.": "{tool} 超过 {seconds} 秒，已结束。",
    "Nothing is remembered of an incognito session.": "无痕会话不会留下记忆。",
    # MCP servers
    "The connection to the MCP server {name} has ended.": "与 MCP 服务器 {name} 的连接已断开。",
    "The MCP server {name} did not start within {seconds} seconds.": "MCP 服务器 {name} 在 {seconds} 秒内没有启动。",
    "It is started anew with the next call.": "下次调用时会重新启动。",
    "The MCP server {name} failed: {words}": "MCP 服务器 {name} 出错：{words}",
    "Look at [mcp.{name}] in config.toml; try it: orca-tui mcp test {name}": (
        "请检查 config.toml 的 [mcp.{name}]；测试命令：orca-tui mcp test {name}"
    ),
    "Look at [mcp.{name}] in config.toml.": "请检查 config.toml 的 [mcp.{name}]。",
    "The MCP client is not installed.": "没有安装 MCP 客户端。",
    'Install it: pip install "orca-tui[mcp]"': '安装命令：pip install "orca-tui[mcp]"',
    "The MCP server {name} is not in use any more.": "MCP 服务器 {name} 已不再使用。",
    "Start orca anew.": "请重新启动 orca。",
    "The MCP server {name} has neither a command nor a url.": "MCP 服务器 {name} 没有设置 command 或 url。",
    "The variable {variable}, which {name} needs, is not set.": "{name} 需要的变量 {variable} 没有设置。",
    "The variable {variable}, which the MCP server needs, is not set.": "MCP 服务器需要的变量 {variable} 没有设置。",
    "Set it, then retry.": "请设置后重试。",
    "It is tried again after {seconds} seconds.": "{seconds} 秒后重试。",
    "The MCP server {name} did not answer within {seconds} seconds and was ended.": (
        "MCP 服务器 {name} 在 {seconds} 秒内没有应答，已结束。"
    ),
    "What you agreed to cannot be kept ({why}).": "无法保存你的同意（{why}）。",
    "Look at {path}.": "请检查 {path}。",
    "The MCP server {name} cannot be started: {command}: {why}.": "MCP 服务器 {name} 无法启动：{command}：{why}。",
    "it is no command": "不是命令",
    "There is no MCP server {name} that is in use.": "没有在用的 MCP 服务器 {name}。",
    "Add one to config.toml: [mcp.NAME] with a command or a url.": (
        "可在 config.toml 中添加 [mcp.名称]，写明 command 或 url。"
    ),
    "The MCP server {name} has changed {tool}.": "MCP 服务器 {name} 更改了 {tool}。",
    "The user is asked about it before it is offered again.": "再次提供之前会询问用户。",
}
