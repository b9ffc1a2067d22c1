"""`orca-tui mcp`: the MCP servers of `[mcp.NAME]`: how they do, what they offer, and what of it models may use."""

import asyncio
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from memory.config import Home
from memory.errors import MCPError
from memory.settings import load_settings
from memory.text import label
from memory.tools.mcp_known import KnownTools
from memory.tools.mcp_tools import MCPServers, MCPTool
from orca_tui.cli.stored import prepare
from orca_tui.plain import complain, plain_print, print_json


def run(arguments: Namespace, home: Home) -> int:
    """Do one of list, test, allow; 1 when a server cannot be used."""
    return asyncio.run(_run(arguments, home))


async def _run(arguments: Namespace, home: Home) -> int:
    servers = MCPServers(load_settings(home).mcp, os.environ, KnownTools(home.root))
    try:
        match arguments.action:
            case "list":
                return await _list(servers, as_json=arguments.json)
            case "test":
                await _test(servers, arguments.name, as_json=arguments.json)
            case _:
                prepare(home)
                names = await servers.agree(arguments.name)
                plain_print(f"Models may use {len(names)} tools of {label(arguments.name)}: {', '.join(names)}")
                plain_print("Each call is still asked for.")
    finally:
        await servers.close()
    return 0


async def _list(servers: MCPServers, *, as_json: bool) -> int:
    """All servers, each started for it."""
    found = await asyncio.gather(*(_looked_at(servers, name) for name in servers.names))
    if as_json:
        print_json({"servers": found})
    elif not found:
        plain_print("No MCP server is in use. Add one to config.toml: [mcp.NAME] with a command or a url.")
    for server in () if as_json else found:
        if server["problem"]:
            complain(server["problem"], server["hint"])
        else:
            plain_print(f"{server['name']}:")
            _print_tools(server["tools"])
    return 1 if any(server["problem"] for server in found) else 0


async def _looked_at(servers: MCPServers, name: str) -> dict[str, Any]:
    try:
        tools = await servers.test(name)
    except MCPError as error:
        return {"name": name, "problem": str(error), "hint": error.hint, "tools": []}
    return {"name": name, "problem": "", "hint": "", "tools": await _told(servers, name, tools)}


async def _test(servers: MCPServers, name: str, *, as_json: bool) -> None:
    tools = await _told(servers, name, await servers.test(name))
    if as_json:
        print_json({"name": name, "tools": tools})
        return
    plain_print(f"{label(name)} works. It offers {len(tools)} tools:")
    _print_tools(tools)
    if not all(tool["agreed"] for tool in tools):
        plain_print(f"What is marked new is offered to models once you agree: orca-tui mcp allow {label(name)}")


async def _told(servers: MCPServers, name: str, tools: Sequence[MCPTool]) -> list[dict[str, Any]]:
    [report] = [report for report in await servers.reports() if report.name == name]
    return [
        {"name": tool.spec.name, "description": tool.spec.description, "agreed": tool.spec.name in report.offered}
        for tool in tools
    ]


def _print_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    for tool in tools:
        mark = "   " if tool["agreed"] else "new"
        plain_print(f"  {mark}  {tool['name']:32} {label(tool['description'], 100)}".rstrip())
