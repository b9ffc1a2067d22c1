"""Exact search without an extension: the vectors of one model in memory, in step with `embeddings`."""

import threading
from typing import TYPE_CHECKING

from memory.store.filters import Filter
from memory.store.vectors import allowed_ids
from memory.types import ITEM_KINDS, Candidate, ItemKind

if TYPE_CHECKING:
    import apsw
    from numpy import float32
    from numpy.typing import NDArray

    from memory.provider.base import Vectors


class ExactIndex:
    """A numpy matrix a kind, 4 bytes a value. Safe from any thread.

    A vector that changes gets a higher id in `embeddings`, so each search only reads what came since the last. A vector
    that went stays here, and is not found: every search asks the database which items there are.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model = ""
        self._read_to = 0
        self._matrices: dict[ItemKind, _Matrix] = {}

    def search(
        self, connection: "apsw.Connection", kind: ItemKind, query: "Vectors", model: str, where: Filter, limit: int
    ) -> list[Candidate]:
        """The nearest items that pass the filter; `connection` is in a read transaction."""
        allowed, values = allowed_ids(kind, model, where)
        ids = [item_id for (item_id,) in connection.execute(allowed, values)]
        with self._lock:
            self._read(connection, model, query.shape[0])
            found = self._matrices[kind].nearest(query, ids, limit)
        return [Candidate(kind, item_id, score) for item_id, score in found]

    def _read(self, connection: "apsw.Connection", model: str, width: int) -> None:
        if model != self._model:
            self._model, self._read_to = model, 0
            self._matrices = {kind: _Matrix(width) for kind in ITEM_KINDS}
        rows = connection.execute(
            "SELECT id, kind, item_id, vector FROM embeddings WHERE id > ? AND model = ? ORDER BY id",
            (self._read_to, model),
        )
        for row_id, kind, item_id, vector in rows:
            self._matrices[kind].put(item_id, vector)
            self._read_to = row_id


class _Matrix:
    """Vectors by item id, in one array that doubles when it is full."""

    def __init__(self, width: int) -> None:
        import numpy as np

        self._places: dict[int, int] = {}
        self._rows: NDArray[float32] = np.empty((256, width), dtype=np.float32)

    def put(self, item_id: int, vector: bytes) -> None:
        import numpy as np

        place = self._places.setdefault(item_id, len(self._places))
        if place == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[place] = np.frombuffer(vector, dtype="<f4")

    def nearest(self, query: "Vectors", item_ids: list[int], limit: int) -> list[tuple[int, float]]:
        import numpy as np

        known = np.array([item_id for item_id in item_ids if item_id in self._places], dtype=np.int64)
        if not len(known):
            return []
        places = np.array([self._places[item_id] for item_id in known.tolist()])
        if 2 * len(places) > len(self._places):  # Cheaper than copying most of the rows.
            scores = (self._rows[: len(self._places)] @ query)[places]
        else:
            scores = self._rows[places] @ query
        best = np.lexsort((known, -scores))[:limit]
        return [(int(known[at]), float(scores[at])) for at in best]
