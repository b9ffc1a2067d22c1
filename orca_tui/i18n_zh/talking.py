"""The transcript's cursor and actions, forks, the queue, personas, attachments."""

TEXTS: dict[str, str] = {}
