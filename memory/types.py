"""The frozen values that the core speaks in: rows as they are stored, and what recall and budget say of them.

All sizes are in tokens unless a field says otherwise; all times are UTC ISO-8601 (`memory.clock`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from memory.options import SessionOptions

Role = Literal["user", "assistant", "system", "tool"]
MessageType = Literal["normal", "fact", "todo", "decision", "preference", "error"]
MessageState = Literal["complete", "streaming", "stopped", "failed"]
RunState = Literal["running", "complete", "stopped", "failed"]
SessionState = Literal["open", "archived", "trashed"]
TitleBy = Literal["words", "model", "user"]
MemoryType = Literal["preference", "fact", "decision", "project", "event", "skill", "constraint"]
MemorySource = Literal["user", "agent", "system", "knowledge", "tool"]
MemoryStatus = Literal["active", "superseded", "archived", "expired", "trashed", "pending"]
Tier = Literal["working", "short_term", "long_term"]
ItemKind = Literal["message", "short_term", "long_term"]
"""What an embedding, a text row or an injection belongs to: one of the three searchable tables."""
WindowSource = Literal["served", "configured", "estimated"]

FORGOTTEN = "forgotten"
"""Key in the metadata of a message that goes into no prompt and no search any more, as the user asked."""
WITHOUT_MEMORY = "without_memory"
"""Key in the metadata of a reply that the user asked for without memory."""
ITEM_KINDS: tuple[ItemKind, ...] = ("message", "short_term", "long_term")


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is. `None` in a field means: not tied to one."""

    user_id: str = "default"
    project: str | None = None
    agent_id: str | None = None
    team_id: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation."""

    id: str
    title: str
    """Empty until somebody names it; the screen then shows the first words."""
    user_id: str
    project: str | None
    agent_id: str | None
    model: str | None
    tip_message_id: int | None
    """Newest message on the chosen path; `None` while the session is empty."""
    state: SessionState
    incognito: bool
    created_at: str
    updated_at: str
    title_by: TitleBy = "words"
    """Where the title is from; `words`: the first ones that were typed."""
    options: SessionOptions = field(default_factory=SessionOptions)

    @property
    def scope(self) -> Scope:
        """The scope that memories of this session get."""
        return Scope(self.user_id, self.project, self.agent_id)


@dataclass(frozen=True, slots=True)
class Message:
    """One row of `main_messages`."""

    id: int
    session_id: str
    role: Role
    content: str
    msg_type: MessageType
    token_count: int
    has_embedding: bool
    timestamp: str
    metadata: Mapping[str, Any]
    """Free facts as JSON: `reasoning`, `usage`, `model`, `error`, `interrupted`, `stream` (owner and heartbeat)."""
    parent_id: int | None
    state: MessageState


@dataclass(frozen=True, slots=True)
class ShortTermMemory:
    """A summary of one or more turns of a session."""

    id: int
    session_id: str
    content: str
    source_count: int
    confidence: float
    created_at: str
    updated_at: str
    first_message_id: int | None
    last_message_id: int | None


@dataclass(frozen=True, slots=True)
class LongTermMemory:
    """Something that outlives its session. `None` scope fields mean: not tied to one."""

    id: int
    content: str
    memory_type: MemoryType
    source_session: str | None
    confidence: float
    access_count: int
    last_accessed: str | None
    expires_at: str | None
    created_at: str
    updated_at: str
    user_id: str
    project: str | None
    agent_id: str | None
    team_id: str | None
    branch: str
    source: MemorySource
    importance: float
    status: MemoryStatus
    pinned: bool
    topic_key: str | None
    version: int
    supersedes: int | None
    merged_from: tuple[int, ...]
    source_message_id: int | None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A long-term memory that is to be written. The store fills in id, times, version and the journal."""

    content: str
    memory_type: MemoryType
    branch: str
    source: MemorySource
    scope: Scope = field(default_factory=Scope)
    status: MemoryStatus = "active"
    confidence: float = 0.5
    importance: float = 0.5
    expires_at: str | None = None
    topic_key: str | None = None
    source_session: str | None = None
    source_message_id: int | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """One row of the journal: a change of a memory with what was before and what came after."""

    id: int
    kind: ItemKind
    item_id: int
    action: str
    """`add`, `update`, `supersede`, `archive`, `trash`, `restore`, `erase`, `undo` …"""
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    actor: str
    """`user`, `maintenance` (what the user said in a conversation), `upkeep`, `import` …"""
    reason: str
    timestamp: str
    batch: int | None = None
    """Id of the first change of the act that this belongs to. Changes of one act are undone together."""
    undoes: int | None = None
    """The act that this takes back."""

    @property
    def act(self) -> int:
        """The act that this belongs to: changes made together, in one transaction."""
        return self.batch or self.id


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Why an item was ranked where it was. Every part is what it added to `total`; no unit."""

    vector: float = 0.0
    text: float = 0.0
    coverage: float = 0.0
    """Share of the query's terms found in the text, 0–1. It gates `text` and is not added itself."""
    importance: float = 0.0
    recency: float = 0.0
    heat: float = 0.0
    branch: float = 0.0
    context: float = 0.0
    """Messages only: how well the turns before and after fit."""
    form: float = 0.0
    """Whether the text looks like an answer: a statement of some length that holds the kind of thing asked for."""
    evidence: float = 0.0
    """How much of all this speaks for the item at all. The gate looks at it; it is not added."""
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One hit of a single index, before ranking. `score` is the index's own: cosine for vectors, BM25 ≥ 0 for text."""

    kind: ItemKind
    id: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked result of recall or search. Only messages have a `role`, only long-term memories a `branch`."""

    kind: ItemKind
    id: int
    text: str
    timestamp: str
    session_id: str | None
    role: Role | None
    branch: str | None
    parts: ScoreParts


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """How many tokens the model takes, and how sure that is."""

    tokens: int
    source: WindowSource


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing that goes into a prompt (or would)."""

    tier: Tier
    kind: ItemKind
    id: int
    text: str
    tokens: int
    timestamp: str
    role: Role | None = None
    branch: str | None = None
    parts: ScoreParts | None = None
    """`None` for what is there by its age alone (working memory)."""


@dataclass(frozen=True, slots=True)
class TierUse:
    """What one tier put into the prompt."""

    tier: Tier
    used: int
    budget: int
    items: tuple[ContextItem, ...]
    left_out: int
    """How many candidates did not fit or did not rank."""


@dataclass(frozen=True, slots=True)
class ContextReport:
    """Where the tokens of one prompt go. `tiers` holds working, short_term, long_term in this order."""

    window: ContextWindow
    budget: int
    """Tokens that memory may use in all: the configured share of the window."""
    system_tokens: int
    prompt_tokens: int
    """The whole prompt: system, tiers, fence and newest message."""
    tiers: tuple[TierUse, TierUse, TierUse]
    by_meaning: bool = True
    """False when words alone decided what was recalled: the vector of the question was not there (in time)."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One row of `injections`: an item that was put into the prompt of the reply `message_id`."""

    message_id: int
    kind: ItemKind
    item_id: int
    tier: Tier
    rank: int
    tokens: int
    parts: ScoreParts


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `estimated` is true when the server did not say."""

    prompt_tokens: int
    completion_tokens: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class SubagentRun:
    """One row of `subagent_messages`: what a subagent did for one task."""

    id: int
    parent_msg_id: int
    """The message of the main conversation that called for it."""
    parent_run_id: int | None
    """The run that called for it; `None` when the main conversation did."""
    session_id: str
    agent_name: str
    role: Role
    """`assistant`, or `system` when `content` is an error instead of a reply."""
    content: str
    """The whole final reply, at most 10,000 tokens; empty while it runs."""
    timestamp: str
    task: str
    state: RunState
    token_count: int
    """Tokens that the run itself used, prompt and reply of all its requests."""
    subtree_tokens: int
    """Those of the run and of all runs below it."""
    truncated: bool
    """The reply was longer, and was cut."""
    started_at: str
    ended_at: str | None
