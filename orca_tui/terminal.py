"""What is needed when something goes wrong: a log entry, a watchdog for a clean exit that hangs, news of a hang-up."""

import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from memory.config import Home
from memory.text import clean

RESET = (
    "\x1b[?1049l\x1b[23;2t\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l"
    "\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[0m"
)
"""Leaves the alternate screen, shows the cursor, switches mouse, paste and focus reports and the kitty keys off."""


def exit_within(seconds: float, code: int, attributes: list[Any] | None) -> threading.Timer:
    """End the process with `code` after `seconds` whatever hangs; `attributes` are the terminal's from before.

    Cancel the returned timer when the clean way worked.
    """
    timer = threading.Timer(seconds, end_now, (code, attributes))
    timer.daemon = True
    timer.start()
    return timer


def write_log(home: Home, text: str) -> None:
    """Append `text` to the log, readable by its owner only. A log that cannot be written is no reason to fail."""
    with suppress(OSError):
        home.ensure()
        handle = os.open(home.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {clean(text).rstrip()}\n")


def end_now(code: int, attributes: list[Any] | None) -> None:
    """Reset the terminal and end the process with `code`, whatever is still to be done."""
    try:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, RESET.encode())
        if attributes is not None:
            import termios

            termios.tcsetattr(sys.__stdin__.fileno() if sys.__stdin__ else 0, termios.TCSANOW, attributes)
    finally:
        os._exit(code)


def when_gone(terminal: int, tell: Callable[[], None]) -> None:
    """Call `tell`, in a thread of its own, when the terminal behind this file descriptor is closed.

    A process that it does not control gets no SIGHUP then, and would read the end of its input for ever.
    """
    if hasattr(select, "poll"):  # not on Windows
        threading.Thread(target=_wait_for_hang_up, args=(terminal, tell), name="hang-up", daemon=True).start()


def _wait_for_hang_up(terminal: int, tell: Callable[[], None]) -> None:
    poller = select.poll()
    poller.register(terminal, 0)
    if any(event & select.POLLHUP for _descriptor, event in poller.poll()):
        tell()
