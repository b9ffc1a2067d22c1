"""Long-term memory: added, superseded, changed and counted; every change but the counting is journalled."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memory.store import fts, journal
from memory.store.embeddings import forget_vectors
from memory.store.filters import one_of, scope_conditions
from memory.store.parts import StorePart, one_row
from memory.store.rows import LONG_TERM, item_facts, storable, to_json, to_long_term
from memory.types import LongTermMemory, MemoryStatus, NewMemory, Scope

if TYPE_CHECKING:
    import apsw

CHANGEABLE = frozenset(
    (
        *("content", "memory_type", "source_session", "confidence", "expires_at", "user_id", "project", "agent_id"),
        *("team_id", "branch", "source", "importance", "status", "pinned", "topic_key", "version", "supersedes"),
        *("merged_from", "source_message_id"),
    )
)
"""Fields that `update_memory` takes: all that an undo may have to put back."""


class MemoryPart(StorePart):
    """The methods about long-term memory."""

    def add_memory(self, new: NewMemory, *, actor: str, reason: str = "") -> LongTermMemory:
        """Add a long-term memory, journalled.

        An active memory of the same scope with the same `topic_key` (when one is given and the new one is active)
        is superseded in the same transaction: its status changes, the new one links to it, version + 1.
        """
        now = self._clock.now()
        with self._db.write() as connection, journal.one_act(connection):
            older = _same_topic(connection, new) if new.topic_key and new.status == "active" else []
            memory_id = _insert(connection, new, older[0] if older else None, now)
            added = read_memory(connection, memory_id)
            for old in older:
                why = f"superseded by memory {memory_id}" + (f": {reason}" if reason else "")
                _change(connection, old, {"status": "superseded"}, now)
                superseded = read_memory(connection, old.id)
                journal.record(
                    connection, "supersede", before=old, after=superseded, actor=actor, reason=why, timestamp=now
                )
            fts.put(connection, "long_term", memory_id, added.content)
            journal.record(connection, "add", before=None, after=added, actor=actor, reason=reason, timestamp=now)
            return added

    def update_memory(
        self, memory_id: int, changes: Mapping[str, Any], *, actor: str, reason: str = ""
    ) -> LongTermMemory:
        """Change fields of a memory by name, journalled with before and after. Unknown fields: `ValueError`.

        Changes that change nothing are not journalled. A new content loses the vector of the old one.
        """
        if unknown := changes.keys() - CHANGEABLE:
            raise ValueError(f"a memory has no field to change named {', '.join(sorted(unknown))}")
        wanted = {name: tuple(value) if isinstance(value, list) else value for name, value in storable(changes).items()}
        now = self._clock.now()
        with self._db.write() as connection:
            before = read_memory(connection, memory_id)
            changed = {name: value for name, value in wanted.items() if getattr(before, name) != value}
            if not changed:
                return before
            after = write_changes(connection, before, changed, now, has_vec0=self._has_vec0)
            action = journal.name_change(before, after)
            journal.record(connection, action, before=before, after=after, actor=actor, reason=reason, timestamp=now)
            return after

    def insert_memory(self, memory: LongTermMemory, *, actor: str, reason: str = "") -> LongTermMemory:
        """Add a memory as it was elsewhere, under a new id: times, version and counts are kept; journalled."""
        row = {name: value for name, value in item_facts(memory).items() if name != "id"}
        row |= {"pinned": int(memory.pinned), "merged_from": to_json(memory.merged_from)}
        with self._db.write() as connection:
            connection.execute(
                f"INSERT INTO long_term_memories ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                storable(tuple(row.values())),
            )
            added = read_memory(connection, connection.last_insert_rowid())
            fts.put(connection, "long_term", added.id, added.content)
            now = self._clock.now()
            journal.record(connection, "import", before=None, after=added, actor=actor, reason=reason, timestamp=now)
            return added

    def memory(self, memory_id: int) -> LongTermMemory:
        """One long-term memory."""
        with self._db.read() as connection:
            return read_memory(connection, memory_id)

    def memories(
        self,
        *,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        limit: int = 100,
        offset: int = 0,
    ) -> list[LongTermMemory]:
        """Long-term memories, newest first. A scope sees its own and what is not tied to a project, agent or team."""
        conditions, values = scope_conditions(scope, "long_term_memories")
        for column, allowed in (("branch", branches), ("status", status)):
            if allowed is not None:
                conditions.append(one_of(column))
                values.append(json.dumps(list(allowed)))
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT {LONG_TERM} FROM long_term_memories WHERE {' AND '.join(['1', *conditions])}"
                " ORDER BY id DESC LIMIT ? OFFSET ?",
                [*values, max(limit, 0), max(offset, 0)],
            )
            return [to_long_term(row) for row in rows]

    def touch_memories(self, memory_ids: Sequence[int]) -> None:
        """Count one access each, now."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE long_term_memories SET access_count = access_count + 1, last_accessed = ? WHERE "
                + one_of("id"),
                (self._clock.now(), json.dumps(list(memory_ids))),
            )


def read_memory(connection: "apsw.Connection", memory_id: int) -> LongTermMemory:
    """One long-term memory; `NotFoundError`."""
    query = f"SELECT {LONG_TERM} FROM long_term_memories WHERE id = ?"
    return to_long_term(one_row(connection, query, (memory_id,), f"memory {memory_id}"))


def write_changes(
    connection: "apsw.Connection", before: LongTermMemory, changes: Mapping[str, Any], now: str, *, has_vec0: bool
) -> LongTermMemory:
    """Change fields of `CHANGEABLE`, the index with them; a new content loses the vector of the old one."""
    _change(connection, before, changes, now)
    after = read_memory(connection, before.id)
    if after.content != before.content:
        fts.put(connection, "long_term", before.id, after.content)
        forget_vectors(connection, "long_term", [before.id], has_vec0=has_vec0)
    return after


def _same_topic(connection: "apsw.Connection", new: NewMemory) -> list[LongTermMemory]:
    """Active memories about the topic in exactly this scope, the latest version first; normally at most one."""
    scope = new.scope
    rows = connection.execute(
        f"SELECT {LONG_TERM} FROM long_term_memories WHERE topic_key = ? AND user_id = ? AND project IS ?"
        " AND agent_id IS ? AND team_id IS ? AND status = 'active' ORDER BY version DESC, id DESC",
        (new.topic_key, scope.user_id, scope.project, scope.agent_id, scope.team_id),
    )
    return [to_long_term(row) for row in rows]


def _insert(connection: "apsw.Connection", new: NewMemory, old: LongTermMemory | None, now: str) -> int:
    row = {
        "content": new.content,
        "memory_type": new.memory_type,
        "source_session": new.source_session,
        "confidence": new.confidence,
        "expires_at": new.expires_at,
        "created_at": now,
        "updated_at": now,
        "user_id": new.scope.user_id,
        "project": new.scope.project,
        "agent_id": new.scope.agent_id,
        "team_id": new.scope.team_id,
        "branch": new.branch,
        "source": new.source,
        "importance": new.importance,
        "status": new.status,
        "pinned": int(new.pinned),
        "topic_key": new.topic_key,
        "version": old.version + 1 if old else 1,
        "supersedes": old.id if old else None,
        "source_message_id": new.source_message_id,
    }
    connection.execute(
        f"INSERT INTO long_term_memories ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        storable(tuple(row.values())),
    )
    return connection.last_insert_rowid()


def _change(connection: "apsw.Connection", memory: LongTermMemory, changes: Mapping[str, Any], now: str) -> None:
    """Write the changes; names are fields of `CHANGEABLE`."""
    row = {**changes, "updated_at": now}
    if "merged_from" in row:
        row["merged_from"] = to_json(row["merged_from"])
    if "pinned" in row:
        row["pinned"] = int(row["pinned"])
    connection.execute(
        f"UPDATE long_term_memories SET {', '.join(f'{name} = ?' for name in row)} WHERE id = ?",
        (*row.values(), memory.id),
    )
