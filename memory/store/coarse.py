"""Search at size: every vector's code in memory, the few that can be among the nearest compared exactly.

A search looks at the sign bits of all vectors, then at both bits of those that are left, each time keeping what could
still be among the best by the code's known error (`memory.store.codes`), and compares the rest with their vectors from
`embeddings`. Measured in `benchmarks/vectors.py`. It takes about 280 bytes a vector of 1024 dimensions.

The index is read when it is first needed and follows the database by ids that only grow: those of `embeddings`, where a
changed vector gets a new one, and those of the journal, which tells whose branch, status or scope has changed. A vector
that went stays until it is found to be missing. So the index may name too many items, never too few, and the database
has the last word on each that is found.
"""

import json
import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.store import exact
from memory.store.codes import Coder, QueryCode
from memory.store.filters import Filter
from memory.store.rows import TABLES, Row
from memory.types import Candidate, ItemKind

if TYPE_CHECKING:
    import apsw
    import numpy
    from numpy.typing import NDArray

    from memory.provider.base import Vectors

    Mask = NDArray[numpy.bool_]
    Places = NDArray[numpy.int64]

EXACT_ROWS = 1000
"""Up to so many vectors that pass the filter are all compared exactly."""
FEW_ROWS = 400
"""So few that are left are compared exactly rather than by more bits."""
STAGES = ((1, 3.5), (2, 2.5))
"""Bits of the codes that are looked at, and by how many standard deviations a vector may miss the mark and stay."""
MOST = 0.75
"""If less than this share of what was chosen is still there, what is gone is looked for and dropped."""
RANKS_MORE = 40
"""What a vector is measured by is the estimate so many ranks behind the last hit that is wanted: the very first are the
luckiest, not the nearest."""
_READ_AT_ONCE = 2000

_GROUPS: dict[ItemKind, str] = {
    "message": "item.session_id",
    "short_term": "item.session_id",
    "long_term": "json_array(item.user_id, item.project, item.agent_id, item.team_id, item.branch, item.status)",
}
"""What decides whether an item passes a filter: items of the same group do or don't together."""
_GROUP_COLUMNS = ", ".join(
    f"value ->> {at} AS {name}"
    for at, name in enumerate(("user_id", "project", "agent_id", "team_id", "branch", "status"))
)


class CoarseIndex:
    """The codes of one model's vectors. Every method needs `lock`, taken before the read transaction is begun: so each
    search sees a state of the database that is no older than what the index holds."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._kinds: dict[ItemKind, _Codes] = {}

    def search(
        self,
        connection: "apsw.Connection",
        kind: ItemKind,
        query: "Vectors",
        model: str,
        centre: "Vectors",
        where: Filter,
        limit: int,
    ) -> list[Candidate]:
        """The nearest items that pass the filter; `centre` is the one that the model's codes are made around."""
        codes = self._kinds.get(kind)
        if codes is None or not codes.belong_to(model, centre):
            codes = self._kinds[kind] = _Codes(kind, model, Coder(centre))
        codes.follow(connection)
        left, found = codes.allowed(connection, where), list[Candidate]()
        clean = False
        while len(found) < limit and left.any():
            places = codes.best(query, left, limit)
            ids: list[int] = codes.ids[places].tolist()
            passed = exact.search_among(connection, kind, query, ids, where, len(ids))
            if not clean and len(passed) < MOST * len(ids):  # Those that are gone may have been in the way of others.
                codes.drop_missing(connection)
                left, clean = codes.allowed(connection, where), True
                continue
            found += passed
            left[places] = False
        return sorted(found, key=exact.nearest_first)[:limit]


class _Codes:
    """The codes of one kind of item, in arrays with room to grow. A place is an index into all of them."""

    def __init__(self, kind: ItemKind, model: str, coder: Coder) -> None:
        import numpy as np

        self._kind = kind
        self._model = model
        self._coder = coder
        self._count = 0
        self._read_to = 0
        self._heard_to = 0
        """The last entry of the journal that is known."""
        self._state: tuple[apsw.Connection, int] | None = None
        """A connection, and its number for the state of the database that was read last."""
        self._last_allowed: tuple[tuple[Any, ...], Mask] | None = None
        """What was asked last in this state, and the answer: a turn asks several times."""
        self._group_numbers: dict[str, int] = {}
        self._ids = np.empty(256, np.int64)
        self._items = np.empty(256, np.int64)
        self._groups = np.empty(256, np.int64)
        self._offsets = np.empty(256, np.float32)
        self._scales = np.empty(256, np.float32)
        self._planes = coder.no_planes(256)

    @property
    def ids(self) -> "Places":
        """The ids in `embeddings` by place."""
        return self._ids[: self._count]

    def belong_to(self, model: str, centre: "Vectors") -> bool:
        """Whether these are the codes of `model` around `centre`."""
        import numpy as np

        return self._model == model and np.array_equal(self._coder.centre, centre)

    def follow(self, connection: "apsw.Connection") -> None:
        """Read what has come or changed since the last time."""
        state = (connection, connection.pragma("data_version"))
        if state == self._state:
            return
        self._last_allowed = None
        if self._kind == "long_term":
            self._follow_journal(connection)
        rows = connection.execute(
            f"""
            SELECT embedding.id, item.id, {_GROUPS[self._kind]}, embedding.code
            FROM embeddings AS embedding INDEXED BY embeddings_codes
            CROSS JOIN {TABLES[self._kind]} AS item ON item.id = embedding.item_id
            WHERE embedding.model = ? AND embedding.kind = ? AND embedding.id > ? ORDER BY embedding.id
            """,
            (self._model, self._kind, self._read_to),
        )
        while batch := list(islice(rows, _READ_AT_ONCE)):
            self._append(batch, [row[3] or self._code_of(connection, row[0]) for row in batch])
            self._read_to = batch[-1][0]
        self._state = state

    def allowed(self, connection: "apsw.Connection", where: Filter) -> "Mask":
        """Which places pass the filter."""
        import numpy as np

        condition, values = where.condition(self._kind)
        asked = (condition, *values)
        if self._last_allowed and self._last_allowed[0] == asked:
            return self._last_allowed[1].copy()
        passing = np.zeros(len(self._group_numbers), dtype=np.bool_)
        if self._kind == "long_term":
            groups = f"[{','.join(self._group_numbers)}]"
            query = f"SELECT key FROM (SELECT key, {_GROUP_COLUMNS} FROM json_each(?)) AS item WHERE {condition}"
            numbers = [number for (number,) in connection.execute(query, [groups, *values])]
        else:
            query = f"SELECT json_group_array(session.id) FROM sessions AS session WHERE {condition}"
            sessions, known = json.loads(connection.execute(query, values).get), self._group_numbers
            numbers = [known[session] for session in sessions if session in known]
        passing[numbers] = True
        mask: Mask = passing.take(self._groups[: self._count])
        self._last_allowed = asked, mask
        return mask.copy()

    def best(self, query: "Vectors", allowed: "Mask", limit: int) -> "Places":
        """The allowed places that can hold the `limit` nearest."""
        import numpy as np

        places: Places = np.flatnonzero(allowed)
        if len(places) <= EXACT_ROWS:
            return places
        rank = limit + RANKS_MORE
        for bits, margin in STAGES:
            estimates, errors = self._estimates(self._coder.query(query, bits), places)
            if len(estimates) > rank:
                at = len(estimates) - rank
                least = np.partition(estimates, at)[at]
                places = places[estimates + np.float32(margin) * errors >= least]
            if len(places) <= FEW_ROWS:
                break
        return places

    def drop_missing(self, connection: "apsw.Connection") -> None:
        """Forget the vectors that are no longer in the database."""
        import numpy as np

        query = "SELECT id FROM embeddings INDEXED BY embeddings_codes WHERE model = ? AND kind = ?"
        there = np.array([row_id for (row_id,) in connection.execute(query, (self._model, self._kind))], dtype=np.int64)
        kept = np.flatnonzero(np.isin(self.ids, there))
        for name in ("_ids", "_items", "_groups", "_offsets", "_scales", "_planes"):
            setattr(self, name, getattr(self, name).take(kept, axis=-1))
        self._count = len(kept)
        self._last_allowed = None

    def _estimates(self, query: QueryCode, places: "Places") -> "tuple[Vectors, Vectors]":
        """Cosines but for a constant, and the standard deviations of their errors."""
        if 2 * len(places) > self._count:  # Cheaper than copying most of the codes.
            products = self._coder.products(query, self._planes[:, :, : self._count])
        else:
            products = self._coder.products(query, self._planes, places)
        if len(places) == self._count:
            scales, offsets = self._scales[: self._count], self._offsets[: self._count]
        else:
            scales, offsets = self._scales.take(places), self._offsets.take(places)
            products = products if len(products) == len(places) else products.take(places)
        return offsets + scales * (query.factor * products), scales * query.spread

    def _append(self, rows: list[Row], codes: list[bytes]) -> None:
        self._make_room(len(rows))
        numbers, known = [], self._group_numbers
        for _, _, group, _ in rows:
            numbers.append(known.setdefault(group, len(known)))
        added = slice(self._count, self._count + len(rows))
        self._ids[added] = [row[0] for row in rows]
        self._items[added] = [row[1] for row in rows]
        self._groups[added] = numbers
        self._offsets[added], self._scales[added], self._planes[:, :, added] = self._coder.decode(codes)
        self._count += len(rows)

    def _make_room(self, more: int) -> None:
        import numpy as np

        have, need = len(self._ids), self._count + more
        if need <= have:
            return
        for name in ("_ids", "_items", "_groups", "_offsets", "_scales", "_planes"):
            old = getattr(self, name)
            new = np.empty((*old.shape[:-1], max(need, have * 3 // 2)), dtype=old.dtype)
            new[..., : self._count] = old[..., : self._count]
            setattr(self, name, new)

    def _follow_journal(self, connection: "apsw.Connection") -> None:
        """Put the items that were changed into the groups that they now belong to."""
        import numpy as np

        last: int = connection.execute("SELECT coalesce(max(id), 0) FROM memory_events").get
        changed: list[Any] = []
        if self._count and last > self._heard_to:
            changed = connection.execute(
                f"""
                SELECT item.id, {_GROUPS[self._kind]} FROM {TABLES[self._kind]} AS item WHERE item.id IN
                (SELECT item_id FROM memory_events WHERE id > ? AND kind = '{self._kind}') ORDER BY item.id
                """,
                (self._heard_to,),
            ).fetchall()
        self._heard_to = max(last, self._heard_to)
        if changed:
            known, items = self._group_numbers, np.array([item for item, _ in changed], dtype=np.int64)
            numbers = np.array([known.setdefault(group, len(known)) for _, group in changed], dtype=np.int64)
            at = np.minimum(np.searchsorted(items, self._items[: self._count]), len(items) - 1)
            hit = np.flatnonzero(items[at] == self._items[: self._count])
            self._groups[hit] = numbers[at[hit]]

    def _code_of(self, connection: "apsw.Connection", row_id: int) -> bytes:
        """The code of a vector that was stored without one."""
        import numpy as np

        vector = connection.execute("SELECT vector FROM embeddings WHERE id = ?", (row_id,)).get
        return self._coder.encode(np.frombuffer(vector, dtype="<f4")[None])[0]
