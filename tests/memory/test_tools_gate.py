"""The permission gate and the toolbox: what is asked, what is remembered, and what a model is told."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from memory.config import ToolsSettings
from memory.errors import ConfigError, MCPError, ToolFailed, ToolRefused
from memory.provider.base import ToolCall, ToolSpec
from memory.tokens import TokenCounter
from memory.tools.base import Decision, PermissionRequest, ToolContext, ToolResult
from memory.tools.gate import Gate
from memory.tools.taint import TAINTED
from memory.tools.toolbox import StandardToolbox
from memory.types import Message, Session

SESSION = Session("s", "", "default", None, None, None, None, "open", False, "", "")
MESSAGE = Message(1, "s", "assistant", "", "normal", 0, False, "", {}, None, "complete")
ALL: tuple[Decision, ...] = ("once", "session", "always", "deny")
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
    "required": ["path"],
    "additionalProperties": False,
}


class Door:
    """A tool that asks for each path."""

    def __init__(self, name: str = "door", *, asks: bool = True, outside: bool = True, does: Any = "opened") -> None:
        self.spec = ToolSpec(name, "opens", SCHEMA)
        self.reaches_outside = outside
        self.asks = asks
        self.does = does
        self.ran: list[Mapping[str, Any]] = []

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest | None:
        if not self.asks:
            return None
        return PermissionRequest(self.spec.name, str(arguments["path"]), json.dumps(arguments), "Because.", ALL)

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        self.ran.append(arguments)
        if isinstance(self.does, Exception):
            raise self.does
        if callable(self.does):
            await self.does()
        return ToolResult(self.does if isinstance(self.does, str) else "done")


class User:
    """Answers in order, the last answer again and again; records the questions."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionRequest] = []

    async def __call__(self, request: PermissionRequest) -> Decision:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(request)
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            return "once"
        return answer


def context(**changes: Any) -> ToolContext:
    return replace(ToolContext("turn", SESSION, MESSAGE, SESSION.scope), **changes)


def toolbox(*tools: Door, approver: Any = None, **settings: Any) -> StandardToolbox:
    gate = Gate(settings.get("allow", ()))
    gate.approver = approver
    box = StandardToolbox(ToolsSettings(**settings), TokenCounter(), gate)
    for tool in tools:
        box.add(tool)
    return box


async def use(box: StandardToolbox, name: str = "door", where: ToolContext | None = None, /, **arguments: Any) -> str:
    state, result = await box.run(ToolCall("1", name, json.dumps(arguments)), where or context())
    return f"{state}: {result.text}"


@pytest.mark.parametrize(
    ("answers", "asked", "states"),
    [
        (["once"], 3, "done done done"),
        (["session"], 1, "done done done"),
        (["always"], 1, "done done done"),
        (["deny"], 1, "refused refused refused"),
        (["deny", "once"], 1, "refused refused refused"),
        (["nonsense"], 1, "refused refused refused"),
    ],
)
async def test_an_answer_is_remembered_as_it_was_meant(answers: list[str], asked: int, states: str) -> None:
    user = User(*answers)
    box = toolbox(Door(), approver=user)
    found = [(await use(box, path="/a")).split(":")[0] for _ in range(3)]
    assert (" ".join(found), len(user.asked)) == (states, asked)


async def test_what_is_allowed_for_one_target_or_session_is_not_for_another() -> None:
    user = User("session")
    box = toolbox(Door(), approver=user)
    for path, session in (("/a", "s"), ("/b", "s"), ("/a", "other"), ("/a", "s")):
        await use(box, "door", context(session=replace(SESSION, id=session)), path=path)
    assert [request.target for request in user.asked] == ["/a", "/b", "/a"]


async def test_always_is_handed_on_and_holds_when_it_could_be_written() -> None:
    kept: list[str] = []

    async def remember(entry: str) -> None:
        kept.append(entry)

    async def refuse(entry: str) -> None:
        raise ConfigError("read-only")

    for keep, other in ((remember, 1), (refuse, 2)):
        user = User("always")
        box = toolbox(Door(), approver=user)
        box.gate.remember = keep
        await use(box, path="/a")
        await use(box, path="/a")
        await use(box, "door", context(session=replace(SESSION, id="other")), path="/a")
        assert len(user.asked) == other
    assert kept == ["door:/a"]


@pytest.mark.parametrize("allow", [("door",), ("door:/a",)])
async def test_what_the_settings_allow_is_not_asked(allow: tuple[str, ...]) -> None:
    box = toolbox(Door(), allow=allow)
    assert await use(box, path="/a") == "done: opened"
    assert ("done" in await use(box, path="/b")) is (allow == ("door",))


async def test_without_anybody_to_ask_it_is_denied_with_a_clear_text() -> None:
    door = Door()
    told = await use(toolbox(door), path="/a")
    assert told == "refused: door needs the user's permission, and nobody can be asked here. Go on without it."
    assert door.ran == []


@pytest.mark.parametrize("asks", [True, False])
async def test_a_tainted_turn_asks_for_every_call_that_reaches_outside(asks: bool) -> None:
    user = User("once")
    box = toolbox(Door(asks=asks), approver=user, allow=("door",))
    for _ in range(2):
        await use(box, "door", context(is_tainted=True, agent="coder"), path="/a")
    assert [(r.reason, r.choices, r.agent) for r in user.asked] == [(TAINTED, ("once", "deny"), "coder")] * 2
    inside = toolbox(Door(outside=False, asks=False))
    assert "done" in await use(inside, "door", context(is_tainted=True), path="/a")


async def test_questions_come_one_at_a_time_and_an_answer_counts_for_those_that_wait() -> None:
    gate, open_questions = asyncio.Event(), 0
    most = 0

    async def approver(request: PermissionRequest) -> Decision:
        nonlocal open_questions, most
        open_questions += 1
        most = max(most, open_questions)
        await gate.wait()
        open_questions -= 1
        return "session"

    box = toolbox(Door(), approver=approver)
    paths = ["/a", "/a", "/a", "/b"]
    tasks = [asyncio.create_task(use(box, path=path)) for path in paths]
    await asyncio.sleep(0)
    gate.set()
    assert [text.split(":")[0] for text in await asyncio.gather(*tasks)] == ["done"] * 4
    assert most == 1


async def test_a_question_that_is_cancelled_lets_the_next_one_through() -> None:
    asked = asyncio.Event()
    answers: list[Any] = [asyncio.Event(), "once"]

    async def approver(request: PermissionRequest) -> Decision:
        answer = answers.pop(0)
        if isinstance(answer, asyncio.Event):
            asked.set()
            await answer.wait()
        return answer

    box = toolbox(Door(), approver=approver)
    first, second = (asyncio.create_task(use(box, path=path)) for path in ("/a", "/b"))
    await asked.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second == "done: opened"


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ('{"path": "\\ud800x"}', {"path": "\ufffdx"}),
        ('{"path": "\\ud83d\\ude00"}', {"path": "\U0001f600"}),
        ('{"path": "x", "lines": null}', {"path": "x"}),
    ],
)
async def test_arguments_as_models_write_them_are_taken(arguments: str, taken: Mapping[str, Any]) -> None:
    door = Door(asks=False)
    await toolbox(door).run(ToolCall("1", "door", arguments), context())
    assert door.ran == [taken]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "The call lacks path."),
        ("{", "not valid JSON"),
        ('{"path": "x"', "not valid JSON"),
        ("[1]", "not an object"),
        ("null", "The call lacks path."),
        ("[" * 100_000, "not valid JSON"),
        ('{"path": 1}', "The argument path must be string."),
        ('{"path": "x", "lines": true}', "The argument lines must be integer."),
        ('{"path": "x", "lines": 1e999}', "The argument lines must be integer."),
        ('{"path": "x", "kind": "c"}', "The argument kind must be one of a, b."),
        ('{"path": "x", "other": 1}', "The call has no argument other."),
        ('"' + "x" * 1_000_001 + '"', "too long"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_and_nothing_runs(arguments: str, said: str) -> None:
    door = Door(asks=False)
    state, result = await toolbox(door).run(ToolCall("1", "door", arguments), context())
    assert (state, door.ran, result.is_foreign) == ("failed", [], False)
    assert said in result.text
    assert len(result.text) < 500


async def test_json_inside_json_is_read() -> None:
    door = Door(asks=False)
    await toolbox(door).run(ToolCall("1", "door", json.dumps('{"path": "x"}')), context())
    assert door.ran == [{"path": "x"}]


async def test_an_unknown_tool_is_told_with_the_nearest_and_never_runs() -> None:
    door = Door(asks=False)
    box = toolbox(door)
    assert await use(box, "dor", path="x") == 'failed: There is no tool "dor". Did you mean "door"?'
    assert (
        await use(box, "\x1b[2Jqqqq\u202e", path="x") == 'failed: There is no tool "␛[2Jqqqq<U+202E>". There are: door.'
    )
    state, _ = await box.run(ToolCall("1", "door", '{"path": "x"}'), context(), offered=("other",))
    assert (state, door.ran) == ("failed", [])
    off = toolbox(door, enabled=False)
    assert await off.specs(SESSION) == ()
    assert (await use(off, path="x")).startswith("failed")


@pytest.mark.parametrize(
    ("error", "told", "foreign"),
    [
        (ToolFailed("It broke.", hint="Try again."), "failed: It broke. Try again.", True),
        (MCPError("It died."), "failed: It died.", True),
        (ToolRefused("Never."), "refused: Never.", False),
        (RuntimeError("key sk-123"), "failed: The tool failed: RuntimeError.", False),
    ],
)
async def test_no_error_of_a_tool_comes_out(error: Exception, told: str, foreign: bool) -> None:
    state, result = await toolbox(Door(asks=False, does=error)).run(ToolCall("1", "door", '{"path": "x"}'), context())
    assert (f"{state}: {result.text}", result.is_foreign) == (told, foreign)


async def test_a_tool_that_takes_too_long_is_ended() -> None:
    forever = Door(asks=False, does=asyncio.Event().wait)
    assert (
        await use(toolbox(forever, timeout=0.01), path="x")
        == "failed: door took longer than 0.01 seconds and was ended."
    )


async def test_a_long_result_is_cut_with_a_note() -> None:
    told = await use(toolbox(Door(asks=False, does="字" * 500_000), max_result_tokens=100), path="x")
    body, _, note = told.removeprefix("done: ").partition("\n")
    assert note == "[the result was cut here: it is longer than 100 tokens]"
    assert 0 < TokenCounter().count(body) <= 100


async def test_incognito_sessions_are_not_offered_what_remembers() -> None:
    box = toolbox(Door())
    box.add(Door("keeper", asks=False), incognito=False)
    hidden = replace(SESSION, incognito=True)
    assert [spec.name for spec in await box.specs(hidden)] == ["door"]
    assert "no tool" in await use(box, "keeper", context(session=hidden), path="x")
    assert [spec.name for spec in await box.specs(SESSION)] == ["door", "keeper"]
