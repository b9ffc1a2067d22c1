"""The full-text index: one FTS5 table a kind of item, kept in step in the transaction that changes the item."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.store.filters import Filter, one_of
from memory.store.rows import TABLES, Row
from memory.store.search import index_text, match_query
from memory.types import ITEM_KINDS, Candidate, ItemKind

if TYPE_CHECKING:
    import apsw

MAX_TERMS = 64
"""Terms that one search looks for: the rarest."""
HITS_BUDGET = 12_000
"""Entries of the index that one search may weigh. BM25 looks at every one of them (about 2 µs each), and very common
words add nothing to the order. The rarest term is always looked for; above the budget its hits come newest first."""
LEAST_SCORE = 1e-6
"""What BM25 gives a word that is in most texts."""


def put(connection: "apsw.Connection", kind: ItemKind, item_id: int, text: str) -> None:
    """Index a text, in place of what the item had before."""
    connection.execute(
        f"INSERT OR REPLACE INTO fts_{TABLES[kind]} (rowid, terms) VALUES (?, ?)", (item_id, index_text(text))
    )


def remove(connection: "apsw.Connection", kind: ItemKind, item_id: int) -> None:
    """Take an item out of the index, if it is in."""
    connection.execute(f"DELETE FROM fts_{TABLES[kind]} WHERE rowid = ?", (item_id,))


def search(
    connection: "apsw.Connection", kind: ItemKind, wanted: Sequence[str], where: Filter, limit: int
) -> list[Candidate]:
    """Items that hold any of the wanted terms and pass the filter, best first."""
    counts = document_counts(connection, kind, wanted)
    chosen = _choose(counts)
    if not chosen:
        return []
    index = f"fts_{TABLES[kind]}"
    score, order = f"-{index}.rank", f"{index}.rank"
    if counts[chosen[0]] > HITS_BUDGET:
        score, order = str(LEAST_SCORE), f"{index}.rowid DESC"
    tables, condition, values = where.source(kind)
    found = connection.execute(
        f"""
        SELECT item.id, {score} FROM {index} CROSS JOIN {tables}
        WHERE {index} MATCH ? AND item.id = {index}.rowid AND {condition}
        ORDER BY {order} LIMIT ?
        """,
        [match_query(chosen), *values, limit],
    )
    return [Candidate(kind, item_id, score) for item_id, score in found]


def document_counts(connection: "apsw.Connection", kind: ItemKind, terms: Sequence[str]) -> dict[str, int]:
    """In how many texts of a kind each term occurs; terms that occur in none are left out."""
    query = f"SELECT term, doc FROM fts_{TABLES[kind]}_vocabulary WHERE {one_of('term')}"
    rows: list[Row] = connection.execute(query, (json.dumps(list(terms)),)).fetchall()
    return dict(rows)


def document_frequency(connection: "apsw.Connection", terms: Sequence[str]) -> tuple[int, dict[str, int]]:
    """How many texts there are in all, and in how many each term occurs."""
    total, frequency = 0, dict.fromkeys(terms, 0)
    for kind in ITEM_KINDS:
        total += connection.execute(f"SELECT count(*) FROM fts_{TABLES[kind]}_docsize").get
        for term, count in document_counts(connection, kind, terms).items():
            frequency[term] += count
    return total, frequency


def _choose(counts: dict[str, int]) -> list[str]:
    """The rarest terms, as many as the budgets allow."""
    chosen: list[str] = []
    hits = 0
    for term, count in sorted(counts.items(), key=lambda entry: entry[1])[:MAX_TERMS]:
        if chosen and hits + count > HITS_BUDGET:
            break
        chosen.append(term)
        hits += count
    return chosen
