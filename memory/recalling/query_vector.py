"""A query as the embedder sees it, and what its cosines are worth in this store.

It is measured with a few questions about nothing in particular, the same in each language. What they have in common
is taken out of a query's vector (`ranking.QUERY_SHIFT`); what they score against the store's texts is the background
that a cosine is compared with. And since a text in the language of the question is nearer for that alone, a store with
texts in another language is searched a second time, with the query moved by the difference of the two.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from memory.errors import OrcaError
from memory.provider.base import Embedder
from memory.recalling.ranking import QUERY_SHIFT, Background, background
from memory.store.base import Store
from memory.text import language_of
from memory.types import ITEM_KINDS, ItemKind
from memory.writing.secrets import masked

if TYPE_CHECKING:
    from memory.provider.base import Vectors

log = logging.getLogger(__name__)

QUERY_WAIT = 1.5
"""Seconds that a query waits for its vector before it goes on with text alone, unless its caller says otherwise."""
PROBE_POOL = 100

Language = Literal["zh", "en"]
_COMMON_WORDS: dict[Language, tuple[str, ...]] = {"en": ("the", "is", "i"), "zh": ("的", "是", "我")}
"""Words that are in nearly every longer text of a language."""
_COUNTED: dict[ItemKind, str] = {"message": "messages", "short_term": "short_term", "long_term": "long_term"}

GetEmbedder = Callable[[], Awaitable[Embedder | None]]

_PROBES: "dict[Language, tuple[str, ...]]" = {
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
class Aim:
    """A query on its way to texts of one language."""

    language: Language
    vector: "Vectors"
    """Shape (width,), of length 1."""
    background: Background | None


@dataclass(frozen=True, slots=True)
class QueryVector:
    """What to search with."""

    model: str
    aims: tuple[Aim, ...]
    """One for each language of the store, that of the query first."""
    counts: Mapping[ItemKind, int] = field(default_factory=dict)
    """About how many texts of each kind there are."""

    @property
    def background(self) -> Background | None:
        """That of the query's own language."""
        return self.aims[0].background


@dataclass(frozen=True, slots=True)
class _Measured:
    population: int
    counts: Mapping[ItemKind, int]
    background: Background | None


class QueryEmbedder:
    """Embeds queries. Measures an embedder at the first query, and again as the store grows."""

    def __init__(self, store: Store, embedder: GetEmbedder) -> None:
        self._store = store
        self._embedder = embedder
        self._probes: dict[tuple[str, Language], Vectors] = {}
        self._measured: dict[tuple[str, Language, Language], _Measured] = {}

    async def embed(self, text: str, *, wait: float = QUERY_WAIT) -> QueryVector | None:
        """The query's vector; `None` when there is no embedder, it fails, or it takes longer than `wait` seconds."""
        try:
            return await asyncio.wait_for(self._embed(masked(text)), wait)
        except TimeoutError:
            log.warning("the query's vector was not there within %.1f s: text search only", wait)
        except OrcaError as error:
            log.warning("the query could not be embedded, text search only: %s", error)
        return None

    async def _embed(self, text: str) -> QueryVector | None:
        embedder = await self._embedder()
        if embedder is None:
            return None
        own = language_of(text)
        languages = await asyncio.to_thread(self._languages, own)
        new = [language for language in languages if (embedder.model, language) not in self._probes]
        vectors = await embedder.embed([text, *(probe for language in new for probe in _PROBES[language])], "query")
        at = 1
        for language in new:
            self._probes[embedder.model, language] = vectors[at : at + len(_PROBES[language])]
            at += len(_PROBES[language])
        return await asyncio.to_thread(self._aimed, vectors[0], embedder.model, languages)

    def _aimed(self, vector: "Vectors", model: str, languages: Sequence[Language]) -> QueryVector:
        own = languages[0]
        measured = [self._measure(model, own, language) for language in languages]
        aims = [
            Aim(language, self._moved(vector, model, own, language), known.background)
            for language, known in zip(languages, measured, strict=True)
        ]
        return QueryVector(model, tuple(aims), measured[0].counts)

    def _moved(self, vectors: "Vectors", model: str, own: Language, to: Language) -> "Vectors":
        """Queries of one language as if they were of another, without the share of what all questions are like."""
        common, there = (self._probes[model, language].mean(axis=0) for language in (own, to))
        return _unit(vectors - common + (1 - QUERY_SHIFT) * there)

    def _languages(self, own: Language) -> list[Language]:
        """The query's language, and the others that the store holds texts in."""
        found = [own]
        for language, words in _COMMON_WORDS.items():
            if language != own and any(self._store.document_frequency(words)[1].values()):
                found.append(language)
        return found

    def _measure(self, model: str, own: Language, to: Language) -> _Measured:
        """What unrelated texts score here; measured again whenever the number of vectors has doubled."""
        stats = self._store.stats()
        population = stats.get("embeddings", 0)
        known = self._measured.get((model, own, to))
        if known is None or population >= 2 * known.population:
            samples = [
                [c.score for c in self._store.search_vector(probe, model=model, kinds=ITEM_KINDS, limit=PROBE_POOL)]
                for probe in self._moved(self._probes[model, own], model, own, to)
            ]
            counts = {kind: stats.get(name, 0) for kind, name in _COUNTED.items()}
            known = self._measured[model, own, to] = _Measured(population, counts, background(samples, population))
        return known


def _unit(vectors: "Vectors") -> "Vectors":
    """Rows of length 1."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit
