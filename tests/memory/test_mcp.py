"""MCP servers, each in a process of its own: what they offer, how they fail, and that nothing of them is left."""

import asyncio
import importlib.util
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memory.config import MCPSettings, ToolsSettings
from memory.errors import MCPError
from memory.provider.base import ToolCall
from memory.tokens import TokenCounter
from memory.tools import mcp_tools
from memory.tools.base import Decision, PermissionRequest
from memory.tools.gate import Gate
from memory.tools.mcp_client import MCPConnection
from memory.tools.mcp_known import KnownTools
from memory.tools.mcp_tools import MCPServers, MCPTool
from memory.tools.toolbox import StandardToolbox
from tests.helpers import until
from tests.memory.tool_context import context

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


async def test_a_tool_is_called_and_its_result_is_text() -> None:
    async with connected(settings("good")) as server:
        assert said(await server.call("add", {"a": 2, "b": 3})) == "5"
        assert said(await server.call("odd", {})) == (
            "[image, image/png: not shown]\n[resource notes: file:///notes.txt]\n你好\x1b[2J"
        )
        assert (await server.call("fail", {})).is_error
        assert said(await server.call("ask_back", {})) == "refused refused refused"


async def test_the_server_gets_no_key_but_those_that_are_configured_for_it() -> None:
    async with connected(settings("good", KEY="$CITY_KEY", PLAIN="a-${HOME}")) as server:
        env = json.loads(said(await server.call("environment", {})))
    assert env["KEY"] == "for-the-server"
    assert env["PLAIN"] == "a-/nowhere"
    assert "sk-canary" not in json.dumps(env)
    assert "CITY_KEY" not in env


async def test_a_variable_that_is_not_set_is_named() -> None:
    async with connected(settings("good", KEY="$NOT_THERE")) as server:
        with pytest.raises(MCPError, match="NOT_THERE"):
            await server.ready()


STARTS = {
    "dies-at-start": "ended by itself. It said: no database at …",
    "garbage": "no message of the protocol",
    "endless-line": "more than 4 MiB",
}


@pytest.mark.parametrize(("kind", "words"), STARTS.items())
async def test_a_server_that_cannot_be_talked_with(kind: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    async with connected(settings(kind)) as server:
        with pytest.raises(MCPError) as caught:
            await server.ready()
        assert words in str(caught.value)
        assert server.state == "failed"
    assert "hunter2secret" not in caplog.text + str(caught.value)


async def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    async with connected(settings("silent", timeout=0.3)) as server:
        with pytest.raises(MCPError, match=r"did not start within 0\.3 seconds"):
            await server.ready()


async def test_a_server_that_greets_is_understood() -> None:
    async with connected(settings("greets")) as server:
        assert said(await server.call("add", {"a": 1, "b": 1})) == "2"


async def test_a_command_that_is_not_there() -> None:
    async with connected(MCPSettings(command="orca-no-such-program")) as server:
        with pytest.raises(MCPError, match="cannot be started"):
            await server.ready()


@pytest.mark.parametrize(
    ("tool", "words"),
    [("big", "more than 4 MiB"), ("die", "canary"), ("flood", "without end"), ("hang", "answer within")],
)
async def test_a_server_that_breaks_off_in_a_call_is_started_anew(tool: str, words: str) -> None:
    given = settings("good", timeout=0.6 if tool == "hang" else 20.0)
    async with connected(given) as server:
        assert said(await server.call("echo", {"text": "before"})) == "before"
        first = server.pid
        with pytest.raises(MCPError, match=words):
            await server.call(tool, {})
        server.settings = settings("good")
        assert said(await server.call("echo", {"text": "after"})) == "after"
        assert not alive(first)


async def test_a_server_that_fails_again_is_left_alone_for_a_while() -> None:
    clock = Clock()
    async with connected(settings("dies-at-start"), clock) as server:
        for wait in (0.0, 0.0, 1.0, 2.0):
            clock.now += wait
            with pytest.raises(MCPError, match="no database"):
                await server.ready()
            assert server.pid == 0
        with pytest.raises(MCPError) as caught:
            await server.ready()
        assert caught.value.hint == "It is tried again after 4 seconds."


async def test_words_of_the_server_are_masked_where_they_hold_its_key() -> None:
    async with connected(settings("good", KEY="canary-of-the-server")) as server:
        with pytest.raises(MCPError) as caught:
            await server.call("die", {})
    assert "out of memory at …" in str(caught.value)


async def test_a_call_that_is_cancelled_leaves_the_server_alone() -> None:
    async with connected(settings("good")) as server:
        await server.ready()
        task = asyncio.create_task(server.call("echo", {"text": "x"}))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert said(await server.call("echo", {"text": "still here"})) == "still here"


async def test_nothing_is_left_of_a_server_that_does_not_want_to_end(tmp_path: Path) -> None:
    async with connected(settings("stubborn", str(tmp_path / "pids"))) as server:
        await server.ready()
        pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
        assert all(map(alive, pids))
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.skipif(os.name != "posix", reason="process groups are a matter of POSIX")
async def test_nothing_is_left_when_orca_is_killed(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom memory.config import MCPSettings\n"
        "from memory.tools.mcp_client import MCPConnection\n"
        "async def main():\n"
        f"    given = MCPSettings(command=sys.executable, args=({str(SERVER)!r}, 'stubborn', sys.argv[1]))\n"
        "    await MCPConnection('test', given, {}).ready()\n    print('ready', flush=True)\n"
        "    await asyncio.Event().wait()\nasyncio.run(main())\n"
    )
    root = Path(__file__).parents[2]
    orca = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, str(tmp_path / "pids")), cwd=root, stdout=subprocess.PIPE
    )
    assert orca.stdout is not None
    assert await orca.stdout.readline() == b"ready\n"
    orca.send_signal(signal.SIGKILL)
    await orca.wait()
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    await until(lambda: not any(map(alive, pids)))


async def test_tools_are_offered_once_the_user_has_agreed(tmp_path: Path) -> None:
    user = User("always")
    async with servers(tmp_path, user, city=settings("good")) as found:
        tools = {tool.spec.name: tool for tool in await found.tools()}
        assert await found.tools()
    assert {"city__add", "city__say_it_now"} <= tools.keys()
    (request,) = user.asked
    assert (request.tool, request.target, request.reason) == ("mcp", "city", mcp_tools.NEW)
    assert "Adds two numbers." in request.arguments
    echo, add = tools["city__echo"].spec, tools["city__add"].spec
    assert "\x1b" not in echo.description + json.dumps(add.parameters)
    assert "\u202e" not in echo.description
    assert len(echo.description) <= mcp_tools.MAX_DESCRIPTION
    assert len(add.parameters["properties"]["a"]["description"]) <= mcp_tools.MAX_WORDS
    file = tmp_path / "mcp-tools.json"
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_what_was_agreed_to_is_asked_again_when_it_changes(tmp_path: Path) -> None:
    async with servers(tmp_path, User("always"), city=settings("good")) as found:
        assert await found.tools()
    async with servers(tmp_path, None, city=settings("good")) as found:
        assert "city__add" in [tool.spec.name for tool in await found.tools()]
    user = User("deny")
    async with servers(tmp_path, user, city=settings("changed")) as found:
        offered = [tool.spec.name for tool in await found.tools()]
        assert await found.tools()
    assert "city__add" not in offered
    assert "city__echo" in offered
    (request,) = user.asked
    assert request.reason == mcp_tools.CHANGED
    shown = json.loads(request.arguments)
    assert list(shown) == ["city__add"]
    assert shown["city__add"]["before"]["description"] == "Adds two numbers."
    assert "user's notes" in shown["city__add"]["now"]["description"]


async def test_without_anybody_to_ask_only_what_was_agreed_to_is_offered(tmp_path: Path) -> None:
    async with servers(tmp_path, None, city=settings("good")) as found:
        assert await found.tools() == []
        (report,) = await found.reports()
        assert "city__add" in report.waiting
        assert "city__add" in await found.agree("city")
        assert await found.tools()


async def test_a_tool_that_changes_between_offer_and_call_is_not_called(tmp_path: Path) -> None:
    async with servers(tmp_path, User("always"), city=settings("good")) as found:
        tools: Mapping[str, MCPTool] = {tool.spec.name: tool for tool in await found.tools()}
        connection = tools["city__add"]._connection
        await connection.close()
        connection.settings = settings("changed")
        with pytest.raises(MCPError, match="has changed city__add"):
            await tools["city__add"].run({"a": 1, "b": 2}, context())


async def test_a_turn_does_not_wait_for_a_slow_server(tmp_path: Path) -> None:
    given = {"slow": settings("silent"), "city": settings("good")}
    async with servers(tmp_path, User("always"), **given) as found:
        found.start_wait = 0.5
        names: list[str] = []
        while not names:
            names = [tool.spec.name for tool in await asyncio.wait_for(found.tools(), 10)]
        assert {name.partition("__")[0] for name in names} == {"city"}
        assert [report.state for report in await found.reports()] == ["starting", "ready"]


async def test_a_file_that_is_broken_is_no_agreement(tmp_path: Path) -> None:
    (tmp_path / "mcp-tools.json").write_text('{"city": [')
    async with servers(tmp_path, None, city=settings("good")) as found:
        assert await found.tools() == []


async def test_a_toolbox_offers_them_and_results_are_foreign(tmp_path: Path) -> None:
    gate = Gate()
    gate.approver = user = User("always", "once", "deny")
    async with servers(tmp_path, gate.ask, city=settings("good")) as found:
        await found.test("city")
        toolbox = StandardToolbox(ToolsSettings(timeout=1.0), TokenCounter(), gate)
        toolbox.join(found)
        here = context()
        assert "city__add" in [spec.name for spec in await toolbox.specs(here.session)]
        call = ToolCall("1", "city__add", '{"a": 1, "b": 2}')
        state, result = await toolbox.run(call, here)
        assert (state, result.text, result.is_foreign) == ("done", "3", True)
        assert (await toolbox.run(call, here))[0] == "refused"
        assert [(request.tool, request.target) for request in user.asked[1:]] == [("city__add", "city")] * 2
        toolbox.join(None)
        assert await toolbox.specs(here.session) == ()


async def free_port() -> int:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


HTTP_SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("test", log_level="ERROR")
@server.tool()
def add(a: int, b: int) -> str:
    return str(a + b)
@server.tool()
def big() -> str:
    return "x" * 20_000_000
server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


async def test_a_server_over_http() -> None:
    """Written with the SDK's own server side, in a process of its own."""
    port = await free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", HTTP_SERVER, str(port))
    try:
        clock = Clock()
        async with connected(MCPSettings(url=f"http://127.0.0.1:{port}/mcp"), clock) as server:
            for _ in range(600):  # until it listens
                clock.now += 100
                try:
                    await server.ready()
                    break
                except MCPError:
                    await asyncio.sleep(0.05)
            assert [tool.name for tool in server.tools] == ["add", "big"]
            assert said(await server.call("add", {"a": 20, "b": 22})) == "42"
            with pytest.raises(MCPError):
                await server.call("big", {})
    finally:
        process.kill()
        await process.wait()


async def test_an_http_header_that_is_not_set_is_named() -> None:
    given = MCPSettings(url="http://127.0.0.1:9/mcp", headers_env={"Authorization": "NOT_THERE"})
    async with connected(given) as server:
        with pytest.raises(MCPError, match="NOT_THERE"):
            await server.ready()


async def test_nothing_listens() -> None:
    async with connected(MCPSettings(url="http://127.0.0.1:9/mcp")) as server:
        with pytest.raises(MCPError, match="test failed"):
            await server.ready()


@pytest.mark.skipif(importlib.util.find_spec("mcp_server_time") is None, reason="mcp-server-time is not installed")
async def test_a_server_from_the_package_index() -> None:
    given = MCPSettings(command=sys.executable, args=("-m", "mcp_server_time", "--local-timezone", "Asia/Shanghai"))
    async with connected(given) as server:
        await server.ready()
        assert {tool.name for tool in server.tools} >= {"get_current_time", "convert_time"}
        asked = {"source_timezone": "Asia/Shanghai", "time": "12:00", "target_timezone": "UTC"}
        assert "04:00" in said(await server.call("convert_time", asked))
