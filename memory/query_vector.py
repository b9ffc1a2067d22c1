"""A query as the embedder sees it, and what its cosines are worth in this store.

Two things are measured with a few questions about nothing in particular. What they have in common is taken out of a
query's vector (`ranking.QUERY_SHIFT`); what they score against the store's texts is the background that a cosine is
compared with. Both depend on the embedder and on the language that is asked in.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.provider.base import Embedder
from memory.ranking import QUERY_SHIFT, Background, background
from memory.store.base import Store
from memory.text import language_of
from memory.types import ITEM_KINDS, ItemKind

if TYPE_CHECKING:
    from memory.provider.base import Vectors

log = logging.getLogger(__name__)

QUERY_WAIT = 1.5
"""Seconds that a turn waits for the vector of its query before it goes on with text alone."""
PROBE_POOL = 100

_COUNTED: dict[ItemKind, str] = {"message": "messages", "short_term": "short_term", "long_term": "long_term"}

GetEmbedder = Callable[[], Awaitable[Embedder | None]]

_PROBES = {
    "en": (
        "What do I like to eat for breakfast?",
        "When is the next meeting with the client?",
        "Where did we spend the summer?",
        "Who fixed the roof of the house?",
        "How much did the new phone cost?",
        "Which tool does the team use for tests?",
        "What is the name of my teacher?",
        "Why was the project delayed?",
        "How many children does she have?",
        "What did he buy at the market?",
        "When did they move to the new office?",
        "Where do I keep the documents?",
    ),
    "zh": (
        "我早餐喜欢吃什么？",
        "下一次跟客户开会是什么时候？",
        "我们夏天去哪里度假了？",
        "家里的屋顶是谁修的？",
        "新手机花了多少钱？",
        "团队用哪个工具做测试？",
        "我的老师叫什么名字？",
        "项目为什么延期？",
        "她有几个孩子？",
        "他在市场上买了什么？",
        "他们哪天搬进新办公室的？",
        "文件放在哪里？",
    ),
}


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector to search with, shape (width,), of length 1."""

    vector: "Vectors"
    model: str
    background: Background | None
    counts: Mapping[ItemKind, int] = field(default_factory=dict)
    """About how many texts of each kind there are."""


@dataclass(frozen=True, slots=True)
class _Probes:
    common: "Vectors"
    """What questions have in common, shape (width,)."""
    vectors: "Vectors"
    """The probes without it, shape (probes, width)."""


@dataclass(frozen=True, slots=True)
class _Measured:
    population: int
    counts: Mapping[ItemKind, int]
    background: Background | None


class QueryEmbedder:
    """Embeds queries. Measures an embedder at the first query of a language, and again as the store grows."""

    def __init__(self, store: Store, embedder: GetEmbedder) -> None:
        self._store = store
        self._embedder = embedder
        self._probes: dict[tuple[str, str], _Probes] = {}
        self._measured: dict[tuple[str, str], _Measured] = {}

    async def embed(self, text: str, *, wait: float = QUERY_WAIT) -> QueryVector | None:
        """The query's vector; `None` when there is no embedder, it fails, or it takes longer than `wait` seconds."""
        try:
            return await asyncio.wait_for(self._embed(text), wait)
        except TimeoutError:
            log.warning("the query's vector was not there within %.1f s: text search only", wait)
        except OrcaError as error:
            log.warning("the query could not be embedded, text search only: %s", error)
        return None

    async def _embed(self, text: str) -> QueryVector | None:
        embedder = await self._embedder()
        if embedder is None:
            return None
        language = language_of(text)
        key = (embedder.model, language)
        probes = () if key in self._probes else _PROBES[language]
        vectors = await embedder.embed([text, *probes], "query")
        if probes:
            common = QUERY_SHIFT * vectors[1:].mean(axis=0)
            self._probes[key] = _Probes(common, _unit(vectors[1:] - common))
        known = await asyncio.to_thread(self._measure, key)
        vector = _unit(vectors[0] - self._probes[key].common)
        return QueryVector(vector, embedder.model, known.background, known.counts)

    def _measure(self, key: tuple[str, str]) -> "_Measured":
        """What unrelated texts score here; measured again whenever the number of vectors has doubled."""
        stats = self._store.stats()
        population = stats.get("embeddings", 0)
        known = self._measured.get(key)
        if known is None or population >= 2 * known.population:
            samples = [
                [c.score for c in self._store.search_vector(probe, model=key[0], kinds=ITEM_KINDS, limit=PROBE_POOL)]
                for probe in self._probes[key].vectors
            ]
            counts = {kind: stats.get(name, 0) for kind, name in _COUNTED.items()}
            known = self._measured[key] = _Measured(population, counts, background(samples, population))
        return known


def _unit(vectors: "Vectors") -> "Vectors":
    """Rows of length 1."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit
