"""Which keys are shown when: on the last line, and in the greeting of an empty session."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memory.text import label
from orca_tui import message_keys, session_keys
from orca_tui.i18n import _
from orca_tui.keys import Keymap, display

if TYPE_CHECKING:
    from memory.types import SessionState
    from orca_tui.render.targets import Target

TARGET_CELLS = 40
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
            ("search", _("search")),
        ),
    ]


def streaming(keymap: Keymap) -> Pairs:
    """While a reply is being written."""
    stop = _pairs(keymap, ("stop", _("stop")))
    others = _pairs(keymap, ("sidebar", _("memory")), ("sessions", _("sessions")), ("help", _("help")))
    return [*stop, ("Enter", _("queue")), *others]


def sessions(keymap: Keymap, view: "SessionState") -> Pairs:
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


def searching() -> Pairs:
    """While one types what is searched for in the transcript."""
    return [("Enter", _("to the transcript")), ("↑ ↓", _("other places")), ("Esc", _("end search"))]


def at_message(
    chosen: Mapping[str, str], deeds: Sequence[str], target: "Target | None", place: tuple[int, int]
) -> Pairs:
    """While a message is under the cursor: `deeds` are possible there (`orca_tui.message_keys`), `target` is chosen,
    number `place[0]` of `place[1]`. `chosen`: what the user set for bindings, by id."""
    found = [("Esc", _("write")), ("j k", _("move"))]
    for name in deeds:
        key, word = message_keys.shown(name, chosen), _(message_keys.BY_NAME[name].word)
        if name == "open" and target is not None:
            what = target.text.partition("://")[2] if target.kind == "link" else target.language or _("code")
            word = f"{word if target.kind == 'link' else _('copy')} {place[0]}/{place[1]} {label(what, TARGET_CELLS)}"
            found.insert(0, (key, word))
        elif name == "leave_search":
            found[0] = (key, word)
        elif key:
            found.append((key, word))
    return found


def _pairs(keymap: Keymap, *wanted: tuple[str, str], short: bool = True) -> Pairs:
    """The wanted bindings that have a key."""
    return [(display(key, short=short), meaning) for binding, meaning in wanted if (key := keymap.first(binding))]
