"""Memories as the screen lists them: read with their numbers, by status, sorted. Blocking; no widgets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memory.curation.heat import heat
from memory.errors import NotFoundError
from memory.store.ledger import Ledger
from memory.types import LongTermMemory, MemoryEvent, MemoryStatus, Message, Session

if TYPE_CHECKING:
    from memory.curation.curator import Curator
    from memory.tokens import TokenCounter

Tab = Literal["active", "inbox", "archived", "trash", "superseded"]
TABS: dict[Tab, tuple[MemoryStatus, ...]] = {
    "active": ("active", "expired"),
    "inbox": ("pending",),
    "archived": ("archived",),
    "trash": ("trashed",),
    "superseded": ("superseded",),
}
"""The lists, and which memories are in each."""
Order = Literal["heat", "age", "tokens", "use"]
ORDERS: tuple[Order, ...] = ("age", "heat", "use", "tokens")
HISTORY = 200
"""Changes of one memory that are shown."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory with what it costs and how warm it is."""

    memory: LongTermMemory
    tokens: int
    heat: float
    """0–1."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One list, and how long each is."""

    tab: Tab
    rows: tuple[MemoryRow, ...]
    counts: dict[Tab, int]


@dataclass(frozen=True, slots=True)
class Detail:
    """All about one memory."""

    row: MemoryRow
    source: Message | None
    """The message that it was taken from."""
    session: Session | None
    """The session of that message."""
    events: tuple[MemoryEvent, ...]
    """Its changes, newest first."""


def tab_of(memory: LongTermMemory) -> Tab:
    """The list that it is in."""
    return next(tab for tab, status in TABS.items() if memory.status in status)


def in_order(rows: Sequence[MemoryRow], order: Order, *, turned: bool = False) -> list[MemoryRow]:
    """What one would look at first: newest, coldest, least used, largest; or `turned` around. Ties: the newer first."""
    keys: dict[Order, Callable[[MemoryRow], float]] = {
        "heat": lambda row: row.heat,
        "use": lambda row: row.memory.access_count,
        "tokens": lambda row: -row.tokens,
    }
    newest = sorted(rows, key=lambda row: (row.memory.updated_at, row.memory.id), reverse=True)
    if order == "age":
        return newest[::-1] if turned else newest
    return sorted(newest, key=keys[order], reverse=turned)


class MemoryReader:
    """Reads lists and details. Texts that were counted before are not counted again. One thread at a time."""

    def __init__(self, curator: "Curator", counter: "TokenCounter", now: Callable[[], str]) -> None:
        self._curator = curator
        self._counter = counter
        self._now = now
        self._counted: dict[str, int] = {}

    def listing(self, tab: Tab) -> Listing:
        """One list, newest first. Raises leaves of `StoreError`."""
        now, known = self._now(), self._counted
        memories = list(self._curator.all(status=TABS[tab]))
        self._counted = {m.content: self._tokens(m.content, known) for m in memories}
        rows = tuple(MemoryRow(m, self._counted[m.content], heat(m, now)) for m in memories)
        return Listing(tab, rows, self._counts())

    def detail(self, memory_id: int) -> Detail:
        """One memory with source and history. Raises leaves of `StoreError`."""
        store = self._curator.store
        memory = store.memory(memory_id)
        row = MemoryRow(memory, self._tokens(memory.content, self._counted), heat(memory, self._now()))
        source = session = None
        if memory.source_message_id is not None:
            try:
                source = store.message(memory.source_message_id)
                session = store.session(source.session_id)
            except NotFoundError:
                pass
        events = store.journal(kind="long_term", item_id=memory_id, limit=HISTORY)
        return Detail(row, source, session, tuple(events))

    def _tokens(self, text: str, known: dict[str, int]) -> int:
        found = known.get(text)
        return self._counter.count(text) if found is None else found

    def _counts(self) -> dict[Tab, int]:
        store = self._curator.store
        if isinstance(store, Ledger):
            by_status = store.counts()["status"]
            return {tab: sum(by_status.get(one, 0) for one in status) for tab, status in TABS.items()}
        return {tab: sum(1 for _row in self._curator.all(status=status)) for tab, status in TABS.items()}


def waiting_for_review(curator: "Curator", *, most: int = 100) -> int:
    """How many are in the inbox; counted up to `most`."""
    return len(curator.inbox(limit=most))
