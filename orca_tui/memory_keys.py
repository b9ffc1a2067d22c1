"""What can be done with a memory under the cursor, and by which key: one table for lists, footers and the help page.

A binding's id is `memory_` and the name; `[keys]` remaps it like any other. The same keys hold on the memory screen, in
the sidebar and on the page that tells why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from orca_tui import keys

PREFIX = "memory_"


@dataclass(frozen=True, slots=True)
class MemoryKey:
    """One deed."""

    name: str
    keys: str
    """Default keys, comma separated."""
    word: str
    """For the footer; the English source of a translated string."""
    summary: str
    """For the help page; the English source of a translated string."""


MEMORY_KEYS: tuple[MemoryKey, ...] = (
    MemoryKey("mark", "space", "mark", "Mark or unmark; what follows is done to all that are marked"),
    MemoryKey("mark_all", "asterisk", "all", "Mark all that are listed, or none"),
    MemoryKey("trash", "d", "trash", "Throw away (restorable)"),
    MemoryKey("archive", "a", "archive", "Archive: keep, but recall no more"),
    MemoryKey("pin", "p", "pin", "Pin or unpin"),
    MemoryKey("edit", "e", "edit", "Edit text, type and branch"),
    MemoryKey("promote", "plus,equals_sign", "promote", "Hold for more important; of a message, make a memory"),
    MemoryKey("demote", "minus", "demote", "Hold for less important"),
    MemoryKey("merge", "m", "merge", "Make one of all that are marked"),
    MemoryKey("accept", "y", "accept", "Accept what waits for review"),
    MemoryKey("reject", "n", "reject", "Reject what waits for review"),
    MemoryKey("restore", "R", "restore", "Bring back from archive, trash or an earlier version"),
    MemoryKey("erase", "x", "erase", "Erase for good, after a question"),
    MemoryKey("undo", "u", "undo", "Take back the last change of memory"),
    MemoryKey("undo_this", "U", "undo its change", "Take back the newest change of this memory"),
    MemoryKey("rollback", "B", "roll back", "Give memory the state that it had at a time; shows it before"),
    MemoryKey("source", "o", "source", "Open the message that it was taken from"),
    MemoryKey("sort", "s", "sort", "Sort by another column"),
    MemoryKey("turn", "S", "turn round", "Turn the order around"),
    MemoryKey("next", "right,l", "next", "Next list, or the next reply"),
    MemoryKey("previous", "left,h", "previous", "List or reply before"),
)
BY_NAME = {key.name: key for key in MEMORY_KEYS}
IDS = [PREFIX + key.name for key in MEMORY_KEYS]
IDS += ["memory_back", "memory_close", "memory_form.save", "memory_form.leave", "ask.yes", "ask.no"]
IDS += ["why_close", "request_close"]


def memory_bindings(*names: str) -> list[BindingType]:
    """Bindings of a list of memories; each runs the list's action `deed` with the name."""
    found = [BY_NAME[name] for name in names]
    return [Binding(key.keys, f"deed({key.name!r})", key.word, id=PREFIX + key.name, show=False) for key in found]


def in_force(name: str, chosen: Mapping[str, str]) -> list[str]:
    """The keys of a deed; `chosen` is what the user set for bindings of widgets, by id."""
    return keys.split(chosen.get(PREFIX + name, BY_NAME[name].keys))


def shown(name: str, chosen: Mapping[str, str]) -> str:
    """The first key of a deed as a person reads it; empty when it has none."""
    return next((keys.display(key) for key in in_force(name, chosen)), "")


def pairs(names: Sequence[str], chosen: Mapping[str, str]) -> list[tuple[str, str]]:
    """Key and word (English source) of those that have a key."""
    return [(key, BY_NAME[name].word) for name in names if (key := shown(name, chosen))]
