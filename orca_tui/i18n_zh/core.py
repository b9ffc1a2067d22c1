"""What the core says: errors and hints (`memory.errors`)."""

TEXTS: dict[str, str] = {
    "Tool": "工具",
    "MCP server": "MCP 服务器",
    "Import": "导入",
    "Attachment": "附件",
    "A secret was seen": "发现机密信息",
    "The model {name} cannot call tools; it answers without them.": "模型 {name} 不能调用工具，将直接回答。",
    "The persona {name} is not in the settings any more; the session is answered without it.": (
        "设置里已没有人设 {name}，此会话不再使用它。"
    ),
    # backups, and what cannot be saved
    "Backup": "备份",
    "Back up everything now": "立即备份全部数据",
    "Backing up…": "正在备份…",
    "Backed up and verified: {path}": "已备份并校验：{path}",
    "Write this session and what is not saved elsewhere": "把此会话和未保存的内容写到别处",
    "Written to {path}: {n} messages": "已写入 {path}：{n} 条消息",
    "To write them to another disk now: /rescue PATH": "现在就写到另一个磁盘：/rescue 路径",
    "not saved": "未保存",
    "a key": "密钥",
    "a token": "令牌",
    "a private key": "私钥",
    "a password": "密码",
    "Your message seems to hold {what}. The model was sent it, and it stays in this conversation; it is not "
    "remembered, and not shown to other conversations. To be rid of it: delete this session, and change it where "
    "it is used.": (
        "你的消息里似乎有{what}。它已发送给模型，并保留在此对话中；不会被记住，也不会出现在其他对话里。"
        "若要清除：请删除此会话，并在使用它的地方更换。"
    ),
    "sqlite-vec cannot be used here: vectors are compared without it, more slowly. More: /doctor": (
        "这里无法使用 sqlite-vec：改用较慢的方式比较向量。详情：/doctor"
    ),
}
