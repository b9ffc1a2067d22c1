"""Runs of subagents: one row each, from its beginning in state `running` to its whole reply."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from memory.store.parts import StorePart, one_row, read_session
from memory.store.rows import Row, to_json
from memory.store.run_store import INTERRUPTED, OwnerCheck
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


def _read_run(connection: "apsw.Connection", run_id: int) -> SubagentRun:
    query = f"SELECT {_RUN} FROM subagent_messages WHERE id = ?"
    return _to_run(one_row(connection, query, (run_id,), f"run {run_id}"))


def _to_run(row: Row) -> SubagentRun:
    values = dict(zip(_FIELDS, row, strict=True))
    return SubagentRun(**values | {"truncated": bool(values["truncated"])})
