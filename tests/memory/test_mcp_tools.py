"""What MCP servers offer: agreed to before it is offered, asked again when it changes, never waited for long."""

import asyncio
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from memory.config import Settings, ToolsSettings
from memory.errors import MCPError
from memory.provider.base import ToolCall
from memory.tokens import TokenCounter
from memory.tools import mcp_tools
from memory.tools.gate import Gate
from memory.tools.mcp_tools import MCPTool
from memory.tools.toolbox import StandardToolbox
from tests.helpers import opened, until
from tests.memory.mcp_support import User, alive, servers, settings
from tests.memory.tool_context import context


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
        await connection._cut_off(None)
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


async def test_a_core_offers_them_until_the_settings_say_otherwise(home: Path) -> None:
    given = replace(Settings(), mcp={"city": settings("good")})
    async with opened(home, settings=given) as core:
        core.equipment.gate.approver = User("always")
        core.equipment.servers.start_wait = 20.0
        session = core.store.create_session()
        assert "city__add" in [spec.name for spec in await core.equipment.toolbox.specs(session)]
        pid = core.equipment.servers._find("city").pid
        assert alive(pid)
        core.equipment.use_settings(Settings())
        assert "city__add" not in [spec.name for spec in await core.equipment.toolbox.specs(session)]
        await until(lambda: not alive(pid))


async def test_a_core_that_closes_leaves_no_server(home: Path) -> None:
    given = replace(Settings(), mcp={"city": settings("good"), "slow": settings("silent")})
    async with opened(home, settings=given) as core:
        core.equipment.servers.start_wait = 0.1
        await core.equipment.servers.test("city")
        await core.equipment.toolbox.specs(core.store.create_session())
        pid = core.equipment.servers._find("city").pid
        assert alive(pid)
    await until(lambda: not alive(pid))
