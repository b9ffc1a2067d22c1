"""One MCP server: started when it is first needed, asked, cut off when it misbehaves, started anew with a back-off.

The official SDK speaks the protocol; it is imported in a thread at the first start. Whatever a server asks of us
(sampling, roots, elicitation) is refused by the SDK, because nothing here says that we could.
"""

import asyncio
import importlib
import importlib.util
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from memory.config import MCPSettings
from memory.errors import MCPError
from memory.redaction import redact
from memory.text import label
from memory.tools.mcp_http import MAX_BODY, http_client
from memory.tools.mcp_process import ServerProcess

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

log = logging.getLogger(__name__)

MAX_TOOLS = 100
"""Tools of one server; further ones are left out."""
MAX_BACKOFF = 60.0
"""Seconds after which a server that failed is started again at the latest: 0, 1, 2, 4, …"""
CLOSING = 4.0
"""Seconds that closing may take."""

ANSWERS = (-32601, -32602, -32603)
"""Errors of JSON-RPC with which a server that is well answers a call."""

State = Literal["waiting", "starting", "ready", "failed"]
T = TypeVar("T")


class MCPConnection:
    """For the event loop's thread. `clock` tells seconds."""

    def __init__(
        self,
        name: str,
        settings: MCPSettings,
        env: Mapping[str, str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.settings = settings
        self.state: State = "waiting"
        self.problem: MCPError | None = None
        """Why it failed last; `None` once it is ready."""
        self.tools: tuple[Tool, ...] = ()
        """What it offered at its last start."""
        self._env = env
        self._clock = clock
        self._keeper: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._stop = asyncio.Event()
        self._client: Client | None = None
        self._process: ServerProcess | None = None
        self._failures = 0
        self._not_before = 0.0
        self._closed = False

    @property
    def pid(self) -> int:
        """The server's process; 0 when there is none of ours."""
        return self._process.pid if self._process is not None and self.state == "ready" else 0

    async def ready(self) -> None:
        """Start it unless it runs, and wait for its list of tools. Cancelling leaves the start going on.

        Raises `MCPError`, also when the last failure is too recent for another try.
        """
        if self._closed:
            raise MCPError(f"The MCP server {self.name} is not in use any more.", hint="Start orca anew.")
        if self._keeper is not None and self._process is not None and self._process.ended.is_set():
            await asyncio.wait({self._keeper})  # it is gone, and what is left of it is cleared away
        if self._keeper is None or self._keeper.done():
            wait = self._not_before - self._clock()
            if self.problem is not None and wait > 0:
                raise MCPError(str(self.problem), hint=f"It is tried again after {wait:.0f} seconds.")
            self._stop = asyncio.Event()
            self._started = asyncio.get_running_loop().create_future()
            self._started.add_done_callback(lambda done: done.cancelled() or done.exception())  # told by `problem` too
            self._keeper = asyncio.create_task(self._keep(self._started, self._stop))
        assert self._started is not None  # noqa: S101 — made with the keeper
        await asyncio.shield(self._started)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> "CallToolResult":
        """Call a tool by the server's own name for it. Raises `MCPError`; a server that hangs is ended."""
        await self.ready()
        client, process = self._client, self._process
        if client is None:
            raise self._gone(process)
        try:
            async with asyncio.timeout(self.settings.timeout):
                result = await self._while_alive(client.call_tool(tool, dict(arguments)), process)
                self._failures = 0
                return result
        except TimeoutError:
            error = MCPError(
                f"The MCP server {self.name} did not answer within {self.settings.timeout:g} seconds and was ended.",
                hint="It is started anew with the next call.",
            )
            if process is not None:
                process.kill()
            await self._cut_off(error)
            raise error from None
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 — the SDK's errors, and whatever a strange answer makes it raise
            if process is not None and process.ended.is_set():
                raise self._gone(process) from None
            told = self._told(error)
            if process is None and getattr(error, "code", 0) not in ANSWERS:  # the session may be lost: begin another
                await self._cut_off(told)
            raise told from None

    async def close(self) -> None:
        """End it for good; nothing of it is left. Safe to call twice."""
        self._closed = True
        await self._cut_off(None)

    async def _while_alive(self, asked: Awaitable[T], process: ServerProcess | None) -> T:
        """The answer; a server that ends meanwhile ends the wait."""
        asking = asyncio.ensure_future(asked)
        ending = asyncio.create_task(process.ended.wait() if process is not None else self._stop.wait())
        try:
            await asyncio.wait({asking, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise self._gone(process)
            return asking.result()
        finally:
            for task in (asking, ending):
                task.cancel()
            await asyncio.gather(asking, ending, return_exceptions=True)

    async def _keep(self, started: "asyncio.Future[None]", stop: asyncio.Event) -> None:
        """Own the connection from start to end: the SDK wants both in one task."""
        self.state = "starting"
        process: ServerProcess | None = None
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.settings.timeout):
                    await asyncio.to_thread(_load_sdk)
                    process, transport = await self._transport(stack)
                    self._process = process
                    self._client = await stack.enter_async_context(_make_client(transport))
                    self.tools = tuple(await self._while_alive(_list_tools(self._client), process))
                self.state, self.problem = "ready", None
                started.set_result(None)
                await _first(stop, process.ended if process is not None else None)
            if not stop.is_set():
                raise self._gone(process)
        except asyncio.CancelledError:
            self.state = "waiting"
            if not started.done():
                started.cancel()
            raise
        except TimeoutError:
            words = f"The MCP server {self.name} did not start within {self.settings.timeout:g} seconds."
            self._failed(MCPError(words, hint=self._where()), started)
        except BaseException as error:  # noqa: BLE001 — the SDK raises groups of whatever happened
            known = error if isinstance(error, MCPError) else self._told(error)
            if process is not None and process.ended.is_set() and not isinstance(error, MCPError):
                known = self._gone(process)
            self._failed(known, started)
        else:
            self.state = "waiting"
        finally:
            self._client = None

    async def _transport(self, stack: AsyncExitStack) -> "tuple[ServerProcess | None, Any]":
        if self.settings.command:
            process = ServerProcess(self.name, self.settings, self._env)
            return process, process.open()
        if urlsplit(self.settings.url).scheme not in ("http", "https"):
            raise MCPError(f"The MCP server {self.name} has neither a command nor a url.", hint=self._where())
        from mcp.client.streamable_http import streamable_http_client

        client = await asyncio.to_thread(http_client, self.settings, self._headers())
        await stack.enter_async_context(client)
        return None, streamable_http_client(self.settings.url, http_client=client, max_sse_event_size=MAX_BODY)

    def _headers(self) -> dict[str, str]:
        missing = [name for name in self.settings.headers_env.values() if name not in self._env]
        if missing:
            raise MCPError(f"The variable {missing[0]}, which {self.name} needs, is not set.", hint=self._where())
        return {header: self._env[name] for header, name in self.settings.headers_env.items()}

    async def _cut_off(self, error: MCPError | None) -> None:
        """End the connection; with an error, the next start waits for its back-off."""
        keeper, self._keeper = self._keeper, None
        if error is not None and keeper is not None:
            self._count(error)
        self._stop.set()
        if keeper is None or keeper.done():
            return
        _, late = await asyncio.wait({keeper}, timeout=CLOSING if self.state == "ready" else 0)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=CLOSING)
        self.state = "waiting" if error is None else "failed"

    def _failed(self, error: MCPError, started: "asyncio.Future[None]") -> None:
        self._count(error)
        log.warning("%s %s", error, error.hint)
        if not started.done():
            started.set_exception(error)

    def _count(self, error: MCPError) -> None:
        self.state, self.problem = "failed", error
        self._not_before = self._clock() + (min(2.0 ** (self._failures - 1), MAX_BACKOFF) if self._failures else 0.0)
        self._failures += 1

    def _gone(self, process: ServerProcess | None) -> MCPError:
        words = process.why() if process is not None else f"The connection to the MCP server {self.name} has ended."
        return MCPError(words, hint="It is started anew with the next call.")

    def _told(self, error: BaseException) -> MCPError:
        """What the SDK or the server said, in a sentence."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, MCPError):
            return error
        secrets = [self._env.get(name, "") for name in self.settings.headers_env.values()]
        said = label(redact(str(error), secrets), 300) or type(error).__name__
        return MCPError(f"The MCP server {self.name} failed: {said}", hint=self._where())

    def _where(self) -> str:
        return f"Look at [mcp.{self.name}] in config.toml; try it: orca-tui mcp test {self.name}"


def _load_sdk() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise MCPError("The MCP client is not installed.", hint='Install it: pip install "orca-tui[mcp]"')
    importlib.import_module("mcp.client.streamable_http")
    importlib.import_module("mcp.client.client")
    for name in ("mcp", "httpx2", "httpcore2"):  # addresses, and what servers send, are not for the log
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _make_client(transport: "AbstractAsyncContextManager[Any]") -> "Client":
    from mcp import Client
    from mcp_types import Implementation

    return Client(transport, cache=None, client_info=Implementation(name="orca-tui", version="0"))


async def _list_tools(client: "Client") -> "list[Tool]":
    """All pages, at most `MAX_TOOLS`; none of a server that has no tools."""
    if client.server_capabilities.tools is None:
        return []
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_TOOLS):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= MAX_TOOLS:
            break
    return found[:MAX_TOOLS]


async def _first(*events: asyncio.Event | None) -> None:
    """Wait until one of the events is set."""
    waits = [asyncio.create_task(event.wait()) for event in events if event is not None]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waits:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waits, return_exceptions=True)
