"""What the core says: errors and hints (`memory.errors`)."""

TEXTS: dict[str, str] = {
    "Tool": "工具",
    "MCP server": "MCP 服务器",
    "Import": "导入",
    "Attachment": "附件",
}
