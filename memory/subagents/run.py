"""One run of an agent: its row, its work under a watch, its end. However it ends, the row tells so and nothing is left.

The run is a task of its own that nobody cancels: who wants its end calls `stop`, and waits. So no cancel, wherever it
comes, can fall between a row and its end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from memory.config import AgentSettings, ToolsSettings
from memory.errors import NotFoundError, OrcaError, StoreError
from memory.events import SubagentDelta, SubagentFinished, SubagentStarted
from memory.provider.base import ChatModel
from memory.store.base import Store
from memory.subagents.agents import tools_of
from memory.subagents.conversation import Conversation, LimitReached, sentence_of
from memory.subagents.reply import Reply, stored_reply
from memory.subagents.summary import extract, summarise, told
from memory.text import language_of
from memory.tokens import TokenCounter
from memory.tools.base import ToolContext
from memory.tools.toolbox import StandardToolbox
from memory.types import RunState, SubagentRun

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0
CLOSE_SECONDS = 1.5
"""How long the work may take to end after it was cancelled."""
RETRY_WAITS = (0.2, 1.0)
"""Seconds between the tries to write the end of a run."""
WAITS = "Waits until another agent is done."
"""A step (English source of `_`)."""
_LIMIT = {
    "en": "[stopped here: the limit of {limit} was reached]",
    "zh": "[到此停止：已达到上限 {limit}]",
}


@dataclass(frozen=True, slots=True)
class RunContext:
    """What every run of a core works with."""

    store: Store
    counter: TokenCounter
    toolbox: StandardToolbox
    chat: Callable[[str], Awaitable[ChatModel]]
    """The model of a name; empty: the one that the settings say."""
    owner: Callable[[], Mapping[str, Any]]
    """What tells who writes a run, and when that was last so."""
    nonce: Callable[[], str]
    tools: Callable[[], ToolsSettings]
    """The settings of tools as they are now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left."""

    run: SubagentRun
    summary: str
    """For the caller: fenced, at most some 300 tokens and the fence."""
    text: str
    """The same without the fence, for a person."""
    is_cancelled: bool
    """The user stopped it, not a limit."""


class Run:
    """One run. Needs a running event loop; its task begins at once."""

    def __init__(
        self,
        context: RunContext,
        name: str,
        agent: AgentSettings,
        task: str,
        caller: ToolContext,
        *,
        slots: asyncio.Semaphore,
        started: Callable[["Run"], None],
    ) -> None:
        """`slots` bounds how many work at once; `started` is told when the row is there."""
        self.row: SubagentRun | None = None
        """As last stored; `None` until it is there."""
        self.children_tokens = 0
        """Used by the runs that this one called."""
        self._context = context
        self._agent = agent
        self._agent_name = name
        self._task_text = task
        self._caller = caller
        self._slots = slots
        self._started = started
        self._stop = asyncio.Event()
        self._conversation: Conversation | None = None
        self._summary: str | None = None
        self._done = False
        """The reply is whole: whatever comes now does not take it away."""
        self._extra_tokens = 0
        self._limit: asyncio.Timeout | None = None
        self._time_left = 0.0
        self._waiting = 0
        """Calls that wait for the user."""
        self.task = asyncio.get_running_loop().create_task(self._live(), name=f"agent {name}")

    @property
    def tokens(self) -> int:
        """Used by the run itself up to now."""
        return (self._conversation.tokens if self._conversation else 0) + self._extra_tokens

    def stop(self) -> None:
        """End the run and keep what it has. Returns at once."""
        self._stop.set()

    async def _live(self) -> Outcome:
        """From the first row to the last. Raises `StoreError` when there is no row to be had."""
        context, caller = self._context, self._caller
        self.row = row = await asyncio.to_thread(
            context.store.add_subagent_run,
            caller.message.id,
            self._agent_name,
            self._task_text,
            parent_run_id=caller.run_id,
            owner=context.owner(),
        )
        self._started(self)
        caller.emit(SubagentStarted(caller.turn_id, row))
        work = asyncio.get_running_loop().create_task(self._work(row), name=f"work of run {row.id}")
        try:
            await self._watch(work, row)
        finally:
            work.cancel()
            await asyncio.wait({work}, timeout=CLOSE_SECONDS)
            ending = asyncio.ensure_future(self._end(work, row))
            await asyncio.shield(ending)
        return ending.result()

    async def _watch(self, work: asyncio.Task[None], row: SubagentRun) -> None:
        """Until the work is done or is to be stopped, with signs of life."""
        loop, turn_stopped = asyncio.get_running_loop(), self._caller.cancelled
        ends = [work, loop.create_task(self._stop.wait())]
        if turn_stopped is not None:
            ends.append(loop.create_task(turn_stopped.wait()))
        try:
            while True:
                done, _ = await asyncio.wait(ends, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    return
                await self._beat(row)
        finally:
            for end in ends[1:]:
                end.cancel()

    async def _beat(self, row: SubagentRun) -> None:
        try:
            await asyncio.to_thread(self._context.store.beat_subagent_run, row.id, self._context.owner())
        except StoreError as error:
            log.warning("a run could not give a sign of life: %s", error)

    async def _work(self, row: SubagentRun) -> None:
        context = self._context
        if self._slots.locked():
            self._tell("step", WAITS)
        async with self._slots:
            seconds = self._agent.max_seconds
            try:
                async with asyncio.timeout(seconds) as self._limit:
                    model = await context.chat(self._agent.model)
                    if set(tools_of(self._agent)) - set(context.toolbox.names):
                        await context.toolbox.specs(self._caller.session)  # MCP servers may have what is missing
                    self._conversation = talk = self._begin_talk(row)
                    await talk.run(model)
            except TimeoutError as error:
                raise LimitReached(f"{seconds:g} s") from error
            self._done = True
            self._summary, self._extra_tokens = await summarise(
                model, self._task_text, talk.text, context.counter, context.nonce()
            )

    def _begin_talk(self, row: SubagentRun) -> Conversation:
        context, caller = self._context, self._caller
        return Conversation(
            self._agent,
            self._task_text,
            toolbox=context.toolbox,
            context=replace(caller, agent=self._agent_name, run_id=row.id, depth=caller.depth + 1, waits=self._waits),
            counter=context.counter,
            max_rounds=context.tools().max_rounds,
            tell=self._tell,
        )

    def _waits(self, waiting: bool) -> None:
        """The clock stands while the user is asked, this run's and those of its callers."""
        self._caller.waits(waiting)
        limit, now = self._limit, asyncio.get_running_loop().time()
        self._waiting += 1 if waiting else -1
        if limit is None or limit.expired():
            return
        if waiting and self._waiting == 1:
            self._time_left = (limit.when() or now) - now
            limit.reschedule(None)
        elif not waiting and self._waiting == 0:
            limit.reschedule(now + self._time_left)

    def _tell(self, kind: Literal["text", "reasoning", "step"], text: str) -> None:
        if self.row is not None:
            caller = self._caller
            caller.emit(SubagentDelta(caller.turn_id, self.row.id, kind, text, self.tokens))

    async def _end(self, work: asyncio.Task[None], row: SubagentRun) -> Outcome:
        """Store how the run ended, and tell it."""
        state, problem, limit = self._verdict(work)
        written = self._conversation.text if self._conversation else ""
        overflown = self._conversation.overflown if self._conversation else False
        reply = await asyncio.to_thread(stored_reply, written, overflown=overflown)
        if state == "failed":
            reply = Reply(problem)
        elif limit:
            note = _LIMIT[language_of(written or self._task_text)].format(limit=limit)
            reply = replace(reply, text=f"{reply.text}\n\n{note}".strip())
        tells_why = state == "failed" or (bool(limit) and not written.strip())
        self.row = row = await self._store(row, state, reply, role="system" if tells_why else "assistant")
        text = self._summary
        if text is None:
            text = problem or await asyncio.to_thread(extract, self._task_text, written, self._context.counter)
        note = f"It reached its limit of {limit}." if limit else "Its reply was too long and was cut." * reply.truncated
        self._caller.emit(SubagentFinished(self._caller.turn_id, row))
        is_cancelled = state == "stopped" and not limit
        return Outcome(row, told(row, text, self._context.nonce(), note), text, is_cancelled)

    def _verdict(self, work: asyncio.Task[None]) -> tuple[RunState, str, str]:
        """Its state, what went wrong (for `failed`), and which limit it reached."""
        error = work.exception() if work.done() and not work.cancelled() else None
        if self._done:
            return "complete", "", ""
        if isinstance(error, LimitReached):
            return "stopped", "", str(error)
        if isinstance(error, OrcaError):
            return "failed", sentence_of(error), ""
        if error is not None:
            log.error("an agent met an error that it does not know", exc_info=error)
            # By its kind only: what it says may hold a key.
            return "failed", f"Unexpected error in orca: {type(error).__name__}.", ""
        return "stopped", "", ""

    async def _store(
        self, row: SubagentRun, state: RunState, reply: Reply, *, role: Literal["assistant", "system"]
    ) -> SubagentRun:
        """The row as it is stored at the end; tries a few times. What the store never takes is told as a value."""
        own = self.tokens

        def write() -> SubagentRun:
            return self._context.store.end_subagent_run(
                row.id,
                state,
                reply.text,
                role=role,
                token_count=own,
                subtree_tokens=own + self.children_tokens,
                truncated=reply.truncated,
            )

        for wait in RETRY_WAITS:
            try:
                return await asyncio.to_thread(write)
            except NotFoundError:  # its session is deleted
                break
            except StoreError as problem:
                log.warning("the end of a run could not be stored, trying again: %s", problem)
                await asyncio.sleep(wait)
        try:
            return await asyncio.to_thread(write)
        except StoreError as problem:
            log.warning("the end of run %d is lost: %s", row.id, problem)
            return replace(row, state=state, content=reply.text, role=role, truncated=reply.truncated)
