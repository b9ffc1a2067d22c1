"""Finding: text and meaning together, one ranking. `memory.manager` decides what of it goes into a prompt."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.branches import route_branch
from memory.clock import Clock
from memory.config import BranchSettings
from memory.errors import NotFoundError, OrcaError
from memory.provider.base import Embedder
from memory.ranking import Background, Query, background, relative, score
from memory.store.base import Store
from memory.store.search import terms
from memory.text import language_of
from memory.types import ITEM_KINDS, Candidate, Hit, ItemKind, LongTermMemory, Message, Scope, ShortTermMemory
from memory.worth import asked_types

if TYPE_CHECKING:
    from memory.provider.base import Vectors

log = logging.getLogger(__name__)

QUERY_WAIT = 1.5
"""Seconds that a turn waits for the vector of its query before it goes on with text alone."""
POOL = 40
"""Hits taken from each index and kind before ranking."""
PROBE_POOL = 100

GetEmbedder = Callable[[], Awaitable[Embedder | None]]

_PROBES = {
    "en": (
        "How do I fix a leaking kitchen tap?",
        "Who won the match last night?",
        "The committee postponed its annual meeting.",
        "What is the boiling point of ethanol?",
        "Show me cheap flights for the holidays.",
        "A violin has four strings.",
        "Explain how vaccines are tested.",
        "The invoice was sent to the wrong department.",
    ),
    "zh": (
        "厨房的水龙头漏水怎么修？",
        "昨晚的比赛谁赢了？",
        "委员会推迟了年度会议。",
        "乙醇的沸点是多少？",
        "帮我找假期的便宜机票。",
        "小提琴有四根弦。",
        "疫苗是怎样测试的？",
        "发票寄错了部门。",
    ),
}
"""Sentences about nothing in particular: what they score against a store is its background."""


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
class QueryVector:
    """A query as the embedder sees it."""

    vector: "Vectors"
    model: str
    background: Background | None


@dataclass(frozen=True, slots=True)
class Filters:
    """Where to look. The fields are those of the store's searches."""

    session_id: str | None = None
    exclude_session: str | None = None
    scope: Scope | None = None
    branches: tuple[str, ...] | None = None


class Recall:
    """Searches a store by text and by meaning. Blocking methods are meant for a thread."""

    def __init__(self, store: Store, clock: Clock, embedder: GetEmbedder, rules: Mapping[str, BranchSettings]) -> None:
        self._store = store
        self._clock = clock
        self._embedder = embedder
        self._rules = rules
        self._probes: dict[tuple[str, str], Vectors] = {}
        self._backgrounds: dict[tuple[str, str], tuple[int, Background | None]] = {}

    async def embed_query(self, text: str, *, wait: float = QUERY_WAIT) -> QueryVector | None:
        """The query's vector; `None` when there is no embedder, it fails, or it takes longer than `wait` seconds."""
        try:
            return await asyncio.wait_for(self._embed_query(text), wait)
        except TimeoutError:
            log.warning("the query's vector was not there within %.1f s: text search only", wait)
        except OrcaError as error:
            log.warning("the query could not be embedded, text search only: %s", error)
        return None

    async def _embed_query(self, text: str) -> QueryVector | None:
        embedder = await self._embedder()
        if embedder is None:
            return None
        language = language_of(text)
        key = (embedder.model, language)
        probes = () if key in self._probes else _PROBES[language]
        vectors = await embedder.embed([text, *probes], "query")
        if probes:
            self._probes[key] = vectors[1:]
        known = await asyncio.to_thread(self._background, key)
        return QueryVector(vectors[0], embedder.model, known)

    def _background(self, key: tuple[str, str]) -> Background | None:
        """What unrelated texts score here; measured again whenever the number of vectors has doubled."""
        population = self._store.stats().get("embeddings", 0)
        measured, known = self._backgrounds.get(key, (0, None))
        if population >= 2 * measured or not measured:
            samples = [
                [c.score for c in self._store.search_vector(probe, model=key[0], kinds=ITEM_KINDS, limit=PROBE_POOL)]
                for probe in self._probes[key]
            ]
            known = background(samples, population)
            self._backgrounds[key] = (population, known)
        return known

    def find(
        self, text: str, vector: QueryVector | None, *, kinds: Sequence[ItemKind], filters: Filters, pool: int = POOL
    ) -> list[Found]:
        """Everything that text or meaning finds, ranked by `memory.ranking.score`, best first; no gate."""
        query = self.query(text)
        preferred = self._preferred(text)
        found: list[Found] = []
        for kind in kinds:
            z = self._by_vector(vector, kind, filters, pool)
            bm25 = relative((c.id, c.score) for c in self._by_text(text, kind, filters, pool))
            for item in dict.fromkeys((*z, *bm25)):
                with suppress(NotFoundError):  # erased between the search and here
                    row = self._row(kind, item)
                    found.append(
                        self.rank(row, query, z=z.get(item, 0.0), bm25=bm25.get(item, 0.0), preferred=preferred)
                    )
        return sorted(found, key=lambda f: -f.hit.parts.total)

    def query(self, text: str) -> Query:
        """Weigh a query's terms by how rare they are in the store."""
        total, frequency = self._store.document_frequency(list(dict.fromkeys(terms(text))))
        return Query.of(text, total, frequency)

    def rank(
        self, row: Row, query: Query, *, z: float = 0.0, bm25: float = 0.0, preferred: frozenset[str] = frozenset()
    ) -> Found:
        """Score one row against a query."""
        now = self._clock.now()
        memory = row if isinstance(row, LongTermMemory) else None
        timestamp = row.timestamp if isinstance(row, Message) else row.updated_at
        parts = score(
            z=z,
            bm25=bm25,
            coverage=query.coverage(row.content),
            timestamp=timestamp,
            now=now,
            importance=memory.importance if memory else 0.5,
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

    def _preferred(self, text: str) -> frozenset[str]:
        """The branches where the memories that a question asks for would lie."""
        return frozenset(route_branch("user", kind, "", self._rules) for kind in asked_types(text))

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
        )

    def _by_vector(self, vector: QueryVector | None, kind: ItemKind, filters: Filters, limit: int) -> dict[int, float]:
        """How far above the background each of the nearest is, by id."""
        if vector is None:
            return {}
        nearest = self._store.search_vector(
            vector.vector,
            model=vector.model,
            kinds=(kind,),
            limit=limit,
            session_id=filters.session_id,
            exclude_session=filters.exclude_session,
            scope=filters.scope,
            branches=filters.branches,
        )
        known = vector.background or background([[c.score for c in nearest]], len(nearest))
        return {c.id: known.z(c.score) for c in nearest} if known else {}
