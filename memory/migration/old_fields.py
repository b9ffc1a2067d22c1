"""What a record of an old session file says, whatever its fields are called. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memory.clock import to_iso
from memory.text import repair
from memory.types import Role

ID_KEYS = ("id", "message_id", "msg_id", "uuid")
SESSION_KEYS = ("session", "session_id", "sessionId", "conversation", "conversation_id", "thread_id", "chat_id")
ROLE_KEYS = ("role", "sender", "author", "from", "speaker")
CONTENT_KEYS = ("content", "text", "message", "body", "value", "parts")
TIME_KEYS = ("ts", "timestamp", "time", "created_at", "createdAt", "create_time", "date")
UNKNOWN: Role = "tool"
"""What a message without a known role becomes: it is shown, and never sent as anybody's words."""
ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "you"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt", "chatgpt"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
DEEPEST = 50
"""Levels of lists and objects in a record; no client writes so many."""
YEARS = range(1970, 2200)
"""Years of a time that can be believed."""
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""Below which number a time counts seconds, milliseconds, microseconds, nanoseconds."""


class UnreadableError(ValueError):
    """A record holds no message; the text says why."""


@dataclass(slots=True)
class Found:
    """What a record says. `None`: it does not say."""

    content: str
    role: Role
    id: str | None = None
    session: str | None = None
    time: str | None = None
    """UTC ISO-8601."""
    facts: dict[str, Any] = field(default_factory=dict)
    """About the import: `offset`, `time`, `role`, `blocks` … as they were, where the message cannot hold them."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Data that goes along: `tool_calls`, `tool_call_id`, `name`, `model`."""
    repairs: list[str] = field(default_factory=list)
    """What was wrong and could be read all the same."""


def read(record: Mapping[str, Any]) -> Found:
    """A message from a record. Raises `UnreadableError` when there is no text in it."""
    if _too_deep(record):
        raise UnreadableError("nested too deep")
    record = _flat(record)
    calls = record.get("tool_calls")
    found = Found(content="", role=UNKNOWN)
    found.content = _content(record, found, may_be_empty=bool(calls))
    _set_role(record, found)
    found.id = _name(record, ID_KEYS, "id", found)
    found.session = _name(record, SESSION_KEYS, "session", found)
    found.time = _time(_first(record, TIME_KEYS), found)
    for key in ("tool_calls", "tool_call_id", "name", "model"):
        if record.get(key) is not None:
            found.extra[key] = record[key]
    found.content, lost = repair(found.content)
    if lost:
        found.extra["repaired"] = lost
        found.repairs.append("characters that cannot be stored")
    return found


def _flat(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some clients wrap the message: `{"type": "user", "message": {"role": …, "content": …}, …}`."""
    inner = record.get("message")
    if isinstance(inner, Mapping) and "content" in inner:
        return {**{key: value for key, value in record.items() if key != "message"}, **inner}
    return record


def _first(record: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _content(record: Mapping[str, Any], found: Found, *, may_be_empty: bool) -> str:
    value = _first(record, CONTENT_KEYS)
    if isinstance(value, Mapping):
        found.repairs.append("the text was nested")
        value = _first(value, CONTENT_KEYS)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _joined(value, found)
    if isinstance(value, int | float) and not isinstance(value, bool):
        found.repairs.append("the text was a number")
        return str(value)
    if may_be_empty:
        return ""
    raise UnreadableError("no text" if value is None else "the text is not text")


def _joined(blocks: list[Any], found: Found) -> str:
    """A list of parts, as many servers take them: their texts as paragraphs; what is no text is kept as data."""
    texts: list[str] = []
    for block in blocks:
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            texts.append(text)
        else:
            found.facts["blocks"] = blocks
    if not blocks:
        raise UnreadableError("no text")
    return "\n\n".join(texts)


def _set_role(record: Mapping[str, Any], found: Found) -> None:
    given = _first(record, ROLE_KEYS)
    if isinstance(given, Mapping):
        given = given.get("role") or given.get("name")
    kind = record.get("type")
    if given is None and isinstance(kind, str) and kind in ROLES:
        given = kind
    role = ROLES.get(given.strip().lower()) if isinstance(given, str) else None
    if role is None:
        found.facts["role"] = "unknown" if given is None else given
        found.repairs.append("the role is not known")
    found.role = role or UNKNOWN


def _name(record: Mapping[str, Any], keys: Sequence[str], what: str, found: Found) -> str | None:
    value = _first(record, keys)
    if value is None:
        return None
    if not isinstance(value, str):
        found.repairs.append(f"the {what} was not text")
        value = str(value)
    return repair(value)[0][:200] or None


def _time(value: Any, found: Found) -> str | None:
    """UTC; how it was written goes into the facts. `None` when there is none, or none that can be believed."""
    try:
        moment = _moment(value, found)
        if moment is None or moment.astimezone(UTC).year not in YEARS:
            return None
        return to_iso(moment)
    except (ValueError, OverflowError, OSError):
        return None


def _moment(value: Any, found: Found) -> datetime | None:
    if isinstance(value, str):
        number = value.strip().replace(".", "", 1)
        value = float(value) if number.isdecimal() and len(number) > 8 else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        unit = next((unit for limit, unit in _UNITS if abs(value) < limit), None)
        return None if unit is None else datetime.fromtimestamp(value / unit, UTC)
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value.strip())
    if moment.tzinfo is None:
        found.facts["time"] = "assumed"
        return moment.astimezone()
    if moment.utcoffset():
        found.facts["offset"] = moment.isoformat()[-6:]
    return moment


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [part for part in level if isinstance(part, Mapping | list)]
        level = [item for part in inner for item in (part.values() if isinstance(part, Mapping) else part)]
        if not level:
            return False
    return True
