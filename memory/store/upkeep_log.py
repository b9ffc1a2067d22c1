"""What upkeep did, what was dropped, what replies were rated, and counts of what there is."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.store import journal
from memory.store.messages import read_message
from memory.store.parts import StorePart
from memory.store.rows import TABLES, Row, to_json
from memory.store.vectors import catch_up, current_model, forget_index, index_is_current, spoiled_share
from memory.text import repair
from memory.types import ITEM_KINDS


@dataclass(frozen=True, slots=True)
class MaintenanceRun:
    """One run of upkeep."""

    id: int
    started_at: str
    ended_at: str
    started_by: str
    """`app` or `command`."""
    counts: Mapping[str, int]
    problem: str
    """What went wrong, for a person; empty when nothing did."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """How often a summary or an extraction was not used, and why."""

    what: str
    reason: str
    count: int
    last_at: str


class UpkeepLogPart(StorePart):
    """The methods about upkeep, ratings and counts."""

    def add_run(self, *, started_at: str, started_by: str, counts: Mapping[str, int], problem: str) -> MaintenanceRun:
        """Record a run that ends now."""
        ended = self._clock.now()
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO maintenance_runs (started_at, ended_at, started_by, counts, problem)"
                " VALUES (?, ?, ?, ?, ?)",
                (started_at, ended, started_by, to_json(counts), repair(problem)[0]),
            )
            return MaintenanceRun(connection.last_insert_rowid(), started_at, ended, started_by, counts, problem)

    def runs(self, *, limit: int = 10) -> list[MaintenanceRun]:
        """The last runs, newest first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT id, started_at, ended_at, started_by, counts, problem FROM maintenance_runs"
                " ORDER BY id DESC LIMIT ?",
                (max(limit, 0),),
            )
            return [_run(row) for row in rows]

    def count_dropped(self, what: str, reason: str) -> None:
        """Count one summary or extraction that was not used."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO dropped (what, reason, last_at) VALUES (?, ?, ?)"
                " ON CONFLICT (what, reason) DO UPDATE SET count = count + 1, last_at = excluded.last_at",
                (what, repair(reason)[0], self._clock.now()),
            )

    def dropped(self) -> list[Dropped]:
        """What was dropped, the most frequent first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT what, reason, count, last_at FROM dropped ORDER BY count DESC, what, reason"
            )
            return [Dropped(*row) for row in rows]

    def rating(self, message_id: int) -> int:
        """The last rating of a reply: -1, 1, or 0 when there is none."""
        with self._db.read() as connection:
            query = "SELECT rating FROM feedback WHERE message_id = ? ORDER BY id DESC LIMIT 1"
            found: int | None = connection.execute(query, (message_id,)).get
        return found or 0

    def rate(
        self,
        message_id: int,
        rating: int,
        *,
        note: str = "",
        action: str = "rate",
        actor: str,
        undoes: int | None = None,
    ) -> None:
        """Rate a reply -1 or 1; 0 takes the ratings away. Journalled."""
        now = self._clock.now()
        with self._db.write() as connection:
            read_message(connection, message_id)
            before = self.rating(message_id)
            if rating == 0:
                connection.execute("DELETE FROM feedback WHERE message_id = ?", (message_id,))
            else:
                connection.execute(
                    "INSERT INTO feedback (message_id, rating, note, timestamp) VALUES (?, ?, ?, ?)",
                    (message_id, rating, repair(note)[0], now),
                )
            journal.record_facts(
                connection,
                "message",
                message_id,
                action,
                before={"rating": before},
                after={"rating": rating},
                actor=actor,
                reason="",
                timestamp=now,
                undoes=undoes,
            )

    def counts(self) -> dict[str, dict[str, int]]:
        """How many memories by `status` and (active ones) by `branch`, messages by `role`, `vectors` by model."""
        queries = {
            "status": "SELECT status, count(*) FROM long_term_memories GROUP BY status",
            "branch": "SELECT branch, count(*) FROM long_term_memories WHERE status = 'active' GROUP BY branch",
            "role": "SELECT role, count(*) FROM main_messages GROUP BY role",
            "vectors": "SELECT model, count(*) FROM embeddings GROUP BY model",
        }
        with self._db.read() as connection:
            return {name: _numbers(connection.execute(query).fetchall()) for name, query in queries.items()}

    def compact_vectors(self, holes: float = 1 / 3) -> int:
        """Build those vec0 tables again of which more than the share `holes` is gone; tells how many.

        The vectors themselves are in `embeddings`; the index fills up from there, 2,000 rows a transaction.
        """
        if not self._has_vec0:
            return 0
        with self._db.read() as connection:
            spoiled = [kind for kind in ITEM_KINDS if spoiled_share(connection, TABLES[kind]) > holes]
        if not spoiled:
            return 0
        with self._db.write() as connection:
            forget_index(connection)
        while True:
            with self._db.write() as connection:
                catch_up(connection)
                current = current_model(connection)
                if current is None or index_is_current(connection, current[0]):
                    return len(spoiled)


def _run(row: Row) -> MaintenanceRun:
    run_id, started_at, ended_at, started_by, counts, problem = row
    return MaintenanceRun(run_id, started_at, ended_at, started_by, json.loads(counts), problem)


def _numbers(rows: Iterable[Row]) -> dict[str, int]:
    return {name: count for name, count in rows}  # noqa: C416 - rows are longer than pairs to a type checker
