"""What readers of other programs' exports give: conversations, facts, and what could not be taken, each with why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from memory.clock import from_iso, to_iso
from memory.types import MemoryType, MessageState, MessageType, Role

Source = Literal["chatgpt", "claude", "elia", "orca"]
NAMES: dict[Source, str] = {"chatgpt": "ChatGPT", "claude": "Claude", "elia": "Elia", "orca": "orca"}
"""What people call the programs."""
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""A time outside is none."""


@dataclass(slots=True)
class Said:
    """One message."""

    key: str
    """Its name in the export; unique in its conversation."""
    parent: str | None
    """The key of the message above, which comes earlier in the list."""
    role: Role
    content: str
    time: str | None
    """UTC ISO-8601; `None` when the export does not tell."""
    metadata: dict[str, Any] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    state: MessageState = "complete"
    msg_type: MessageType = "normal"


@dataclass(slots=True)
class Talk:
    """One conversation with all its forks."""

    key: str
    title: str
    time: str | None
    model: str | None
    messages: list[Said]
    tip: str | None
    """The key of the newest message of the path that was on the screen."""
    archived: bool = False
    project: str | None = None
    skipped: list["Skipped"] = field(default_factory=list)
    """What of it is no message."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the other program remembered of the user."""

    content: str
    time: str | None
    origin: str
    """Where it stood, for the history."""
    memory_type: MemoryType = "fact"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is not taken."""

    what: str
    """Foreign text: what it is called in the export."""
    reason: str


Record = Talk | Fact | Skipped


class Reader(Protocol):
    """Reads one export. Iterate once."""

    source: Source

    def records(self) -> Iterator[Record]:
        """Everything in the export. Raises `ImportRefused` when nothing can be read at all."""
        ...


def time_of(value: object) -> str | None:
    """A moment in any of the shapes that exports write: seconds or milliseconds since 1970, or ISO-8601."""
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            seconds = float(value) / 1000 if abs(value) > 1e11 else float(value)
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            text = str(value).strip().replace(" ", "T", 1)
            moment = from_iso(text) if text[-6:-5] in "+-" or text.endswith("Z") else _naive(text)
    except (ValueError, OverflowError, OSError, TypeError):
        return None
    return to_iso(moment) if EARLIEST <= moment <= LATEST else None


def _naive(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def text_of(value: object) -> str:
    """A string as it is, anything else as nothing."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Mapping[str, Any]:
    """An object as it is, anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: object) -> list[Any]:
    """A list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []
