"""Memories as the screen lists them: read with their numbers, by status, sorted. Blocking; no widgets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from memory.curation.heat import heat
from memory.errors import NotFoundError
from memory.store.ledger import Ledger
from memory.types import LongTermMemory, MemoryEvent, MemoryStatus, Message, Session

if TYPE_CHECKING:
    from memory.curation.curator import Curator
    from memory.tokens import TokenCounter

Tab = Literal["active", "inbox", "cold", "duplicates", "archived", "trash", "superseded"]
TABS: dict[Tab, tuple[MemoryStatus, ...]] = {
    "active": ("active", "expired"),
    "inbox": ("pending",),
    "archived": ("archived",),
    "trash": ("trashed",),
    "superseded": ("superseded",),
    "duplicates": (),
    "cold": (),
}
"""The lists, and which memories are in each; the last two hold those of the active that something is proposed about:
to be archived, or that they say what an older one says."""
PROPOSED: tuple[Tab, ...] = ("cold", "duplicates")
Order = Literal["heat", "age", "tokens", "use"]
ORDERS: tuple[Order, ...] = ("age", "heat", "use", "tokens")
FIRST = 100
"""Memories that are read before the rest: more than a screen shows."""
HISTORY = 200
"""Changes of one memory that are shown."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory with what it costs and how warm it is."""

    memory: LongTermMemory
    heat: float
    """0–1."""
    size: Callable[[str], int]
    """Counts a text, or knows it."""
    like: LongTermMemory | None = None
    """The older one that says the same, in the list of duplicates."""

    @property
    def tokens(self) -> int:
        """What it costs in a prompt."""
        return self.size(self.memory.content)


@dataclass(frozen=True, slots=True)
class Listing:
    """One list, and how long each is."""

    tab: Tab
    rows: tuple[MemoryRow, ...]
    counts: dict[Tab, int]
    """Lists whose length is not known yet are left out."""
    is_whole: bool = True
    """False when only the newest are here."""


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
    """Reads lists and details. Texts that were counted before are not counted again."""

    def __init__(self, curator: "Curator", counter: "TokenCounter", now: Callable[[], str]) -> None:
        self._curator = curator
        self._counter = counter
        self._now = now
        self._counted: dict[str, int] = {}
        self._proposed: dict[Tab, int] = {}
        """How many are in the lists of `PROPOSED`, as far as it was looked."""

    def beginning(self, tab: Tab) -> Listing:
        """The newest of one list, at once; those of `PROPOSED` are always read whole. Raises leaves of `StoreError`."""
        if tab in PROPOSED:
            return self.listing(tab)
        memories = self._curator.store.memories(status=TABS[tab], limit=FIRST)
        rows = self._rows(memories)
        self.measure(rows)
        return Listing(tab, rows, self._counts(), is_whole=len(memories) < FIRST)

    def listing(self, tab: Tab) -> Listing:
        """One list, newest first, the coldest first of `cold`. Raises leaves of `StoreError`."""
        if tab == "duplicates":
            pairs = self._curator.duplicates()
            rows = tuple(
                replace(row, like=older)
                for row, (older, _newer) in zip(self._rows([newer for _older, newer in pairs]), pairs, strict=True)
            )
        elif tab == "cold":
            rows = self._rows(self._curator.cold())
        else:
            rows = self._rows(list(self._curator.all(status=TABS[tab])))
        if tab in PROPOSED:
            self._proposed[tab] = len(rows)
        return Listing(tab, rows, self._counts())

    def measure(self, rows: Sequence[MemoryRow]) -> None:
        """Count all that was not counted yet, so that nobody waits for it."""
        for row in rows:
            self._tokens(row.memory.content)

    def _rows(self, memories: Sequence[LongTermMemory]) -> tuple[MemoryRow, ...]:
        now = self._now()
        return tuple(MemoryRow(memory, heat(memory, now), self._tokens) for memory in memories)

    def detail(self, memory_id: int) -> Detail:
        """One memory with source and history. Raises leaves of `StoreError`."""
        store = self._curator.store
        memory = store.memory(memory_id)
        row = MemoryRow(memory, heat(memory, self._now()), self._tokens)
        source = session = None
        if memory.source_message_id is not None:
            try:
                source = store.message(memory.source_message_id)
                session = store.session(source.session_id)
            except NotFoundError:
                pass
        events = store.journal(kind="long_term", item_id=memory_id, limit=HISTORY)
        return Detail(row, source, session, tuple(events))

    def _tokens(self, text: str) -> int:
        found = self._counted.get(text)
        if found is None:
            found = self._counted[text] = self._counter.count(text)
        return found

    def _counts(self) -> dict[Tab, int]:
        store = self._curator.store
        if isinstance(store, Ledger):
            by_status = store.counts()["status"]
            found = {tab: sum(by_status.get(one, 0) for one in status) for tab, status in TABS.items()}
        else:
            found = {tab: sum(1 for _row in self._curator.all(status=status)) for tab, status in TABS.items()}
        for tab in PROPOSED:
            del found[tab]
        return {**found, **self._proposed}


def waiting_for_review(curator: "Curator", *, most: int = 100) -> int:
    """How many are in the inbox; counted up to `most`."""
    return len(curator.inbox(limit=most))
