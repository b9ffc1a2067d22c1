"""Which items still wait for a vector, storing vectors, and searching by them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memory.errors import InvalidVectorError, StoreError
from memory.store import coarse, exact
from memory.store.codes import Coder
from memory.store.filters import ANYTHING, Filter, Only, Parameters
from memory.store.parts import StorePart
from memory.store.rows import TABLES
from memory.store.vectors import (
    CATCH_UP_ROWS,
    are_few,
    catch_up,
    catch_up_codes,
    checked,
    codes_are_missing,
    current_model,
    index_is_current,
    remove_from_index,
    search_index,
    stored_centre,
)
from memory.types import Candidate, ItemKind, MemoryStatus, Scope

if TYPE_CHECKING:
    import apsw

    from memory.provider.base import Vectors

_EMBEDDED: dict[ItemKind, tuple[str, str]] = {
    "message": (
        "item.timestamp",
        "session.incognito = 0 AND item.state <> 'streaming' AND item.role IN ('user', 'assistant')"
        " AND (length(item.content) >= 10 OR octet_length(item.content) >= 15)"
        " AND json_extract(item.metadata, '$.forgotten') IS NULL"
        " AND json_extract(item.metadata, '$.agent_run') IS NULL",
    ),
    "short_term": ("item.created_at", "session.incognito = 0"),
    "long_term": ("item.created_at", "item.status <> 'trashed'"),
}
"""What is to have a vector: the column that tells its age, and the condition on it."""


class EmbeddingPart(StorePart):
    """The methods about vectors."""

    def _catch_up(self) -> None:
        """Index what was embedded while the extension was missing, and code what has no code. Search is right without
        it, so it can wait."""
        with self._db.read() as connection:
            current = current_model(connection)
            if current is None:
                return
            unindexed = self._has_vec0 and not index_is_current(connection, current[0])
            uncoded = codes_are_missing(connection, *current)
        if unindexed or uncoded:
            with suppress(StoreError), self._db.write() as writer:
                catch_up_codes(writer)
                if unindexed:
                    catch_up(writer)

    def waiting_for_embedding(self, *, model: str, limit: int = 100) -> list[tuple[ItemKind, int, str]]:
        """Items without a vector of `model`: kind, id and text, oldest first. Finished messages of 10 characters
        or more (15 bytes: five Chinese characters) by user and assistant, all summaries (neither of incognito
        sessions), all memories not trashed."""
        limit = max(limit, 0)
        found: list[tuple[str, ItemKind, int, str]] = []
        with self._db.read() as connection:
            for kind, (age, _) in _EMBEDDED.items():
                source, values = _waiting(connection, kind, model)
                query = f"SELECT {age}, item.id, item.content FROM {source} ORDER BY item.id LIMIT ?"
                rows = connection.execute(query, [*values, limit])
                found += [(time, kind, item_id, text) for time, item_id, text in rows]
        found.sort(key=lambda item: item[0])
        return [(kind, item_id, text) for _, kind, item_id, text in found[:limit]]

    def count_waiting(self, *, model: str) -> int:
        """How many items `waiting_for_embedding` would give without a limit."""
        total = 0
        with self._db.read() as connection:
            for kind in _EMBEDDED:
                source, values = _waiting(connection, kind, model)
                total += connection.execute(f"SELECT count(*) FROM {source}", values).get
        return total

    def put_embeddings(self, items: Sequence[tuple[ItemKind, int]], vectors: "Vectors", *, model: str) -> int:
        """Store vectors (shape (len(items), width)) and their index rows, set `has_embedding`.

        Items that are gone meanwhile are left out; tells how many were stored. A row that is not finite, is zero,
        or has another width than `model`'s earlier ones: `InvalidVectorError`, nothing stored. The first vectors of
        another model make it the current one: what has no vector of it waits again.
        """
        if not items:
            return 0
        matrix = checked(vectors, len(items))
        now, stored = self._clock.now(), 0
        with self._db.write() as connection:
            _make_current(connection, model, matrix.shape[1])
            centre = stored_centre(connection, model, matrix.shape[1])
            codes = [b""] * len(items) if centre is None else Coder(centre).encode(matrix)
            for (kind, item_id), vector, code in zip(items, matrix, codes, strict=True):
                exists = connection.execute(f"SELECT 1 FROM {TABLES[kind]} WHERE id = ?", (item_id,)).get
                if exists:
                    blobs = (vector.astype("<f4").tobytes(), code)
                    connection.execute(
                        "INSERT OR REPLACE INTO embeddings (kind, item_id, model, width, updated_at, vector, code)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (kind, item_id, model, len(vector), now, *blobs),
                    )
                    if kind == "message":
                        connection.execute("UPDATE main_messages SET has_embedding = 1 WHERE id = ?", (item_id,))
                    stored += 1
            catch_up_codes(connection, stored + CATCH_UP_ROWS)
            if self._has_vec0:
                catch_up(connection, stored + CATCH_UP_ROWS)
        return stored

    def embedding_model(self) -> tuple[str, int] | None:
        """The model that `has_embedding` speaks of, the last one that gave vectors, and their width; `None` before the
        first.
        """
        with self._db.read() as connection:
            return current_model(connection)

    def search_vector(
        self,
        query: "Vectors",
        *,
        model: str,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        exclude_session: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """Nearest items by cosine, best first, among vectors that `model` made; `query` has shape (width,)."""
        wanted = checked([query], 1)[0]
        where = Filter(session_id, exclude_session, scope, branches, status, only)
        found: list[Candidate] = []
        if limit < 1:
            return found
        with self._coarse.lock, self._db.read() as connection:
            width = _width(connection, model)
            if width is None:
                return found
            check_width(model, width, len(wanted))
            for kind in dict.fromkeys(kinds):
                found += self._nearest(connection, kind, wanted, model, where, limit)
        found.sort(key=lambda candidate: -candidate.score)
        return found[:limit]

    def _nearest(
        self, connection: "apsw.Connection", kind: ItemKind, query: "Vectors", model: str, where: Filter, limit: int
    ) -> list[Candidate]:
        """By the vec0 table while there are few vectors, then by their codes; without these, by all vectors."""
        if are_few(connection, kind, model, coarse.EXACT_ROWS):
            if self._has_vec0 and index_is_current(connection, model):
                return search_index(connection, kind, query, where, limit)
            return exact.search(connection, kind, query, model, where, limit)
        centre = stored_centre(connection, model, len(query))
        narrowed = where.only != ANYTHING  # The codes do not know of it.
        if centre is None or narrowed or self._db.writing:  # What may be undone must not get into the coarse index.
            return exact.search(connection, kind, query, model, where, limit)
        return self._coarse.search(connection, kind, query, model, centre, where, limit)


def forget_vectors(connection: "apsw.Connection", kind: ItemKind, item_ids: Sequence[int], *, has_vec0: bool) -> None:
    """Drop the vectors of items whose text has changed or is going."""
    for item_id in item_ids:
        connection.execute("DELETE FROM embeddings WHERE kind = ? AND item_id = ?", (kind, item_id))
        if kind == "message":
            connection.execute("UPDATE main_messages SET has_embedding = 0 WHERE id = ?", (item_id,))
    if has_vec0:
        remove_from_index(connection, kind, item_ids)


def _waiting(connection: "apsw.Connection", kind: ItemKind, model: str) -> tuple[str, Parameters]:
    """FROM and WHERE of the items that have no vector of `model`, and the values."""
    source, condition = f"{TABLES[kind]} AS item", _EMBEDDED[kind][1]
    values: Parameters = []
    current = current_model(connection)
    if kind == "message" and current is not None and current[0] == model:
        source += " INDEXED BY main_messages_to_embed"
        condition += " AND item.has_embedding = 0"
    else:
        condition += (
            " AND NOT EXISTS (SELECT 1 FROM embeddings AS embedding"
            " WHERE embedding.kind = ? AND embedding.item_id = item.id AND embedding.model = ?)"
        )
        values = [kind, model]
    if kind != "long_term":
        source += " CROSS JOIN sessions AS session ON session.id = item.session_id"
    return f"{source} WHERE {condition}", values


def _make_current(connection: "apsw.Connection", model: str, width: int) -> None:
    """Let `has_embedding` speak of `model` from now on."""
    known = _width(connection, model)
    if known is not None:
        check_width(model, known, width)
    if current_model(connection) == (model, width):
        return
    connection.execute(
        "INSERT OR REPLACE INTO embedding_models (table_name, model, width) VALUES ('embeddings', ?, ?)", (model, width)
    )
    embedded = "id IN (SELECT item_id FROM embeddings WHERE kind = 'message' AND model = ?)"
    connection.execute(
        f"UPDATE main_messages SET has_embedding = {embedded} WHERE has_embedding <> ({embedded})", (model, model)
    )


def _width(connection: "apsw.Connection", model: str) -> int | None:
    """The width of the vectors that are stored of a model; `None` when there are none."""
    width: int | None = connection.execute("SELECT width FROM embeddings WHERE model = ? LIMIT 1", (model,)).get
    return width


def check_width(model: str, known: int, width: int) -> None:
    """Refuse vectors of another width than a model's earlier ones. Raises `InvalidVectorError`."""
    if width != known:
        raise InvalidVectorError(
            f"A vector is {width} values wide; those of {model!r} have {known}.",
            hint=f"Set the embedding's dimensions back to {known}, or use another embedding model.",
        )
