"""What can be done with a session in the list, and by which key: one table for the list, its footer and the help page.

A binding's id is `session_` and the name; `[keys]` remaps it like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from orca_tui import keys

PREFIX = "session_"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One deed."""

    name: str
    keys: str
    """Default keys, comma separated."""
    word: str
    """For the footer; the English source of a translated string."""
    summary: str
    """For the help page; the English source of a translated string."""


SESSION_KEYS: tuple[SessionKey, ...] = (
    SessionKey("rename", "e", "rename", "Give it another title, in place"),
    SessionKey("archive", "a", "archive", "Archive it, or bring it back from the archive"),
    SessionKey("trash", "d", "delete", "Throw it away (restorable); its memories stay"),
    SessionKey("restore", "R", "restore", "Bring it back from the trash or the archive"),
    SessionKey("erase", "x", "erase", "Erase it for good, after a question"),
    SessionKey("undo", "u", "undo", "Take back the last archiving or deleting since orca was started"),
    SessionKey("export", "w", "export", "Write it to a file"),
    SessionKey("next", "right,l", "lists", "Next list: open, archived, trash"),
    SessionKey("previous", "left,h", "lists", "List before"),
)
BY_NAME = {key.name: key for key in SESSION_KEYS}


def session_bindings() -> list[BindingType]:
    """Bindings of the list; each runs its action `deed` with the name."""
    return [
        Binding(key.keys, f"deed({key.name!r})", key.word, id=PREFIX + key.name, show=False) for key in SESSION_KEYS
    ]


def in_force(name: str, chosen: Mapping[str, str]) -> list[str]:
    """The keys of a deed; `chosen` is what the user set for bindings of widgets, by id."""
    return keys.split(chosen.get(PREFIX + name, BY_NAME[name].keys))


def shown(name: str, chosen: Mapping[str, str]) -> str:
    """The first key of a deed as a person reads it; empty when it has none."""
    return next((keys.display(key) for key in in_force(name, chosen)), "")


def pairs(names: Sequence[str], chosen: Mapping[str, str]) -> list[tuple[str, str]]:
    """Key and word (English source) of those that have a key."""
    return [(key, BY_NAME[name].word) for name in names if (key := shown(name, chosen))]
