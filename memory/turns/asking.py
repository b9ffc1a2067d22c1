"""The requests of one turn: ask the model, run what it calls for, ask again with the results."""

import asyncio
import logging

from memory.errors import AttachmentError, ContextTooLong, RequestRefused, StoreError, ToolsUnsupported
from memory.events import ContextBuilt, MessageStored, Noticed, ReasoningDelta, TextDelta, ToolsAsked, Waiting
from memory.manager import Extras
from memory.provider.base import (
    ChatModel,
    ChatOptions,
    ChatPart,
    FinishPart,
    ReasoningPart,
    RetryPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
    UsagePart,
)
from memory.provider.streams import ending
from memory.recalling.prompt import Prompt
from memory.settings.answering import Answering, answering
from memory.tools.base import Toolbox, ToolContext
from memory.tools.memory_search import MemorySearch
from memory.turns.accepting import Accepted
from memory.turns.calling import Round
from memory.turns.context import Progress, Stopped, TurnContext
from memory.turns.reply import ReplyDraft
from memory.types import ContextWindow, Message

log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long a model may take to end its stream after a stop."""
GO_ON = (
    "Your last message was cut off. Go on exactly where it ends, in the middle of a word or of a code block if need "
    "be. Repeat nothing of it and say nothing about this."
)
LAST_ROUND = (
    "[orca: no further tool can be called in this turn. Answer the user now with what you have, and say what is "
    "missing.]"
)

NO_TOOLS = "The model {name} cannot call tools; it answers without them."
NO_PERSONA = "The persona {name} is not in the settings any more; the session is answered without it."


class Asking:
    """One turn's talk with the model. `draft` is the reply that is being written, the last one at the end."""

    def __init__(self, context: TurnContext, progress: Progress, accepted: Accepted, *, use_memory: bool) -> None:
        self.draft = self._new_draft(context, accepted.above, accepted.resumed, use_memory=use_memory)
        self.prompt_tokens = 0
        self._context = context
        self._progress = progress
        self._accepted = accepted
        self._use_memory = use_memory
        self._tip = (accepted.resumed or accepted.above).id
        self._prompt: Prompt | None = None
        self._offered: tuple[ToolSpec, ...] = ()
        self._note = GO_ON if accepted.resumed and accepted.resumed.content.strip() else ""
        session = accepted.session
        self._tools = ToolContext(
            *(progress.turn_id, session, accepted.user, session.scope),
            cancelled=progress.stop,
            emit=progress.outbox.put,
        )

    async def run(self) -> None:
        """Ask until the model has answered. Raises `Stopped`, and leaves of `OrcaError`."""
        context, progress, session = self._context, self._progress, self._accepted.session
        how = answering(context.settings, session)
        if how.missing_persona:
            progress.outbox.put(Noticed(progress.turn_id, NO_PERSONA, how.missing_persona))
        model = await progress.unless_stopped(context.chat(session))
        self.draft.model = model.name
        window = await progress.unless_stopped(model.context_window())
        toolbox = context.toolbox() if model.name not in context.without_tools else None
        offered = await progress.unless_stopped(toolbox.specs(session)) if toolbox else ()
        if not self._use_memory:
            offered = tuple(spec for spec in offered if spec.name != MemorySearch.name)
        most = context.settings.tools.max_rounds
        for number in range(1, most + 1):
            is_last = number == most
            self._offered = () if is_last else offered
            if is_last and number > 1:
                self._note = LAST_ROUND
            await self._request(model, window, how)
            if not self.draft.calls or toolbox is None:
                self.draft.require_answer(requests=number)
                return
            await self._call(toolbox, model)

    async def _call(self, toolbox: Toolbox, model: ChatModel) -> None:
        """Run what the reply asks for; the next reply stands below the results."""
        progress, draft = self._progress, self.draft
        asked = await draft.settle("complete")
        progress.outbox.put(ToolsAsked(progress.turn_id, asked))
        self._tools.message = asked
        this = Round(self._context, progress, self._tools, asked)
        try:
            await this.run(toolbox, draft.calls)
        finally:
            self._tip, self._note = this.last.id, ""
            self.draft = self._new_draft(self._context, this.last, None, use_memory=self._use_memory)
            self.draft.model = model.name
            self.draft.is_tainted = draft.is_tainted or this.is_foreign
        if progress.stop.is_set():
            raise Stopped

    async def _request(self, model: ChatModel, window: ContextWindow, how: Answering) -> None:
        """Ask once; without tools when the model knows none, and shorter when the prompt is too long."""
        try:
            await self._ask(model, window, how)
        except ToolsUnsupported:
            if not self._offered or not self.draft.is_empty or self._progress.stop.is_set():
                raise
            self._context.without_tools.add(model.name)
            self._offered = ()
            self._progress.outbox.put(Noticed(self._progress.turn_id, NO_TOOLS, model.name))
            await self._ask(model, window, how)

    async def _ask(self, model: ChatModel, window: ContextWindow, how: Answering) -> None:
        """When the prompt is too long: without memories and with half the turns, once."""
        prompt = await self._built(model, window, how, use_memory=self._use_memory)
        try:
            await self._stream(model, prompt, how)
        except ContextTooLong:
            if not self.draft.is_empty or self._progress.stop.is_set():
                raise
            shorter = self._half(window, prompt)
            prompt = await self._built(model, shorter, how, use_memory=False)
            await self._stream(model, prompt, how)
        usage = self.draft.usage
        if usage and not usage.estimated and not prompt.has_images:
            self._context.counter.learn(prompt.report.prompt_tokens, usage.prompt_tokens)

    async def _built(self, model: ChatModel, window: ContextWindow, how: Answering, *, use_memory: bool) -> Prompt:
        """The next prompt, told; the reply's row is there when it is."""
        progress, draft = self._progress, self.draft
        prompt = await progress.unless_stopped(self._prompt_of(model, window, how, use_memory=use_memory))
        self._prompt = prompt
        self._tools.is_tainted = self._tools.is_tainted or prompt.is_tainted
        progress.outbox.put(ContextBuilt(progress.turn_id, prompt.report))
        if not draft.is_open:
            progress.outbox.put(MessageStored(progress.turn_id, await draft.open()))
            session = self._accepted.session
            if session.model != model.name:
                await asyncio.to_thread(self._context.store.update_session, session.id, model=model.name)
        return prompt

    async def _prompt_of(self, model: ChatModel, window: ContextWindow, how: Answering, *, use_memory: bool) -> Prompt:
        manager, session, user = self._context.manager, self._accepted.session, self._accepted.user
        extras = Extras(
            tip=self._tip,
            tools=self._offered,
            note=self._note,
            with_calls=model.name not in self._context.without_tools,
            sees=model.name not in self._context.blind,
            before=self._prompt,
        )
        try:
            return await manager.build(
                session, user, window=window, system_prompt=how.system_prompt, use_memory=use_memory, extras=extras
            )
        except StoreError as error:
            if not use_memory:
                raise
            log.warning("recall failed, the turn goes on without memory: %s", error)
        return await manager.build(
            session, user, window=window, system_prompt=how.system_prompt, use_memory=False, extras=extras
        )

    def _half(self, window: ContextWindow, prompt: Prompt) -> ContextWindow:
        """A window in which the budget is half of what the refused prompt took."""
        tokens = int(prompt.report.prompt_tokens / self._context.settings.memory.budget_share) // 2
        return ContextWindow(min(window.tokens, tokens), window.source)

    async def _stream(self, model: ChatModel, prompt: Prompt, how: Answering) -> None:
        """Read the model's stream until it ends or the user stops it, with checkpoints meanwhile."""
        draft = self.draft
        self.prompt_tokens = prompt.report.prompt_tokens
        draft.recalled(prompt.recalled)
        draft.begin()
        reading = asyncio.create_task(self._read(model, prompt, how))
        stopping = asyncio.create_task(self._progress.stop.wait())
        keeping = asyncio.create_task(draft.keep())
        try:
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            reading.cancel()
            draft.end()
            await asyncio.wait({reading}, timeout=CLOSE_SECONDS)
            if rest := draft.add_rest():
                self._progress.outbox.put(TextDelta(self._progress.turn_id, rest))
            await asyncio.wait({keeping})
        if not reading.done() or reading.cancelled():
            raise Stopped
        reading.result()

    async def _read(self, model: ChatModel, prompt: Prompt, how: Answering) -> None:
        options = ChatOptions(how.max_tokens, how.temperature, extra=how.parameters, tools=self._offered)
        try:
            async with ending(model.stream(prompt.messages, options)) as stream:
                async for part in stream:
                    self._take(part)
        except RequestRefused as error:
            if not prompt.has_images or not self.draft.is_empty:
                raise
            self._context.blind.add(model.name)
            raise AttachmentError(
                f"The model refused a request with a picture. {error}",
                hint="Choose a model that sees, or send the message again without the picture.",
            ) from error

    def _take(self, part: ChatPart) -> None:
        outbox, turn_id, draft = self._progress.outbox, self._progress.turn_id, self.draft
        match part:
            case TextPart(text=text):
                if new := draft.add(text):
                    outbox.put(TextDelta(turn_id, new))
            case ReasoningPart(text=text):
                draft.add(text, reasoning=True)
                outbox.put(ReasoningDelta(turn_id, text))
            case ToolCallPart(call=call):
                if self._offered:
                    draft.add_call(call)
            case UsagePart(usage=usage):
                draft.usage = usage
            case RetryPart(seconds=seconds, reason=reason):
                outbox.put(Waiting(turn_id, seconds, reason))
            case FinishPart(reason=reason):
                draft.finish_reason = reason

    @staticmethod
    def _new_draft(context: TurnContext, above: Message, resumed: Message | None, *, use_memory: bool) -> ReplyDraft:
        draft = ReplyDraft(
            context.store, context.clock, context.counter, above, resumed=resumed, checked=context.unsaved.checked
        )
        draft.without_memory = not use_memory
        return draft
