"""An agent's own conversation: its prompt and the task, its replies, the tools that it calls. Nothing else goes in."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memory.config import AgentSettings
from memory.errors import BadReply, OrcaError, ToolsUnsupported
from memory.provider.base import (
    ChatMessage,
    ChatModel,
    ChatOptions,
    ChatPart,
    ReasoningPart,
    RetryPart,
    TextPart,
    ToolCall,
    ToolCallPart,
    UsagePart,
)
from memory.provider.streams import ending
from memory.recalling.calls import tokens_of_tools
from memory.subagents.agents import tools_of
from memory.subagents.fitting import SHARE, fitted, tokens_of
from memory.subagents.reply import MAX_CHARACTERS
from memory.text import label
from memory.tokens import TokenCounter
from memory.tools.base import ToolContext, ToolResult
from memory.tools.taint import taints
from memory.tools.toolbox import StandardToolbox
from memory.types import Usage

BYTES_A_TOKEN = 4
"""Of a reply on its way, whose tokens are counted only at its end."""
MAX_CALLS = 16
"""Calls of one reply that are run; further ones are refused."""

AGENT_WITHOUT_TOOLS = "The model cannot call tools; the agent works without them."
"""A step (English source of `_`)."""
LAST_ROUND = "[orca: no further tool can be called. Answer now with what you have, and say what is missing.]"

Tell = Callable[[Literal["text", "reasoning", "step"], str], None]
"""Takes what happens, as it happens."""


class LimitReached(Exception):
    """The run has used what it may."""


@dataclass(slots=True)
class _Answer:
    """One reply of the model while it arrives."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    size: int = 0
    """Bytes of text and reasoning."""
    kept: int = 0
    """Characters of `text`."""


class Conversation:
    """Runs to the agent's last word. What it has so far can be read at any time, also after a cancel."""

    def __init__(
        self,
        agent: AgentSettings,
        task: str,
        *,
        toolbox: StandardToolbox,
        context: ToolContext,
        counter: TokenCounter,
        max_rounds: int,
        tell: Tell,
    ) -> None:
        self.overflown = False
        """More text has come than is kept."""
        self._agent = agent
        self._toolbox = toolbox
        self._context = context
        self._counter = counter
        self._max_rounds = max_rounds
        self._tell = tell
        self._messages = [ChatMessage("system", agent.prompt)] if agent.prompt.strip() else []
        self._messages.append(ChatMessage("user", task))
        self._answer = _Answer()
        self._said = ""
        """The text of the last reply that had one."""
        self._room = 0
        """Tokens that a request takes at most."""
        self._used = 0
        self._asked_with = 0

    @property
    def text(self) -> str:
        """The agent's last words: of the reply on its way, else of the last one that said something."""
        return "".join(self._answer.text) or self._said

    @property
    def tokens(self) -> int:
        """Used so far: as the server counted where it did, else as counted or (on its way) estimated here."""
        return self._used + self._asked_with + self._answer.size // BYTES_A_TOKEN

    async def run(self, model: ChatModel) -> None:
        """Talk until the agent calls no more tools. Raises `LimitReached` and leaves of `OrcaError`."""
        offered = tools_of(self._agent)
        self._room = int((await model.context_window()).tokens * SHARE)
        for number in range(1, self._max_rounds + 1):
            if number == self._max_rounds > 1:
                offered = ()
                self._messages.append(ChatMessage("user", LAST_ROUND))
            answer = await self._ask(model, offered)
            if not answer.calls:
                if not self.text.strip():
                    raise BadReply("The agent answered nothing.", hint="Call it again, in other words perhaps.")
                return
            text, reasoning = "".join(answer.text), "".join(answer.reasoning)
            self._messages.append(ChatMessage("assistant", text, tool_calls=tuple(answer.calls), reasoning=reasoning))
            for call, result in zip(answer.calls, await self._call(answer.calls, offered), strict=True):
                self._messages.append(ChatMessage("tool", result.text, tool_call_id=call.id))
                self._context.is_tainted = self._context.is_tainted or taints(result)
        raise LimitReached(f"{self._max_rounds} rounds")

    async def _ask(self, model: ChatModel, offered: Sequence[str]) -> _Answer:
        """One request and its whole answer; without tools when the model cannot call any."""
        specs = self._toolbox.specs_of(offered, self._context.session)
        try:
            return await self._request(
                model, ChatOptions(None, self._agent.temperature, None, self._agent.parameters, specs)
            )
        except ToolsUnsupported:
            if not specs:
                raise
            self._tell("step", AGENT_WITHOUT_TOOLS)
        return await self._request(model, ChatOptions(None, self._agent.temperature, None, self._agent.parameters))

    async def _request(self, model: ChatModel, options: ChatOptions) -> _Answer:
        self._answer = answer = _Answer()
        tools = await asyncio.to_thread(tokens_of_tools, options.tools, self._counter)
        messages = await asyncio.to_thread(fitted, self._messages, self._room - tools, self._counter)
        self._asked_with = await asyncio.to_thread(tokens_of, messages, self._counter)
        self._check_limit()
        async with ending(model.stream(messages, options)) as stream:
            async for part in stream:
                self._take(part, answer)
                self._check_limit()
        usage = answer.usage
        text = "".join(answer.text)
        if usage is None:
            said = await asyncio.to_thread(self._counter.count, text + "".join(answer.reasoning))
            usage = Usage(self._asked_with, said, estimated=True)
        self._used += usage.prompt_tokens + usage.completion_tokens
        self._said = text if text.strip() else self._said
        self._answer, self._asked_with = _Answer(), 0
        return answer

    def _take(self, part: ChatPart, answer: _Answer) -> None:
        match part:
            case TextPart(text=text):
                answer.size += len(text.encode("utf-8", "replace"))
                kept = text[: MAX_CHARACTERS - answer.kept]
                self.overflown = self.overflown or len(kept) < len(text)
                if kept:
                    answer.kept += len(kept)
                    answer.text.append(kept)
                    self._tell("text", kept)
            case ReasoningPart(text=text):
                answer.size += len(text.encode("utf-8", "replace"))
                if answer.size <= MAX_CHARACTERS:
                    answer.reasoning.append(text)
                    self._tell("reasoning", text)
            case ToolCallPart(call=call):
                answer.calls.append(call)
            case UsagePart(usage=usage):
                answer.usage = usage
            case RetryPart(seconds=seconds, reason=reason):
                self._tell("step", f"{label(reason)} (again in {seconds:.0f} s)")

    async def _call(self, calls: Sequence[ToolCall], offered: Sequence[str]) -> list[ToolResult]:
        """The results in the order of the calls; all run at once, and none outlives a cancel."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one_call(call, offered, at)) for at, call in enumerate(calls)]
        return [task.result() for task in tasks]

    async def _one_call(self, call: ToolCall, offered: Sequence[str], at: int) -> ToolResult:
        if at >= MAX_CALLS:
            return ToolResult(f"At most {MAX_CALLS} calls at once are run.", is_foreign=False)
        self._tell("step", f"{label(call.name, 60)} {label(call.arguments, 200)}")
        state, result = await self._toolbox.run(call, self._context, offered=offered)
        if state != "done":
            self._tell("step", f"{label(call.name, 60)}: {state}")
        return result

    def _check_limit(self) -> None:
        if self.tokens > self._agent.max_tokens:
            raise LimitReached(f"{self._agent.max_tokens:,} tokens")


def sentence_of(error: OrcaError) -> str:
    """What is stored of a run that failed."""
    return f"{error} {error.hint}".strip()
