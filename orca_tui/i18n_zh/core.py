"""What the core says: errors and hints (`memory.errors`)."""

TEXTS: dict[str, str] = {
    "Tool": "工具",
    "MCP server": "MCP 服务器",
    "Import": "导入",
    "Attachment": "附件",
    "Secret": "机密",
    "a key": "密钥",
    "a token": "令牌",
    "a private key": "私钥",
    "a password": "密码",
    "Your message seems to hold {what}. The model was sent it, and it stays in this conversation; it is not "
    "remembered, and not shown to other conversations. To be rid of it: delete this session, and change it where "
    "it is used.": (
        "您的消息里似乎有{what}。它已发送给模型，并保留在此对话中；不会被记住，也不会出现在其他对话里。"
        "若要清除：请删除此会话，并在使用它的地方更换。"
    ),
}
