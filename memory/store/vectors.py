"""Vectors as they are kept with their codes, and the vec0 tables beside them.

`embeddings` is the truth. The vec0 tables are an index that can be dropped and filled again from it at any time: they
hold everything of the current model up to `embedding_models.indexed_to`. A row of `embeddings` is never changed, only
replaced by one with a higher id, so what is above that mark is exactly what the index does not know yet.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.errors import InvalidVectorError
from memory.store.codes import Coder, measure_centre
from memory.store.filters import Filter
from memory.store.rows import TABLES, Row
from memory.types import ITEM_KINDS, Candidate, ItemKind

if TYPE_CHECKING:
    import apsw

    from memory.provider.base import Vectors

MAX_K = 4096
"""Neighbours that a vec0 table gives at most."""
CENTRE_ROWS = 1000
"""Vectors that it takes to measure what a model's vectors have in common."""
CATCH_UP_ROWS = 2000
"""Rows that one transaction adds to an index that has fallen behind: well under a second."""


def checked(vectors: Any, count: int) -> "Vectors":
    """Vectors of shape (count, width) as float32, each brought to length 1. Raises `InvalidVectorError`."""
    import numpy as np

    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidVectorError(f"The vectors are not numbers of one width: {error}.") from error
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.shape[1] == 0:
        raise InvalidVectorError(f"Expected {count} vectors, got an array of shape {matrix.shape}.")
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise InvalidVectorError("A vector holds a value that is not a number or is infinite.")
    if (lengths < 1e-12).any():
        raise InvalidVectorError("A vector has length zero.")
    unit: Vectors = (matrix / lengths).astype(np.float32)
    return unit


def current_model(connection: "apsw.Connection") -> tuple[str, int] | None:
    """The model whose vectors `has_embedding` and the index speak of, and its width; `None` before the first."""
    query = "SELECT model, width FROM embedding_models WHERE table_name = 'embeddings'"
    row: tuple[str, int] | None = connection.execute(query).fetchone()
    return row


def index_is_current(connection: "apsw.Connection", model: str) -> bool:
    """Whether the vec0 tables hold every vector of `model`."""
    current = current_model(connection)
    mark = _index_mark(connection, *current) if current and current[0] == model else None
    if mark is None:
        return False
    return not connection.execute(
        "SELECT EXISTS (SELECT 1 FROM embeddings WHERE id > ? AND +model = ?)", (mark, model)
    ).get


def catch_up(connection: "apsw.Connection", limit: int = CATCH_UP_ROWS) -> None:
    """Add up to `limit` vectors of the current model that the vec0 tables miss. Needs the extension, and a write."""
    current = current_model(connection)
    if current is None:
        return
    mark = _make_tables(connection, *current)
    rows: list[Row] = connection.execute(
        "SELECT id, kind, item_id, vector FROM embeddings WHERE id > ? AND +model = ? ORDER BY id LIMIT ?",
        (mark, current[0], limit),
    ).fetchall()
    for _, kind, item_id, vector in rows:
        connection.execute(f"DELETE FROM vec_{TABLES[kind]} WHERE item_id = ?", (item_id,))
        connection.execute(f"INSERT INTO vec_{TABLES[kind]} (item_id, embedding) VALUES (?, ?)", (item_id, vector))
    if rows:
        connection.execute("UPDATE embedding_models SET indexed_to = ? WHERE table_name LIKE 'vec_%'", (rows[-1][0],))


def remove_from_index(connection: "apsw.Connection", kind: ItemKind, item_ids: Sequence[int]) -> None:
    """Take items out of a vec0 table, if there is one. Needs the extension."""
    table = f"vec_{TABLES[kind]}"
    if not connection.table_exists("main", table):
        return
    for item_id in item_ids:
        connection.execute(f"DELETE FROM {table} WHERE item_id = ?", (item_id,))


def search_index(
    connection: "apsw.Connection", kind: ItemKind, query: "Vectors", where: Filter, limit: int
) -> list[Candidate]:
    """The nearest items that pass the filter, by a vec0 table that is current. Its time grows with the table."""
    tables, condition, values = where.source(kind)
    found = connection.execute(
        f"""
        SELECT item_id, distance FROM vec_{TABLES[kind]}
        WHERE embedding MATCH ? AND k = ? AND item_id IN (SELECT item.id FROM {tables} WHERE {condition})
        ORDER BY distance
        """,
        [query.astype("<f4").tobytes(), min(limit, MAX_K), *values],
    )
    return [Candidate(kind, item_id, 1.0 - distance) for item_id, distance in found]


def are_few(connection: "apsw.Connection", kind: ItemKind, model: str, limit: int) -> bool:
    """Whether there are at most `limit` vectors of a kind and model."""
    more = connection.execute(
        "SELECT 1 FROM embeddings INDEXED BY embeddings_codes WHERE model = ? AND kind = ? LIMIT 1 OFFSET ?",
        (model, kind, limit),
    )
    return more.fetchone() is None


def stored_centre(connection: "apsw.Connection", model: str, width: int) -> "Vectors | None":
    """What the codes of a model's vectors are made around; `None` while there are too few vectors to tell."""
    import numpy as np

    query = "SELECT centre FROM embedding_centres WHERE model = ? AND width = ?"
    centre: bytes | None = connection.execute(query, (model, width)).get
    return None if centre is None else np.frombuffer(centre, dtype="<f4")


def codes_are_missing(connection: "apsw.Connection", model: str, width: int) -> bool:
    """Whether there are vectors that could have a code and have none."""
    query = "SELECT EXISTS (SELECT 1 FROM embeddings WHERE model = ? AND code = x'')"
    if not connection.execute(query, (model,)).get:
        return False
    return stored_centre(connection, model, width) is not None or _are_enough(connection, model)


def catch_up_codes(connection: "apsw.Connection", limit: int = CATCH_UP_ROWS) -> None:
    """Give up to `limit` vectors of the current model the codes that they miss. Needs a write."""
    import numpy as np

    current = current_model(connection)
    if current is None:
        return
    model, width = current
    centre = stored_centre(connection, model, width)
    if centre is None:
        centre = _make_centre(connection, model, width)
    if centre is None:
        return
    rows: list[Row] = connection.execute(
        "SELECT id, vector FROM embeddings WHERE model = ? AND code = x'' LIMIT ?", (model, limit)
    ).fetchall()
    if rows:
        matrix = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), width)
        codes = Coder(centre).encode(matrix)
        connection.executemany(
            "UPDATE embeddings SET code = ? WHERE id = ?",
            [(code, row_id) for code, (row_id, _) in zip(codes, rows, strict=True)],
        )


def _make_centre(connection: "apsw.Connection", model: str, width: int) -> "Vectors | None":
    """Measure and keep the centre of a model's first vectors, once there are enough of them."""
    import numpy as np

    if not _are_enough(connection, model):
        return None
    # The plus keeps SQLite from sorting all by an index instead of reading the first by their ids.
    first = connection.execute(
        "SELECT vector FROM embeddings WHERE +model = ? ORDER BY id LIMIT ?", (model, CENTRE_ROWS)
    )
    matrix = np.frombuffer(b"".join(vector for (vector,) in first), dtype="<f4").reshape(-1, width)
    centre = measure_centre(matrix)
    connection.execute(
        "INSERT OR REPLACE INTO embedding_centres (model, width, centre) VALUES (?, ?, ?)",
        (model, width, centre.astype("<f4").tobytes()),
    )
    return centre


def _are_enough(connection: "apsw.Connection", model: str) -> bool:
    last = connection.execute("SELECT 1 FROM embeddings WHERE model = ? LIMIT 1 OFFSET ?", (model, CENTRE_ROWS - 1))
    return last.fetchone() is not None


def _make_tables(connection: "apsw.Connection", model: str, width: int) -> int:
    """Make the vec0 tables of a model unless they are there; gives the id up to which they are filled."""
    mark = _index_mark(connection, model, width)
    if mark is not None:
        return mark
    for table in TABLES.values():
        connection.execute(f"DROP TABLE IF EXISTS vec_{table}")
        connection.execute(
            f"CREATE VIRTUAL TABLE vec_{table} USING vec0 "
            f"(item_id INTEGER PRIMARY KEY, embedding FLOAT[{width}] distance_metric=cosine)"
        )
        connection.execute(
            "INSERT OR REPLACE INTO embedding_models (table_name, model, width) VALUES (?, ?, ?)",
            (f"vec_{table}", model, width),
        )
    return 0


def _index_mark(connection: "apsw.Connection", model: str, width: int) -> int | None:
    """The id in `embeddings` up to which the vec0 tables are filled; `None` unless all are there for `model`."""
    query = "SELECT indexed_to FROM embedding_models WHERE table_name LIKE 'vec_%' AND model = ? AND width = ?"
    marks: list[Row] = connection.execute(query, (model, width)).fetchall()
    return int(min(marks)[0]) if len(marks) == len(ITEM_KINDS) else None


def spoiled_share(connection: "apsw.Connection", table: str) -> float:
    """Which share of a vec0 table's full chunks is empty: rows that are gone leave their place there, and scans it.

    0 for what has no vec0 table, or only the one chunk that is being filled.
    """
    # Not `table_exists`: on a connection that only reads, it makes what follows see an old state.
    if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = ?", (f"vec_{table}",)).get:
        return 0.0
    found: list[Row] = connection.execute(
        f"""
        SELECT coalesce(sum(size), 0), coalesce(sum(
          (SELECT count(*) FROM vec_{table}_rowids AS row WHERE row.chunk_id = chunk.chunk_id)), 0)
        FROM vec_{table}_chunks AS chunk
        WHERE chunk_id < (SELECT max(chunk_id) FROM vec_{table}_chunks)
        """
    ).fetchall()
    places, rows = found[0]
    return 1 - rows / places if places else 0.0


def forget_index(connection: "apsw.Connection") -> None:
    """Let the next `catch_up` build the vec0 tables anew. Search is exact until they have caught up."""
    connection.execute("DELETE FROM embedding_models WHERE table_name LIKE 'vec_%'")
