"""For tests of tools and subagents: a model whose replies depend on who asks, and a core with it."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory.config import AgentSettings, Settings, ToolsSettings
from memory.core import Core
from memory.provider.base import ChatMessage, ChatOptions, ChatPart, FinishPart, ToolCall, ToolCallPart
from memory.provider.scripted import Reply, ScriptedChat
from memory.types import ContextWindow
from tests.helpers import opened

MAIN = "main"


def call(name: str, number: int = 1, /, **arguments: Any) -> ToolCallPart:
    """A tool call as a step of a script."""
    return ToolCallPart(ToolCall(f"call-{number}", name, json.dumps(arguments, ensure_ascii=False)))


def agent_call(agent: str, task: str, number: int = 1) -> ToolCallPart:
    """A call of an agent as a step of a script."""
    return call("agent_call", number, agent=agent, task=task)


CALLS = FinishPart("tool_calls")


class RoutedChat:
    """One script for each asker: an agent is known by its prompt, which is its name; all else is `main`."""

    tiny = True
    name = "routed"

    def __init__(self, scripts: Mapping[str, Sequence[Reply]]) -> None:
        self.window = ContextWindow(32_768, "served")
        self.by_asker = {asker: ScriptedChat(replies) for asker, replies in scripts.items()}

    @property
    def main(self) -> ScriptedChat:
        """Who answers the user."""
        return self.by_asker[MAIN]

    async def context_window(self) -> ContextWindow:
        return self.window

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncGenerator[ChatPart, None]:
        first = messages[0]
        asker = first.content if first.role == "system" and first.content in self.by_asker else MAIN
        stream = self.by_asker[asker].stream(messages, options)
        try:
            async for part in stream:
                yield part
        finally:
            await stream.aclose()

    async def close(self) -> None:
        pass


def agents(**tools: Sequence[str]) -> dict[str, AgentSettings]:
    """Agents whose prompt is their name, with their tools."""
    return {name: AgentSettings(description=name, prompt=name, tools=tuple(names)) for name, names in tools.items()}


def settings_with(sections: Mapping[str, AgentSettings], **tools: Any) -> Settings:
    """Settings with these agents and `[tools]`."""
    return replace(Settings(), agents=dict(sections), tools=ToolsSettings(**tools))


@asynccontextmanager
async def core_with(
    home: Path, scripts: Mapping[str, Sequence[Reply]], settings: Settings
) -> AsyncGenerator[tuple[Core, RoutedChat], None]:
    """A core that is answered by scripts."""
    chat = RoutedChat(scripts)
    async with opened(home, chat, settings=settings) as core:
        yield core, chat
