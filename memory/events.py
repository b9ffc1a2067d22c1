"""What a turn yields: frozen events that the screen and the command line map to what they show.

Order in a turn: `MessageStored` (user) → `ContextBuilt` → `MessageStored` (reply, streaming) → deltas and
`Waiting` → `TurnFinished` or `TurnFailed`. When the model calls tools, the deltas are followed by `ToolsAsked` →
`ToolStarted` and `ToolFinished` of each call → `ContextBuilt` → `MessageStored` (the next reply) → deltas, and so on.
`Noticed` may come at any point. Background work speaks in the other events.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memory.errors import OrcaError
from memory.types import ContextReport, ItemKind, Message, Session, SubagentRun, Usage

QueueStatus = Literal["idle", "working", "paused", "off"]
ToolState = Literal["done", "failed", "refused", "cancelled"]


@dataclass(frozen=True, slots=True)
class MessageStored:
    """A message is on disk."""

    turn_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class ContextBuilt:
    """The prompt is ready; this is where its tokens go."""

    turn_id: str
    report: ContextReport


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's reasoning."""

    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the reply."""

    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that the user should know about the turn, which goes on."""

    turn_id: str
    text: str
    """A sentence (English source of `_`), with `{name}` where `name` stands."""
    name: str = ""
    """Foreign text."""


@dataclass(frozen=True, slots=True)
class ToolsAsked:
    """The model has asked for tools: its message is stored whole, and the calls run. A further reply follows."""

    turn_id: str
    message: Message
    """Its `metadata["tool_calls"]` holds the calls."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool runs (or waits for permission)."""

    turn_id: str
    call_id: str
    name: str
    arguments: str
    """JSON as the model wrote it."""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool is done; its result is stored."""

    turn_id: str
    call_id: str
    name: str
    state: ToolState
    message: Message
    """The stored row of role `tool`."""


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A subagent begins; its row is stored in state `running`."""

    turn_id: str
    run: SubagentRun


@dataclass(frozen=True, slots=True)
class SubagentDelta:
    """More of what a subagent writes. Never stored piece by piece."""

    turn_id: str
    run_id: int
    kind: Literal["text", "reasoning", "step"]
    """`step`: a line on what it does now, such as the tool that it calls."""
    text: str
    tokens: int
    """What the run has used up to here."""


@dataclass(frozen=True, slots=True)
class SubagentFinished:
    """A subagent is done, failed or was stopped; its row is stored."""

    turn_id: str
    run: SubagentRun


@dataclass(frozen=True, slots=True)
class Waiting:
    """The request is being tried again after `seconds`; only ever before the first byte."""

    turn_id: str
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The reply is stored, whole (`complete`) or as far as it came (`stopped` by the user)."""

    turn_id: str
    message: Message
    usage: Usage
    finish_reason: str
    """`stop`, `length`, `content_filter`, `tool_calls` as the server said, or `stopped` by the user."""


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended in an error. `message` is the stored reply with what had arrived (it may be empty)."""

    turn_id: str
    error: OrcaError
    message: Message


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """Memory was written in the background: an item was summarised, extracted, updated or pruned."""

    session_id: str | None
    kind: ItemKind
    action: Literal["add", "update", "remove"]
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SessionTitled:
    """A session has got a title in the background."""

    session: Session


@dataclass(frozen=True, slots=True)
class SecretNoticed:
    """A message of the user's seems to hold a secret. It is stored as it is, and nothing of it is remembered."""

    session_id: str
    message_id: int
    kind: str
    """`key`, `token`, `private key` or `password`; never the value."""


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The embedding queue has moved on, paused or gone on."""

    status: QueueStatus
    waiting: int
    """Items without a vector."""
    problem: str
    """Why it is paused, for a person; empty otherwise."""


@dataclass(frozen=True, slots=True)
class UpkeepChanged:
    """Upkeep has run in the background, or could not."""

    counts: Mapping[str, int]
    """What it did, by step."""
    problem: str
    """What went wrong, for a person; empty when nothing did. It is tried again."""


@dataclass(frozen=True, slots=True)
class SavingChanged:
    """Replies cannot be written to the store, or they can again. Until then they are kept in memory and tried again."""

    unsaved: int
    """Replies of which the store lacks something; 0 when all is well again."""
    problem: str
    """Why, for a person; empty when all is well again."""
    hint: str
    """What the user can do about it."""
    stored: Message | None = None
    """A reply that was written after its turn had already failed for want of that."""


ToolEvent = ToolsAsked | ToolStarted | ToolFinished | SubagentStarted | SubagentDelta | SubagentFinished
TextEvent = ReasoningDelta | TextDelta
TurnEvent = MessageStored | ContextBuilt | TextEvent | ToolEvent | Waiting | Noticed | TurnFinished | TurnFailed
BackgroundEvent = MemoryChanged | SecretNoticed | SessionTitled | QueueChanged | UpkeepChanged | SavingChanged
Event = TurnEvent | BackgroundEvent
