"""One turn: recall → prompt → stream → store. Everything typed or streamed is on disk before it can be lost.

A turn runs by itself; whoever iterates over it only watches. A slow watcher gets what has piled up as one delta.
"""

import asyncio
import logging
from collections.abc import Callable

from memory.errors import NotFoundError, OrcaError, StoreError
from memory.events import MessageStored, TurnEvent, TurnFailed, TurnFinished
from memory.turns.accepting import Accepted, accept
from memory.turns.asking import Asking
from memory.turns.context import Order, Outcome, Progress, Stopped, TurnContext
from memory.types import Message, MessageState

log = logging.getLogger(__name__)

_KEPT = "Nothing of the reply is lost: it is written as soon as that works, as long as orca is open."


class Turn:
    """A turn on its way. Iterate for its events; `stop()` ends it and keeps the text. Needs a running event loop."""

    def __init__(self, context: TurnContext, session_id: str, order: Order, *, ended: Callable[["Turn"], None]) -> None:
        self.id = context.clock.new_id()
        self.session_id = session_id
        self.outcome: Outcome | None = None
        """What was stored; `None` until the end, and when the store failed or the loop was torn down."""
        self._context = context
        self._order = order
        self._ended = ended
        self._progress = Progress(self.id)
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"turn {self.id}")

    def __aiter__(self) -> "Turn":
        return self

    async def __anext__(self) -> TurnEvent:
        try:
            event = await self._progress.outbox.get()
        except asyncio.CancelledError:
            self.stop()
            raise
        if event is None:
            raise StopAsyncIteration
        return event

    def stop(self) -> None:
        """End the turn and keep what has arrived. Returns at once; the last event tells that it is stored."""
        self._progress.stop.set()

    async def aclose(self) -> None:
        """Stop, and wait until everything is stored."""
        self.stop()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        outbox = self._progress.outbox
        try:
            accepted = await asyncio.to_thread(accept, self._context, self.session_id, self._order)
        except OrcaError as error:
            outbox.put(TurnFailed(self.id, error, self._unsaved_user()))
        else:
            outbox.put(MessageStored(self.id, accepted.user))
            await self._answer(accepted)
        finally:
            self._ended(self)
            outbox.end()

    async def _answer(self, accepted: Accepted) -> None:
        asking = Asking(self._context, self._progress, accepted, use_memory=self._order.use_memory)
        error: OrcaError | None = None
        try:
            await asking.run()
        except Stopped:
            pass
        except OrcaError as problem:
            error = problem
        except asyncio.CancelledError:
            self.stop()
            await asyncio.shield(self._settle(accepted, asking, None, ends=True))
            self.outcome = None  # the loop ends: no background work may begin
            raise
        except Exception as problem:
            log.exception("a turn met an error that it does not know")
            # By its kind only: what it says may hold a key.
            error = OrcaError(f"Unexpected error in orca: {type(problem).__name__}.", hint="The log tells more.")
        await asyncio.shield(self._settle(accepted, asking, error))

    async def _settle(self, accepted: Accepted, asking: Asking, error: OrcaError | None, *, ends: bool = False) -> None:
        """Store the end of the reply and tell it. What the store does not take is kept, unless the loop `ends`."""
        context, outbox, draft = self._context, self._progress.outbox, asking.draft
        stopped = self._progress.stop.is_set() and not draft.finish_reason
        if stopped:
            draft.finish_reason = "stopped"
        state: MessageState = "failed" if error else "stopped" if stopped else "complete"
        session, user = accepted.session, accepted.user
        try:
            reply = await draft.settle(state, error)
        except StoreError as problem:
            kept = not ends and not draft.is_empty and not isinstance(problem, NotFoundError)
            if kept:
                late = context.late
                context.unsaved.keep(draft, problem, state, error, lambda reply: late(Outcome(session, user, reply)))
                problem = type(problem)(str(problem), hint=f"{problem.hint} {_KEPT}".strip())
            outbox.put(TurnFailed(self.id, problem, draft.unsaved()))
            return
        context.unsaved.checked(draft, None)
        self.outcome = Outcome(session, user, reply)
        if error:
            outbox.put(TurnFailed(self.id, error, reply))
        else:
            usage = draft.final_usage(asking.prompt_tokens)
            outbox.put(TurnFinished(self.id, reply, usage, draft.finish_reason or "stop"))

    def _unsaved_user(self) -> Message:
        now = self._context.clock.now()
        return Message(0, self.session_id, "user", self._order.text, "normal", 0, False, now, {}, None, "failed")
