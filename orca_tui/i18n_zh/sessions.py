"""The list of sessions, search in everything, import and export."""

TEXTS: dict[str, str] = {}
