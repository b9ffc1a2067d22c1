"""Rows to values and back: which columns a value has, in which order, and how its parts are stored."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from memory.options import SessionOptions
from memory.text import repair
from memory.types import ItemKind, LongTermMemory, MemoryEvent, Message, Session, ShortTermMemory

Row = tuple[Any, ...]

TABLES: dict[ItemKind, str] = {
    "message": "main_messages",
    "short_term": "short_term_memories",
    "long_term": "long_term_memories",
}
"""Where items of each kind are kept; `fts_…` and `vec_…` before the name give their indexes."""


_FIELDS = {
    value: tuple(field.name for field in fields(value))
    for value in (Session, Message, ShortTermMemory, LongTermMemory, MemoryEvent)
}
"""Columns are named as the fields of the value that a row becomes."""

STATE = "CASE WHEN trashed_at IS NULL THEN state ELSE 'trashed' END"
"""A session's state: what is trashed keeps the column as it was, so that it can be put back."""
SESSION = ", ".join(STATE if name == "state" else name for name in _FIELDS[Session])
"""Columns of `sessions` in the order of the value's fields, for a SELECT; the same for the others."""
MESSAGE = ", ".join(_FIELDS[Message])
SHORT_TERM = ", ".join(_FIELDS[ShortTermMemory])
LONG_TERM = ", ".join(_FIELDS[LongTermMemory])
EVENT = ", ".join(_FIELDS[MemoryEvent])


def to_session(row: Row) -> Session:
    """From a row of `SESSION` columns."""
    values = dict(zip(_FIELDS[Session], row, strict=True))
    options = SessionOptions.of(json.loads(values["options"]))
    return Session(**values | {"incognito": bool(values["incognito"]), "options": options})


def to_message(row: Row) -> Message:
    """From a row of `MESSAGE` columns."""
    facts = json.loads(row[8])
    return Message(*(*row[:6], bool(row[6]), row[7], facts, *row[9:]))  # by place: a session has many thousands of them


def to_short_term(row: Row) -> ShortTermMemory:
    """From a row of `SHORT_TERM` columns."""
    return ShortTermMemory(*row)


def to_long_term(row: Row) -> LongTermMemory:
    """From a row of `LONG_TERM` columns."""
    values = dict(zip(_FIELDS[LongTermMemory], row, strict=True))
    merged_from = tuple(json.loads(values["merged_from"]))
    return LongTermMemory(**values | {"pinned": bool(values["pinned"]), "merged_from": merged_from})


def to_event(row: Row) -> MemoryEvent:
    """From a row of `EVENT` columns."""
    values = dict(zip(_FIELDS[MemoryEvent], row, strict=True))
    return MemoryEvent(**values | {"before": _facts(values["before"]), "after": _facts(values["after"])})


def to_json(value: Any) -> str:
    """Facts as they are stored: text repaired, numbers that are not finite as null."""
    return json.dumps(storable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def item_facts(item: ShortTermMemory | LongTermMemory) -> dict[str, Any]:
    """The whole row of a memory for the journal: enough to put it back."""
    return asdict(item)


def _facts(text: str | None) -> dict[str, Any] | None:
    return None if text is None else json.loads(text)


def storable(value: Any) -> Any:
    """A value, or facts, with every text repaired and every number that is not finite as `None`."""
    if isinstance(value, str):
        return repair(value)[0]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {repair(str(key))[0]: storable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    return value
