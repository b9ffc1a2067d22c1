"""The store's protocol: everything that is kept, and nothing about how.

All methods are synchronous, safe from any thread, and each is one transaction: it happened whole, or it raised.
Async callers run them in a thread (`asyncio.to_thread`). Errors are leaves of `StoreError`; an unknown id raises
`NotFoundError`. Foreign text is stored as it came; only NUL and lone surrogates are repaired.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from memory.options import SessionOptions
from memory.store.filters import ANYTHING, Only
from memory.store.fork_store import ForkStore
from memory.store.run_store import OwnerCheck as OwnerCheck
from memory.store.run_store import RunStore
from memory.types import (
    Candidate,
    Injection,
    ItemKind,
    LongTermMemory,
    MemoryEvent,
    MemoryStatus,
    Message,
    MessageState,
    MessageType,
    NewMemory,
    Role,
    Scope,
    Session,
    SessionState,
    ShortTermMemory,
    TitleBy,
)

if TYPE_CHECKING:
    from memory.provider.base import Vectors

ROOT = 0
"""As the parent of a new message: it begins the session, beside what began it before."""


class Store(RunStore, ForkStore, Protocol):
    """Where sessions, messages, memories, runs, vectors and the journal are kept."""

    # sessions

    def create_session(
        self,
        *,
        scope: Scope | None = None,
        title: str = "",
        model: str | None = None,
        incognito: bool = False,
    ) -> Session:
        """Begin an empty session."""
        ...

    def session(self, session_id: str) -> Session:
        """One session."""
        ...

    def sessions(self, *, state: SessionState | None = "open", limit: int = 100, offset: int = 0) -> list[Session]:
        """Sessions that hold at least one message, the last changed first."""
        ...

    def find_session(self, prefix: str) -> Session:
        """The one session whose id starts with `prefix` (at least 4 characters); ambiguous or none: `NotFoundError`."""
        ...

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        model: str | None = None,
        state: SessionState | None = None,
        tip_message_id: int | None = None,
        options: SessionOptions | None = None,
    ) -> Session:
        """Change what is given; `None` leaves a field as it is. A title that is given here is the user's.

        Title, state and options leave `updated_at` as it is.
        """
        ...

    def suggest_title(self, session_id: str, title: str, *, by: TitleBy = "model") -> Session:
        """Give a session a title unless the user has given it one."""
        ...

    # messages

    def add_message(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        parent_id: int | None = None,
        state: MessageState = "complete",
        msg_type: MessageType = "normal",
        token_count: int = 0,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Append a message below `parent_id` (default: the session's tip; `ROOT`: none) and make it the tip."""
        ...

    def update_message(
        self,
        message_id: int,
        *,
        content: str | None = None,
        state: MessageState | None = None,
        token_count: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Change what is given; `metadata` is merged key by key, a key set to `None` goes. Keeps FTS in step."""
        ...

    def message(self, message_id: int) -> Message:
        """One message."""
        ...

    def path(self, session_id: str, *, tip: int | None = None, limit: int | None = None) -> list[Message]:
        """The messages from the root to `tip` (default: the session's), oldest first; only the newest `limit`."""
        ...

    def messages(self, session_id: str) -> list[Message]:
        """All messages of a session, those of every fork, the first stored first."""
        ...

    def attachments(self) -> set[str]:
        """The SHA-256 of every kept file that a message refers to."""
        ...

    def recover_interrupted(self, is_alive: OwnerCheck) -> list[Message]:
        """Mark replies left `streaming` by a process that is gone as `stopped` with `metadata.interrupted`.

        `is_alive(metadata["stream"])` tells whether the owner still writes. Returns the rows it marked.
        """
        ...

    # memories

    def add_short_term(
        self,
        session_id: str,
        content: str,
        *,
        source_count: int = 1,
        confidence: float = 0.8,
        first_message_id: int | None = None,
        last_message_id: int | None = None,
    ) -> ShortTermMemory:
        """Add a summary, journalled."""
        ...

    def short_term(self, session_id: str, *, limit: int | None = None) -> list[ShortTermMemory]:
        """The session's summaries, newest first."""
        ...

    def short_term_memory(self, memory_id: int) -> ShortTermMemory:
        """One summary."""
        ...

    def keep_short_term(self, session_id: str, keep: int, *, spare: Collection[int] = ()) -> int:
        """Remove all but the newest `keep` summaries, journalled; tells how many went.

        Those that begin at a message of `spare` stay as well.
        """
        ...

    def add_memory(self, new: NewMemory, *, actor: str, reason: str = "") -> LongTermMemory:
        """Add a long-term memory, journalled.

        An active memory of the same scope with the same `topic_key` (when one is given and the new one is active)
        is superseded in the same transaction: its status changes, the new one links to it, version + 1.
        """
        ...

    def update_memory(
        self, memory_id: int, changes: Mapping[str, Any], *, actor: str, reason: str = ""
    ) -> LongTermMemory:
        """Change fields of a memory by name, journalled with before and after. Unknown fields: `ValueError`."""
        ...

    def memory(self, memory_id: int) -> LongTermMemory:
        """One long-term memory."""
        ...

    def memories(
        self,
        *,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        limit: int = 100,
        offset: int = 0,
    ) -> list[LongTermMemory]:
        """Long-term memories, newest first. A scope sees its own and what is not tied to a project, agent or team."""
        ...

    def touch_memories(self, memory_ids: Sequence[int]) -> None:
        """Count one access each, now."""
        ...

    def journal(
        self, *, kind: ItemKind | None = None, item_id: int | None = None, limit: int = 100
    ) -> list[MemoryEvent]:
        """Changes, newest first."""
        ...

    # search

    def search_text(
        self,
        query: str,
        *,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        exclude_session: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """Full-text hits, best first. Every string is a legal query; one without a word finds nothing.

        Filters hold inside the search: at most `limit` that pass them all. `branches` and `status` apply to
        long-term memories, `session_id` and `exclude_session` to messages and summaries, `scope` and `only` to all.
        Of messages, the finished ones by user and assistant are searched. What belongs to incognito or trashed sessions
        is found only with their own `session_id`.
        """
        ...

    def search_vector(
        self,
        query: "Vectors",
        *,
        model: str,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        exclude_session: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """Nearest items by cosine, best first, among vectors that `model` made; `query` has shape (width,)."""
        ...

    def newest(
        self,
        *,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """What a search with these filters could find, the newest first; scores are 0."""
        ...

    def document_frequency(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many texts there are in all, and in how many each (normalised) term occurs: for coverage weights."""
        ...

    # embeddings

    def waiting_for_embedding(self, *, model: str, limit: int = 100) -> list[tuple[ItemKind, int, str]]:
        """Items without a vector of `model`: kind, id and text, oldest first. Finished messages of 10 characters
        or more (15 bytes: five Chinese characters) by user and assistant, all summaries (neither of incognito
        sessions), all memories not trashed."""
        ...

    def count_waiting(self, *, model: str) -> int:
        """How many items `waiting_for_embedding` would give without a limit."""
        ...

    def put_embeddings(self, items: Sequence[tuple[ItemKind, int]], vectors: "Vectors", *, model: str) -> int:
        """Store vectors (shape (len(items), width)) and their index rows, set `has_embedding`.

        Items that are gone meanwhile are left out; tells how many were stored. A row that is not finite, is zero,
        or has another width than `model`'s earlier ones: `InvalidVectorError`, nothing stored.
        """
        ...

    def embedding_model(self) -> tuple[str, int] | None:
        """The model that `has_embedding` speaks of, the last one that gave vectors, and their width; `None` before the
        first.
        """
        ...

    # provenance

    def add_injections(self, injections: Sequence[Injection]) -> None:
        """Record what a reply was given."""
        ...

    def injections(self, message_id: int) -> list[Injection]:
        """What a reply was given, by rank."""
        ...

    # the whole

    def stats(self) -> dict[str, int]:
        """Counts of `sessions`, `messages`, `short_term`, `long_term`, `embeddings`; size of the file: `bytes`."""
        ...

    def capabilities(self) -> dict[str, Any]:
        """What works here: backend, path, sqlite_version, fts5, sqlite_vec (version or reason), schema_version."""
        ...

    def close(self) -> None:
        """Finish writes and let go of the file. Safe to call twice."""
        ...
