"""Into the clipboard: the system's, and where there is none the terminal's, by OSC 52.

Only what the user asked to copy gets here, and only cleaned: a reply cannot reach the clipboard by itself, since
everything that is drawn loses its control characters (`memory.text`, `orca_tui.safe`).
"""

import asyncio
import base64
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal

from memory.text import clean

Way = Literal["system", "terminal"]
LIMIT = 100_000
"""Bytes of base64 beyond which terminals are known to leave an OSC 52 out."""
SECONDS = 3.0
"""How long a clipboard program may take."""


async def put(
    text: str,
    write: Callable[[str], object],
    env: Mapping[str, str],
    *,
    system: Callable[[str], None] | None = None,
) -> Way:
    """Copy `text`; tells which clipboard was asked. `write` writes to the terminal; `system` is for tests.

    Through ssh the system's clipboard is that of another machine, so the terminal is asked first.
    """
    if not (env.get("SSH_CONNECTION") or env.get("SSH_TTY")):
        with suppress(OSError, RuntimeError, TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(system or _system, text), SECONDS)
            return "system"
    write(sequence(text, env))
    return "terminal"


def sequence(text: str, env: Mapping[str, str]) -> str:
    """What asks the terminal to take `text`. Inside of tmux twice: for tmux itself (`set-clipboard on`), and passed
    through to the terminal around it (`allow-passthrough on`); each ignores what it does not do."""
    plain = f"\x1b]52;c;{_encoded(text)}\x07"
    if not env.get("TMUX"):
        return plain
    return plain + "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"


def is_too_long(text: str) -> bool:
    """Whether terminals may leave it out."""
    return len(_encoded(text)) > LIMIT


def safe(text: str) -> str:
    """The text as it may be pasted anywhere: what a terminal would obey is shown instead."""
    return clean(text)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def _system(text: str) -> None:
    import pyperclip  # type: ignore[import-untyped]

    pyperclip.copy(text)
