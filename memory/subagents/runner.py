"""The subagents of a core: starts runs, bounds how many work at once, stops one or all, finds what a crash cut."""

import asyncio
from collections.abc import Callable, Mapping

from memory.config import AgentSettings
from memory.errors import NotFoundError, ToolFailed, ToolRefused
from memory.subagents.agents import agents_of, find_agent
from memory.subagents.run import Outcome, Run, RunContext
from memory.tools.base import ToolContext
from memory.types import SubagentRun

MAX_DEPTH = 3
"""An agent may call an agent, that may call a third; no deeper."""
AT_ONCE = 4
"""Runs of one depth that work at the same time; further ones wait. By depth, so that no caller waits for itself."""
MAX_TASK = 100_000
"""Characters of a task."""


class Subagents:
    """All runs of a core. For the event loop's thread."""

    def __init__(self, context: RunContext, agents: Callable[[], Mapping[str, AgentSettings]]) -> None:
        """`agents`: the sections `[agents.NAME]` as they are now."""
        self._context = context
        self._sections = agents
        self._slots: dict[int, asyncio.Semaphore] = {}
        self._runs: set[Run] = set()
        self._by_id: dict[int, Run] = {}

    @property
    def agents(self) -> dict[str, AgentSettings]:
        """Those that may be called, by name."""
        return agents_of(self._sections())

    @property
    def live(self) -> tuple[SubagentRun, ...]:
        """The runs that are on their way, as they were last stored."""
        return tuple(run.row for run in self._by_id.values() if run.row is not None)

    def tokens(self, run_id: int) -> int:
        """What a run on its way has used up to now; 0 when it is over."""
        run = self._by_id.get(run_id)
        return run.tokens if run else 0

    def cancel(self, run_id: int) -> None:
        """End a run, and those that it called; what they have is kept. Raises `NotFoundError` when it is over."""
        run = self._by_id.get(run_id)
        if run is None:
            raise NotFoundError("This agent is not at work any more.")
        run.stop()

    def cancel_all(self, session_id: str) -> int:
        """End all runs of a session; tells how many."""
        found = [run for run in self._by_id.values() if run.row and run.row.session_id == session_id]
        for run in found:
            run.stop()
        return len(found)

    async def call(self, name: str, task: str, caller: ToolContext) -> Outcome:
        """Let an agent do a task, and wait for it. Cancelling this ends the run, and waits until all is stored.

        Raises `ToolFailed` (no such agent, no task), `ToolRefused` (too deep) and leaves of `StoreError`.
        """
        agent = find_agent(self.agents, name)
        if caller.depth >= MAX_DEPTH:
            raise ToolRefused(
                f"Agents may call agents {MAX_DEPTH} deep, and this is the limit.",
                hint="Do the task without calling one.",
            )
        if not task.strip():
            raise ToolFailed("The agent was given no task.", hint="Say in the task all that it needs to know.")
        if len(task) > MAX_TASK:
            raise ToolFailed(f"The task is longer than {MAX_TASK:,} characters.", hint="Give it a shorter one.")
        slots = self._slots.setdefault(caller.depth, asyncio.Semaphore(AT_ONCE))
        run = Run(self._context, name, agent, task, caller, slots=slots, started=self._begun)
        self._runs.add(run)
        try:
            return await _to_its_end(run)
        finally:
            self._over(run, caller)

    async def close(self) -> None:
        """Stop all runs and wait until they are stored."""
        for run in self._runs:
            run.stop()
        if tasks := {run.task for run in self._runs}:
            await asyncio.wait(tasks)

    def _begun(self, run: Run) -> None:
        if run.row is not None:
            self._by_id[run.row.id] = run

    def _over(self, run: Run, caller: ToolContext) -> None:
        self._runs.discard(run)
        if run.row is None:
            return
        self._by_id.pop(run.row.id, None)
        if caller.run_id in self._by_id:
            self._by_id[caller.run_id].children_tokens += run.row.subtree_tokens


async def _to_its_end(run: Run) -> Outcome:
    """The run's outcome. A cancel stops the run, and leaves only when its end is stored."""
    cancelled: asyncio.CancelledError | None = None
    while not run.task.done():
        try:
            await asyncio.wait({run.task})
        except asyncio.CancelledError as error:
            cancelled = error
            run.stop()
    if cancelled is not None:
        if not run.task.cancelled():
            run.task.exception()  # a failure to store it has been logged, or concerns nobody any more
        raise cancelled
    return run.task.result()
