"""What models may call at one moment, as the list of tools shows it."""

from dataclasses import dataclass

from memory.tools.mcp_tools import ServerReport


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool. `description` is foreign text when an MCP server offers it."""

    name: str
    description: str
    why_off: str = ""
    """Why models cannot call it, and what to do; empty: they can."""


@dataclass(frozen=True, slots=True)
class Picture:
    """All of it at one moment."""

    enabled: bool
    tools: tuple[ToolLine, ...]
    always: tuple[str, ...]
    """Entries of `[tools] allow`: `tool` or `tool:target`."""
    session: tuple[str, ...]
    """Allowed in the open session until orca ends, and not for always."""
    servers: tuple[ServerReport, ...]
