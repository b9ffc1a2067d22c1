"""Vectors in memory, and exact search over them."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from memory.types import ItemKind

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from memory.provider.base import Vectors

Key = tuple[ItemKind, int]


def digest(text: str) -> str:
    """Names a text, so that a vector is known to belong to it."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """The vector of one item, of length 1, and the model that made it."""

    model: str
    vector: "NDArray[float32]"


class VectorTable:
    """One vector an item: that of the last model. Not safe from several threads."""

    def __init__(self) -> None:
        self.current = ""
        """The model that made the last vectors; `has_embedding` speaks of it."""
        self._entries: dict[Key, Entry] = {}
        self._matrices: dict[tuple[ItemKind, str], tuple[list[int], NDArray[float32]]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, key: Key, entry: Entry) -> None:
        """Keep a vector in place of the item's last."""
        self._entries[key] = entry
        self._matrices.clear()

    def forget(self, key: Key) -> None:
        """Drop the vector of an item whose text has changed or is going."""
        if self._entries.pop(key, None) is not None:
            self._matrices.clear()

    def has(self, key: Key, model: str) -> bool:
        """Whether the item has a vector of a model."""
        entry = self._entries.get(key)
        return entry is not None and entry.model == model

    def width(self, model: str) -> int | None:
        """How wide a model's vectors are; `None` when there are none."""
        return next((len(entry.vector) for entry in self._entries.values() if entry.model == model), None)

    def nearest(
        self, kind: ItemKind, model: str, query: "Vectors", passes: Callable[[int], bool], limit: int
    ) -> list[tuple[int, float]]:
        """The items that pass with their cosines, best first."""
        import numpy as np

        ids, matrix = self._matrix(kind, model)
        allowed = [place for place, item_id in enumerate(ids) if passes(item_id)]
        if not allowed:
            return []
        scores = (matrix @ query)[allowed]
        best = np.argsort(-scores, kind="stable")[:limit]
        return [(ids[allowed[at]], float(scores[at])) for at in best]

    def _matrix(self, kind: ItemKind, model: str) -> "tuple[list[int], NDArray[float32]]":
        import numpy as np

        if (kind, model) not in self._matrices:
            ids = sorted(item_id for of, item_id in self._entries if of == kind and self.has((of, item_id), model))
            rows = [self._entries[kind, item_id].vector for item_id in ids]
            self._matrices[kind, model] = (ids, np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32))
        return self._matrices[kind, model]
