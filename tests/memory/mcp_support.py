"""For tests of MCP servers: the server in a process of its own, a clock, a user who answers."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from memory.config import MCPSettings
from memory.tools import mcp_tools
from memory.tools.base import Decision, PermissionRequest
from memory.tools.mcp_client import MCPConnection
from memory.tools.mcp_known import KnownTools
from memory.tools.mcp_tools import MCPServers

SERVER = Path(__file__).with_name("mcp_server.py")
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nowhere",
    "OPENAI_API_KEY": "sk-canary-of-ours",
    "CITY_KEY": "for-the-server",
}


def settings(kind: str, *more: str, timeout: float = 20.0, **env: str) -> MCPSettings:
    return MCPSettings(command=sys.executable, args=(str(SERVER), kind, *more), timeout=timeout, env=env)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def connected(given: MCPSettings, clock: Clock | None = None) -> AsyncIterator[MCPConnection]:
    connection = MCPConnection("test", given, ENV, clock=clock or Clock())
    try:
        yield connection
    finally:
        await connection.close()


class User:
    """Answers questions, and remembers them."""

    def __init__(self, *answers: Decision) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionRequest] = []

    async def __call__(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return self.answers.pop(0)


@asynccontextmanager
async def servers(
    home: Path, ask: Callable[[PermissionRequest], Awaitable[Decision]] | None = None, **given: MCPSettings
) -> AsyncIterator[MCPServers]:
    found = MCPServers(given, ENV, KnownTools(home), ask)
    found.start_wait = 20.0
    try:
        yield found
    finally:
        await found.close()


def said(result: Any) -> str:
    return mcp_tools.text_of(result)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has reaped does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")
