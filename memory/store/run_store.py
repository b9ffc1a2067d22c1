"""The part of the store's protocol that keeps the runs of subagents. See `memory.store.base` for what holds for all."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # the app's first frame waits for these constants, not for all values
    from memory.types import RunState, SubagentRun

AGENT_CALL = "agent_call"
"""The tool by which a model calls an agent. What it gives is never looked through for memories."""
AGENT_RUN = "agent_run"
"""Key in the metadata of a reply that an agent's words make up: its run. Such a reply is in prompts, in no search."""
AGENT_TASK = "agent_task"
"""Key in the metadata of a message by the user that gives an agent a task by hand: the agent's name."""
INTERRUPTED = "Orca ended while the agent was at work; what it had written is lost."
"""What stands in a run that a process left unfinished."""


class OwnerCheck(Protocol):
    """Tells whether the process that writes a streaming reply or a run is still there."""

    def __call__(self, owner: Mapping[str, Any]) -> bool:
        """`owner` is what the writer left: `pid`, `host`, `heartbeat` (ISO-8601)."""
        ...


class RunStore(Protocol):
    """What a store does with runs. Their text is never searched, never embedded, and in no prompt."""

    def add_subagent_run(
        self, parent_msg_id: int, agent_name: str, task: str, *, parent_run_id: int | None, owner: Mapping[str, Any]
    ) -> "SubagentRun":
        """Store a run that begins now, in state `running`, below a message and (when one called it) below a run."""
        ...

    def beat_subagent_run(self, run_id: int, owner: Mapping[str, Any]) -> None:
        """Give a sign of life for a run that goes on."""
        ...

    def end_subagent_run(
        self,
        run_id: int,
        state: "RunState",
        content: str,
        *,
        role: Literal["assistant", "system"] = "assistant",
        token_count: int,
        subtree_tokens: int,
        truncated: bool = False,
    ) -> "SubagentRun":
        """Store the end of a run: its whole reply, or (role `system`) why there is none. The caller keeps to limits."""
        ...

    def subagent_run(self, run_id: int) -> "SubagentRun":
        """One run."""
        ...

    def subagent_runs(self, session_id: str, *, message_id: int | None = None) -> "list[SubagentRun]":
        """The runs of a session, or of one of its messages, in the order in which they began."""
        ...

    def recover_subagent_runs(self, is_alive: OwnerCheck) -> "list[SubagentRun]":
        """Mark runs that a process which is gone left `running` as `stopped`, and tell which. See `INTERRUPTED`."""
        ...
