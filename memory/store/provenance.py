"""What each reply was given: the rows of `injections`."""

from collections.abc import Sequence
from dataclasses import astuple, fields

from memory.store.parts import StorePart
from memory.store.rows import Row
from memory.types import Injection, ScoreParts

_SCORES = ", ".join(field.name for field in fields(ScoreParts))
_COLUMNS = f"message_id, kind, item_id, tier, rank, tokens, {_SCORES}"


class ProvenancePart(StorePart):
    """The methods about what was put into prompts."""

    def add_injections(self, injections: Sequence[Injection]) -> None:
        """Record what a reply was given."""
        rows = [
            (
                *(given.message_id, given.kind, given.item_id, given.tier, given.rank, given.tokens),
                *astuple(given.parts),
            )
            for given in injections
        ]
        marks = ", ".join("?" * (6 + len(fields(ScoreParts))))
        with self._db.write() as connection:
            connection.executemany(f"INSERT INTO injections ({_COLUMNS}) VALUES ({marks})", rows)

    def injections(self, message_id: int) -> list[Injection]:
        """What a reply was given, by rank."""
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM injections WHERE message_id = ? ORDER BY rank, id", (message_id,)
            )
            return [_injection(row) for row in rows]


def _injection(row: Row) -> Injection:
    message_id, kind, item_id, tier, rank, tokens, *scores = row
    return Injection(message_id, kind, item_id, tier, rank, tokens, ScoreParts(*scores))
