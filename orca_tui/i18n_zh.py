"""The Chinese interface: English source string → Chinese, by area of the screen."""

TEXTS: dict[str, str] = {
    # Composer
    "Send a message": "发送消息",
}
