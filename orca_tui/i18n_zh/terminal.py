"""Notifications, suspend, the browser, backups and what went wrong with files."""

TEXTS: dict[str, str] = {}
