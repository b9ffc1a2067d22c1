"""Proposals that the user has turned down: they are not made again."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memory.store.parts import StorePart
from memory.store.rows import Row

Proposal = Literal["cold", "duplicate"]


@dataclass(frozen=True, slots=True)
class Dismissal:
    """Proposals that were turned down together."""

    what: Proposal
    items: tuple[tuple[int, ...], ...]
    """Ids of the memories of each."""
    timestamp: str


class ProposalPart(StorePart):
    """The methods about proposals."""

    def dismiss(self, what: Proposal, items: Iterable[tuple[int, ...]]) -> None:
        """Do not propose these again: a memory to be archived, or a pair that says the same."""
        now = self._clock.now()
        with self._db.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO dismissed_proposals VALUES (?, ?, ?)",
                [(what, _key(ids), now) for ids in items],
            )

    def dismissed(self, what: Proposal) -> set[tuple[int, ...]]:
        """What is not to be proposed."""
        with self._db.read() as connection:
            rows: list[Row] = connection.execute(
                "SELECT items FROM dismissed_proposals WHERE what = ?", (what,)
            ).fetchall()
        return {_ids(items) for (items,) in rows}

    def last_dismissal(self) -> Dismissal | None:
        """What was turned down last; `None` when nothing is."""
        query = (
            "SELECT what, items, dismissed_at FROM dismissed_proposals"
            " WHERE dismissed_at = (SELECT max(dismissed_at) FROM dismissed_proposals)"
        )
        with self._db.read() as connection:
            rows: list[Row] = connection.execute(query).fetchall()
        if not rows:
            return None
        what, _items, timestamp = rows[0]
        return Dismissal(what, tuple(_ids(items) for kind, items, _at in rows if kind == what), timestamp)

    def propose_again(self, dismissal: Dismissal) -> None:
        """Take a dismissal back."""
        with self._db.write() as connection:
            connection.executemany(
                "DELETE FROM dismissed_proposals WHERE what = ? AND items = ?",
                [(dismissal.what, _key(ids)) for ids in dismissal.items],
            )


def _ids(items: str) -> tuple[int, ...]:
    return tuple(map(int, items.split(",")))


def _key(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, sorted(ids)))
