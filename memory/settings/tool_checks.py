"""Checks of `[tools]`, `[agents.NAME]` and `[mcp.NAME]` that take more than one key. All are warnings: orca can live
with them, and leaves out what cannot be used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from memory.config import Settings
from memory.settings.source import Source
from memory.text import label

BUILT_IN = ("memory_search", "memory_save", "read_file", "list_dir", "fetch_url", "agent_call")
"""The names of orca's own tools."""
NOT_FOR_AGENTS = frozenset(("memory_search", "memory_save"))
"""A subagent gets no memory but what its caller passes, and leaves none."""
SERVER_MARK = "__"
"""Between the name of an MCP server and that of its tool."""


def tool_warnings(settings: Settings, source: Source) -> list[str]:
    """What of these sections cannot be used as it stands, or has no effect."""
    return [*_agents(settings, source), *_tools(settings, source), *_servers(settings, source)]


def without_commands(settings: Settings, source: Source, warnings: list[str]) -> Settings:
    """MCP servers whose command other users of the machine could have written are not started."""
    servers = dict(settings.mcp)
    for name, server in settings.mcp.items():
        if server.command and server.enabled:
            servers[name] = replace(server, enabled=False)
            warnings.append(
                f"{source.at('mcp', name, 'command')}: other users can write this file, so [mcp.{label(name, 64)}] is "
                f"not started. Run: chmod 600 {label(source.name)}"
            )
    return replace(settings, mcp=servers)


def _agents(settings: Settings, source: Source) -> Iterator[str]:
    for name, agent in settings.agents.items():
        for tool in agent.tools:
            where = source.describe(("agents", name, "tools"))
            if tool in NOT_FOR_AGENTS:
                yield f"{where} names {tool}, which agents do not get: their caller passes what they need to know."
            elif not _is_known(tool, settings):
                yield f'{where} names "{label(tool, 60)}", which is no tool. {_known(tool, settings)}'


def _tools(settings: Settings, source: Source) -> Iterator[str]:
    for entry in settings.tools.allow:
        if not _is_known(tool := entry.partition(":")[0], settings):
            where = source.describe(("tools", "allow"))
            yield f'{where} names "{label(tool, 60)}", which is no tool. {_known(tool, settings)}'
    for root in settings.tools.roots:
        if not root.startswith("~") and not PurePath(root).is_absolute():
            where = source.describe(("tools", "roots"))
            yield f'{where} holds "{label(root, 60)}", which changes with the directory that orca is started in.'


def _servers(settings: Settings, source: Source) -> Iterator[str]:
    for name, server in settings.mcp.items():
        where = f"{source.at('mcp', name)}: [mcp.{label(name, 64)}]"
        if not server.command and not server.url:
            yield f"{where} has neither a command nor a url: it is not used."
        elif server.command and server.url:
            yield f"{where} has both a command and a url: the command is used."


def _is_known(tool: str, settings: Settings) -> bool:
    return tool in BUILT_IN or any(tool.startswith(f"{name}{SERVER_MARK}") for name in settings.mcp)


def _known(tool: str, settings: Settings) -> str:
    from difflib import get_close_matches

    known: Sequence[str] = (*BUILT_IN, *(f"{name}{SERVER_MARK}…" for name in settings.mcp))
    close = get_close_matches(tool[:64], known, n=1, cutoff=0.6)
    return f'Did you mean "{close[0]}"?' if close else f"There are {label(', '.join(known), 300)}."
