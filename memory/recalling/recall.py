"""Finding: text and meaning together, one ranking. `memory.manager` decides what of it goes into a prompt."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from memory.branches import route_branch
from memory.clock import Clock
from memory.config import BranchSettings
from memory.errors import NotFoundError
from memory.recalling.query_vector import Aim, GetEmbedder, Language, QueryEmbedder, QueryVector
from memory.recalling.question import question_share
from memory.recalling.ranking import ALONE, Around, Nearness, Query, background, own, relative, score
from memory.store.base import Store
from memory.store.filters import ANYTHING, Only
from memory.store.messages import is_searched
from memory.store.search import terms
from memory.text import language_of
from memory.types import (
    FORGOTTEN,
    Candidate,
    Hit,
    ItemKind,
    LongTermMemory,
    MemoryStatus,
    Message,
    Scope,
    ShortTermMemory,
)
from memory.writing.worth import asked_types

POOL = 60
"""Hits taken from each index and kind before ranking."""
WIDE = 150
"""Nearest messages that are looked at (beside a good turn a fair one may be right), and that calibrate a query."""
RECALLED: tuple[MemoryStatus, ...] = ("active", "expired")
"""Expired memories are ranked down, not dropped."""
REACH = 10
"""Of so many of the best messages, the turns before and after are looked at though no index found them."""

FAR = Nearness()

Row = Message | ShortTermMemory | LongTermMemory


@dataclass(frozen=True, slots=True)
class Found:
    """A ranked hit with the row that it stands for."""

    hit: Hit
    row: Row

    @property
    def key(self) -> tuple[ItemKind, int]:
        """Kind and id."""
        return self.hit.kind, self.hit.id


@dataclass(frozen=True, slots=True)
class Filters:
    """Where to look. The fields are those of the store's searches."""

    session_id: str | None = None
    exclude_session: str | None = None
    scope: Scope | None = None
    branches: tuple[str, ...] | None = None
    only: Only = ANYTHING


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the indexes say of one row."""

    row: Row
    near: Nearness
    bm25: float
    coverage: float
    own: float


class _Near:
    """The nearest items of a kind, by the language that was aimed at. Each item counts as what its own language found.

    What is missing there is at most as near as the farthest that was found.
    """

    def __init__(self, found: Mapping[Language, Mapping[int, Nearness]], limit: int) -> None:
        self._found = found
        self._farthest = {
            language: min(near.values()) if near and len(near) >= limit else FAR for language, near in found.items()
        }

    def items(self) -> Iterator[int]:
        """The ids of all that were found, nearest first within a language."""
        for near in self._found.values():
            yield from near

    def to(self, row: Row) -> Nearness:
        """How near a row is."""
        if not self._found:
            return FAR
        language: Language = next(iter(self._found))
        if len(self._found) > 1 and (its := language_of(row.content)) in self._found:
            language = its
        return self._found[language].get(row.id, self._farthest[language])


class Recall:
    """Searches a store by text and by meaning. Blocking methods are meant for a thread."""

    def __init__(self, store: Store, clock: Clock, embedder: GetEmbedder, rules: Mapping[str, BranchSettings]) -> None:
        self._store = store
        self._clock = clock
        self.rules = rules
        """How branches take memories; may be replaced."""
        self._queries = QueryEmbedder(store, embedder)
        self.embed_query = self._queries.embed

    def find(
        self, text: str, vector: QueryVector | None, *, kinds: Sequence[ItemKind], filters: Filters, pool: int = POOL
    ) -> list[Found]:
        """Everything that text or meaning finds, ranked by `memory.recalling.ranking.score`, best first; no gate."""
        query = self.query(text)
        preferred = self._preferred(text)
        found = [f for kind in kinds for f in self._of_kind(kind, query, preferred, vector, filters, pool)]
        return sorted(found, key=lambda f: -f.hit.parts.total)

    def _of_kind(
        self,
        kind: ItemKind,
        query: Query,
        preferred: frozenset[str],
        vector: QueryVector | None,
        filters: Filters,
        pool: int,
    ) -> list[Found]:
        is_message = kind == "message"
        near = self._by_vector(vector, kind, filters, max(pool, WIDE) if is_message else pool)
        bm25 = relative((c.id, c.score) for c in self._by_text(query.text, kind, filters, pool))
        evidence = self._evidence(query, kind, near, bm25)
        if is_message:
            self._reach_out(evidence, near)
        around = _around(evidence) if is_message else {}
        lent = {item: around.get(item, ALONE).lent for item in evidence}
        wanted = (item for item, e in evidence.items() if _passes(e.row, filters.only))
        best = sorted(wanted, key=lambda item: -evidence[item].own - lent[item])[: 2 * pool]
        return [self._rank(evidence[item], query, around.get(item, ALONE), preferred) for item in best]

    def newest(self, *, kinds: Sequence[ItemKind], filters: Filters, limit: int) -> list[Found]:
        """What the filters let pass, the newest first."""
        found = self._store.newest(
            kinds=kinds,
            limit=limit,
            session_id=filters.session_id,
            scope=filters.scope,
            branches=filters.branches,
            status=RECALLED,
            only=filters.only,
        )
        nothing = self.query("")
        rows = []
        for candidate in found:
            with suppress(NotFoundError):
                rows.append(self.rank(self._row(candidate.kind, candidate.id), nothing))
        return rows

    def query(self, text: str) -> Query:
        """Weigh a query's terms by how rare they are in the store."""
        total, frequency = self._store.document_frequency(list(dict.fromkeys(terms(text))))
        return Query.of(text, total, frequency)

    def rank(self, row: Row, query: Query) -> Found:
        """Score a row that no index was asked for."""
        return self._rank(_Evidence(row, FAR, 0.0, query.coverage(row.content), 0.0), query, ALONE, frozenset())

    def _rank(self, evidence: _Evidence, query: Query, around: Around, preferred: frozenset[str]) -> Found:
        row = evidence.row
        now = self._clock.now()
        memory = row if isinstance(row, LongTermMemory) else None
        timestamp = row.timestamp if isinstance(row, Message) else row.updated_at
        parts = score(
            query.wanted,
            row.content,
            near=evidence.near,
            bm25=evidence.bm25,
            coverage=evidence.coverage,
            timestamp=timestamp,
            now=now,
            around=around,
            importance=memory.importance if memory else None,
            access_count=memory.access_count if memory else 0,
            preferred_branch=memory is not None and memory.branch in preferred,
            expired=memory is not None and memory.expires_at is not None and memory.expires_at <= now,
        )
        hit = Hit(
            kind="long_term" if memory else "message" if isinstance(row, Message) else "short_term",
            id=row.id,
            text=row.content,
            timestamp=timestamp,
            session_id=row.source_session if isinstance(row, LongTermMemory) else row.session_id,
            role=row.role if isinstance(row, Message) else None,
            branch=memory.branch if memory else None,
            parts=parts,
        )
        return Found(hit, row)

    def before(self, message: Message) -> Message | None:
        """The turn that a message answers."""
        return self._message(message.parent_id) if message.parent_id else None

    def after(self, message: Message) -> Message | None:
        """The turn that answers a message, when it is the next one that was stored."""
        answer = self._message(message.id + 1)
        return answer if answer and answer.parent_id == message.id else None

    def _message(self, message_id: int) -> Message | None:
        with suppress(NotFoundError):
            message = self._store.message(message_id)
            spoken, forgotten = message.content.strip(), message.metadata.get(FORGOTTEN)
            if spoken and is_searched(message.role, message.state, message.metadata) and not forgotten:
                return message
        return None

    def _evidence(self, query: Query, kind: ItemKind, near: "_Near", bm25: Mapping[int, float]) -> dict[int, _Evidence]:
        """What was found with its row."""
        evidence = {}
        for item in dict.fromkeys((*near.items(), *bm25)):
            with suppress(NotFoundError):  # erased between the search and here
                row = self._row(kind, item)
                place, by_text = near.to(row), bm25.get(item, 0.0)
                coverage = query.coverage(row.content) if by_text else 0.0
                evidence[item] = _Evidence(row, place, by_text, coverage, own(place, by_text, coverage))
        return evidence

    def _reach_out(self, evidence: dict[int, _Evidence], near: "_Near") -> None:
        """Add the turns around the best messages."""
        best = sorted(evidence.values(), key=lambda e: -e.own)[:REACH]
        for one in best:
            if isinstance(one.row, Message):
                for row in (self.before(one.row), self.after(one.row)):
                    if row and row.id not in evidence:
                        place = near.to(row)
                        evidence[row.id] = _Evidence(row, place, 0.0, 0.0, own(place, 0.0, 0.0))

    def _preferred(self, text: str) -> frozenset[str]:
        """The branches where the memories that a question asks for would lie."""
        return frozenset(route_branch("user", kind, "", self.rules) for kind in asked_types(text))

    def _row(self, kind: ItemKind, item: int) -> Row:
        if kind == "message":
            return self._store.message(item)
        return self._store.memory(item) if kind == "long_term" else self._store.short_term_memory(item)

    def _by_text(self, text: str, kind: ItemKind, filters: Filters, limit: int) -> list[Candidate]:
        return self._store.search_text(
            text,
            kinds=(kind,),
            limit=limit,
            session_id=filters.session_id,
            exclude_session=filters.exclude_session,
            scope=filters.scope,
            branches=filters.branches,
            status=RECALLED,
            only=filters.only,
        )

    def _by_vector(self, vector: QueryVector | None, kind: ItemKind, filters: Filters, limit: int) -> "_Near":
        if vector is None:
            return _Near({}, limit)
        limit = max(POOL, limit // len(vector.aims))
        return _Near({aim.language: self._nearest(aim, vector, kind, filters, limit) for aim in vector.aims}, limit)

    def _nearest(
        self, aim: Aim, vector: QueryVector, kind: ItemKind, filters: Filters, limit: int
    ) -> dict[int, Nearness]:
        nearest = self._store.search_vector(
            aim.vector,
            model=vector.model,
            kinds=(kind,),
            limit=max(limit, WIDE),
            session_id=filters.session_id,
            exclude_session=filters.exclude_session,
            scope=filters.scope,
            branches=filters.branches,
            status=RECALLED,
            only=filters.only,
        )
        cosines = [c.score for c in nearest]
        known = aim.background or background([cosines], len(nearest))
        if known is None:
            return {}
        whole = vector.counts.get(kind, 0) if len(nearest) >= WIDE else len(nearest)
        here = known.adapted(cosines, whole)
        return {c.id: Nearness(here.z(c.score), known.z(c.score)) for c in nearest[:limit]}


def _passes(row: Row, only: Only) -> bool:
    """What stands around a message was not asked for by itself."""
    return not isinstance(row, Message) or only.passes(row.timestamp, row.role)


def _around(evidence: Mapping[int, _Evidence]) -> dict[int, Around]:
    """What the found turns before and after each found message say."""
    after: dict[int, float] = {}
    for e in evidence.values():
        if isinstance(e.row, Message) and e.row.parent_id:
            after[e.row.parent_id] = max(after.get(e.row.parent_id, 0.0), e.own)
    around = {}
    for item, e in evidence.items():
        before = evidence.get(e.row.parent_id or 0) if isinstance(e.row, Message) else None
        share = question_share(before.row.content) if before else 0.0
        around[item] = Around(before.own if before else 0.0, after.get(item, 0.0), share)
    return around
