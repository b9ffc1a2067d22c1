"""Shows an old session file where it lies: nothing of it is stored."""

from pathlib import Path

from memory.errors import NotFoundError
from memory.text import label
from orca_tui.plain import complain, local_time, plain_print, print_json

SUFFIX = ".jsonl"
"""What a file's name ends in; no id does."""


def show(path: Path, *, as_json: bool) -> None:
    """Print the messages of a file, and say on stderr what could not be read. Raises `NotFoundError`."""
    from memory.migration.own_files import open_file

    try:
        outcomes = list(open_file(path).outcomes())
    except OSError as error:
        raise NotFoundError(f"{label(str(path))} cannot be read: {error.strerror}.") from error
    messages = [outcome.message for outcome in outcomes if outcome.message is not None]
    if as_json:
        names = ("session_id", "role", "content", "timestamp")
        print_json([{name: getattr(message, name) for name in names} for message in messages])
    else:
        for message in messages:
            plain_print(f"{local_time(message.timestamp)}  {message.role}")
            plain_print(f"{message.content}\n")
    for outcome in outcomes:
        if outcome.message is None and not outcome.is_repeat:
            complain(f"Line {outcome.line}: {outcome.reason}.")
