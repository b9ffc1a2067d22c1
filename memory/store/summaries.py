"""Short-term memory: the summaries of a session's turns."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from memory.store import fts, journal
from memory.store.embeddings import forget_vectors
from memory.store.parts import StorePart, one_row, read_session
from memory.store.rows import SHORT_TERM, to_short_term
from memory.text import repair
from memory.types import ShortTermMemory

if TYPE_CHECKING:
    import apsw

ACTOR = "maintenance"
"""Summaries are written and dropped by upkeep alone."""


class SummaryPart(StorePart):
    """The methods about short-term memory."""

    def add_short_term(
        self,
        session_id: str,
        content: str,
        *,
        source_count: int = 1,
        confidence: float = 0.8,
        first_message_id: int | None = None,
        last_message_id: int | None = None,
    ) -> ShortTermMemory:
        """Add a summary, journalled."""
        content, _ = repair(content)
        now = self._clock.now()
        with self._db.write() as connection:
            read_session(connection, session_id)
            connection.execute(
                "INSERT INTO short_term_memories"
                " (session_id, content, source_count, confidence, created_at, updated_at,"
                " first_message_id, last_message_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (session_id, content, source_count, confidence, now, now, first_message_id, last_message_id),
            )
            added = _read(connection, connection.last_insert_rowid())
            fts.put(connection, "short_term", added.id, content)
            journal.record(connection, "add", before=None, after=added, actor=ACTOR, reason="", timestamp=now)
            return added

    def short_term(self, session_id: str, *, limit: int | None = None) -> list[ShortTermMemory]:
        """The session's summaries, newest first."""
        with self._db.read() as connection:
            read_session(connection, session_id)
            return _newest(connection, session_id, limit=limit)

    def short_term_memory(self, memory_id: int) -> ShortTermMemory:
        """One summary."""
        with self._db.read() as connection:
            return _read(connection, memory_id)

    def keep_short_term(self, session_id: str, keep: int, *, spare: Collection[int] = ()) -> int:
        """Remove all but the newest `keep` summaries, journalled; tells how many went.

        Those that begin at a message of `spare` stay as well.
        """
        now = self._clock.now()
        with self._db.write() as connection, journal.one_act(connection):
            read_session(connection, session_id)
            old = _newest(connection, session_id)[max(keep, 0) :]
            dropped = [summary for summary in old if summary.first_message_id not in spare]
            forget_vectors(connection, "short_term", [summary.id for summary in dropped], has_vec0=self._has_vec0)
            for summary in dropped:
                connection.execute("DELETE FROM short_term_memories WHERE id = ?", (summary.id,))
                reason = f"only the newest {keep} are kept"
                journal.record(
                    connection, "remove", before=summary, after=None, actor=ACTOR, reason=reason, timestamp=now
                )
            return len(dropped)


def _read(connection: "apsw.Connection", summary_id: int) -> ShortTermMemory:
    query = f"SELECT {SHORT_TERM} FROM short_term_memories WHERE id = ?"
    return to_short_term(one_row(connection, query, (summary_id,), f"summary {summary_id}"))


def _newest(connection: "apsw.Connection", session_id: str, *, limit: int | None = None) -> list[ShortTermMemory]:
    rows = connection.execute(
        f"SELECT {SHORT_TERM} FROM short_term_memories WHERE session_id = ? ORDER BY updated_at DESC, id DESC LIMIT ?",
        (session_id, -1 if limit is None else max(limit, 0)),
    )
    return [to_short_term(row) for row in rows]
