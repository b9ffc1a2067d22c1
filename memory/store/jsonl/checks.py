"""What a stored value must look like: the constraints that a database schema would hold, for lines and for writes."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_args

from memory.options import SessionOptions
from memory.types import (
    Injection,
    ItemKind,
    LongTermMemory,
    MemoryEvent,
    MemorySource,
    MemoryStatus,
    MemoryType,
    Message,
    MessageState,
    MessageType,
    Role,
    RunState,
    ScoreParts,
    Session,
    SessionState,
    ShortTermMemory,
    SubagentRun,
    Tier,
    TitleBy,
)

Rule = Callable[[Any], bool]
Value = TypeVar(
    "Value", Session, Message, ShortTermMemory, LongTermMemory, MemoryEvent, Injection, ScoreParts, SubagentRun
)
LARGEST = (1 << 63) - 1


def checked(kind: type[Value], given: Mapping[str, Any]) -> Value:
    """A value from its fields; more fields than it has are ignored, those that have a default may be missing.

    Raises `ValueError` naming the first bad one.
    """
    rules = _RULES[kind]
    optional = {field.name for field in fields(kind) if field.default is not MISSING}
    values = {name: given.get(name) for name in rules if name in given or name not in optional}
    if "options" in values:
        values["options"] = SessionOptions.of(values["options"])
    for name, value in values.items():
        if not rules[name](value):
            raise ValueError(f"{name} of a {kind.__name__} cannot be {type(value).__name__} {str(value)[:40]!r}")
    made: Value = kind(**values)  # type: ignore[arg-type]  # the rules are stricter than the types
    return made


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _number(value: Any) -> bool:
    return isinstance(value, int | float)


def _share(value: Any) -> bool:
    return _number(value) and 0 <= value <= 1


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _facts(value: Any) -> bool:
    return isinstance(value, Mapping)


def _ids(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, int) for item in value)


def _parts(value: Any) -> bool:
    return isinstance(value, ScoreParts)


def _maybe(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _one_of(names: Any) -> Rule:
    allowed = frozenset(get_args(names))
    return lambda value: isinstance(value, str) and value in allowed


_RULES: dict[type, dict[str, Rule]] = {
    Session: {
        **dict.fromkeys(("id", "title", "user_id", "created_at", "updated_at"), _text),
        **dict.fromkeys(("project", "agent_id", "model"), _maybe(_text)),
        "tip_message_id": _maybe(_id),
        "state": _one_of(SessionState),
        "incognito": _truth,
        "options": lambda value: isinstance(value, SessionOptions),
        "title_by": _one_of(TitleBy),
    },
    Message: {
        "id": _id,
        **dict.fromkeys(("session_id", "content", "timestamp"), _text),
        "role": _one_of(Role),
        "msg_type": _one_of(MessageType),
        "token_count": _count,
        "has_embedding": _truth,
        "metadata": _facts,
        "parent_id": _maybe(_id),
        "state": _one_of(MessageState),
    },
    SubagentRun: {
        **dict.fromkeys(("id", "parent_msg_id"), _id),
        "parent_run_id": _maybe(_id),
        **dict.fromkeys(("session_id", "agent_name", "content", "timestamp", "task", "started_at"), _text),
        "role": _one_of(Role),
        "state": _one_of(RunState),
        **dict.fromkeys(("token_count", "subtree_tokens"), _count),
        "truncated": _truth,
        "ended_at": _maybe(_text),
    },
    ShortTermMemory: {
        "id": _id,
        **dict.fromkeys(("session_id", "content", "created_at", "updated_at"), _text),
        "source_count": _id,
        "confidence": _share,
        **dict.fromkeys(("first_message_id", "last_message_id"), _maybe(_count)),
    },
    LongTermMemory: {
        "id": _id,
        **dict.fromkeys(("content", "created_at", "updated_at", "user_id", "branch"), _text),
        "memory_type": _one_of(MemoryType),
        "source": _one_of(MemorySource),
        "status": _one_of(MemoryStatus),
        **dict.fromkeys(("confidence", "importance"), _share),
        "access_count": _count,
        "version": _id,
        **dict.fromkeys(("source_session", "last_accessed", "expires_at", "topic_key"), _maybe(_text)),
        **dict.fromkeys(("project", "agent_id", "team_id"), _maybe(_text)),
        **dict.fromkeys(("supersedes", "source_message_id"), _maybe(_count)),
        "pinned": _truth,
        "merged_from": _ids,
    },
    MemoryEvent: {
        "id": _id,
        "kind": _one_of(ItemKind),
        "item_id": _id,
        **dict.fromkeys(("action", "actor", "reason", "timestamp"), _text),
        **dict.fromkeys(("before", "after"), _maybe(_facts)),
        **dict.fromkeys(("batch", "undoes"), _maybe(_id)),
    },
    ScoreParts: dict.fromkeys((field.name for field in fields(ScoreParts)), _number),
    Injection: {
        **dict.fromkeys(("message_id", "item_id"), _id),
        "kind": _one_of(ItemKind),
        "tier": _one_of(Tier),
        **dict.fromkeys(("rank", "tokens"), _count),
        "parts": _parts,
    },
}
