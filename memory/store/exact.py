"""Exact search: cosines with the vectors themselves, which are read from `embeddings` for it."""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from memory.store.filters import Filter
from memory.store.rows import Row
from memory.types import Candidate, ItemKind

if TYPE_CHECKING:
    import apsw

    from memory.provider.base import Vectors

READ_AT_ONCE = 1000
"""Vectors that are in memory at a time."""


def search(
    connection: "apsw.Connection", kind: ItemKind, query: "Vectors", model: str, where: Filter, limit: int
) -> list[Candidate]:
    """The nearest of all items that pass the filter. Its time grows with their number."""
    tables, condition, values = where.source(kind)
    rows = connection.execute(
        f"""
        SELECT item.id, embedding.vector FROM {tables} JOIN embeddings AS embedding
        ON embedding.kind = '{kind}' AND embedding.item_id = item.id AND embedding.model = ? WHERE {condition}
        """,
        [model, *values],
    )
    return _nearest(kind, query, rows, limit)


def search_among(
    connection: "apsw.Connection",
    kind: ItemKind,
    query: "Vectors",
    embedding_ids: Sequence[int],
    where: Filter,
    limit: int,
) -> list[Candidate]:
    """The nearest of the items whose rows of `embeddings` are given, but those that are gone or do not pass."""
    tables, condition, values = where.source(kind)
    rows = connection.execute(
        f"""
        SELECT item.id, embedding.vector FROM json_each(?) AS wanted
        CROSS JOIN embeddings AS embedding ON embedding.id = wanted.value
        CROSS JOIN {tables} WHERE item.id = embedding.item_id AND {condition}
        """,
        [json.dumps(embedding_ids), *values],
    )
    return _nearest(kind, query, rows, limit)


def _nearest(kind: ItemKind, query: "Vectors", rows: Iterable[Row], limit: int) -> list[Candidate]:
    import numpy as np

    best: list[Candidate] = []
    remaining = iter(rows)
    while batch := list(islice(remaining, READ_AT_ONCE)):
        ids = np.array([item_id for item_id, _ in batch])
        matrix = np.frombuffer(b"".join([vector for _, vector in batch]), dtype="<f4").reshape(len(batch), len(query))
        scores = np.vecdot(matrix, query)  # On one processor: a product of matrices would wake up, and wait for, all.
        order = np.lexsort((ids, -scores))[:limit]
        best += [
            Candidate(kind, item_id, score)
            for item_id, score in zip(ids[order].tolist(), scores[order].tolist(), strict=True)
        ]
        best = sorted(best, key=nearest_first)[:limit]
    return best


def nearest_first(candidate: Candidate) -> tuple[float, int]:
    """A key to sort by: the best score, then the oldest item."""
    return -candidate.score, candidate.id
