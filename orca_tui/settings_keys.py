"""The keys page of the settings: every binding with its keys in force, who has a key already, and what to write."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from textual.binding import Binding

from orca_tui import keys
from orca_tui.commands import COMMANDS, INTERRUPT
from orca_tui.memory_keys import MEMORY_KEYS, PREFIX
from orca_tui.settings_file import REMOVE, KeyPath

COMMAND = "command"
"""The area of keys that work from everywhere."""
WIDGETS: Sequence[tuple[str, str, str]] = (
    ("In the editor", "orca_tui.widgets.composer", "Composer"),
    ("In the transcript", "orca_tui.widgets.transcript", "Transcript"),
    ("In lists", "orca_tui.widgets.filter_list", "FilterList"),
)
"""Heading (English source), module and class of the widgets whose bindings have ids."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One binding."""

    id: str
    heading: str
    """English source of a translated string."""
    summary: str
    """What it does; English source of a translated string."""
    default: str
    keys: tuple[str, ...]
    """Those in force, as Textual writes them."""
    area: str
    """Where it works: `COMMAND`, or the heading of a widget. Keys clash inside an area, and with commands."""

    @property
    def path(self) -> KeyPath:
        """Its key in the settings."""
        return ("keys", self.id)


def rows(keymap: keys.Keymap) -> list[KeyRow]:
    """All of them, by heading."""
    found = []
    for command in COMMANDS:
        given = tuple(keys.split(keymap.keys.get(command.name, "")))
        found.append(KeyRow(command.name, command.group, command.summary, command.keys, given, COMMAND))
    interrupt = tuple(keys.split(keymap.keys.get(INTERRUPT, "")))
    found.append(KeyRow(INTERRUPT, "Reply", "Copy what is selected; twice: leave", "ctrl+c", interrupt, COMMAND))
    found.sort(key=lambda row: [one.group for one in COMMANDS].index(row.heading))
    for heading, module, name in WIDGETS:
        found += [_row(heading, one, keymap) for one in widget_bindings(module, name)]
    area = "On a memory: memory screen, sidebar, why"
    for one in MEMORY_KEYS:
        given = tuple(keys.split(keymap.others.get(PREFIX + one.name, one.keys)))
        found.append(KeyRow(PREFIX + one.name, area, one.summary, one.keys, given, area))
    return found


def widget_bindings(module: str, name: str) -> list[Binding]:
    """The bindings with ids of a widget's class and its bases of ours, the bases' first."""
    found: dict[str, Binding] = {}
    for kind in reversed(getattr(import_module(module), name).__mro__):
        if kind.__module__.startswith("orca_tui."):
            for one in kind.__dict__.get("BINDINGS", ()):
                if isinstance(one, Binding) and one.id and one.description:
                    found[one.id] = one
    return list(found.values())


def _row(heading: str, one: Binding, keymap: keys.Keymap) -> KeyRow:
    given = tuple(keys.split(keymap.others.get(one.id or "", one.key)))
    return KeyRow(one.id or "", heading, one.description, one.key, given, heading)


def owner(key: str, row: KeyRow, others: Iterable[KeyRow]) -> KeyRow | None:
    """Who else has `key` where it would clash with `row`."""
    for other in others:
        if other.id != row.id and key in other.keys and (other.area == row.area or COMMAND in (other.area, row.area)):
            return other
    return None


def given(row: KeyRow, wanted: Sequence[str], loser: KeyRow | None = None) -> Mapping[KeyPath, str | None]:
    """What to write so that `row` has the keys `wanted`, and `loser` has none of them any more."""
    texts = {row.path: _text(row, wanted)}
    if loser is not None:
        texts[loser.path] = _text(loser, [key for key in loser.keys if key not in wanted])
    return texts


def _text(row: KeyRow, wanted: Sequence[str]) -> str | None:
    return REMOVE if list(wanted) == keys.split(row.default) else ",".join(wanted)
