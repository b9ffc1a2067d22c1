"""Runs of subagents: lines in the file of their session."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Literal

from memory.store.jsonl.log import session_file
from memory.store.jsonl.parts import JSONLPart, new, one, one_session
from memory.store.jsonl.state import to_line
from memory.store.rows import storable
from memory.store.run_store import INTERRUPTED, OwnerCheck
from memory.types import RunState, SubagentRun


class RunPart(JSONLPart):
    """The methods about runs; `memory.store.run_store.RunStore` is their contract."""

    def add_subagent_run(
        self, parent_msg_id: int, agent_name: str, task: str, *, parent_run_id: int | None, owner: Mapping[str, Any]
    ) -> SubagentRun:
        """Store a run that begins now, in state `running`, below a message and (when one called it) below a run."""
        now = self._clock.now()
        with self._log.writing() as append:
            message = one(self._state.messages, parent_msg_id, f"message {parent_msg_id}")
            if parent_run_id is not None:
                self._run(parent_run_id)
            run = new(
                SubagentRun,
                id=self._state.next_id("run"),
                parent_msg_id=parent_msg_id,
                parent_run_id=parent_run_id,
                session_id=message.session_id,
                agent_name=storable(agent_name),
                role="assistant",
                content="",
                timestamp=now,
                task=storable(task),
                state="running",
                token_count=0,
                subtree_tokens=0,
                truncated=False,
                started_at=now,
                ended_at=None,
            )
            append(session_file(run.session_id), _line(run, owner))
            return run

    def beat_subagent_run(self, run_id: int, owner: Mapping[str, Any]) -> None:
        """Give a sign of life for a run that goes on."""
        with self._log.writing() as append:
            run = self._run(run_id)
            append(session_file(run.session_id), _line(run, owner))

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
        with self._log.writing() as append:
            run = new(
                SubagentRun,
                asdict(self._run(run_id)),
                state=state,
                content=storable(content),
                role=role,
                token_count=token_count,
                subtree_tokens=subtree_tokens,
                truncated=truncated,
                timestamp=now,
                ended_at=now,
            )
            append(session_file(run.session_id), _line(run))
            return run

    def subagent_run(self, run_id: int) -> SubagentRun:
        """One run."""
        with self._log.reading():
            return self._run(run_id)

    def subagent_runs(self, session_id: str, *, message_id: int | None = None) -> list[SubagentRun]:
        """The runs of a session, or of one of its messages, in the order in which they began."""
        with self._log.reading():
            session = one_session(self._state, session_id)
            runs = [run for run in self._state.runs.values() if run.session_id == session.id]
        return sorted((r for r in runs if message_id in (None, r.parent_msg_id)), key=lambda run: run.id)

    def recover_subagent_runs(self, is_alive: OwnerCheck) -> list[SubagentRun]:
        """Mark runs that a process which is gone left `running` as `stopped`, and tell which."""
        with self._log.reading():
            owners = self._state.run_owners
            left = [run for run in self._state.runs.values() if run.state == "running" and not is_alive(owners[run.id])]
        marked: list[SubagentRun] = []
        for seen in sorted(left, key=lambda run: run.id):
            with self._log.writing() as append:
                if self._state.runs.get(seen.id) == seen and not is_alive(self._state.run_owners[seen.id]):
                    now = self._clock.now()
                    run = replace(seen, state="stopped", role="system", content=INTERRUPTED, ended_at=now)
                    append(session_file(run.session_id), _line(run))
                    marked.append(run)
        return marked

    def _run(self, run_id: int) -> SubagentRun:
        return one(self._state.runs, run_id, f"run {run_id}")


def _line(run: SubagentRun, owner: Mapping[str, Any] | None = None) -> bytes:
    return to_line("run", {**asdict(run), "owner": dict(owner or {})})
