"""Keys: which binding has which keys, after the user's `[keys]` has been laid over the defaults.

A binding's id is the name of its command (`orca_tui.commands`), so one word serves `/new`, the palette, the help page
and `[keys] new = "ctrl+n"`. Widgets bring bindings of their own; Textual's keymap remaps those.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory.text import label
from orca_tui.i18n import _

NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "question_mark": "?",
    "slash": "/",
    "underscore": "_",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "asterisk": "*",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
}
MODIFIERS = {"ctrl": "Ctrl", "shift": "Shift", "alt": "Alt", "super": "Super", "meta": "Meta"}


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys in force."""

    keys: Mapping[str, str]
    """Binding id → keys, comma separated; empty: no key."""
    others: Mapping[str, str]
    """What the user set for other bindings; goes to Textual's keymap, which knows those of the widgets."""
    problems: tuple[str, ...]
    """One sentence for every entry of `[keys]` that could not be followed."""

    def first(self, binding: str) -> str:
        """The first key of a binding as Textual writes it; empty when it has none."""
        return self.keys.get(binding, "").partition(",")[0].strip()

    def unknown(self, widget_ids: Iterable[str]) -> list[str]:
        """One sentence for every entry that is no command's and none of `widget_ids`."""
        names = [label(name, 40) for name in self.others if name not in set(widget_ids)]
        return [_("[keys] has no action “{name}”; /help lists them", name=name) for name in names]


def resolve(defaults: Mapping[str, str], chosen: Mapping[str, str]) -> Keymap:
    """Lay `chosen` (id → keys) over `defaults`.

    A key that the user gave to one binding is taken from the default of another. When the user gave it to two, the
    first in the file keeps it, and the clash is told.
    """
    problems: list[str] = []
    taken: dict[str, str] = {}
    given: dict[str, str] = {}
    others: dict[str, str] = {}
    for binding, text in chosen.items():
        names = split(text)
        if binding in defaults:
            given[binding] = _claim(binding, names, taken, problems)
        else:
            others[binding] = ",".join(names)
    keys: dict[str, str] = {}
    for binding, text in defaults.items():
        if binding in given:
            keys[binding] = given[binding]
        else:
            keys[binding] = ",".join(name for name in split(text) if name not in taken)
    return Keymap(keys, others, tuple(problems))


def split(text: str) -> list[str]:
    """The single keys of a comma-separated list, in lower case; `R` alone is the capital letter."""
    parts = [part.strip() for part in text.split(",")]
    return [part if len(part) == 1 else part.lower() for part in parts if part]


def display(key: str, *, short: bool = False) -> str:
    """A key as a person reads it: `Ctrl+N`, or `^N` when `short`; a letter alone as it is."""
    *modifiers, name = key.split("+")
    if not modifiers and len(name) == 1:
        return name
    shown = NAMES.get(name, name.upper() if len(name) == 1 else name.title())
    if short and modifiers == ["ctrl"]:
        return f"^{shown}"
    return "+".join([*(MODIFIERS.get(part, part.title()) for part in modifiers), shown])


def _claim(binding: str, names: Sequence[str], taken: dict[str, str], problems: list[str]) -> str:
    """Give `names` to `binding` as far as no other line of `[keys]` has them."""
    free = []
    for name in names:
        owner = taken.setdefault(name, binding)
        if owner == binding:
            free.append(name)
        else:
            problems.append(
                _(
                    "[keys]: {key} is set for both “{first}” and “{second}”; “{first}” keeps it",
                    key=label(display(name), 40),
                    first=owner,
                    second=binding,
                )
            )
    return ",".join(free)
