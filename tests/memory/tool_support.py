"""Shared by tests of turns that call tools: tools that do as they are told, and what is left of a turn."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.config import MemorySettings, Settings
from memory.core import Core
from memory.provider.base import ChatMessage, ToolCall, ToolCallPart, ToolSpec
from memory.provider.scripted import ScriptedChat
from memory.tools.base import PermissionRequest, ToolContext, ToolResult
from memory.types import ContextWindow, Message

Behaviour = Callable[[Mapping[str, Any], ToolContext], Awaitable[ToolResult | str]]


class FakeTool:
    """A tool of one behaviour; records its calls."""

    def __init__(self, name: str, behaviour: Behaviour | str, *, outside: bool = False) -> None:
        self.calls: list[tuple[Mapping[str, Any], bool]] = []
        """Arguments of each call, and whether the turn was tainted then."""
        self._name = name
        self._behaviour = behaviour
        self._outside = outside

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self._name, f"Does {self._name}.", {"type": "object", "properties": {}})

    @property
    def reaches_outside(self) -> bool:
        return self._outside

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest | None:
        return None

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        self.calls.append((arguments, context.is_tainted))
        given = self._behaviour
        said = given if isinstance(given, str) else await given(arguments, context)
        return said if isinstance(said, ToolResult) else ToolResult(said)


class Gate:
    """A behaviour that waits: `entered` is set when a call waits, `open` lets it go on."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        self.entered.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "waited"


def call(call_id: str, name: str, arguments: str = "{}") -> ToolCallPart:
    return ToolCallPart(ToolCall(call_id, name, arguments))


def scripted(*replies: Any, window: int = 8192) -> ScriptedChat:
    return ScriptedChat(replies, tiny=True, window=ContextWindow(window, "served"))


def settings(**tools: Any) -> Settings:
    """Without memory, so that nothing but the turn is in the requests."""
    plain = Settings(memory=MemorySettings(enabled=False))
    return replace(plain, tools=replace(plain.tools, **tools))


def equip(core: Core, *tools: FakeTool) -> None:
    for tool in tools:
        core.equipment.toolbox.add(tool)


def path(core: Core, session_id: str) -> list[tuple[str, str, str]]:
    return [(m.role, m.content, m.state) for m in core.store.path(session_id)]


def rows(core: Core, session_id: str, role: str) -> list[Message]:
    return [m for m in core.store.path(session_id) if m.role == role]


def said(request: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request]


def assert_whole(request: Sequence[ChatMessage]) -> None:
    """Each call of a request has exactly one result right behind it, in order; no result is without its call."""
    waiting: list[str] = []
    for message in request:
        if message.role == "tool":
            assert waiting
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert waiting == []
        waiting = [one.id for one in message.tool_calls]
    assert waiting == []


def no_task_left(name: str) -> bool:
    return not [task for task in asyncio.all_tasks() if task.get_name().startswith(name)]
