"""What the parts of `memory.curation.curator.Curator` stand on: the store, the rules, and one act a method."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from memory.branches import expiry, route_branch
from memory.clock import Clock
from memory.config import MemorySettings
from memory.curation.history import History, TakenBack
from memory.errors import NotFoundError, OrcaError, StoreError
from memory.store.base import Store
from memory.store.ledger import Ledger
from memory.types import LongTermMemory, MemorySource, MemoryStatus, MemoryType, NewMemory, Scope

USER = "user"
MAX_CONTENT = 20_000
"""Characters of one memory."""
PAGE = 500


class CuratorBase:
    """Synchronous; safe from any thread."""

    def __init__(
        self,
        store: Store,
        settings: MemorySettings,
        clock: Clock,
        *,
        changed: Callable[[Sequence[int]], None] = lambda ids: None,  # noqa: ARG005
    ) -> None:
        self.store = self._store = store
        self._settings = settings
        self._clock = clock
        self._changed = changed

    def use_settings(self, settings: MemorySettings) -> None:
        """Go by these from now on."""
        self._settings = settings

    @property
    def ledger(self) -> Ledger:
        """The store with its journal. Raises `StoreError` when it runs on plain files."""
        if not isinstance(self._store, Ledger):
            raise StoreError(
                "Without the database there is no history to work with.",
                hint="`orca-tui doctor` tells what is wrong with it.",
            )
        return self._store

    @property
    def history(self) -> History:
        """Undo and rollback."""
        return History(self.ledger)

    def told_changed(self, taken: Sequence[TakenBack]) -> None:
        """Say that memories were put back, by whatever means."""
        self._changed([one.id for one in taken if one.kind == "long_term"])

    @property
    def default_scope(self) -> Scope:
        """Whose memory is meant when nobody says."""
        return Scope(self._settings.user_id, self._settings.project or None)

    def all(
        self, *, scope: Scope | None = None, status: Sequence[MemoryStatus] | None = ("active",)
    ) -> Iterator[LongTermMemory]:
        """Every memory in a status, newest first."""
        offset = 0
        while rows := self._store.memories(scope=scope, status=status, limit=PAGE, offset=offset):
            yield from rows
            offset += len(rows)

    def existing(self, ids: Sequence[int]) -> Iterator[LongTermMemory]:
        """The memories with these ids that have not been erased."""
        for one in dict.fromkeys(ids):
            try:
                yield self._store.memory(one)
            except NotFoundError:
                continue

    def by_hand(self, memory: LongTermMemory) -> bool:
        """Whether the user wrote, edited or pinned it; then automatisms leave it alone."""
        return memory.pinned or any(e.actor == USER for e in self._store.journal(kind="long_term", item_id=memory.id))

    def _act(self) -> AbstractContextManager[None]:
        return self._store.act() if isinstance(self._store, Ledger) else nullcontext()

    def _told(self, memory: LongTermMemory) -> LongTermMemory:
        self._changed([memory.id])
        return memory

    def _update(self, memory_id: int, changes: dict[str, Any], reason: str) -> LongTermMemory:
        return self._told(self._store.update_memory(memory_id, changes, actor=USER, reason=reason))

    def _set_status(self, ids: Sequence[int], status: MemoryStatus, reason: str) -> list[LongTermMemory]:
        with self._act():
            rows = [
                self._store.update_memory(one, {"status": status}, actor=USER, reason=reason)
                for one in dict.fromkeys(ids)
            ]
        self._changed([row.id for row in rows])
        return rows

    def _pending(self, memory_id: int) -> LongTermMemory:
        row = self._store.memory(memory_id)
        if row.status != "pending":
            raise OrcaError(f"Memory {memory_id} does not wait for review; it is {row.status}.")
        return row

    def _was_pending(self, row: LongTermMemory) -> bool:
        for event in self._store.journal(kind="long_term", item_id=row.id):
            if event.before and event.after and event.before["status"] != event.after["status"] == row.status:
                return bool(event.before["status"] == "pending")
        return False

    def _activate(self, row: LongTermMemory, reason: str) -> LongTermMemory:
        """Make it the active memory of its topic."""
        now = self._clock.now()
        changes: dict[str, Any] = {"status": "active"}
        if row.expires_at is not None and row.expires_at <= now:
            changes["expires_at"] = expiry(row.branch, self._settings.branches, now)
        with self._act():
            rivals = self._rivals(row)
            for rival in rivals:
                why = f"superseded by memory {row.id}: {reason}"
                self._store.update_memory(rival.id, {"status": "superseded"}, actor=USER, reason=why)
            if rivals:
                changes["version"] = max(row.version, *(rival.version + 1 for rival in rivals))
            if rivals and row.status == "pending":
                changes["supersedes"] = rivals[0].id
            return self._update(row.id, changes, reason)

    def _rivals(self, row: LongTermMemory) -> list[LongTermMemory]:
        """Active memories of the same topic in exactly the same scope."""
        if row.topic_key is None:
            return []
        scope = scope_of(row)
        active = self.all(scope=scope)
        return [r for r in active if r.topic_key == row.topic_key and r.id != row.id and scope_of(r) == scope]

    def _weigh(self, memory_id: int, step: float, branch: str | None, reason: str) -> LongTermMemory:
        row = self._store.memory(memory_id)
        changes: dict[str, Any] = {"importance": round(min(1.0, max(0.0, row.importance + step)), 4)}
        if branch is not None and branch != row.branch:
            self._check_branch(branch)
            changes |= {"branch": branch, "expires_at": expiry(branch, self._settings.branches, self._clock.now())}
        return self._update(memory_id, changes, reason)

    def _check_branch(self, branch: str) -> None:
        if branch not in self._settings.branches:
            known = ", ".join(self._settings.branches)
            raise OrcaError(f"There is no branch {branch!r}.", hint=f"Branches: {known}")

    def _new(
        self,
        content: str,
        memory_type: MemoryType,
        source: MemorySource,
        scope: Scope | None,
        *,
        status: MemoryStatus = "active",
        confidence: float = 0.9,
        importance: float = 0.5,
        topic_key: str | None = None,
        pinned: bool = False,
        source_session: str | None = None,
        source_message_id: int | None = None,
    ) -> NewMemory:
        content = checked(content)
        branch = route_branch(source, memory_type, content, self._settings.branches)
        return NewMemory(
            content=content,
            memory_type=memory_type,
            branch=branch,
            source=source,
            scope=scope or self.default_scope,
            status=status,
            confidence=confidence,
            importance=importance,
            expires_at=expiry(branch, self._settings.branches, self._clock.now()),
            topic_key=topic_key,
            source_session=source_session,
            source_message_id=source_message_id,
            pinned=pinned,
        )


def checked(content: str) -> str:
    """The text of a memory, trimmed. Raises `OrcaError` when it is empty or too long."""
    content = content.strip()
    if not content:
        raise OrcaError("A memory needs a text.")
    if len(content) > MAX_CONTENT:
        raise OrcaError(f"A memory takes at most {MAX_CONTENT} characters; this has {len(content)}.")
    return content


def scope_of(row: LongTermMemory) -> Scope:
    """Whose memory it is."""
    return Scope(row.user_id, row.project, row.agent_id, row.team_id)
