"""Writes what was said to a file elsewhere, when the store cannot take it."""

import os
from collections.abc import Sequence
from pathlib import Path

from memory.errors import BackupError
from memory.text import repair
from memory.types import Message


def write_rescue(path: Path, shown: Sequence[Message], unsaved: Sequence[Message]) -> int:
    """Write the messages that are `shown`, and the `unsaved` replies, to the new file `path` (0600), as Markdown.

    Gives how many there are. Raises `BackupError` when the file exists or cannot be written; nothing half is left.
    """
    newer = {message.id: message for message in unsaved if message.id}
    messages = [newer.pop(message.id, message) for message in shown]
    messages += [message for message in unsaved if message.id in newer or not message.id]
    text = "\n\n".join(f"## {message.role} · {message.timestamp}\n\n{message.content}" for message in messages)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise _failed(path, error) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(repair(text)[0] + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _failed(path, error) from error
    return len(messages)


def _failed(path: Path, error: OSError) -> BackupError:
    return BackupError(
        f"{path} cannot be written: {error.strerror}.", hint="Name a new file on a disk with room: /rescue PATH"
    )
