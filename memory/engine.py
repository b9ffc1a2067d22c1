"""The engine: starts turns, one at a time in a session, and hands what they leave to the background."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.config import Settings
from memory.errors import OrcaError, TurnInProgress
from memory.provider.base import ToolSpec
from memory.settings.answering import answering
from memory.subagents.agents import find_agent
from memory.subagents.runner import Subagents
from memory.turns.agent_turn import AgentTurn, typed
from memory.turns.attachments import Attachment
from memory.turns.context import Order, Outcome, TurnContext
from memory.turns.turn import Turn
from memory.types import Session

__all__ = ["Engine", "Outcome", "Turn", "TurnContext"]


class Engine:
    """Starts turns. All methods are for the event loop's thread; those that start one raise `TurnInProgress` when the
    session still has one."""

    def __init__(
        self, context: TurnContext, *, started: Callable[[], None], ended: Callable[[Outcome | None], None]
    ) -> None:
        self._context = context
        self._started = started
        self._ended = ended
        self._live: dict[str, Turn] = {}

    def use_settings(self, settings: Settings) -> None:
        """Go by these from the next turn on."""
        self._context = replace(self._context, settings=settings)

    @property
    def live(self) -> tuple[Turn, ...]:
        """The turns that are on their way."""
        return tuple(self._live.values())

    async def offered(self, session: Session) -> tuple[ToolSpec, ...]:
        """The tools that the next request of a session offers, as far as that is known before it is made."""
        context = self._context
        toolbox = context.toolbox()
        model = answering(context.settings, session).model or session.model
        return await toolbox.specs(session) if toolbox and model not in context.without_tools else ()

    def start(
        self,
        session_id: str,
        text: str,
        *,
        parent_id: int | None = None,
        use_memory: bool = True,
        pasted: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
    ) -> Turn:
        """Send a message: it is stored first, then answered. The turn runs even when nobody iterates over it.

        It goes below `parent_id` (default: the newest message of the chosen path). To send an earlier message again,
        edited, give what that one stands below (`memory.turns.forks.above`): the new one becomes a fork beside it.
        `pasted` are the pieces of the text that were not typed, in order: nothing in them, or in the `attachments`,
        becomes memory unreviewed. Raises `OrcaError` when there is nothing to send.
        """
        if not text.strip() and not attachments:
            raise OrcaError("There is nothing to send.", hint="Type a message first.")
        order = Order("send", text, parent_id, use_memory=use_memory, pasted=pasted, attachments=attachments)
        return self._begin(session_id, order)

    def retry(self, session_id: str, message_id: int | None = None, *, use_memory: bool = True) -> Turn:
        """Answer a message by the user again, as a fork beside the earlier answer.

        `message_id`: that message, or any reply to it; default: the newest of the chosen path.
        """
        return self._begin(session_id, Order("retry", message_id=message_id, use_memory=use_memory))

    def continue_reply(self, session_id: str, *, use_memory: bool = True) -> Turn:
        """Go on with the newest reply when it was stopped, failed or was cut for its length; it stays one message.

        A turn that ended among its tools asks the model again, with the results that are there. The turn fails with an
        `OrcaError` when the reply is whole.
        """
        return self._begin(session_id, Order("continue", use_memory=use_memory))

    def run_agent(
        self, session_id: str, subagents: Subagents, name: str, task: str, *, message_id: int | None = None
    ) -> Turn:
        """Let an agent do a task by hand: `/agent NAME task` is stored as the user's message, and the summary of the
        result as the reply; the model of the session is not asked. `message_id`: that message, when it is stored
        already and is to be answered again. Raises `ToolFailed` when there is no such agent.
        """
        find_agent(subagents.agents, name)
        if not task.strip():
            raise OrcaError("The agent has no task.", hint=f"Write it behind the name: {typed(name, 'TASK')}")
        self._check_free(session_id)
        return self._begun(
            AgentTurn(self._context, session_id, subagents, name, task, message_id=message_id, ended=self._over)
        )

    async def stop_all(self) -> None:
        """Stop every turn, keep its text, and wait until all is stored."""
        await asyncio.gather(*(turn.aclose() for turn in self.live))

    def _begin(self, session_id: str, order: Order) -> Turn:
        self._check_free(session_id)
        return self._begun(Turn(self._context, session_id, order, ended=self._over))

    def _check_free(self, session_id: str) -> None:
        if session_id in self._live:
            raise TurnInProgress(
                "The reply before this one is still on its way.", hint="Wait for it, or stop it first."
            )

    def _begun(self, turn: Turn) -> Turn:
        """A turn does nothing before the loop comes to it."""
        self._started()
        self._live[turn.session_id] = turn
        return turn

    def _over(self, turn: Turn) -> None:
        self._live.pop(turn.session_id, None)
        self._ended(turn.outcome)
