"""The doctor's look at the MCP servers: whether each starts, and what of its tools models may use."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from memory.config import Home, Settings
from memory.errors import MCPError

if TYPE_CHECKING:
    from memory.tools.mcp_tools import MCPServers

Told = tuple[str, Literal["ok", "warn", "fail"], str, str]
"""Name, state, detail and advice of a row; not cleaned."""

WAIT = 15.0
"""Seconds for all of them together."""


async def servers_told(home: Home, settings: Settings, env: Mapping[str, str]) -> list[Told]:
    """A row for each server that is in use; they are started for it and ended again."""
    from memory.tools.mcp_known import KnownTools
    from memory.tools.mcp_tools import MCPServers

    servers = MCPServers(settings.mcp, env, KnownTools(home.root))
    try:
        return list(await asyncio.gather(*(_told(servers, name) for name in servers.names)))
    finally:
        await servers.close()


async def _told(servers: "MCPServers", name: str) -> Told:
    try:
        async with asyncio.timeout(WAIT):
            tools = await servers.test(name)
    except MCPError as error:
        return "mcp", "warn", f"{name}: {error}", error.hint
    except TimeoutError:
        return "mcp", "warn", f"{name}: did not start within {WAIT:.0f} s", f"Try it: orca-tui mcp test {name}"
    [report] = [report for report in await servers.reports() if report.name == name]
    if report.waiting:
        detail = f"{name}: {len(tools)} tools, {len(report.waiting)} of them new or changed"
        return "mcp", "warn", detail, f"Look at them and agree: orca-tui mcp test {name}, orca-tui mcp allow {name}"
    return "mcp", "ok", f"{name}: {len(tools)} tools", ""
