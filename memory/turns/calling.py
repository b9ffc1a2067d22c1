"""The calls of one round: they run side by side, and each gets exactly one stored result, whatever happens."""

import asyncio
import logging
from collections.abc import Sequence

from memory.errors import OrcaError
from memory.events import ToolFinished, ToolStarted, ToolState
from memory.provider.base import ToolCall
from memory.recalling.calls import TOOL_CALL_ID
from memory.tools.base import Toolbox, ToolContext, ToolResult
from memory.tools.taint import taints
from memory.turns.context import Progress, TurnContext
from memory.turns.reply import raw_tokens
from memory.types import Message

log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long a tool may take to end after a stop."""
STOPPED = "No result: the user stopped the turn."
MORE_TEXT = 16
"""Characters for each token of `tools.max_result_tokens` that are stored at most, whatever a toolbox gives."""

Result = tuple[ToolState, ToolResult]
_STOPPED: Result = ("cancelled", ToolResult(STOPPED, is_foreign=False))


class Round:
    """Runs the calls of one message. `asked` is that message, as stored."""

    def __init__(self, context: TurnContext, progress: Progress, tools: ToolContext, asked: Message) -> None:
        self._context = context
        self._progress = progress
        self._tools = tools
        self.last = asked
        """The newest stored row: the message that asks, then one result after the other."""
        self.is_foreign = False
        """A result was foreign text."""

    async def run(self, toolbox: Toolbox, calls: Sequence[ToolCall]) -> None:
        """Run them all. After a stop those that have no result are stored as `cancelled`.

        Results are stored in the order of the calls, each as soon as those before it are there. Raises leaves of
        `StoreError`; nothing runs any more then.
        """
        progress = self._progress
        tasks = []
        for call in calls:
            progress.outbox.put(ToolStarted(progress.turn_id, call.id, call.name, call.arguments))
            tasks.append(asyncio.create_task(self._one(toolbox, call), name=f"tool {call.name[:40]}"))
        stopping = asyncio.create_task(progress.stop.wait())
        stored = 0
        try:
            for call, task in zip(calls, tasks, strict=True):
                await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if not task.done():
                    break
                await self._store(call, task)
                stored += 1
        finally:
            stopping.cancel()
            await asyncio.shield(self._end(calls[stored:], tasks[stored:]))

    async def _one(self, toolbox: Toolbox, call: ToolCall) -> Result:
        try:
            state, result = await toolbox.run(call, self._tools)
        except OrcaError as error:
            state, result = "failed", ToolResult(f"{error} {error.hint}".strip())
        except Exception as error:
            log.exception("a toolbox met an error that it does not know")
            # By its kind only: what it says may hold a key.
            state, result = "failed", ToolResult(f"The tool failed: {type(error).__name__}.", is_foreign=False)
        if taints(result):
            self._tools.is_tainted = self.is_foreign = True
        return state, result

    async def _end(self, calls: Sequence[ToolCall], tasks: Sequence["asyncio.Task[Result]"]) -> None:
        """End what runs, and store a result for each call that has none."""
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        for call, task in zip(calls, tasks, strict=True):
            await self._store(call, task)

    async def _store(self, call: ToolCall, task: "asyncio.Task[Result]") -> None:
        ended = task.done() and not task.cancelled()
        state, result = task.result() if ended else _STOPPED
        self.last = await asyncio.to_thread(self._write, call, state, result)
        turn_id = self._progress.turn_id
        self._progress.outbox.put(ToolFinished(turn_id, call.id, call.name, state, self.last))

    def _write(self, call: ToolCall, state: ToolState, result: ToolResult) -> Message:
        context = self._context
        text = result.text[: MORE_TEXT * context.settings.tools.max_result_tokens]
        return context.store.add_message(
            self.last.session_id,
            "tool",
            text,
            parent_id=self.last.id,
            token_count=raw_tokens(context.counter, "tool", text),
            metadata={TOOL_CALL_ID: call.id, "tool": call.name, "state": state, "foreign": result.is_foreign},
        )
