"""Proposals that the user has turned down: they are not made again."""

from collections.abc import Iterable
from typing import Literal

from memory.store.parts import StorePart
from memory.store.rows import Row

Proposal = Literal["cold", "duplicate"]


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
        return {tuple(map(int, items.split(","))) for (items,) in rows}


def _key(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, sorted(ids)))
