"""All tools of a core: which are offered to whom, and how a call runs.

Whatever goes wrong in a call becomes a result that tells the model; only a cancelled task leaves with an exception.
"""

import asyncio
import logging
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Protocol

from memory.config import ToolsSettings
from memory.errors import OrcaError, ToolFailed, ToolRefused
from memory.events import ToolState
from memory.provider.base import ToolCall, ToolSpec
from memory.text import label
from memory.tokens import TokenCounter
from memory.tools.arguments import read_arguments
from memory.tools.base import Tool, ToolContext, ToolResult
from memory.tools.gate import Gate
from memory.types import Session

log = logging.getLogger(__name__)

CUT = "\n[the result was cut here: it is longer than {limit} tokens]"


class ToolSource(Protocol):
    """Where tools come from that come and go, such as those of MCP servers. They keep their own time."""

    async def tools(self) -> Sequence[Tool]:
        """Those that may be offered now. Never raises, and takes no longer than it says."""
        ...


class StandardToolbox:
    """Implements `memory.tools.base.Toolbox`. For the event loop's thread."""

    def __init__(self, settings: ToolsSettings, counter: TokenCounter, gate: Gate) -> None:
        self.gate = gate
        self._settings = settings
        self._counter = counter
        self._tools: dict[str, Tool] = {}
        self._unlimited: set[str] = set()
        self._not_incognito: set[str] = set()
        self._source: ToolSource | None = None
        self._joined: set[str] = set()

    def use_settings(self, settings: ToolsSettings) -> None:
        """Go by other settings from the next call on."""
        self._settings = settings
        self.gate.use_settings(settings.allow)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools that are there."""
        return tuple(self._tools)

    @property
    def all_specs(self) -> tuple[ToolSpec, ...]:
        """What is there, whether or not it may be offered in some session."""
        return tuple(tool.spec for tool in self._tools.values())

    def add(self, tool: Tool, *, keeps_time: bool = False, incognito: bool = True) -> None:
        """Add a tool, in the place of one of the same name.

        `keeps_time`: it has limits of its own, and `tools.timeout` does not hold for it. Without `incognito` it is not
        offered in incognito sessions.
        """
        name = tool.spec.name
        self._tools[name] = tool
        (self._unlimited.add if keeps_time else self._unlimited.discard)(name)
        (self._not_incognito.discard if incognito else self._not_incognito.add)(name)

    def remove(self, name: str) -> None:
        """Take a tool away; one that is not there is fine."""
        self._tools.pop(name, None)

    def join(self, source: "ToolSource | None") -> None:
        """Offer the tools of `source` too, asked for anew with each turn; in the place of an earlier one."""
        self._source = source
        self._leave()

    async def specs(self, session: Session) -> tuple[ToolSpec, ...]:
        """What the model may call in this session."""
        if self._source is not None and self._settings.enabled:
            tools = await self._source.tools()
            self._leave()
            for tool in tools:
                if tool.spec.name not in self._tools:
                    self.add(tool, keeps_time=True)
                    self._joined.add(tool.spec.name)
        return self.specs_of(self.names, session)

    def specs_of(self, names: Sequence[str], session: Session) -> tuple[ToolSpec, ...]:
        """Of the tools that are named, those that are there and may be offered in this session."""
        if not self._settings.enabled:
            return ()
        hidden = self._not_incognito if session.incognito else ()
        return tuple(self._tools[name].spec for name in names if name in self._tools and name not in hidden)

    def _leave(self) -> None:
        for name in self._joined:
            self.remove(name)
        self._joined.clear()

    async def run(
        self, call: ToolCall, context: ToolContext, *, offered: Sequence[str] | None = None
    ) -> tuple[ToolState, ToolResult]:
        """Do what the model asked for; `offered` are the names that it may call, when these are not all.

        Never raises for what a call may do wrong. Cancelling ends it at once.
        """
        try:
            result = await self._run(call, context, self.names if offered is None else offered)
        except OrcaError as error:
            state: ToolState = "refused" if isinstance(error, ToolRefused) else "failed"
            is_foreign = isinstance(error, ToolFailed) and state == "failed"  # a server may speak in it
            return state, ToolResult(f"{error} {error.hint}".strip(), is_foreign)
        except Exception as error:
            log.exception("a tool met an error that it does not know")
            # By its kind only: what it says may hold a key.
            return "failed", ToolResult(f"The tool failed: {type(error).__name__}.", is_foreign=False)
        return result.state, await self._cut(result)

    async def _run(self, call: ToolCall, context: ToolContext, offered: Sequence[str]) -> ToolResult:
        hidden = self._not_incognito if context.session.incognito else ()
        tool = self._tools.get(call.name) if call.name in offered and call.name not in hidden else None
        if tool is None or not self._settings.enabled:
            raise OrcaError(f'There is no tool "{label(call.name, 80)}".', hint=_others(call.name, offered))
        arguments = read_arguments(call.arguments, tool.spec.parameters)
        await self.gate.check(tool, arguments, context)
        if call.name in self._unlimited:
            return await tool.run(arguments, context)
        seconds = self._settings.timeout
        try:
            async with asyncio.timeout(seconds):
                return await tool.run(arguments, context)
        except TimeoutError as error:
            raise OrcaError(f"{call.name} took longer than {seconds:g} seconds and was ended.") from error

    async def _cut(self, result: ToolResult) -> ToolResult:
        """A result within `tools.max_result_tokens`, with a note where it was cut."""
        limit, text = self._settings.max_result_tokens, result.text
        if len(text.encode("utf-8", "surrogatepass")) <= limit:  # a token has a byte at least
            return result
        kept = await asyncio.to_thread(self._counter.truncate, text, limit)
        if len(kept) == len(text):
            return result
        return ToolResult(kept + CUT.format(limit=limit), result.is_foreign, result.state)


def _others(name: str, offered: Sequence[str]) -> str:
    close = get_close_matches(name[:64], offered, n=1, cutoff=0.6)
    if close:
        return f'Did you mean "{close[0]}"?'
    return f"There are: {', '.join(offered)}." if offered else "There are none."
