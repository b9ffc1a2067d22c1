"""What the settings screen shows: every key as a field, made from the types and limits of the settings dataclasses.

Words come from `orca_tui.settings_words`; what is allowed is said in the language of the screen.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from memory.config import Secret, Settings
from memory.settings.schema import is_mapping
from orca_tui.i18n import _
from orca_tui.settings_file import KeyPath
from orca_tui.settings_words import WORDS

Kind = Literal["switch", "choice", "whole", "number", "text", "long", "secret", "list", "value"]
LONG = ("system_prompt", "prompt")
"""Keys whose text goes over many lines."""
AFTER_RESTART = (("embedding",), ("siliconflow", "embedding_model"), ("siliconflow", "dimensions"), ("mcp",))
"""Keys, or what they begin with, that are read at the start only."""


@dataclass(frozen=True, slots=True)
class Field:
    """One key."""

    path: KeyPath
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    optional: bool = False
    """Whether it may have no value at all."""

    @property
    def name(self) -> str:
        """What it is called, in the language of the screen; a free name as it is."""
        source = pattern_of(self.path)
        if source.endswith(".*"):
            return self.path[-1]
        words = WORDS.get(source)
        return _(words[0]) if words else self.path[-1].replace("_", " ")

    @property
    def help(self) -> str:
        """What it is for, in the language of the screen."""
        words = WORDS.get(pattern_of(self.path))
        return _(words[1]) if words else ""

    @property
    def waits(self) -> bool:
        """Whether a change comes into force at the next start."""
        return waits(self.path)


def section_fields(section: Any, path: KeyPath) -> Iterator[Field]:
    """The fields of a section's dataclass, those of its tables included. Sections inside it are left out."""
    defaults = type(section)()
    hints = get_type_hints(type(section))
    for one in fields(section):
        hint, here = hints[one.name], (*path, one.name)
        if is_mapping(hint):
            inner = get_args(hint)[1]
            if not is_dataclass(inner):
                for name in getattr(section, one.name):
                    yield Field((*here, name), "text" if inner is str else "value", None, optional=True)
        elif not is_dataclass(hint):
            yield _field(here, hint, one.metadata, getattr(defaults, one.name))


def _field(path: KeyPath, hint: Any, metadata: Mapping[str, Any], default: Any) -> Field:
    optional = get_origin(hint) is UnionType
    if optional:
        hint = get_args(hint)[0]
    low, high = metadata.get("low", 0.0), metadata.get("high", 0.0)
    if get_origin(hint) is Literal:
        return Field(path, "choice", default, choices=get_args(hint))
    if path == ("ui", "theme"):
        return Field(path, "choice", default)
    kinds: dict[Any, Kind] = {bool: "switch", int: "whole", float: "number", Secret: "secret"}
    if get_origin(hint) is tuple:
        kind: Kind = "list"
    else:
        kind = kinds.get(hint, "long" if path[-1] in LONG else "text")
    return Field(path, kind, default, low=low, high=high, optional=optional)


def pattern_of(path: KeyPath) -> str:
    """The dotted name with `*` for free parts: `memory.branches.*.searched`."""
    names, hint = [], Any
    for depth, name in enumerate(path):
        names.append("*" if depth and is_mapping(hint) else name)
        hint = _below(Settings if depth == 0 else hint, name)
    return ".".join(names)


def _below(hint: Any, name: str) -> Any:
    if is_mapping(hint):
        return get_args(hint)[1]
    return get_type_hints(hint).get(name, Any) if is_dataclass(hint) else Any


def value_of(settings: Settings, path: KeyPath) -> Any:
    """The value in force; `None` when there is no such section any more."""
    value: Any = settings
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def as_text(value: Any) -> str:
    """A value as one would type it. A secret has none."""
    if value is None or isinstance(value, Secret):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def shown(value: Any) -> str:
    """A value for the list, in the language of the screen; a secret as whether there is one."""
    if isinstance(value, Secret):
        return "••••••••" if value else _("not set")
    if isinstance(value, bool):
        return _("on") if value else _("off")
    text = as_text(value)
    return text or ("–" if value is not None else _("not set"))


def allowed(field: Field) -> str:
    """What may be typed, as a sentence part; empty when anything may."""
    match field.kind:
        case "whole":
            return _("a whole number from {low} to {high}", low=_plain(field.low), high=_plain(field.high))
        case "number":
            return _("a number from {low} to {high}", low=_plain(field.low), high=_plain(field.high))
        case "list":
            return _("words with commas between them")
        case _:
            return ""


def problem(field: Field, text: str) -> str:
    """What is wrong with `text` for this field, as far as it can be told by itself; empty when nothing is."""
    if field.kind not in ("whole", "number") or not text.strip():
        return ""
    number = re.fullmatch(r"[+-]?\d{1,15}" if field.kind == "whole" else r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)", text.strip())
    if number is None or not field.low <= float(text) <= field.high:
        return _("It must be {allowed}.", allowed=allowed(field))
    return ""


def waits(path: KeyPath) -> bool:
    """Whether a change of this key comes into force at the next start."""
    return any(path[: len(start)] == start for start in AFTER_RESTART)


def stepped(field: Field, value: Any, step: int, choices: Sequence[str]) -> str | None:
    """What a step up or down makes of a value, as one would type it; `None` when it makes nothing of it."""
    match field.kind:
        case "switch":
            return as_text(not value)
        case "choice" if value in choices:
            return choices[(choices.index(value) + step) % len(choices)]
        case "whole" | "number":
            size = 0.05 if field.high <= 1 else 0.1 if field.high <= 2 else 1 if field.high <= 10_000 else 1024
            stepped_to = min(field.high, max(field.low, (value or 0) + step * size))
            return str(int(stepped_to)) if field.kind == "whole" else f"{stepped_to:.10g}"
        case _:
            return None


def _plain(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}"
