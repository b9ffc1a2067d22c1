"""The settings screen and themes."""

TEXTS: dict[str, str] = {}
