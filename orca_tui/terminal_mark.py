"""A mark for each terminal that the app is drawn on, so that one it was killed on is set right at the next start."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory.config import Home
from orca_tui.terminal import RESET

DIRECTORY = "terminals"


@contextmanager
def marked(home: Home) -> Iterator[None]:
    """Mark this terminal while the block runs; first reset it when a process was killed on it."""
    mark = _mark(home)
    if mark is None:
        yield
        return
    with suppress(OSError, ValueError):
        if mark.exists() and not _is_running(int(mark.read_text("ascii"))):
            reset()
    with suppress(OSError):
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark.write_text(str(os.getpid()), "ascii")
    try:
        yield
    finally:
        with suppress(OSError):
            mark.unlink()


def reset() -> None:
    """Leave the modes that the app uses, and read lines again, with echo. Raises `OSError` without a terminal."""
    import termios

    screen = _descriptor(sys.__stderr__, 2)
    os.write(screen, RESET.encode())
    keyboard = _descriptor(sys.__stdin__, 0)
    attributes = termios.tcgetattr(keyboard)
    attributes[0] |= termios.ICRNL | termios.IXON | termios.BRKINT
    attributes[1] |= termios.OPOST | termios.ONLCR
    attributes[3] |= termios.ICANON | termios.ECHO | termios.ECHOE | termios.ISIG | termios.IEXTEN
    termios.tcsetattr(keyboard, termios.TCSANOW, attributes)


def _mark(home: Home) -> Path | None:
    """Where the mark of this terminal lies; `None` where terminals have no names."""
    if os.name == "nt":
        return None
    with suppress(OSError):
        return home.root / DIRECTORY / os.ttyname(_descriptor(sys.__stderr__, 2)).strip("/").replace("/", "-")
    return None


def _descriptor(stream: object, fallback: int) -> int:
    number: int = stream.fileno() if stream is not None and hasattr(stream, "fileno") else fallback
    return number


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return process != os.getpid()
