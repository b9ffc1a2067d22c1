"""Erasing for good: the row, its index entries, its vectors, its texts in the journal, and what the file still holds.

`secure_delete` is on for every write, so what is deleted is overwritten with zeros in its page.
"""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memory.store import files, fts, journal
from memory.store.embeddings import forget_vectors
from memory.store.filters import one_of
from memory.store.memories import read_memory
from memory.store.messages import read_message
from memory.store.parts import StorePart, read_session
from memory.store.rows import TABLES, Row, to_json
from memory.types import FORGOTTEN, ItemKind

if TYPE_CHECKING:
    import apsw

ERASED = "(erased)"
"""Stands where a text was."""


class ErasingPart(StorePart):
    """The methods that cannot be undone."""

    def erase(
        self, memory_ids: Sequence[int], *, message_ids: Iterable[int] = (), actor: str, reason: str = ""
    ) -> list[str]:
        """Erase memories for good, and blank messages with the summaries that cover them.

        What remains of a memory is that it was there: its id in the journal and in `injections`, without text. Gives
        the files beside the database that are copies from before and may still hold the text.
        """
        now = self._clock.now()
        with self._db.write() as connection, journal.one_act(connection):
            for memory_id in memory_ids:
                read_memory(connection, memory_id)
                forget_vectors(connection, "long_term", [memory_id], has_vec0=self._has_vec0)
                connection.execute("DELETE FROM long_term_memories WHERE id = ?", (memory_id,))
                _blank_journal(connection, "long_term", memory_id)
                _record(connection, "long_term", memory_id, actor, reason, now)
            for message_id in dict.fromkeys(message_ids):
                self._blank_message(connection, message_id)
                _record(connection, "message", message_id, actor, reason, now)
            # What was deleted is only marked so in the text index until its segments are merged.
            for table in TABLES.values():
                connection.execute(f"INSERT INTO fts_{table} (fts_{table}) VALUES ('optimize')")
        self._db.fold_log()
        return self._older_copies()

    def erase_session(self, session_id: str, *, actor: str, reason: str = "") -> list[str]:
        """Erase a session for good, with all its messages, summaries, runs, ratings, vectors and index entries.

        Long-term memories stay. Gives the files beside the database that may still hold the text.
        """
        now = self._clock.now()
        with self._db.write() as connection, journal.one_act(connection):
            read_session(connection, session_id)
            items: dict[ItemKind, list[int]] = {"message": [], "short_term": []}
            for kind, ids in items.items():
                query = f"SELECT id FROM {TABLES[kind]} WHERE session_id = ? ORDER BY id"
                ids += [item_id for (item_id,) in connection.execute(query, (session_id,))]
                forget_vectors(connection, kind, ids, has_vec0=self._has_vec0)
                for item_id in ids:
                    _blank_journal(connection, kind, item_id)
                connection.execute(
                    f"DELETE FROM imported_items WHERE kind = ? AND {one_of('item_id')}", (kind, json.dumps(ids))
                )
            connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
            if items["message"]:
                _record(connection, "message", items["message"][0], actor, reason or "its session was erased", now)
            for table in TABLES.values():
                connection.execute(f"INSERT INTO fts_{table} (fts_{table}) VALUES ('optimize')")
        self._db.fold_log()
        return self._older_copies()

    def _older_copies(self) -> list[str]:
        return files.older_copies(self._db.path)

    def _blank_message(self, connection: "apsw.Connection", message_id: int) -> None:
        message = read_message(connection, message_id)
        forget_vectors(connection, "message", [message_id], has_vec0=self._has_vec0)
        connection.execute(
            "UPDATE main_messages SET content = ?, metadata = ?, token_count = 0 WHERE id = ?",
            (ERASED, to_json({"erased": True, FORGOTTEN: True}), message_id),
        )
        fts.remove(connection, "message", message_id)
        connection.execute("DELETE FROM subagent_messages WHERE parent_msg_id = ?", (message_id,))
        covering: list[Row] = connection.execute(
            "SELECT id FROM short_term_memories"
            " WHERE session_id = ? AND ? BETWEEN first_message_id AND last_message_id",
            (message.session_id, message_id),
        ).fetchall()
        for (summary_id,) in covering:
            forget_vectors(connection, "short_term", [summary_id], has_vec0=self._has_vec0)
            connection.execute("DELETE FROM short_term_memories WHERE id = ?", (summary_id,))
            _blank_journal(connection, "short_term", summary_id)


def _blank_journal(connection: "apsw.Connection", kind: ItemKind, item_id: int) -> None:
    rows: list[Row] = connection.execute(
        "SELECT id, before, after FROM memory_events WHERE kind = ? AND item_id = ?", (kind, item_id)
    ).fetchall()
    for event_id, before, after in rows:
        connection.execute(
            "UPDATE memory_events SET before = ?, after = ?, reason = '' WHERE id = ?",
            (_blank(before), _blank(after), event_id),
        )


def _blank(text: str | None) -> str | None:
    if text is None:
        return None
    facts = json.loads(text)
    return to_json(facts | {"content": ERASED} | ({"topic_key": None} if "topic_key" in facts else {}))


def _record(connection: "apsw.Connection", kind: ItemKind, item_id: int, actor: str, reason: str, now: str) -> None:
    journal.record_facts(
        connection, kind, item_id, "erase", before=None, after=None, actor=actor, reason=reason, timestamp=now
    )
