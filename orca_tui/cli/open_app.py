"""`orca-tui` without a command: the app, if there is a terminal to draw on."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memory.config import Home
from memory.settings import load_settings_with_warnings
from memory.text import label
from orca_tui.plain import complain

if TYPE_CHECKING:
    from argparse import Namespace
    from types import SimpleNamespace


ESCAPE_DELAY = "50"
"""Milliseconds after Esc in which a key counts as Alt+key, as curses programs name it; Textual's own are 100."""


WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""What draws for a browser (`orca-tui web`), through pipes."""


def run(arguments: "Namespace | SimpleNamespace", home: Home) -> int:
    """Open the app; 2 with one line on stderr, and not one escape byte, when there is no terminal for it."""
    problem = terminal_problem()
    if problem:
        complain(f"{problem} For scripts and pipes there is: orca-tui ask TEXT")
        return 2
    os.environ.setdefault("ESCDELAY", ESCAPE_DELAY)
    settings, warnings = load_settings_with_warnings(home)
    from orca_tui.app import run as run_app
    from orca_tui.terminal_mark import marked

    with marked(home):
        return run_app(home, settings, warnings=warnings, session_id=arguments.session)


def terminal_problem(env: Mapping[str, str] | None = None) -> str:
    """Why the app cannot be drawn here, as a sentence; empty when it can."""
    env = os.environ if env is None else env
    if env.get("TEXTUAL_DRIVER") == WEB_DRIVER:
        return ""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    if not all(stream is not None and not stream.closed and stream.isatty() for stream in streams):
        return "The app needs a terminal for input and output."
    term = env.get("TERM", "")
    if os.name != "nt" and term in ("", "dumb", "unknown"):
        return f"This terminal cannot draw the app (TERM={label(term, 40) or 'not set'})."
    return ""
