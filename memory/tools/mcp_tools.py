"""The tools of all MCP servers, as a toolbox takes them.

Whatever a server tells about its tools is foreign text that goes to the model: it is cleaned and bounded, and the user
is asked before a tool is offered for the first time, and again when its description or schema has changed. What was
agreed to lies in a small file of the home, whole, so that the question can show the old and the new.
"""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.config import MCPSettings
from memory.errors import MCPError
from memory.provider.base import ToolSpec
from memory.text import clean, label
from memory.tools.base import Decision, PermissionRequest, ToolContext, ToolResult
from memory.tools.mcp_client import MCPConnection, State
from memory.tools.mcp_known import KnownTools

if TYPE_CHECKING:
    from mcp_types import CallToolResult
    from mcp_types import Tool as ServerTool

log = logging.getLogger(__name__)

START_WAIT = 5.0
"""Seconds that a turn waits for servers that start for the first time; those that are late, or have failed before, are
offered in a later one."""
MAX_DESCRIPTION = 1500
"""Characters of a tool's description that are told to the model."""
MAX_WORDS = 300
"""Characters of one text inside a schema."""
MAX_SCHEMA = 20_000
"""Characters of a whole schema as JSON; a tool with a longer one is left out."""
MAX_RESULT = 1_000_000
"""Characters of a result that are looked at; the toolbox cuts to its own limit."""
MAX_NAME = 64
NEW = "An MCP server offers tools that are new. What it says of them goes to the model."
"""Why it is asked (English source of `_`)."""
CHANGED = "An MCP server has changed what it says of its tools. What it says goes to the model."
"""Why it is asked (English source of `_`)."""
CALL = "The call goes to an MCP server, a program that is not orca's."
"""Why it is asked (English source of `_`)."""

Ask = Callable[[PermissionRequest], Awaitable[Decision]]
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ServerReport:
    """How a server does."""

    name: str
    state: State
    problem: MCPError | None
    offered: tuple[str, ...]
    """Tools that the user has agreed to."""
    waiting: tuple[str, ...]
    """Tools that are new or changed: the user has yet to agree."""


class MCPTool:
    """A tool of an MCP server; implements `memory.tools.base.Tool`."""

    reaches_outside = True

    def __init__(self, connection: MCPConnection, tool: "ServerTool", spec: ToolSpec) -> None:
        self.spec = spec
        self.digest = digest_of(spec)
        self.own_name = tool.name
        """As the server calls it."""
        self._connection = connection

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest:  # noqa: ARG002
        """Each tool is asked for by itself."""
        shown = json.dumps(arguments, ensure_ascii=False, indent=2)
        choices: tuple[Decision, ...] = ("once", "session", "always", "deny")
        return PermissionRequest(self.spec.name, self._connection.name, shown, CALL, choices)

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Call it. Raises `MCPError`, also when the server tells another thing of the tool than was agreed to."""
        await self._connection.ready()
        now = next((tool for tool in self._connection.tools if tool.name == self.own_name), None)
        if now is None or digest_of(spec_of(self._connection.name, now)) != self.digest:
            raise MCPError(
                f"The MCP server {self._connection.name} has changed {self.spec.name}.",
                hint="The user is asked about it before it is offered again.",
            )
        result = await self._connection.call(self.own_name, arguments)
        return ToolResult(text_of(result), state="failed" if result.is_error else "done")


class MCPServers:
    """Every enabled server of `[mcp.NAME]`. For the event loop's thread; nothing starts before `tools`."""

    def __init__(
        self, settings: Mapping[str, MCPSettings], env: Mapping[str, str], known: KnownTools, ask: Ask | None = None
    ) -> None:
        """`ask` puts a question to the user; without it, only tools that were agreed to before are offered."""
        self._connections = [MCPConnection(name, each, env) for name, each in settings.items() if each.enabled]
        self._known = known
        self._ask = ask
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._refused: set[str] = set()
        """Digests that the user did not want, until the end of this process."""
        self._deciding = asyncio.Lock()
        self.start_wait = START_WAIT
        """Seconds that `tools` waits."""

    @property
    def names(self) -> tuple[str, ...]:
        """The servers that are in use."""
        return tuple(connection.name for connection in self._connections)

    async def tools(self) -> list[MCPTool]:
        """The tools that may be offered now, of the servers that are ready within `start_wait` seconds. Never raises.

        Starts what is not running; a server that failed before is not waited for. Asks the user about tools that are
        new or changed.
        """
        await self._start()
        found: list[MCPTool] = []
        for connection in self._connections:
            if connection.state == "ready":
                found += await self._agreed(connection.name, tools_of(connection))
        return found

    async def agree(self, name: str) -> list[str]:
        """Agree to all that a server offers now; the names of its tools. Raises `MCPError`."""
        connection = self._find(name)
        await connection.ready()
        tools = tools_of(connection)
        await asyncio.to_thread(self._known.keep, name, {tool.spec.name: _told(tool.spec) for tool in tools})
        return [tool.spec.name for tool in tools]

    async def test(self, name: str) -> list[MCPTool]:
        """Start one server and list all its tools, agreed to or not. Raises `MCPError`."""
        connection = self._find(name)
        await connection.ready()
        return tools_of(connection)

    async def reports(self) -> list[ServerReport]:
        """How each server does, as far as it was started. Never raises."""
        found = []
        for each in self._connections:
            known = await asyncio.to_thread(self._known.of, each.name)
            tools = tools_of(each) if each.state == "ready" else []
            agreed = {tool.spec.name for tool in tools if known.get(tool.spec.name) == _told(tool.spec)}
            waiting = tuple(tool.spec.name for tool in tools if tool.spec.name not in agreed)
            found.append(ServerReport(each.name, each.state, each.problem, tuple(sorted(agreed)), waiting))
        return found

    async def close(self) -> None:
        """End all servers, at once. Safe to call twice."""
        tasks = list(self._starting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self._connections), return_exceptions=True)

    async def _start(self) -> None:
        for connection in self._connections:
            task = self._starting.get(connection.name)
            if connection.state != "ready" and (task is None or task.done()):
                self._starting[connection.name] = asyncio.create_task(_begin(connection))
        worth = {connection.name for connection in self._connections if connection.problem is None}
        running = [task for name, task in self._starting.items() if name in worth and not task.done()]
        if running:
            await asyncio.wait(running, timeout=self.start_wait)

    def _find(self, name: str) -> MCPConnection:
        for connection in self._connections:
            if connection.name == name:
                return connection
        names = ", ".join(self.names)
        raise MCPError(
            f"There is no MCP server {label(name, 80)} that is in use.",
            hint=f"There are: {names}." if names else "Add one to config.toml: [mcp.NAME] with a command or a url.",
        )

    async def _agreed(self, server: str, tools: list[MCPTool]) -> list[MCPTool]:
        async with self._deciding:
            known = await asyncio.to_thread(self._known.of, server)
            asked = {
                tool.spec.name: tool
                for tool in tools
                if known.get(tool.spec.name) != _told(tool.spec) and tool.digest not in self._refused
            }
            if asked and self._ask is not None:
                request = _question(server, asked, known)
                if await self._ask(request) in ("once", "session", "always"):
                    known = {**known, **{name: _told(tool.spec) for name, tool in asked.items()}}
                    await self._keep(server, known)
                else:
                    self._refused |= {tool.digest for tool in asked.values()}
        return [tool for tool in tools if known.get(tool.spec.name) == _told(tool.spec)]

    async def _keep(self, server: str, known: Mapping[str, Any]) -> None:
        try:
            await asyncio.to_thread(self._known.keep, server, known)
        except MCPError as error:
            log.warning("what was agreed to holds for this turn only: %s", error)


async def _begin(connection: MCPConnection) -> None:
    """Start in the background; a failure is told by the connection's state and the log."""
    try:
        await connection.ready()
    except MCPError:
        return


def _question(server: str, asked: Mapping[str, MCPTool], known: Mapping[str, Any]) -> PermissionRequest:
    changed = any(name in known for name in asked)
    shown = {
        name: {"before": known[name], "now": _told(tool.spec)} if name in known else {"new": _told(tool.spec)}
        for name, tool in asked.items()
    }
    text = json.dumps(shown, ensure_ascii=False, indent=2)
    return PermissionRequest("mcp", server, text, CHANGED if changed else NEW, ("always", "deny"))


def tools_of(connection: MCPConnection) -> list[MCPTool]:
    """What a server offered, as tools; those that cannot be offered are left out, with a line in the log."""
    found: dict[str, MCPTool] = {}
    for tool in connection.tools:
        spec = spec_of(connection.name, tool)
        if spec.name in found or len(json.dumps(spec.parameters)) > MAX_SCHEMA:
            log.warning("a tool of the MCP server %s was left out: %s", connection.name, label(tool.name, 80))
            continue
        found[spec.name] = MCPTool(connection, tool, spec)
    return list(found.values())


def spec_of(server: str, tool: "ServerTool") -> ToolSpec:
    """How a server's tool is offered: `SERVER__tool`, its texts cleaned and bounded."""
    name = _NOT_IN_NAMES.sub("_", f"{server}__{tool.name}")
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 9]}_{hashlib.sha256(tool.name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    schema = _cleaned(tool.input_schema)
    parameters = schema if isinstance(schema, dict) else {}
    return ToolSpec(name, clean(tool.description or "")[:MAX_DESCRIPTION], {**parameters, "type": "object"})


def digest_of(spec: ToolSpec) -> str:
    """Names all that a model is told of a tool."""
    return hashlib.sha256(json.dumps([spec.name, _told(spec)], sort_keys=True).encode()).hexdigest()


def _told(spec: ToolSpec) -> dict[str, Any]:
    return {"description": spec.description, "parameters": dict(spec.parameters)}


def _cleaned(value: Any, depth: int = 0) -> Any:
    """A schema whose texts are cleaned and bounded, at most 20 levels deep."""
    if isinstance(value, str):
        return clean(value)[:MAX_WORDS]
    if depth > 20:
        return None
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value[:200]]
    if isinstance(value, dict):
        return {clean(str(key))[:MAX_WORDS]: _cleaned(item, depth + 1) for key, item in list(value.items())[:200]}
    return value


def text_of(result: "CallToolResult") -> str:
    """What a result says, as text; what is no text is named."""
    parts = [_part(block) for block in result.content]
    if not any(parts) and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(part for part in parts if part)
    return text if len(text) <= MAX_RESULT else text[:MAX_RESULT] + "\n[cut]"


def _part(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}, {label(block.mime_type, 60)}: not shown]"
        case "resource_link":
            return f"[resource {label(block.name, 100)}: {label(str(block.uri), 300)}]"
        case "resource":
            return str(getattr(block.resource, "text", "[resource: not text]"))
    return f"[{label(str(block.type), 40)}: not shown]"
