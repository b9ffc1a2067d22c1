"""Full-text search in memory: which terms are in which texts, ranked by BM25 as FTS5 ranks them."""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence

from memory.store.search import index_text

MAX_TERMS = 64
"""Terms that one search looks for: the rarest."""
SATURATION = 1.2
"""BM25's k1: how soon more of the same term stops counting."""
LENGTH_WEIGHT = 0.75
"""BM25's b: how much a long text is held against it."""
LEAST_WEIGHT = 1e-6
"""What a term that is in most texts still adds."""


class TextIndex:
    """The texts of one kind of item. Not safe from several threads."""

    def __init__(self) -> None:
        self._holders: dict[str, dict[int, int]] = {}
        self._texts: dict[int, tuple[str, ...]] = {}
        self._lengths: dict[int, int] = {}
        self._all = 0

    def __len__(self) -> int:
        return len(self._texts)

    def put(self, item_id: int, text: str) -> None:
        """Index a text, in place of what the item had before."""
        self.remove(item_id)
        terms = Counter(index_text(text).split())
        self._texts[item_id] = tuple(terms)
        self._lengths[item_id] = terms.total()
        self._all += terms.total()
        for term, count in terms.items():
            self._holders.setdefault(term, {})[item_id] = count

    def remove(self, item_id: int) -> None:
        """Take an item out, if it is in."""
        for term in self._texts.pop(item_id, ()):
            holders = self._holders[term]
            del holders[item_id]
            if not holders:
                del self._holders[term]
        self._all -= self._lengths.pop(item_id, 0)

    def count(self, term: str) -> int:
        """In how many texts a term is."""
        return len(self._holders.get(term, ()))

    def search(self, wanted: Sequence[str], passes: Callable[[int], bool], limit: int) -> list[tuple[int, float]]:
        """Items that hold any of the wanted terms and pass, with their scores, best first."""
        known = sorted((term for term in wanted if term in self._holders), key=self.count)[:MAX_TERMS]
        scores: dict[int, float] = {}
        average = self._all / max(len(self._texts), 1)
        for term in known:
            holders = self._holders[term]
            weight = max(math.log((len(self) - len(holders) + 0.5) / (len(holders) + 0.5)), LEAST_WEIGHT)
            for item_id, count in holders.items():
                length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * self._lengths[item_id] / average
                score = weight * count * (SATURATION + 1) / (count + SATURATION * length)
                scores[item_id] = scores.get(item_id, 0.0) + score
        found = ((score, -item_id) for item_id, score in scores.items() if passes(item_id))
        return [(-negative, score) for score, negative in heapq.nlargest(limit, found)]
