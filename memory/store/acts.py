"""Acts: changes that belong together, reading them back, and taking them back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memory.store import fts, journal
from memory.store.embeddings import forget_vectors
from memory.store.memories import CHANGEABLE, read_memory, write_changes
from memory.store.messages import is_searched, read_message
from memory.store.parts import StorePart, one_row, read_session
from memory.store.rows import EVENT, SHORT_TERM, item_facts, storable, to_event, to_json, to_short_term
from memory.types import FORGOTTEN, LongTermMemory, MemoryEvent, ShortTermMemory


class ActPart(StorePart):
    """The methods that undo and rollback stand on."""

    @contextmanager
    def act(self) -> Iterator[None]:
        """All that this thread writes in the block is one transaction, and one act in the journal."""
        with self._db.write() as connection, journal.one_act(connection):
            yield

    def changes(
        self,
        *,
        act: int | None = None,
        after: str | None = None,
        until: str | None = None,
        below: int | None = None,
        limit: int = 1000,
    ) -> list[MemoryEvent]:
        """Journalled changes, newest first: of one act, after a time, up to a time, with an id below."""
        conditions, values = ["1"], dict[str, Any]()
        for condition, name, value in (
            ("coalesce(batch, id) = :act", "act", act),
            ("timestamp > :after", "after", after),
            ("timestamp <= :until", "until", until),
            ("id < :below", "below", below),
        ):
            if value is not None:
                conditions.append(condition)
                values[name] = value
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT {EVENT} FROM memory_events WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT :limit",
                {**values, "limit": max(limit, 0)},
            )
            return [to_event(row) for row in rows]

    def put_back(
        self,
        memory_id: int,
        changes: Mapping[str, Any],
        *,
        action: str,
        actor: str,
        reason: str,
        undoes: int | None = None,
    ) -> LongTermMemory:
        """Give fields of a memory the values that they had, journalled as `action`."""
        if unknown := changes.keys() - CHANGEABLE:
            raise ValueError(f"a memory has no field to put back named {', '.join(sorted(unknown))}")
        wanted = {name: tuple(value) if isinstance(value, list) else value for name, value in storable(changes).items()}
        now = self._clock.now()
        with self._db.write() as connection:
            before = read_memory(connection, memory_id)
            superseded = wanted.get("supersedes")
            if superseded and not _exists(connection, superseded):
                wanted["supersedes"] = None  # What it replaced has been erased.
            after = write_changes(connection, before, wanted, now, has_vec0=self._has_vec0)
            journal.record(
                connection,
                action,
                before=before,
                after=after,
                actor=actor,
                reason=reason,
                timestamp=now,
                undoes=undoes,
            )
            return after

    def remove_summary(
        self, summary_id: int, *, action: str = "remove", actor: str, reason: str, undoes: int | None = None
    ) -> ShortTermMemory:
        """Take a summary out of its session; the journal keeps it."""
        now = self._clock.now()
        with self._db.write() as connection:
            query = f"SELECT {SHORT_TERM} FROM short_term_memories WHERE id = ?"
            summary = to_short_term(one_row(connection, query, (summary_id,), f"summary {summary_id}"))
            forget_vectors(connection, "short_term", [summary_id], has_vec0=self._has_vec0)
            connection.execute("DELETE FROM short_term_memories WHERE id = ?", (summary_id,))
            journal.record(
                connection,
                action,
                before=summary,
                after=None,
                actor=actor,
                reason=reason,
                timestamp=now,
                undoes=undoes,
            )
            return summary

    def put_back_summary(
        self, summary: ShortTermMemory, *, action: str, actor: str, reason: str, undoes: int | None = None
    ) -> None:
        """Bring a summary that was removed back as it was, under its old id."""
        facts = item_facts(summary)
        with self._db.write() as connection:
            read_session(connection, summary.session_id)
            connection.execute(
                f"INSERT INTO short_term_memories ({', '.join(facts)}) VALUES ({', '.join('?' * len(facts))})",
                tuple(facts.values()),
            )
            fts.put(connection, "short_term", summary.id, summary.content)
            journal.record(
                connection,
                action,
                before=None,
                after=summary,
                actor=actor,
                reason=reason,
                timestamp=self._clock.now(),
                undoes=undoes,
            )

    def mark_forgotten(
        self,
        message_id: int,
        forgotten: bool,
        *,
        action: str = "forget",
        actor: str,
        reason: str,
        undoes: int | None = None,
    ) -> None:
        """Keep a message out of prompts and searches, or let it in again; journalled. It stays in the conversation."""
        with self._db.write() as connection:
            message = read_message(connection, message_id)
            was = bool(message.metadata.get(FORGOTTEN))
            if was == forgotten:
                return
            facts = {key: value for key, value in message.metadata.items() if key != FORGOTTEN}
            if forgotten:
                facts[FORGOTTEN] = True
            connection.execute("UPDATE main_messages SET metadata = ? WHERE id = ?", (to_json(facts), message_id))
            if forgotten:
                fts.remove(connection, "message", message_id)
                forget_vectors(connection, "message", [message_id], has_vec0=self._has_vec0)
            elif is_searched(message.role, message.state, message.metadata):
                fts.put(connection, "message", message_id, message.content)
            journal.record_facts(
                connection,
                "message",
                message_id,
                action,
                before={FORGOTTEN: was},
                after={FORGOTTEN: forgotten},
                actor=actor,
                reason=reason,
                timestamp=self._clock.now(),
                undoes=undoes,
            )


def _exists(connection: Any, memory_id: Any) -> bool:
    found: int | None = connection.execute("SELECT 1 FROM long_term_memories WHERE id = ?", (memory_id,)).get
    return found is not None
