"""MCP servers, each in a process of its own: how they are talked with, how they fail, and that nothing is left."""

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memory.config import MCPSettings
from memory.errors import MCPError
from tests.helpers import until
from tests.memory.mcp_support import SERVER, Clock, alive, connected, said, settings


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
    "wordy": "xxx / no such table",
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
    assert not [each for each in caplog.records if each.message.startswith("MCP server") and each.levelname != "INFO"]


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
            clock.now += 100
            assert said(await server.call("add", {"a": 1, "b": 1})) == "2"
    finally:
        process.kill()
        await process.wait()


async def test_a_server_that_was_closed_is_not_started_again() -> None:
    async with connected(settings("good")) as server:
        await server.ready()
        await server.close()
        with pytest.raises(MCPError, match="not in use any more"):
            await server.call("add", {"a": 1, "b": 2})


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
