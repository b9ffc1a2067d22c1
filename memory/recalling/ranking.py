"""One formula that ranks what recall finds, and the gate that keeps out what is not relevant.

total = z(cosine) + 3 · (BM25 / best BM25) · coverage² + context + form, and small terms for importance, recency, heat
and branch. Coverage is the share of the query's terms, weighted by rarity, that the text holds. Every part is kept.
The weights were fitted on the development half of `benchmarks/data` and rounded; `benchmarks/recall.py` measures them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pstdev
from typing import NamedTuple

from memory.clock import from_iso
from memory.recalling.question import Wanted, substance
from memory.store.search import terms
from memory.text import language_of
from memory.types import ScoreParts

TEXT_WEIGHT = 3.0
BEFORE_WEIGHT = 0.1
AFTER_WEIGHT = 0.15
ANSWER_WEIGHT = 0.5
"""A turn gains these shares of what the turns around it score; the last, as far as the one before is a question."""
QUERY_SHIFT = 0.5
"""How much of what all questions have in common is taken out of a query's vector. It is no part of the subject, and
it draws in other questions and texts that are near to everything."""
IMPORTANCE_WEIGHT = 0.4
DISTILLED = 0.8
"""What a long-term memory has before a passage of talk that says the same: it was found worth keeping, and is short."""
RECENCY_WEIGHT = 0.3
RECENCY_DAYS = 30.0
"""Days after which the recency part has fallen to a third."""
EXPIRED = -1.0
"""What stands in place of recency for a memory past its time: ranked down, not dropped."""
HEAT_WEIGHT = 0.2
BRANCH_BOOST = 0.4
MAX_Z = 6.0
MIN_COVERAGE = {"en": 0.3, "zh": 0.15}
"""Share of the query's rarity-weighted terms from which a text counts as being about it, when there are no vectors.
Chinese terms are characters and pairs of them, of which another wording keeps fewer."""
COVERED = 20_000
"""Characters of a text that are looked at for the query's terms: a pasted book is searched by its index alone."""
MIN_EVIDENCE = 2.0
"""Evidence from which an item is sure to be about the query, among `USUAL_STORE` items."""
FOLLOWING = 1.0
"""Beside a sure one, items with so much less evidence go too; without one, nothing goes."""
USUAL_STORE = 300
SMALL_STORE = 30
NOISE_SHARE = 0.75
"""The best of n unrelated texts stands out by about so much of the 1/n quantile of a normal distribution."""
PRIOR_ITEMS = 8
"""The store's background counts as much as so many cosines of the query itself."""


class Nearness(NamedTuple):
    """A cosine, in standard deviations."""

    z: float = 0.0
    """Above what the query scores with other texts: tells which is the nearest."""
    absolute: float = 0.0
    """Above what unrelated questions score: tells whether it is near at all."""

    @property
    def both(self) -> float:
        """The mean of the two."""
        return (self.z + self.absolute) / 2


@dataclass(frozen=True, slots=True)
class Background:
    """What cosines between unrelated texts look like in this store, under this embedder."""

    mean: float
    deviation: float
    threshold: float = MIN_EVIDENCE
    """Evidence from which an item is sure; more in a large store, where chance has more tries."""

    def adapted(self, cosines: Sequence[float], population: int) -> "Background":
        """The background of one query: some lie near to everything. From its best cosines among `population`."""
        if not cosines:
            return self
        count = len(cosines)
        mean, deviation = _untruncated(cosines, max(count, population))
        share = count / (count + PRIOR_ITEMS)
        return Background(
            share * mean + (1 - share) * self.mean, share * deviation + (1 - share) * self.deviation, self.threshold
        )

    def z(self, cosine: float) -> float:
        """How far above the background a cosine is, in standard deviations, between -6 and 6."""
        return max(-MAX_Z, min(MAX_Z, (cosine - self.mean) / max(self.deviation, 1e-3)))


def background(samples: Sequence[Sequence[float]], population: int) -> Background | None:
    """Estimate it from the best cosines of several unrelated probes among `population` vectors.

    A search gives only the nearest k of them, so for each probe mean and deviation of the whole are worked back from
    the top of a normal distribution. `None` when there is nothing to estimate from.
    """
    means, deviations = [], []
    for sample in samples:
        if not sample:
            continue
        mean, deviation = _untruncated(sample, population)
        means.append(mean)
        deviations.append(deviation)
    if not means:
        return None
    spread = pstdev(means) if len(means) > 1 else 0.0
    extra = NOISE_SHARE * (_chance(max(SMALL_STORE, population)) - _chance(USUAL_STORE))
    return Background(fmean(means), math.hypot(fmean(deviations), spread), MIN_EVIDENCE + extra)


def _chance(count: int) -> float:
    """How many deviations the best of so many stands out by chance."""
    return NormalDist().inv_cdf(1 - 1 / count)


def _untruncated(sample: Sequence[float], population: int) -> tuple[float, float]:
    mean, lowest, count = fmean(sample), min(sample), len(sample)
    if count >= population or count < 3:
        return mean, pstdev(sample) if count > 1 else 0.0
    share = count / population
    normal = NormalDist()
    edge = normal.inv_cdf(1 - share)
    top = normal.pdf(edge) / share
    deviation = max(0.0, (mean - lowest) / (top - edge))
    return mean - top * deviation, deviation


@dataclass(frozen=True, slots=True)
class Query:
    """A query, taken apart once."""

    text: str
    weights: Mapping[str, float]
    """Rarity of each search term in the store; sums to 1 unless there is no term."""
    wanted: Wanted

    @classmethod
    def of(cls, text: str, total: int, frequency: Mapping[str, int]) -> "Query":
        """`total` texts are in the store, each term in `frequency` of them."""
        found = set(terms(text))
        idf = {term: math.log1p((total + 1) / (1 + frequency.get(term, 0))) for term in found}
        whole = sum(idf.values()) or 1.0
        return cls(text, {term: value / whole for term, value in idf.items()}, Wanted.by(text))

    def coverage(self, text: str) -> float:
        """The rarity-weighted share of the query's terms that a text holds (in its beginning, when it is long), 0–1."""
        return min(1.0, sum(self.weights.get(term, 0.0) for term in set(terms(text[:COVERED]))))


@dataclass(frozen=True, slots=True)
class Around:
    """What the turns before and after a message score (`own`), and how much of the one before is a question."""

    before: float = 0.0
    after: float = 0.0
    question: float = 0.0

    @property
    def lent(self) -> float:
        """What the message gains by them."""
        return (BEFORE_WEIGHT + ANSWER_WEIGHT * self.question) * self.before + AFTER_WEIGHT * self.after


ALONE = Around()


def own(near: Nearness, bm25: float, coverage: float) -> float:
    """What vector and text say of one item, not below 0: what it lends to its neighbours."""
    return max(0.0, near.z + TEXT_WEIGHT * bm25 * coverage**2)


def score(
    wanted: Wanted,
    text: str,
    *,
    near: Nearness,
    bm25: float,
    coverage: float,
    timestamp: str,
    now: str,
    around: Around = ALONE,
    importance: float | None = None,
    access_count: int = 0,
    preferred_branch: bool = False,
    expired: bool = False,
) -> ScoreParts:
    """Rank one item. `near` is 0 without vectors; `bm25` is relative to the best hit of its kind, 0–1.

    `importance` is given for a long-term memory only.
    """
    days = max(0.0, (from_iso(now) - from_iso(timestamp)).total_seconds() / 86_400)
    parts = {
        "vector": near.z,
        "text": TEXT_WEIGHT * bm25 * coverage**2,
        "importance": 0.0 if importance is None else DISTILLED + IMPORTANCE_WEIGHT * importance,
        "recency": EXPIRED if expired else RECENCY_WEIGHT * math.exp(-days / RECENCY_DAYS),
        "heat": HEAT_WEIGHT * (1 - 1 / (1 + math.log1p(access_count))),
        "branch": BRANCH_BOOST if preferred_branch else 0.0,
        "context": around.lent,
        "form": substance(text) + wanted.fit(text),
    }
    evidence = near.both + parts["text"] + parts["context"] + parts["form"]
    return ScoreParts(**parts, coverage=coverage, evidence=evidence, total=sum(parts.values()))


def relevant(found: Sequence[ScoreParts], query: str, known: Background | None) -> list[bool]:
    """The gate: which of all that was found is about the query. Nothing is, unless one of them surely is.

    Without vectors (`known` is `None`) a text must cover enough of the query.
    """
    if known is None:
        least = MIN_COVERAGE[language_of(query)]
        return [parts.coverage >= least for parts in found]
    sure = max((parts.evidence for parts in found), default=0.0) >= known.threshold
    return [sure and parts.evidence >= known.threshold - FOLLOWING for parts in found]


def relative(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """BM25 of one kind's hits, by id, relative to the best of them."""
    found = dict(scores)
    best = max(found.values(), default=0.0)
    return {item: value / best if best > 0 else 0.0 for item, value in found.items()}
