"""Runs of subagents: one row each, from its beginning in state `running` to its whole reply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Literal

from memory.store.parts import StorePart, one_row, read_session
from memory.store.rows import Row, to_json
from memory.store.run_store import AGENT_RUN, INTERRUPTED, OwnerCheck
from memory.text import repair
from memory.types import RunState, SubagentRun

if TYPE_CHECKING:
    import apsw

_FIELDS = tuple(field.name for field in fields(SubagentRun))
_RUN = ", ".join(_FIELDS)
"""Columns in the order of the value's fields."""


class RunPart(StorePart):
    """The methods about runs; `memory.store.run_store.RunStore` is their contract."""

    def add_subagent_run(
        self, parent_msg_id: int, agent_name: str, task: str, *, parent_run_id: int | None, owner: Mapping[str, Any]
    ) -> SubagentRun:
        """Store a run that begins now, in state `running`, below a message and (when one called it) below a run."""
        now = self._clock.now()
        with self._db.write() as connection:
            query = "SELECT session_id FROM main_messages WHERE id = ?"
            (session_id,) = one_row(connection, query, (parent_msg_id,), f"message {parent_msg_id}")
            if parent_run_id is not None:
                _read_run(connection, parent_run_id)
            connection.execute(
                "INSERT INTO subagent_messages (parent_msg_id, parent_run_id, session_id, agent_name, role, content,"
                " timestamp, task, state, started_at, owner)"
                " VALUES (?, ?, ?, ?, 'assistant', '', ?, ?, 'running', ?, ?)",
                (
                    *(parent_msg_id, parent_run_id, session_id, repair(agent_name)[0]),
                    *(now, repair(task)[0], now, to_json(owner)),
                ),
            )
            return _read_run(connection, connection.last_insert_rowid())

    def beat_subagent_run(self, run_id: int, owner: Mapping[str, Any]) -> None:
        """Give a sign of life for a run that goes on."""
        with self._db.write() as connection:
            connection.execute("UPDATE subagent_messages SET owner = ? WHERE id = ?", (to_json(owner), run_id))

    def end_subagent_run(
        self,
        run_id: int,
        state: RunState,
        content: str,
        *,
        role: Literal["assistant", "system"] = "assistant",
        token_count: int,
        subtree_tokens: int,
        truncated: bool = False,
    ) -> SubagentRun:
        """Store the end of a run: its whole reply, or (role `system`) why there is none. The caller keeps to limits."""
        now = self._clock.now()
        with self._db.write() as connection:
            _read_run(connection, run_id)
            connection.execute(
                "UPDATE subagent_messages SET state = ?, content = ?, role = ?, token_count = ?, subtree_tokens = ?,"
                " truncated = ?, timestamp = ?, ended_at = ?, owner = '{}' WHERE id = ?",
                (
                    *(state, repair(content)[0], role, token_count, subtree_tokens),
                    *(int(truncated), now, now, run_id),
                ),
            )
            return _read_run(connection, run_id)

    def subagent_run(self, run_id: int) -> SubagentRun:
        """One run."""
        with self._db.read() as connection:
            return _read_run(connection, run_id)

    def subagent_runs(self, session_id: str, *, message_id: int | None = None) -> list[SubagentRun]:
        """The runs of a session, or of one of its messages, in the order in which they began."""
        with self._db.read() as connection:
            read_session(connection, session_id)
            rows = connection.execute(
                f"SELECT {_RUN} FROM subagent_messages"
                " WHERE session_id = :session AND (:message IS NULL OR parent_msg_id = :message) ORDER BY id",
                {"session": repair(session_id)[0], "message": message_id},
            )
            return [_to_run(row) for row in rows]

    def import_subagent_runs(self, runs: Sequence[tuple[str, SubagentRun]]) -> int:
        """Add runs that plain files hold, callers first, each with the digest of the message that called for it.

        One whose message is not here or was erased, or that is here already, is left out; tells how many were added.
        """
        here: dict[int, int] = {}
        added = 0
        with self._db.write() as connection:
            for digest, run in runs:
                query = (
                    "SELECT message.id FROM imported_items JOIN main_messages AS message ON message.id = item_id"
                    " WHERE digest = ? AND kind = 'message' AND json_extract(message.metadata, '$.erased') IS NULL"
                )
                found = connection.execute(query, (digest,)).fetchone()
                if found is None:
                    continue
                query = "SELECT id FROM subagent_messages WHERE parent_msg_id = ? AND agent_name = ? AND started_at = ?"
                known = connection.execute(query, (found[0], run.agent_name, run.started_at)).fetchone()
                if known is not None:
                    here[run.id] = known[0]
                    continue
                here[run.id] = _insert(connection, run, found[0], here.get(run.parent_run_id or 0))
                added += 1
        return added

    def recover_subagent_runs(self, is_alive: OwnerCheck) -> list[SubagentRun]:
        """Mark runs that a process which is gone left `running` as `stopped`, and tell which."""
        with self._db.read() as connection:
            query = "SELECT id, owner FROM subagent_messages WHERE state = 'running' ORDER BY id"
            left = [(run_id, owner) for run_id, owner in connection.execute(query) if not is_alive(json.loads(owner))]
        if not left:
            return []
        now, marked = self._clock.now(), list[SubagentRun]()
        with self._db.write() as connection:
            for run_id, owner in left:  # Only as they were seen: one that went on since has an owner that is alive.
                row = connection.execute(
                    "UPDATE subagent_messages SET state = 'stopped', role = 'system', content = ?, ended_at = ?,"
                    f" owner = '{{}}' WHERE id = ? AND owner = ? AND state = 'running' RETURNING {_RUN}",
                    (INTERRUPTED, now, run_id, owner),
                ).fetchone()
                if row is not None:
                    marked.append(_to_run(row))
        return marked


def _insert(connection: "apsw.Connection", run: SubagentRun, message_id: int, caller: int | None) -> int:
    """A run from elsewhere below a message (and a run) of ours; the reply that it made up tells its new id."""
    values = asdict(run) | {"parent_msg_id": message_id, "parent_run_id": caller, "truncated": int(run.truncated)}
    del values["id"]
    connection.execute(
        f"INSERT INTO subagent_messages ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        tuple(values.values()),
    )
    new_id = connection.last_insert_rowid()
    if run.parent_run_id is None:
        connection.execute(
            f"UPDATE main_messages SET metadata = json_set(metadata, '$.{AGENT_RUN}', ?)"
            f" WHERE parent_id = ? AND json_extract(metadata, '$.{AGENT_RUN}') = ?",
            (new_id, message_id, run.id),
        )
    return new_id


def _read_run(connection: "apsw.Connection", run_id: int) -> SubagentRun:
    query = f"SELECT {_RUN} FROM subagent_messages WHERE id = ?"
    return _to_run(one_row(connection, query, (run_id,), f"run {run_id}"))


def _to_run(row: Row) -> SubagentRun:
    values = dict(zip(_FIELDS, row, strict=True))
    return SubagentRun(**values | {"truncated": bool(values["truncated"])})
