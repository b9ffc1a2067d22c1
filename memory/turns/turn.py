"""One turn: recall → prompt → stream → store. Everything typed or streamed is on disk before it can be lost.

A turn runs by itself; whoever iterates over it only watches. A slow watcher gets what has piled up as one delta.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory.clock import Clock
from memory.config import Settings
from memory.errors import ContextTooLong, NotFoundError, OrcaError, StoreError
from memory.events import (
    ContextBuilt,
    MessageStored,
    ReasoningDelta,
    TextDelta,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    Waiting,
)
from memory.manager import MemoryManager
from memory.provider.base import (
    ChatModel,
    ChatPart,
    FinishPart,
    ReasoningPart,
    RetryPart,
    TextPart,
    UsagePart,
)
from memory.provider.streams import ending
from memory.recalling.prompt import Prompt
from memory.store.base import Store
from memory.tokens import TokenCounter
from memory.turns.outbox import Outbox
from memory.turns.reply import ReplyDraft, raw_tokens
from memory.turns.unsaved import UnsavedReplies
from memory.types import ContextWindow, Message, MessageState, Session
from memory.writing.trust import PASTED, mark_pasted

log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long a model may take to end its stream after a stop."""
_KEPT = "Nothing of the reply is lost: it is written as soon as that works, as long as orca is open."

T = TypeVar("T")


class _Stopped(Exception):
    """The user stopped the turn before the model was asked."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What every turn of a core works with."""

    store: Store
    counter: TokenCounter
    clock: Clock
    manager: MemoryManager
    settings: Settings
    chat: Callable[[], Awaitable[ChatModel]]
    unsaved: UnsavedReplies
    late: Callable[["Outcome"], None]
    """Gets what was stored only after its turn had ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn left in the store."""

    session: Session
    user: Message
    reply: Message


class Turn:
    """A turn on its way. Iterate for its events; `stop()` ends it and keeps the text. Needs a running event loop."""

    def __init__(
        self,
        context: TurnContext,
        session_id: str,
        text: str | None,
        *,
        use_memory: bool,
        pasted: Sequence[str] = (),
        ended: Callable[["Turn"], None],
    ) -> None:
        self.id = context.clock.new_id()
        self.session_id = session_id
        self.outcome: Outcome | None = None
        """What was stored; `None` until the end, and when the store failed or the loop was torn down."""
        self._context = context
        self._text = text
        """What the user typed; `None` answers the newest message of the path again."""
        self._use_memory = use_memory
        self._pasted = pasted
        self._ended = ended
        self._outbox = Outbox()
        self._stop = asyncio.Event()
        self._prompt_tokens = 0
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"turn {self.id}")

    def __aiter__(self) -> "Turn":
        return self

    async def __anext__(self) -> TurnEvent:
        try:
            event = await self._outbox.get()
        except asyncio.CancelledError:
            self.stop()
            raise
        if event is None:
            raise StopAsyncIteration
        return event

    def stop(self) -> None:
        """End the turn and keep what has arrived. Returns at once; the last event tells that it is stored."""
        self._stop.set()

    async def aclose(self) -> None:
        """Stop, and wait until everything is stored."""
        self.stop()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        user = self._unsaved_user()
        try:
            session, user = await self._accept()
        except StoreError as error:
            self._outbox.put(TurnFailed(self.id, error, user))
        else:
            self._outbox.put(MessageStored(self.id, user))
            await self._answer(session, user)
        finally:
            self._ended(self)
            self._outbox.end()

    async def _accept(self) -> tuple[Session, Message]:
        """Commit what the user typed, or find the message that is to be answered again."""

        def work() -> tuple[Session, Message]:
            store, text = self._context.store, self._text
            session = store.session(self.session_id)
            if text is not None:
                tokens = raw_tokens(self._context.counter, "user", text)
                spans = mark_pasted(text, self._pasted)
                facts = {PASTED: spans} if spans else None
                return session, store.add_message(session.id, "user", text, token_count=tokens, metadata=facts)
            asked = [message for message in store.path(session.id) if message.role == "user"]
            if not asked:
                raise NotFoundError("There is no message to answer in this session.", hint="Send one first.")
            return session, asked[-1]

        return await asyncio.to_thread(work)

    async def _answer(self, session: Session, user: Message) -> None:
        context = self._context
        draft = ReplyDraft(context.store, context.clock, context.counter, user, checked=context.unsaved.checked)
        draft.without_memory = not self._use_memory
        error: OrcaError | None = None
        try:
            await self._converse(session, user, draft)
        except _Stopped:
            pass
        except OrcaError as problem:
            error = problem
        except asyncio.CancelledError:
            self._stop.set()
            await asyncio.shield(self._settle(session, user, draft, None, ends=True))
            self.outcome = None  # the loop ends: no background work may begin
            raise
        except Exception as problem:
            log.exception("a turn met an error that it does not know")
            # By its kind only: what it says may hold a key.
            error = OrcaError(f"Unexpected error in orca: {type(problem).__name__}.", hint="The log tells more.")
        await asyncio.shield(self._settle(session, user, draft, error))

    async def _converse(self, session: Session, user: Message, draft: ReplyDraft) -> None:
        """Ask the model. When the prompt is too long: without memories and with half the turns, once."""
        model = await self._unless_stopped(self._context.chat())
        draft.model = model.name
        window = await self._unless_stopped(model.context_window())
        prompt = await self._unless_stopped(self._prompt(session, user, window, use_memory=self._use_memory))
        self._outbox.put(ContextBuilt(self.id, prompt.report))
        self._outbox.put(MessageStored(self.id, await draft.open()))
        if session.model != model.name:
            await asyncio.to_thread(self._context.store.update_session, session.id, model=model.name)
        try:
            await self._ask(model, prompt, draft)
        except ContextTooLong:
            if not draft.is_empty or self._stop.is_set():
                raise
            shorter = self._half(window, prompt)
            prompt = await self._unless_stopped(self._prompt(session, user, shorter, use_memory=False))
            self._outbox.put(ContextBuilt(self.id, prompt.report))
            await self._ask(model, prompt, draft)
        if draft.usage and not draft.usage.estimated:
            self._context.counter.learn(prompt.report.prompt_tokens, draft.usage.prompt_tokens)

    async def _prompt(self, session: Session, user: Message, window: ContextWindow, *, use_memory: bool) -> Prompt:
        manager, system_prompt = self._context.manager, self._context.settings.llm.system_prompt
        try:
            return await manager.build(session, user, window=window, system_prompt=system_prompt, use_memory=use_memory)
        except StoreError as error:
            if not use_memory:
                raise
            log.warning("recall failed, the turn goes on without memory: %s", error)
        return await manager.build(session, user, window=window, system_prompt=system_prompt, use_memory=False)

    def _half(self, window: ContextWindow, prompt: Prompt) -> ContextWindow:
        """A window in which the budget is half of what the refused prompt took."""
        tokens = int(prompt.report.prompt_tokens / self._context.settings.memory.budget_share) // 2
        return ContextWindow(min(window.tokens, tokens), window.source)

    async def _ask(self, model: ChatModel, prompt: Prompt, draft: ReplyDraft) -> None:
        """Read the model's stream until it ends or the user stops it, with checkpoints meanwhile."""
        self._prompt_tokens = prompt.report.prompt_tokens
        draft.recalled(prompt.recalled)
        reading = asyncio.create_task(self._read(model, prompt, draft))
        stopping = asyncio.create_task(self._stop.wait())
        keeping = asyncio.create_task(draft.keep())
        try:
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            reading.cancel()
            draft.end()
            await asyncio.wait({reading}, timeout=CLOSE_SECONDS)
            await asyncio.wait({keeping})
        if reading.done() and not reading.cancelled():
            reading.result()

    async def _read(self, model: ChatModel, prompt: Prompt, draft: ReplyDraft) -> None:
        async with ending(model.stream(prompt.messages)) as stream:
            async for part in stream:
                self._take(part, draft)
        draft.require_answer()

    def _take(self, part: ChatPart, draft: ReplyDraft) -> None:
        match part:
            case TextPart(text=text):
                draft.add(text)
                self._outbox.put(TextDelta(self.id, text))
            case ReasoningPart(text=text):
                draft.add(text, reasoning=True)
                self._outbox.put(ReasoningDelta(self.id, text))
            case UsagePart(usage=usage):
                draft.usage = usage
            case RetryPart(seconds=seconds, reason=reason):
                self._outbox.put(Waiting(self.id, seconds, reason))
            case FinishPart(reason=reason):
                draft.finish_reason = reason

    async def _settle(
        self, session: Session, user: Message, draft: ReplyDraft, error: OrcaError | None, *, ends: bool = False
    ) -> None:
        """Store the end of the reply and tell it. What the store does not take is kept, unless the loop `ends`."""
        stopped = self._stop.is_set() and not draft.finish_reason
        if stopped:
            draft.finish_reason = "stopped"
        state: MessageState = "failed" if error else "stopped" if stopped else "complete"
        try:
            reply = await draft.settle(state, error)
        except StoreError as problem:
            kept = not ends and not draft.is_empty and not isinstance(problem, NotFoundError)
            if kept:
                late = self._context.late
                self._context.unsaved.keep(
                    draft, problem, state, error, lambda reply: late(Outcome(session, user, reply))
                )
                problem = type(problem)(str(problem), hint=f"{problem.hint} {_KEPT}".strip())
            self._outbox.put(TurnFailed(self.id, problem, draft.unsaved()))
            return
        self._context.unsaved.checked(draft, None)
        self.outcome = Outcome(session, user, reply)
        if error:
            self._outbox.put(TurnFailed(self.id, error, reply))
        else:
            usage = draft.final_usage(self._prompt_tokens)
            self._outbox.put(TurnFinished(self.id, reply, usage, draft.finish_reason or "stop"))

    async def _unless_stopped(self, work: Awaitable[T]) -> T:
        """The result of `work`, or `_Stopped` as soon as the user stops."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not task.done():
                task.cancel()
        if self._stop.is_set():
            if task.done() and not task.cancelled():
                task.exception()  # what came too late is nobody's concern
            raise _Stopped
        return task.result()

    def _unsaved_user(self) -> Message:
        now = self._context.clock.now()
        return Message(0, self.session_id, "user", self._text or "", "normal", 0, False, now, {}, None, "failed")
