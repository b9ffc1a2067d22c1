"""What orca writes to the terminal beside the screen: the window's title, a bell or a notice. Nothing in it is foreign.

Every text passes `memory.text.label` first, so no byte of it can end the sequence that it is in.
"""

import shutil
import subprocess  # nosec B404 - a fixed program, with arguments, without a shell
import sys
from collections.abc import Mapping
from typing import Literal

from memory.config import NotificationKind
from memory.text import label

SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""The terminal keeps the window's title on a stack of its own."""
BELL = "\a"
TITLE_CELLS, TEXT_CELLS = 60, 120
DESKTOP_SECONDS = 5.0
OSC9 = ("iTerm.app", "WezTerm", "ghostty", "kitty")
"""`TERM_PROGRAM`s that show what OSC 9 says."""

Way = Literal["bell", "osc9", "osc777", "desktop", "off"]


def window_title(title: str) -> str:
    """Sets the window's title to `orca — title`."""
    shown = label(title, TITLE_CELLS)
    return f"\x1b]2;{f'orca — {shown}' if shown else 'orca'}\x1b\\"


def has_titles(env: Mapping[str, str]) -> bool:
    """Whether the terminal has a window with a title."""
    return env.get("TERM", "") not in ("", "dumb", "unknown", "linux")


def way(kind: NotificationKind, env: Mapping[str, str]) -> Way:
    """How a notice is given in this terminal. Inside tmux and screen only the bell gets through."""
    if kind in ("bell", "desktop", "off"):
        return kind
    term, program = env.get("TERM", ""), env.get("TERM_PROGRAM", "")
    if kind == "auto" and (env.get("TMUX") or env.get("STY")):
        return "bell"
    if term.startswith(("foot", "rxvt")):
        return "osc777"
    if kind == "osc9" or program in OSC9 or "kitty" in term or "ghostty" in term:
        return "osc9"
    return "bell"


def notice(chosen: Way, text: str) -> str:
    """What to write for a notice; empty when nothing is."""
    shown = label(text, TEXT_CELLS).replace(";", ",")
    match chosen:
        case "bell":
            return BELL
        case "osc9":
            return f"\x1b]9;{shown}\x1b\\"
        case "osc777":
            return f"\x1b]777;notify;orca;{shown}\x1b\\"
        case _:
            return ""


def desktop_command(text: str) -> list[str] | None:
    """The program that shows a notice on the desktop, with its arguments; `None` when there is none."""
    shown = label(text, TEXT_CELLS)
    if sys.platform == "darwin":
        script = 'on run argv\ndisplay notification (item 1 of argv) with title "orca"\nend run'
        return ["osascript", "-e", script, "--", shown]
    found = shutil.which("notify-send")
    return [found, "--app-name=orca", "--", "orca", shown] if found else None


def tell_desktop(text: str) -> bool:
    """Show a notice on the desktop; blocking. Tells whether it could be shown."""
    command = desktop_command(text)
    if command is None:
        return False
    try:
        done = subprocess.run(command, capture_output=True, timeout=DESKTOP_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
