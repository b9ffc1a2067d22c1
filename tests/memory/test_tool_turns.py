"""A turn that calls tools: every call gets one stored result, whatever happens, and the model is told."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from helpers import events_of, opened, until
from tool_support import (
    FakeTool,
    Gate,
    assert_whole,
    call,
    equip,
    no_task_left,
    path,
    rows,
    said,
    scripted,
    settings,
)

from memory.errors import ServerFailed, StoreFullError, ToolFailed, ToolsNotOffered, ToolsUnsupported
from memory.events import (
    ContextBuilt,
    MessageStored,
    Noticed,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolsAsked,
    ToolStarted,
    TurnFailed,
    TurnFinished,
)
from memory.provider.base import FinishPart, ReasoningPart, TextPart, UsagePart
from memory.tools.base import ToolContext, ToolResult
from memory.types import Usage

ASK = "What does the weather do?"


async def fails(arguments: Any, context: ToolContext) -> str:
    raise ToolFailed("The sky is closed.", hint="Look again tomorrow.")


async def test_a_call_runs_and_its_result_is_asked_with(home: Path) -> None:
    model = scripted(
        [ReasoningPart("I should look."), TextPart("Let me see."), call("c1", "look", '{"at": "sky"}')], "It rains."
    )
    look = FakeTool("look", "rain")
    async with opened(home, model, settings=settings()) as core:
        equip(core, look)
        session = core.store.create_session()
        events = await events_of(core.engine.start(session.id, ASK))
        kinds = [type(event) for event in events if not isinstance(event, TextDelta)]
        assert kinds == [
            *(MessageStored, ContextBuilt, MessageStored, ReasoningDelta, ToolsAsked, ToolStarted, ToolFinished),
            *(ContextBuilt, MessageStored, TurnFinished),
        ]
        assert path(core, session.id) == [
            ("user", ASK, "complete"),
            ("assistant", "Let me see.", "complete"),
            ("tool", "rain", "complete"),
            ("assistant", "It rains.", "complete"),
        ]
        asked, result, answer = core.store.path(session.id)[1:]
        assert asked.metadata["tool_calls"] == [{"id": "c1", "name": "look", "arguments": '{"at": "sky"}'}]
        assert asked.metadata["reasoning"] == "I should look."
        assert result.metadata == {"tool_call_id": "c1", "tool": "look", "state": "done", "foreign": True}
        assert (result.parent_id, answer.parent_id) == (asked.id, result.id)
        assert answer.metadata["tainted"] is True
        assert "tainted" not in asked.metadata
        (finished,) = [event for event in events if isinstance(event, ToolFinished)]
        assert finished.message == result
    first, second = model.requests
    assert said(second)[-3:] == [("user", ASK), ("assistant", "Let me see."), ("tool", "rain")]
    assert second[-2].reasoning == "I should look."
    assert second[: len(first)] == first
    assert_whole(second)
    assert look.calls == [({"at": "sky"}, False)]
    assert "look" in [spec.name for options in model.options if options for spec in options.tools]


async def test_three_calls_at_once_one_fails_and_one_is_unknown(home: Path) -> None:
    model = scripted([call("a", "slow"), call("b", "bad"), call("c", "nothing_like_it")], "Two of three.")
    gate = Gate()
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("slow", gate), FakeTool("bad", fails))
        session = core.store.create_session()
        turn = core.engine.start(session.id, ASK)
        await gate.entered.wait()
        gate.open.set()
        events = await events_of(turn)
        tools = rows(core, session.id, "tool")
        assert [row.metadata["tool_call_id"] for row in tools] == ["a", "b", "c"]
        assert [row.metadata["state"] for row in tools] == ["done", "failed", "failed"]
        assert [event.state for event in events if isinstance(event, ToolFinished)] == ["done", "failed", "failed"]
        assert "The sky is closed." in tools[1].content
        assert "nothing_like_it" in tools[2].content
        assert path(core, session.id)[-1] == ("assistant", "Two of three.", "complete")
    assert_whole(model.requests[1])
    assert len(model.requests[1][-4].tool_calls) == 3


@pytest.mark.parametrize(
    ("arguments", "told"), [('{"a": ', "not valid JSON"), ("[1, 2]", "object"), ('"x"', "JSON"), ("7", "object")]
)
async def test_arguments_that_are_no_object_are_told_to_the_model(home: Path, arguments: str, told: str) -> None:
    model = scripted([call("c1", "look", arguments)], "I see.")
    look = FakeTool("look", "rain")
    async with opened(home, model, settings=settings()) as core:
        equip(core, look)
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        assert rows(core, session.id, "assistant")[0].metadata["tool_calls"][0]["arguments"] == arguments
    assert look.calls == []
    assert told in model.requests[1][-1].content
    assert model.requests[1][-2].tool_calls[0].arguments == "{}"


async def test_empty_arguments_are_none(home: Path) -> None:
    model, look = scripted([call("c1", "look", "")], "I see."), FakeTool("look", "rain")
    async with opened(home, model, settings=settings()) as core:
        equip(core, look)
        await events_of(core.engine.start(core.store.create_session().id, ASK))
    assert look.calls == [({}, False)]


async def test_calls_that_share_an_id_are_told_apart(home: Path) -> None:
    model = scripted([call("x", "look"), call("x", "look"), call("", "look"), call("", "look")], "Fine.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        ids = [row.metadata["tool_call_id"] for row in rows(core, session.id, "tool")]
    assert len(set(ids)) == 4
    assert_whole(model.requests[1])


async def test_a_stop_during_a_tool_ends_it_and_leaves_a_result_for_every_call(home: Path) -> None:
    model = scripted([TextPart("Wait."), call("a", "quick"), call("b", "slow"), call("c", "slow")], "never")
    gate = Gate()
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("slow", gate), FakeTool("quick", "done at once"))
        session = core.store.create_session()
        turn = core.engine.start(session.id, ASK)
        await gate.entered.wait()
        await until(lambda: len(rows(core, session.id, "tool")) == 1)
        turn.stop()
        events = await events_of(turn)
        assert gate.cancelled == 2
        assert no_task_left("tool ")
        assert [row.metadata["state"] for row in rows(core, session.id, "tool")] == ["done", "cancelled", "cancelled"]
        assert path(core, session.id)[-1] == ("assistant", "", "stopped")
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].finish_reason == "stopped"
        assert len(model.requests) == 1
        await events_of(core.engine.start(session.id, "Never mind, just say hello."))
    assert_whole(model.requests[1])
    assert [m.role for m in model.requests[1][-6:]] == ["user", "assistant", "tool", "tool", "tool", "user"]


async def test_a_stop_between_rounds_keeps_the_results_and_asks_no_more(home: Path) -> None:
    model = scripted([call("a", "look")], "never")
    async with opened(home, model, settings=settings()) as core:

        async def stops(arguments: Any, context: ToolContext) -> str:
            turn.stop()
            return "rain"

        equip(core, FakeTool("look", stops))
        session = core.store.create_session()
        turn = core.engine.start(session.id, ASK)
        await events_of(turn)
        assert path(core, session.id)[2:] == [("tool", "rain", "complete"), ("assistant", "", "stopped")]
    assert len(model.requests) == 1


@pytest.mark.parametrize("point", range(16))
async def test_a_stop_at_every_event_leaves_a_path_that_can_be_gone_on_with(home: Path, point: int) -> None:
    model = scripted([TextPart("I look."), call("a", "look"), call("b", "look")], ["It ", "rains."], "Hello.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        turn = core.engine.start(session.id, ASK)
        seen = 0
        async for _ in turn:
            seen += 1
            if seen == point:
                turn.stop()
        assert no_task_left("tool ")
        assert core.store.path(session.id)[-1].state in ("complete", "stopped")
        await events_of(core.engine.start(session.id, "And now say hello."))
    assert model.requests
    for request in model.requests:
        assert_whole(request)


async def test_a_loop_that_is_torn_down_during_a_tool_leaves_a_whole_path(home: Path) -> None:
    gate = Gate()
    async with opened(home, scripted([call("a", "slow")]), settings=settings()) as core:
        equip(core, FakeTool("slow", gate))
        session = core.store.create_session()
        turn = core.engine.start(session.id, ASK)
        await gate.entered.wait()
        turn._task.cancel()
        await asyncio.wait({turn._task})
        assert [row.metadata["state"] for row in rows(core, session.id, "tool")] == ["cancelled"]
        assert path(core, session.id)[-1] == ("assistant", "", "stopped")
        assert no_task_left("tool ")


async def test_the_last_request_offers_no_tool_and_says_so(home: Path) -> None:
    model = scripted([call("a", "look")], [call("a", "look")], "Enough.")
    async with opened(home, model, settings=settings(max_rounds=3)) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        assert path(core, session.id)[-1] == ("assistant", "Enough.", "complete")
    assert [bool(options and options.tools) for options in model.options] == [True, True, False]
    assert "no further tool" in model.requests[2][-1].content
    assert "no further tool" not in model.requests[1][-1].content
    assert_whole(model.requests[2])


async def test_a_model_that_never_stops_calling_is_told_about(home: Path) -> None:
    model = scripted([call("a", "look")])
    async with opened(home, model, settings=settings(max_rounds=2)) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        failed = (await events_of(core.engine.start(session.id, ASK)))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, ToolsNotOffered)
        assert "2 requests" in str(failed.error)
        assert len(rows(core, session.id, "tool")) == 1
    assert len(model.requests) == 2


async def test_a_model_without_tools_goes_on_without_them_and_is_told_once(home: Path) -> None:
    refusal = ToolsUnsupported("it cannot", hint="")
    model = scripted([refusal], "Without.", "Again without.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        first = await events_of(core.engine.start(session.id, ASK))
        second = await events_of(core.engine.start(session.id, "And tomorrow, what then?"))
        (noticed,) = [event for event in (*first, *second) if isinstance(event, Noticed)]
        assert noticed.name == "scripted"
        assert path(core, session.id)[1] == ("assistant", "Without.", "complete")
    assert [bool(options and options.tools) for options in model.options] == [True, False, False]


async def test_without_tools_a_model_is_shown_only_what_was_said(home: Path) -> None:
    refusal = ToolsUnsupported("it cannot", hint="")
    model = scripted([TextPart("I look."), call("a", "look")], "It rains.", [refusal], "Hello.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        await events_of(core.engine.start(session.id, "Now say hello to me."))
    assert said(model.requests[-1]) == [
        ("user", ASK),
        ("assistant", "I look.\n\nIt rains."),
        ("user", "Now say hello to me."),
    ]
    assert not any(message.tool_calls for message in model.requests[-1])


async def test_reasoning_goes_back_within_the_turn_only(home: Path) -> None:
    model = scripted([ReasoningPart("secret plan"), call("a", "look")], "It rains.", "Hello.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        await events_of(core.engine.start(session.id, "Now say hello to me."))
    assert [m.reasoning for m in model.requests[1] if m.tool_calls] == ["secret plan"]
    assert [m.reasoning for m in model.requests[2] if m.tool_calls] == [""]


async def test_an_error_in_a_later_round_keeps_what_there_is(home: Path) -> None:
    model = scripted([call("a", "look")], ["It ", ServerFailed("it broke", hint="")])
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        failed = (await events_of(core.engine.start(session.id, ASK)))[-1]
        assert isinstance(failed, TurnFailed)
        assert path(core, session.id)[2:] == [("tool", "rain", "complete"), ("assistant", "It ", "failed")]


async def test_a_full_disk_at_a_result_fails_the_turn_and_ends_the_tools(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted([call("a", "look"), call("b", "slow")], "Hello.")
    gate = Gate()
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"), FakeTool("slow", gate))
        session = core.store.create_session()
        real = core.store.add_message

        def full(*args: Any, **kwargs: Any) -> Any:
            if args[1] == "tool":
                raise StoreFullError("the disk is full", hint="Make room.")
            return real(*args, **kwargs)

        monkeypatch.setattr(core.store, "add_message", full)
        failed = (await events_of(core.engine.start(session.id, ASK)))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, StoreFullError)
        assert no_task_left("tool ")
        monkeypatch.undo()
        await events_of(core.engine.start(session.id, "Now say hello to me."))
    assert_whole(model.requests[-1])


async def test_each_round_has_its_own_usage(home: Path) -> None:
    model = scripted([call("a", "look"), UsagePart(Usage(50, 5))], ["Rain.", UsagePart(Usage(70, 2))])
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        finished = (await events_of(core.engine.start(session.id, ASK)))[-1]
        used = [row.metadata["usage"]["prompt_tokens"] for row in rows(core, session.id, "assistant")]
        assert used == [50, 70]
        assert isinstance(finished, TurnFinished)
        assert finished.usage == Usage(70, 2)


async def test_calls_are_run_whatever_the_server_says_it_ended_for(home: Path) -> None:
    model = scripted([call("a", "look"), FinishPart("stop")], "Rain.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        assert path(core, session.id)[-1][1] == "Rain."


async def test_foreign_results_taint_what_follows(home: Path) -> None:
    model = scripted([call("a", "own")], [call("b", "look")], [call("c", "own")], "Done.")

    async def mine(arguments: Any, context: ToolContext) -> ToolResult:
        return ToolResult("mine", is_foreign=False)

    own = FakeTool("own", mine)
    async with opened(home, model, settings=settings()) as core:
        equip(core, own, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, ASK))
        assert [tainted for _, tainted in own.calls] == [False, True]
        flags = [row.metadata.get("tainted") for row in rows(core, session.id, "assistant")]
        assert flags == [None, None, True, True]
        foreign = [row.metadata["foreign"] for row in rows(core, session.id, "tool")]
        assert foreign == [False, True, False]
