"""Which table a row of a damaged database is from, told by its values alone."""

from typing import get_args

from memory.store.pages import Value
from memory.types import ITEM_KINDS, MemoryType, MessageState, MessageType, Role

_TEXT, _WHOLE, _NUMBER = (str,), (int,), (int, float)
_ID = (type(None),)
"""A column that is the row's number holds nothing itself."""
_TEXT_OR_NOT, _WHOLE_OR_NOT = (str, type(None)), (int, type(None))
_SWITCH = frozenset((0, 1))

Expected = tuple[type, ...] | frozenset[object]

SHAPES: dict[str, tuple[Expected, ...]] = {
    "sessions": (
        *(_TEXT, _TEXT, _TEXT, _TEXT_OR_NOT, _TEXT_OR_NOT, _TEXT_OR_NOT, _WHOLE_OR_NOT),
        *(frozenset(("open", "archived")), _SWITCH, _TEXT, _TEXT),
    ),
    "main_messages": (
        *(_ID, _TEXT, frozenset(get_args(Role)), _TEXT, frozenset(get_args(MessageType)), _WHOLE, _SWITCH, _TEXT),
        *(_TEXT, _WHOLE_OR_NOT, frozenset(get_args(MessageState))),
    ),
    "subagent_messages": (_ID, _WHOLE, _TEXT, _TEXT, frozenset(("assistant", "system")), _TEXT, _TEXT, _TEXT, _TEXT),
    "short_term_memories": (_ID, _TEXT, _TEXT, _WHOLE, _NUMBER, _TEXT, _TEXT, _WHOLE_OR_NOT, _WHOLE_OR_NOT),
    "long_term_memories": (_ID, _TEXT, frozenset(get_args(MemoryType)), _TEXT_OR_NOT, _NUMBER, _WHOLE),
    "memory_events": (
        *(_ID, frozenset(ITEM_KINDS), _WHOLE, _TEXT, _TEXT_OR_NOT, _TEXT_OR_NOT),
        *(_TEXT, _TEXT, _TEXT),
    ),
    "feedback": (_ID, _WHOLE, frozenset((-1, 1)), _TEXT, _TEXT),
}
"""Table → what its first columns hold, in the order of the schema."""
_LENGTHS = {"long_term_memories": 22, "feedback": 5}
"""Fewest values of a row where the shape does not say."""


def table_of(values: tuple[Value, ...]) -> str | None:
    """The table that a row with these values belongs to; `None` when it is none of those that can be told."""
    for table, shape in SHAPES.items():
        if len(values) >= _LENGTHS.get(table, len(shape)) and all(map(_fits, shape, values)):
            return table
    return None


def _fits(expected: Expected, value: Value) -> bool:
    if isinstance(expected, frozenset):
        return not isinstance(value, float | bytes) and value in expected
    return isinstance(value, expected)
