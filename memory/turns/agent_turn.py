"""A turn in which the user lets an agent do a task by hand: no model of the session is asked, no tool is called."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from memory.errors import OrcaError, ToolFailed
from memory.events import MessageStored, TurnFailed, TurnFinished
from memory.store.run_store import AGENT_RUN
from memory.subagents.run import Outcome as RunOutcome
from memory.subagents.runner import Subagents
from memory.tools.base import ToolContext
from memory.turns.accepting import Accepted
from memory.turns.context import Order, TurnContext
from memory.turns.reply import raw_tokens
from memory.turns.turn import Turn
from memory.types import Message, MessageState, Usage

log = logging.getLogger(__name__)


def typed(name: str, task: str) -> str:
    """How the user's message reads."""
    return f"/agent {name} {task}"


class AgentTurn(Turn):
    """Stores what was typed, runs the agent below it, and answers with the summary of its result.

    The reply is in later prompts of the session, as any other; since its words are an agent's, it is in no search, no
    summary, and nothing is learned from it. `outcome` stays `None`.
    """

    def __init__(
        self,
        context: TurnContext,
        session_id: str,
        subagents: Subagents,
        name: str,
        task: str,
        *,
        message_id: int | None = None,
        ended: Callable[[Turn], None],
    ) -> None:
        """`message_id`: the stored message that asks for this, to be answered again."""
        self._subagents = subagents
        self._name = name
        self._task_text = task
        order = Order("send", typed(name, task), agent=name)
        if message_id is not None:
            order = Order("retry", message_id=message_id, agent=name)
        super().__init__(context, session_id, order, ended=ended)

    async def _answer(self, accepted: Accepted) -> None:
        session, progress = accepted.session, self._progress
        caller = ToolContext(
            *(self.id, session, accepted.user, session.scope), cancelled=progress.stop, emit=progress.outbox.put
        )
        try:
            await self._reply(accepted, await self._subagents.call(self._name, self._task_text, caller))
        except OrcaError as error:
            await self._failed(accepted, error, None)
        except Exception as problem:
            log.exception("a turn met an error that it does not know")
            # By its kind only: what it says may hold a key.
            told = OrcaError(f"Unexpected error in orca: {type(problem).__name__}.", hint="The log tells more.")
            await self._failed(accepted, told, None)

    async def _reply(self, accepted: Accepted, outcome: RunOutcome) -> None:
        run = outcome.run
        if run.state == "failed":
            await self._failed(accepted, ToolFailed(outcome.text), run.id)
            return
        state: MessageState = "stopped" if outcome.is_cancelled else "complete"
        reply = await asyncio.to_thread(self._store, accepted, outcome.text, state, {AGENT_RUN: run.id})
        self._progress.outbox.put(MessageStored(self.id, reply))
        used = Usage(0, run.subtree_tokens, estimated=True)
        self._progress.outbox.put(TurnFinished(self.id, reply, used, "stopped" if outcome.is_cancelled else "stop"))

    async def _failed(self, accepted: Accepted, error: OrcaError, run_id: int | None) -> None:
        facts = {"error": {"type": type(error).__name__, "message": str(error), "hint": error.hint}, AGENT_RUN: run_id}
        try:
            reply = await asyncio.to_thread(self._store, accepted, "", "failed", facts)
        except OrcaError as problem:
            self._progress.outbox.put(TurnFailed(self.id, problem, accepted.user))
            return
        self._progress.outbox.put(TurnFailed(self.id, error, reply))

    def _store(self, accepted: Accepted, text: str, state: MessageState, facts: dict[str, Any]) -> Message:
        context = self._context
        return context.store.add_message(
            accepted.session.id,
            "assistant",
            text,
            parent_id=accepted.user.id,
            state=state,
            token_count=raw_tokens(context.counter, "assistant", text) if text else 0,
            metadata=facts,
        )
