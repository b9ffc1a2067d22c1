"""A turn: nothing typed or streamed is lost, whatever happens in between."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers import FakeClock, events_of, opened, say, until

from memory.core import Core
from memory.errors import (
    BadReply,
    ContextTooLong,
    NotFoundError,
    OrcaError,
    ServerFailed,
    StoreFullError,
    StreamCut,
    ToolsNotOffered,
    TurnInProgress,
)
from memory.events import ContextBuilt, MessageStored, ReasoningDelta, TextDelta, TurnFailed, TurnFinished, Waiting
from memory.provider.base import FinishPart, ReasoningPart, RetryPart, TextPart, UsagePart
from memory.provider.scripted import ScriptedChat
from memory.types import ContextWindow, Message, Session, Usage


def text_of(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def scripted(*replies: Any, window: int = 8192) -> ScriptedChat:
    return ScriptedChat(replies, tiny=True, window=ContextWindow(window, "served"))


def reply(core: Core, session: Session) -> Message:
    return core.store.path(session.id)[-1]


async def test_the_order_of_a_turn(home: Path) -> None:
    steps = [
        RetryPart(2.0, "429"),
        ReasoningPart("think"),
        TextPart("Hel"),
        TextPart("lo"),
        UsagePart(Usage(11, 2)),
        FinishPart("stop"),
    ]
    async with opened(home, scripted(steps)) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Hi there, how are your bees?")
        events = await events_of(turn)
        kinds = [type(event) for event in events if not isinstance(event, TextDelta)]
        assert kinds == [MessageStored, ContextBuilt, MessageStored, Waiting, ReasoningDelta, TurnFinished]
        assert text_of(events) == "Hello"
        assert {event.turn_id for event in events} == {turn.id}
        user, answer = core.store.path(session.id)
        assert (user.role, user.content, user.state) == ("user", "Hi there, how are your bees?", "complete")
        assert (answer.role, answer.content, answer.state, answer.parent_id) == (
            "assistant",
            "Hello",
            "complete",
            user.id,
        )
        assert user.token_count > 0
        assert answer.token_count > 0
        assert answer.metadata == {
            "model": "scripted",
            "reasoning": "think",
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 11, "completion_tokens": 2, "estimated": False},
        }
        assert events[-1] == TurnFinished(turn.id, answer, Usage(11, 2), "stop")
        assert core.store.session(session.id).model == "scripted"


async def test_the_message_is_on_disk_before_anything_is_sent(home: Path) -> None:
    seen: list[list[tuple[str, str, str]]] = []
    steps: list[Any] = [lambda: seen.append(rows(core, session)), "ok"]
    async with opened(home, scripted(steps)) as core:
        session = core.store.create_session()
        await say(core, session.id, "Keep this safe, please.")
    assert seen == [[("user", "Keep this safe, please.", "complete"), ("assistant", "", "streaming")]]


def rows(core: Core, session: Session) -> list[tuple[str, str, str]]:
    return [(message.role, message.content, message.state) for message in core.store.path(session.id)]


async def test_the_reply_is_checkpointed_at_least_once_a_second(home: Path) -> None:
    clock = FakeClock()
    gate = asyncio.Event()
    steps: list[Any] = ["first ", lambda: clock.advance(1.0), "second ", gate, "third"]
    async with opened(home, scripted(steps), clock=clock) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Tell me three words.")
        await until(lambda: "second" in "".join(content for _, content, _ in rows(core, session)))
        stream = reply(core, session).metadata["stream"]
        assert reply(core, session).state == "streaming"
        assert isinstance(stream["pid"], int)
        assert stream["heartbeat"] <= clock.now()
        gate.set()
        await events_of(turn)
        assert reply(core, session).content == "first second third"
        assert "stream" not in reply(core, session).metadata


async def test_a_slow_watcher_gets_what_piled_up_as_one_delta(home: Path) -> None:
    async with opened(home, scripted(["a", "b", "c", ReasoningPart("r"), "d"])) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Say the letters.")
        await until(lambda: not core.engine.live)
        deltas = [event for event in await events_of(turn) if isinstance(event, TextDelta | ReasoningDelta)]
        assert [(type(d), d.text) for d in deltas] == [(TextDelta, "abc"), (ReasoningDelta, "r"), (TextDelta, "d")]


@pytest.mark.parametrize("point", range(9))
async def test_stop_at_every_point_keeps_what_arrived(home: Path, point: int) -> None:
    """`point` counts the events after which the user stops; 0 is at once."""
    async with opened(home, scripted(["one ", "two ", "three ", "four "])) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Count for me, slowly.")
        events: list[Any] = []
        if point == 0:
            turn.stop()
        async for event in turn:
            events.append(event)
            if len(events) == point:
                turn.stop()
                turn.stop()
        user, answer = core.store.path(session.id)
        assert user.content == "Count for me, slowly."
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].message == answer
        assert answer.content == text_of(events)
        assert "one two three four ".startswith(answer.content)
        assert (answer.state, events[-1].finish_reason) in {("stopped", "stopped"), ("complete", "stop")}
        assert core.engine.live == ()


async def test_stop_ends_the_request_at_once(home: Path) -> None:
    never = asyncio.Event()
    model = scripted(["some text ", never, "never"])
    async with opened(home, model) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Talk to me for ever.")
        async for event in turn:
            if isinstance(event, TextDelta):
                turn.stop()
        assert model.cancelled == 1
        assert (reply(core, session).content, reply(core, session).state) == ("some text ", "stopped")
        assert reply(core, session).metadata["finish_reason"] == "stopped"


async def test_stop_while_the_model_is_still_being_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await core._models._lock.acquire()
        turn = core.engine.start(session.id, "Is anybody there yet?")
        assert isinstance(await anext(turn), MessageStored)
        turn.stop()
        events = await events_of(turn)
        core._models._lock.release()
        assert [type(event) for event in events] == [TurnFinished]
        assert reply(core, session).state == "stopped"


@pytest.mark.parametrize("error", [ServerFailed("boom", hint="Try again."), StreamCut("cut")])
async def test_an_error_keeps_the_partial_reply(home: Path, error: OrcaError) -> None:
    async with opened(home, scripted(["half of ", error])) as core:
        session = core.store.create_session()
        events = await say(core, session.id, "Tell me all of it.")
        failed = events[-1]
        assert isinstance(failed, TurnFailed)
        assert failed.error is error
        answer = reply(core, session)
        assert failed.message == answer
        assert (answer.content, answer.state) == ("half of ", "failed")
        assert answer.metadata["error"] == {"type": type(error).__name__, "message": str(error), "hint": error.hint}


async def test_an_unknown_error_is_told_like_any_other(home: Path) -> None:
    """By its kind only: what it says may hold a key."""
    async with opened(home, scripted(["half ", ZeroDivisionError("sk-secret-0123456789")])) as core:
        session = core.store.create_session()
        failed = (await say(core, session.id, "Divide for me, please."))[-1]
        assert isinstance(failed, TurnFailed)
        assert "ZeroDivisionError" in str(failed.error)
        assert "sk-secret" not in f"{failed.error} {failed.error.hint} {reply(core, session).metadata}"
        assert reply(core, session).content == "half "


@pytest.mark.parametrize("steps", [[FinishPart("stop")], [" \n"], [UsagePart(Usage(9, 0)), FinishPart("eos")]])
async def test_an_answer_of_nothing_is_an_error(home: Path, steps: list[Any]) -> None:
    async with opened(home, scripted(steps)) as core:
        session = core.store.create_session()
        failed = (await say(core, session.id, "Is anybody there?"))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, BadReply)
        assert str(failed.error) == "The model answered nothing."
        assert failed.error.hint
        assert reply(core, session).state == "failed"


async def test_a_model_that_only_asks_for_a_tool_is_an_error(home: Path) -> None:
    steps = [ReasoningPart("I should look that up."), FinishPart("tool_calls")]
    async with opened(home, scripted(steps)) as core:
        session = core.store.create_session()
        failed = (await say(core, session.id, "What is the weather like?"))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, ToolsNotOffered)
        assert str(failed.error) == "The model asked for a tool, and none was offered to it."
        assert failed.error.hint
        assert reply(core, session).metadata["reasoning"] == "I should look that up."


@pytest.mark.parametrize(
    "steps",
    [
        [ReasoningPart("Hm."), FinishPart("stop")],
        [FinishPart("length")],
        [FinishPart("content_filter")],
        ["Here is what I know.", FinishPart("tool_calls")],
    ],
)
async def test_other_ends_are_no_error(home: Path, steps: list[Any]) -> None:
    async with opened(home, scripted(steps)) as core:
        session = core.store.create_session()
        finished = (await say(core, session.id, "Tell me, what is it?"))[-1]
        assert isinstance(finished, TurnFinished)
        assert finished.finish_reason == steps[-1].reason


async def test_cancelling_the_watcher_stores_what_arrived(home: Path) -> None:
    arrived = asyncio.Event()
    async with opened(home, scripted(["some text ", arrived.set, asyncio.Event()])) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Talk to me for ever.")
        watcher = asyncio.create_task(events_of(turn))
        await asyncio.wait_for(arrived.wait(), 20)
        watcher.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watcher
        await turn.aclose()
        assert (reply(core, session).content, reply(core, session).state) == ("some text ", "stopped")


async def test_a_turn_that_nobody_watches_goes_on(home: Path) -> None:
    async with opened(home, scripted("All of the answer.")) as core:
        session = core.store.create_session()
        core.engine.start(session.id, "Does it need me?")
        await until(lambda: not core.engine.live)
        assert (reply(core, session).content, reply(core, session).state) == ("All of the answer.", "complete")


async def test_closing_the_core_stops_turns_and_keeps_their_text(home: Path) -> None:
    arrived = asyncio.Event()
    async with opened(home, scripted(["some text ", arrived.set, asyncio.Event()])) as core:
        session = core.store.create_session()
        core.engine.start(session.id, "Talk to me for ever.")
        await asyncio.wait_for(arrived.wait(), 20)
    async with opened(home) as core:
        assert core.interrupted == []
        assert (reply(core, session).content, reply(core, session).state) == ("some text ", "stopped")


def test_a_loop_that_is_torn_down_stores_what_arrived(home: Path) -> None:
    async def first() -> str:
        arrived = asyncio.Event()
        from memory.config import Home, Settings
        from memory.provider.scripted import HashEmbedder

        place = Home(home)
        place.ensure()
        chat = scripted(["some text ", arrived.set, asyncio.Event()])
        core = Core.open(place, Settings(), chat=chat, embedder=HashEmbedder())
        session = core.store.create_session()
        core.engine.start(session.id, "Talk to me for ever.")
        await arrived.wait()
        return session.id

    session_id = asyncio.run(first())

    async def second() -> None:
        async with opened(home) as core:
            assert core.interrupted == []
            answer = core.store.path(session_id)[-1]
            assert (answer.content, answer.state) == ("some text ", "stopped")

    asyncio.run(second())


async def test_one_turn_at_a_time_in_a_session(home: Path) -> None:
    gate = asyncio.Event()
    async with opened(home, scripted([gate, "done"])) as core:
        session, other = core.store.create_session(), core.store.create_session()
        turn = core.engine.start(session.id, "The first of two.")
        with pytest.raises(TurnInProgress):
            core.engine.start(session.id, "The second of two.")
        second = core.engine.start(other.id, "Another session may.")
        gate.set()
        await events_of(turn)
        await events_of(second)
        await events_of(core.engine.start(session.id, "Now it may."))


@pytest.mark.parametrize("text", ["", "  \n "])
async def test_nothing_is_not_sent(home: Path, text: str) -> None:
    async with opened(home) as core:
        with pytest.raises(OrcaError, match="nothing to send"):
            core.engine.start(core.store.create_session().id, text)


async def test_an_unknown_session_is_told(home: Path) -> None:
    async with opened(home) as core:
        (failed,) = await events_of(core.engine.start("0" * 32, "Hello, session."))
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, NotFoundError)
        assert failed.message.content == "Hello, session."


async def test_retry_answers_again_beside_the_first_answer(home: Path) -> None:
    model = scripted(["half", ServerFailed("boom")], "A whole answer.")
    async with opened(home, model) as core:
        session = core.store.create_session()
        await say(core, session.id, "What is a sloop, really?")
        first = reply(core, session)
        events = await events_of(core.engine.retry(session.id))
        second = reply(core, session)
        assert isinstance(events[-1], TurnFinished)
        assert first.parent_id == second.parent_id
        assert first.id != second.id
        assert [m.content for m in core.store.path(session.id)] == ["What is a sloop, really?", "A whole answer."]
        assert core.store.message(first.id).content == "half"
        assert [m.content for m in model.requests[1]] == ["What is a sloop, really?"]


async def test_retry_in_an_empty_session_is_told(home: Path) -> None:
    async with opened(home) as core:
        (failed,) = await events_of(core.engine.retry(core.store.create_session().id))
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, NotFoundError)


async def test_a_prompt_that_is_too_long_is_asked_again_without_memory_once(home: Path) -> None:
    model = scripted(*["words of an answer " * 20] * 6, [ContextTooLong("too long")], "It fits now.")
    async with opened(home, model) as core:
        session = core.store.create_session()
        for n in range(6):
            await say(core, session.id, f"Question {n} about boats and their many sails?")
        events = await say(core, session.id, "And now the last question?")
        reports = [event.report for event in events if isinstance(event, ContextBuilt)]
        assert len(reports) == 2
        assert reports[1].prompt_tokens <= reports[0].prompt_tokens / 2 + 1
        assert reports[1].tiers[2].items == ()
        assert reply(core, session).content == "It fits now."
        assert core.store.injections(reply(core, session).id) == []


async def test_a_prompt_that_stays_too_long_fails(home: Path) -> None:
    model = scripted([ContextTooLong("too long")])
    async with opened(home, model) as core:
        session = core.store.create_session()
        failed = (await say(core, session.id, "A question that never fits."))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, ContextTooLong)
        assert len(model.requests) == 2


async def test_the_servers_count_is_learned(home: Path) -> None:
    question = "How much wood would a woodchuck chuck if it could? " * 20
    async with opened(home, scripted(["ok", UsagePart(Usage(300, 1)), FinishPart("stop")])) as core:
        session = core.store.create_session()
        await say(core, session.id, question)
        assert core.counter.margin != 1.0


class Full:
    """Makes a method of the store fail as a full disk does, as often as told."""

    def __init__(self, core: Core, method: str, times: int, monkeypatch: pytest.MonkeyPatch, only: str = "") -> None:
        self.left = times
        real = getattr(core.store, method)

        def maybe(*args: Any, **kwargs: Any) -> Any:
            if self.left and (not only or kwargs.get(only)):
                self.left -= 1
                raise StoreFullError("the disk is full", hint="Make room.")
            return real(*args, **kwargs)

        monkeypatch.setattr(core.store, method, maybe)


async def test_a_message_that_cannot_be_stored_is_not_sent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scripted("never")
    async with opened(home, model) as core:
        session = core.store.create_session()
        Full(core, "add_message", 1, monkeypatch)
        (failed,) = await events_of(core.engine.start(session.id, "Too much for this disk."))
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, StoreFullError)
        assert failed.message.content == "Too much for this disk."
        assert model.requests == []


async def test_checkpoints_that_fail_cost_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    steps: list[Any] = [piece for n in range(5) for piece in (f"part {n} ", lambda: clock.advance(2.0))]
    async with opened(home, scripted(steps), clock=clock) as core:
        session = core.store.create_session()
        Full(core, "update_message", 2, monkeypatch)
        events = await say(core, session.id, "Stream while the disk is full.")
        assert isinstance(events[-1], TurnFinished)
        assert reply(core, session).content == "part 0 part 1 part 2 part 3 part 4 "


async def test_a_disk_that_stays_full_fails_the_turn_and_gives_the_text(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
    async with opened(home, scripted("All of the answer.")) as core:
        session = core.store.create_session()
        Full(core, "update_message", 99, monkeypatch)
        failed = (await events_of(core.engine.start(session.id, "Answer into a full disk.")))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, StoreFullError)
        assert (failed.message.content, failed.message.state) == ("All of the answer.", "failed")


async def test_a_reply_row_that_cannot_be_made_fails_the_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scripted("never")
    async with opened(home, model) as core:
        session = core.store.create_session()
        Full(core, "add_message", 1, monkeypatch, only="parent_id")
        failed = (await events_of(core.engine.start(session.id, "A reply with no room.")))[-1]
        assert isinstance(failed, TurnFailed)
        assert model.requests == []
        assert rows(core, session) == [("user", "A reply with no room.", "complete"), ("assistant", "", "failed")]


async def test_recall_that_fails_does_not_stop_the_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home, scripted("Still here.")) as core:
        session = core.store.create_session()
        Full(core, "search_text", 99, monkeypatch)
        events = await events_of(core.engine.start(session.id, "Do you remember the boat?"))
        assert isinstance(events[-1], TurnFinished)


async def test_partial_replies_are_marked_in_the_next_prompt(home: Path) -> None:
    model = scripted(["half of ", ServerFailed("boom")], "Right.")
    async with opened(home, model) as core:
        session = core.store.create_session()
        await say(core, session.id, "Tell me all of it.")
        await say(core, session.id, "Go on from there, please.")
        sent: list[Mapping[str, str]] = [{"role": m.role, "content": m.content} for m in model.requests[-1]]
        assert sent[1] == {"role": "assistant", "content": "half of \n\n[this reply was cut off here]"}
