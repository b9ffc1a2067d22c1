"""The list of sessions, search in everything, import and export."""

TEXTS: dict[str, str] = {
    # other windows
    "This session went on in another window": "此会话已在另一个窗口中继续",
    # the list
    "rename": "改名",
    "delete": "删除",
    "export": "导出",
    "Give it another title, in place": "就地改标题",
    "Archive it, or bring it back from the archive": "归档，或从归档中取回",
    "Throw it away (restorable); its memories stay": "删除（可恢复）；由它得来的记忆保留",
    "Bring it back from the trash or the archive": "从回收站或归档中取回",
    "Erase it for good, after a question": "确认后彻底删除",
    "Take back the last archiving or deleting since orca was started": "撤销本次启动以来上一次的归档或删除",
    "Write it to a file": "写入文件",
    "Next list: open, archived, trash": "下一个列表：会话、归档、回收站",
    "List before": "上一个列表",
    "On a session in the list": "会话列表中",
    "Archive this session, or bring it back": "归档此会话，或取回",
    "Throw this session away (restorable)": "删除此会话（可恢复）",
    "Nothing is archived. What you archive is kept here, and is still found by searches.": (
        "没有归档的会话。归档的会话保留在这里，仍能被搜索到。"
    ),
    "The trash is empty. A session that you delete lies here until you erase it for good.": (
        "回收站是空的。删除的会话留在这里，直到你彻底删除。"
    ),
    "There is no session under the cursor": "光标处没有会话",
    "This session is empty; there is nothing to keep or to throw away yet.": "此会话还是空的，没有可归档或删除的内容。",
    "Renamed": "已改名",
    "{key} in the list takes it back": "在列表中按 {key} 撤销",
    "There is nothing to undo in this list": "此列表中没有可撤销的操作",
    "Without the database nothing can be erased for good.": "没有数据库，无法彻底删除。",
    "Erase this session for good? No undo brings it back. Memories that were made from it stay.": (
        "彻底删除此会话？无法撤销。由它得来的记忆保留。"
    ),
    "Erased for good: {text}": "已彻底删除：{text}",
    "Deleted: {text}": "已删除：{text}",
    "Archived: {text}": "已归档：{text}",
    "Back in the list: {text}": "已回到列表：{text}",
    # search
    "kind": "种类",
    "role": "角色",
    "since": "时间",
    "session": "会话",
    "go there": "前往",
    "Search everything": "搜索全部",
    "Searching…": "正在搜索…",
    "{n} of {total}": "第 {n} 条，共 {total} 条",
    "found by words only, not by meaning": "仅按词语查找，未按含义",
    "the newest first": "最新的在前",
    "“{value}” is no time: write 2026-11-01, 2026-11, today, 2h, 3d or 1mo": (
        "“{value}”不是时间：请写 2026-11-01、2026-11、今天、3天 或 2周"
    ),
    "There is no filter “{name}”, it is searched as words; there are {known}": (
        "没有筛选条件“{name}”，已按词语搜索；可用：{known}"
    ),
    "“{value}” is nothing for {name}, it is searched as words; there are {known}": (
        "“{value}”不能用于 {name}，已按词语搜索；可用：{known}"
    ),
    (
        "Type what you are looking for: it is found by its words and by its meaning, in messages, summaries and "
        "memories. Filters: role:user, since:2026-11-01, until:7d, branch:…, kind:memory, session:this, project:…"
    ): (
        "输入要找的内容：在消息、摘要和记忆中按词语和含义查找。筛选：角色:用户、自:2026-11-01、到:7天、分支:…、"
        "类型:记忆、会话:此、项目:…"
    ),
    "These filters leave nothing to look in: only messages have a role, only memories a branch.": (
        "这些筛选条件下没有可查找的内容：只有消息有角色，只有记忆有分支。"
    ),
    "That message is not shown in its session.": "这条消息没有显示在它的会话中。",
    "It is on another fork of this session, which is open now": "它在此会话的另一个分叉上，现已打开",
    # export and import
    "Write this session to a file": "将此会话写入文件",
    "Bring in chats of ChatGPT, Claude, Elia or orca": "导入 ChatGPT、Claude、Elia 或 orca 的对话",
    "This file is there already. Replace it?": "该文件已存在。要替换吗？",
    "Written: {path}": "已写入：{path}",
    "That is no path: {path}": "这不是有效路径：{path}",
    "Import {path}": "导入 {path}",
    "Reading…": "正在读取…",
    "Esc cancels": "Esc 取消",
    "Enter imports · Esc leaves it": "Enter 导入 · Esc 放弃",
    "{talks} conversations, {messages} messages…": "{talks} 个对话，{messages} 条消息…",
    "Esc cancels; what came in stays": "Esc 取消；已导入的保留",
    "Cancelling…": "正在取消…",
    "{source}: {talks} conversations with {messages} messages would come in.": (
        "{source}：将导入 {talks} 个对话，共 {messages} 条消息。"
    ),
    "{source}: {talks} conversations with {messages} messages came in.": (
        "{source}：已导入 {talks} 个对话，共 {messages} 条消息。"
    ),
    "{facts} things that it remembered go to the inbox for review.": "它记住的 {facts} 条内容进入收件箱，等待审核。",
    "{n} were here already.": "{n} 条已经在这里。",
    "{n} were repaired.": "{n} 条经过修复。",
    "Cancelled: what came in stays, and the next import goes on.": "已取消：已导入的保留，下次导入会继续。",
    "{n} records were not taken:": "{n} 条记录未导入：",
    "The file is not changed, and nothing comes in twice.": "文件不会被改动，重复导入也不会出现重复内容。",
}
