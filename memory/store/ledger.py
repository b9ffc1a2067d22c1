"""What a store offers beyond `Store` when it keeps a whole journal: acts, undoing, erasing, upkeep and ratings.

`SQLiteStore` does. The fallback on plain files does not: memory can be read and written there, not undone.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from memory.store.base import Store
from memory.store.proposals import Dismissal, Proposal
from memory.store.upkeep_log import Dropped, MaintenanceRun
from memory.types import LongTermMemory, MemoryEvent, ShortTermMemory


@runtime_checkable
class Ledger(Store, Protocol):
    """A store with a journal that can be taken back. The rules of `Store` hold: synchronous, any thread."""

    def act(self) -> AbstractContextManager[None]:
        """All that this thread writes in the block is one transaction, and one act in the journal."""
        ...

    def changes(
        self,
        *,
        act: int | None = None,
        after: str | None = None,
        until: str | None = None,
        below: int | None = None,
        limit: int = 1000,
    ) -> list[MemoryEvent]:
        """Journalled changes, newest first: of one act, after a time, up to a time, with an id below."""
        ...

    def put_back(
        self,
        memory_id: int,
        changes: Mapping[str, Any],
        *,
        action: str,
        actor: str,
        reason: str,
        undoes: int | None = None,
    ) -> LongTermMemory:
        """Give fields of a memory the values that they had, journalled as `action`."""
        ...

    def insert_memory(self, memory: LongTermMemory, *, actor: str, reason: str = "") -> LongTermMemory:
        """Add a memory as it was elsewhere, under a new id: times, version and counts are kept; journalled."""
        ...

    def remove_summary(
        self, summary_id: int, *, action: str = "remove", actor: str, reason: str, undoes: int | None = None
    ) -> ShortTermMemory:
        """Take a summary out of its session; the journal keeps it."""
        ...

    def put_back_summary(
        self, summary: ShortTermMemory, *, action: str, actor: str, reason: str, undoes: int | None = None
    ) -> None:
        """Bring a summary that was removed back as it was, under its old id."""
        ...

    def mark_forgotten(
        self,
        message_id: int,
        forgotten: bool,
        *,
        action: str = "forget",
        actor: str,
        reason: str,
        undoes: int | None = None,
    ) -> None:
        """Keep a message out of prompts and searches, or let it in again; journalled. It stays in the conversation."""
        ...

    def erase(
        self, memory_ids: Sequence[int], *, message_ids: Iterable[int] = (), actor: str, reason: str = ""
    ) -> list[str]:
        """Erase memories for good, and blank messages with the summaries that cover them.

        Gives the files beside the database that are copies from before and may still hold the text.
        """
        ...

    def erase_session(self, session_id: str, *, actor: str, reason: str = "") -> list[str]:
        """Erase a session for good, with all its messages, summaries, runs, ratings, vectors and index entries.

        Long-term memories stay. Gives the files beside the database that may still hold the text.
        """
        ...

    def rate(
        self,
        message_id: int,
        rating: int,
        *,
        note: str = "",
        action: str = "rate",
        actor: str,
        undoes: int | None = None,
    ) -> None:
        """Rate a reply -1 or 1; 0 takes the ratings away. Journalled."""
        ...

    def rating(self, message_id: int) -> int:
        """The last rating of a reply: -1, 1, or 0 when there is none."""
        ...

    def dismiss(self, what: Proposal, items: Iterable[tuple[int, ...]]) -> None:
        """Do not propose these again: a memory to be archived, or a pair that says the same."""
        ...

    def dismissed(self, what: Proposal) -> set[tuple[int, ...]]:
        """What is not to be proposed."""
        ...

    def last_dismissal(self) -> Dismissal | None:
        """What was turned down last; `None` when nothing is."""
        ...

    def propose_again(self, dismissal: Dismissal) -> None:
        """Take a dismissal back."""
        ...

    def add_run(self, *, started_at: str, started_by: str, counts: Mapping[str, int], problem: str) -> MaintenanceRun:
        """Record a run of upkeep that ends now."""
        ...

    def runs(self, *, limit: int = 10) -> list[MaintenanceRun]:
        """The last runs, newest first."""
        ...

    def count_dropped(self, what: str, reason: str) -> None:
        """Count one summary or extraction that was not used."""
        ...

    def dropped(self) -> list[Dropped]:
        """What was dropped, the most frequent first."""
        ...

    def counts(self) -> dict[str, dict[str, int]]:
        """How many memories by `status` and (active ones) by `branch`, messages by `role`, `vectors` by model."""
        ...

    def compact_vectors(self, holes: float = 1 / 3) -> int:
        """Build the vec0 tables again when more than the share `holes` of one is gone; tells how many had it."""
        ...
