"""Which keys are shown when: on the last line, and in the greeting of an empty session."""

from memory.types import SessionState
from orca_tui import session_keys
from orca_tui.i18n import _
from orca_tui.keys import Keymap, display

Pairs = list[tuple[str, str]]
"""Key and meaning."""


def resting(keymap: Keymap) -> Pairs:
    """While nothing is being written."""
    return [
        ("Enter", _("send")),
        ("/", _("commands")),
        *_pairs(
            keymap,
            ("sidebar", _("memory")),
            ("help", _("help")),
            ("model", _("model")),
            ("new", _("new")),
            ("quit", _("quit")),
            ("sessions", _("sessions")),
            ("memory", _("search")),
        ),
    ]


def streaming(keymap: Keymap) -> Pairs:
    """While a reply is being written."""
    return _pairs(
        keymap, ("stop", _("stop")), ("sidebar", _("memory")), ("sessions", _("sessions")), ("help", _("help"))
    )


def sessions(keymap: Keymap, view: SessionState) -> Pairs:
    """While the list of sessions has the keys."""
    deeds = {
        "open": ("rename", "archive", "trash", "export"),
        "archived": ("restore", "rename", "trash", "export"),
        "trashed": ("restore", "erase"),
    }[view]
    found = session_keys.pairs((*deeds, "undo", "next"), keymap.others)
    return [("Enter", _("open")), ("/", _("filter")), *((key, _(word)) for key, word in found)]


def greeting(keymap: Keymap) -> Pairs:
    """To begin with."""
    return [
        ("/", _("commands")),
        *_pairs(
            keymap,
            ("model", _("choose who answers")),
            ("sidebar", _("what it remembers")),
            ("sessions", _("earlier sessions")),
            ("help", _("all keys")),
            short=False,
        ),
    ]


def _pairs(keymap: Keymap, *wanted: tuple[str, str], short: bool = True) -> Pairs:
    """The wanted bindings that have a key."""
    return [(display(key, short=short), meaning) for binding, meaning in wanted if (key := keymap.first(binding))]
