"""Forks, going on with a reply, and what a session chooses for itself."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import events_of, opened, say
from tool_support import FakeTool, Gate, assert_whole, call, equip, path, said, scripted, settings

from memory.config import LLMSettings, PersonaSettings, Settings
from memory.errors import NotFoundError, OrcaError, ServerFailed, TurnInProgress
from memory.events import MessageStored, Noticed, TextDelta, TurnFailed, TurnFinished
from memory.options import SessionOptions
from memory.provider import factory
from memory.provider.base import ChatModel, FinishPart, ReasoningPart, TextPart
from memory.provider.scripted import ScriptedChat
from memory.store.base import ROOT, Store
from memory.store.run_store import AGENT_RUN, AGENT_TASK
from memory.turns.forks import above, places, siblings, switch, tree


def contents(store: Store, session_id: str) -> list[str]:
    return [message.content for message in store.path(session_id)]


# forks


async def test_an_edited_message_becomes_a_fork_beside_it(home: Path) -> None:
    model = scripted("One.", "Two.", "Two, again.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        await say(core, session.id, "The first question.")
        await say(core, session.id, "The second question.")
        edited = core.store.path(session.id)[2]
        await events_of(core.engine.start(session.id, "The second, edited.", parent_id=above(edited)))
        assert contents(core.store, session.id) == [
            *("The first question.", "One.", "The second, edited.", "Two, again.")
        ]
        assert [m.content for m in siblings(core.store, edited.id)] == ["The second question.", "The second, edited."]
        assert core.store.message(edited.id) == edited
        switch(core.store, session.id, edited.id)
        assert contents(core.store, session.id)[2:] == ["The second question.", "Two."]
    assert said(model.requests[2]) == [
        ("user", "The first question."),
        ("assistant", "One."),
        ("user", "The second, edited."),
    ]


async def test_the_first_message_can_be_edited_too(home: Path) -> None:
    model = scripted("One.", "Other.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        await say(core, session.id, "The first question.")
        first = core.store.path(session.id)[0]
        assert above(first) == ROOT
        await events_of(core.engine.start(session.id, "Another beginning.", parent_id=above(first)))
        assert contents(core.store, session.id) == ["Another beginning.", "Other."]
        assert [m.content for m in siblings(core.store, first.id)] == ["The first question.", "Another beginning."]
    assert said(model.requests[1]) == [("user", "Another beginning.")]


async def test_a_parent_of_another_session_is_refused_and_nothing_is_stored(home: Path) -> None:
    async with opened(home, settings=settings()) as core:
        session, other = core.store.create_session(), core.store.create_session()
        await say(core, other.id, "Somewhere else.")
        foreign = core.store.path(other.id)[0].id
        (failed,) = await events_of(core.engine.start(session.id, "Below that.", parent_id=foreign))
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, NotFoundError)
        assert failed.message.content == "Below that."
        assert core.store.path(session.id) == []


async def test_any_reply_can_be_answered_again(home: Path) -> None:
    model = scripted("One.", "Two.", "One, again.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        await say(core, session.id, "The first question.")
        await say(core, session.id, "The second question.")
        reply = core.store.path(session.id)[1]
        await events_of(core.engine.retry(session.id, reply.id))
        assert contents(core.store, session.id) == ["The first question.", "One, again."]
        assert [m.content for m in siblings(core.store, reply.id)] == ["One.", "One, again."]
        (failed,) = await events_of(core.engine.retry(session.id, 99_999))
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, NotFoundError)
    assert said(model.requests[2]) == [("user", "The first question.")]


async def test_a_reply_with_tools_is_answered_again_from_the_question(home: Path) -> None:
    model = scripted([call("a", "look")], "It rains.", "No idea.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, "What does the weather do?"))
        await events_of(core.engine.retry(session.id, core.store.path(session.id)[-1].id))
        assert contents(core.store, session.id) == ["What does the weather do?", "No idea."]
    assert said(model.requests[2]) == [("user", "What does the weather do?")]


def test_places_are_told_of_what_does_not_stand_alone(store: Store) -> None:
    session = store.create_session()
    first = store.add_message(session.id, "user", "a")
    replies = [store.add_message(session.id, "assistant", str(n), parent_id=first.id) for n in range(3)]
    store.add_message(session.id, "user", "below")
    second = store.add_message(session.id, "user", "beside the first", parent_id=ROOT)
    assert places(store, session.id) == {
        first.id: (1, 2),
        second.id: (2, 2),
        **{reply.id: (place, 3) for place, reply in enumerate(replies, 1)},
    }
    assert places(store, store.create_session().id) == {}


def test_the_tree_shows_every_fork_and_the_chosen_path(store: Store) -> None:
    session = store.create_session()
    one = store.add_message(session.id, "user", "one\n\x1b[31mred")
    a = store.add_message(session.id, "assistant", "a", state="stopped")
    b = store.add_message(session.id, "assistant", "b", parent_id=one.id)
    c = store.add_message(session.id, "user", "c")
    other = store.add_message(session.id, "user", "other", parent_id=ROOT)
    switch(store, session.id, b.id)
    nodes = tree(store, session.id)
    assert [(n.id, n.level, n.place, n.siblings, n.on_path) for n in nodes] == [
        (one.id, 0, 1, 2, True),
        (a.id, 1, 1, 2, False),
        (b.id, 1, 2, 2, True),
        (c.id, 1, 1, 1, True),
        (other.id, 0, 2, 2, False),
    ]
    assert "\x1b" not in nodes[0].words
    assert (nodes[1].state, nodes[1].parent_id, nodes[4].parent_id) == ("stopped", one.id, None)
    assert nodes[1].timestamp == a.timestamp


def test_switch_goes_to_the_newest_below_and_knows_its_session(store: Store) -> None:
    session, other = store.create_session(), store.create_session()
    one = store.add_message(session.id, "user", "one")
    store.add_message(session.id, "assistant", "a")
    store.add_message(session.id, "user", "deep below a")
    b = store.add_message(session.id, "assistant", "b", parent_id=one.id)
    assert switch(store, session.id, one.id).tip_message_id == b.id
    with pytest.raises(NotFoundError):
        switch(store, other.id, one.id)
    with pytest.raises(NotFoundError):
        switch(store, session.id, 99_999)
    assert store.session(session.id).tip_message_id == b.id


def test_an_empty_session_has_an_empty_tree(store: Store) -> None:
    assert tree(store, store.create_session().id) == ()


def test_a_long_conversation_is_no_deep_recursion(store: Store) -> None:
    session = store.create_session()
    for n in range(1200):
        store.add_message(session.id, "user", f"message {n}")
    assert len(tree(store, session.id)) == 1200
    assert {node.level for node in tree(store, session.id)} == {0}


# going on


async def test_a_stopped_reply_is_gone_on_with_in_the_same_row(home: Path) -> None:
    gate = Gate()
    model = scripted([ReasoningPart("plan"), "One, two", gate.open], [ReasoningPart("more"), ", three."])
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Count for me, please.")
        async for event in turn:
            if isinstance(event, TextDelta):
                turn.stop()
        before = core.store.path(session.id)[-1]
        assert (before.content, before.state) == ("One, two", "stopped")
        events = await events_of(core.engine.continue_reply(session.id))
        after = core.store.path(session.id)[-1]
        assert (after.id, after.content, after.state) == (before.id, "One, two, three.", "complete")
        assert after.metadata["reasoning"] == "plan\n\nmore"
        assert after.metadata["finish_reason"] == "stop"
        assert after.token_count > before.token_count
        resumed = [event.message for event in events if isinstance(event, MessageStored)][-1]
        assert (resumed.id, resumed.content, resumed.state) == (before.id, "One, two", "streaming")
        assert len(core.store.messages(session.id)) == 2
    roles = [m.role for m in model.requests[1]]
    assert roles == ["user", "assistant", "user"]
    assert model.requests[1][1].content == "One, two"
    assert "exactly where it ends" in model.requests[1][2].content


@pytest.mark.parametrize(
    ("before", "pieces", "added"),
    [
        ("We then walked along the river", ["along ", "the river", " until dusk."], " until dusk."),
        ("We then walked along the river", ["We then walked along the river until dusk."], " until dusk."),
        ("Things:\n- tea pot", ["- tea pot", "\n- cups"], "\n- cups"),
        ("他们昨天下午一起沿着河边慢慢走到了那座桥上", ["沿着河边慢慢走到了那", "座桥上，然后回家。"], "，然后回家。"),
        ("We then walked along the river", ["along the rive"], "along the rive"),
        ("We then walked along the river", ["the river bed"], "the river bed"),
        ("We walked and", [" walked and", " walked and talked"], " walked and walked and talked"),
        ("| a |\n------------------", ["------------------", "\n"], "------------------\n"),
        ("if x:\n    y()\n}", ["}", "\n"], "}\n"),
    ],
)
async def test_going_on_adds_nothing_that_stands_there(home: Path, before: str, pieces: list[str], added: str) -> None:
    model = scripted([before, FinishPart("length")], pieces)
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, "Tell me, please."))
        events = await events_of(core.engine.continue_reply(session.id))
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == added
        assert core.store.path(session.id)[-1].content == before + added


@pytest.mark.parametrize(
    ("first", "state"),
    [
        (["One, ", ServerFailed("it broke", hint="")], "failed"),
        (["One, ", FinishPart("length")], "complete"),
        ([ServerFailed("it broke", hint="")], "failed"),
    ],
)
async def test_what_failed_or_was_cut_is_gone_on_with(home: Path, first: list[Any], state: str) -> None:
    model = scripted(first, "two.", "Hello.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, "Count for me, please."))
        before = core.store.path(session.id)[-1]
        assert before.state == state
        await events_of(core.engine.continue_reply(session.id))
        after = core.store.path(session.id)[-1]
        assert (after.id, after.content, after.state) == (before.id, before.content + "two.", "complete")
        assert "error" not in after.metadata
        await events_of(core.engine.start(session.id, "Now say hello to me."))
    assert [m.content for m in model.requests[2] if m.role == "assistant"] == [before.content + "two."]
    assert [m.role for m in model.requests[1]] == (["user", "assistant", "user"] if before.content else ["user"])


async def test_going_on_can_fail_and_be_stopped_without_loss(home: Path) -> None:
    broken = ServerFailed("it broke", hint="")
    gate = Gate()
    model = scripted(["One, ", broken], [broken], ["two, ", gate.open], "three.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, "Count for me, please."))
        failed = (await events_of(core.engine.continue_reply(session.id)))[-1]
        assert isinstance(failed, TurnFailed)
        assert path(core, session.id)[-1] == ("assistant", "One, ", "failed")
        turn = core.engine.continue_reply(session.id)
        with pytest.raises(TurnInProgress):
            core.engine.continue_reply(session.id)
        async for event in turn:
            if isinstance(event, TextDelta):
                turn.stop()
        assert path(core, session.id)[-1] == ("assistant", "One, two, ", "stopped")
        await events_of(core.engine.continue_reply(session.id))
        assert path(core, session.id)[-1] == ("assistant", "One, two, three.", "complete")


async def test_a_turn_stopped_among_its_tools_asks_with_the_results_that_are_there(home: Path) -> None:
    model = scripted([call("a", "quick"), call("b", "slow")], "It rains.")
    gate = Gate()
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("quick", "rain"), FakeTool("slow", gate))
        session = core.store.create_session()
        turn = core.engine.start(session.id, "What does the weather do?")
        await gate.entered.wait()
        turn.stop()
        await events_of(turn)
        await events_of(core.engine.continue_reply(session.id))
        assert [state for *_, state in path(core, session.id)] == ["complete"] * 5
        assert path(core, session.id)[-1][1] == "It rains."
    assert_whole(model.requests[1])
    assert [m.role for m in model.requests[1]] == ["user", "assistant", "tool", "tool"]


async def test_a_reply_that_goes_on_may_call_tools(home: Path) -> None:
    model = scripted(["I will", FinishPart("length")], [TextPart(" look."), call("a", "look")], "It rains.")
    async with opened(home, model, settings=settings()) as core:
        equip(core, FakeTool("look", "rain"))
        session = core.store.create_session()
        await events_of(core.engine.start(session.id, "What does the weather do?"))
        await events_of(core.engine.continue_reply(session.id))
        assert contents(core.store, session.id)[1:] == ["I will look.", "rain", "It rains."]
    assert said(model.requests[2])[1:] == [("assistant", "I will look."), ("tool", "rain")]
    assert_whole(model.requests[2])


async def test_only_what_is_not_whole_is_gone_on_with(home: Path) -> None:
    async with opened(home, scripted("Whole."), settings=settings()) as core:
        session = core.store.create_session()
        (failed,) = await events_of(core.engine.continue_reply(session.id))
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, NotFoundError)
        await say(core, session.id, "Say something whole.")
        (failed,) = await events_of(core.engine.continue_reply(session.id))
        assert isinstance(failed, TurnFailed)
        assert failed.error.hint
        assert path(core, session.id)[-1] == ("assistant", "Whole.", "complete")


async def test_an_agents_reply_is_not_gone_on_with(home: Path) -> None:
    async with opened(home, scripted("never"), settings=settings()) as core:
        session = core.store.create_session()
        core.store.add_message(session.id, "user", "/agent coder do it", metadata={AGENT_TASK: "coder"})
        core.store.add_message(session.id, "assistant", "half", state="stopped", metadata={AGENT_RUN: 1})
        (failed,) = await events_of(core.engine.continue_reply(session.id))
        assert isinstance(failed, TurnFailed)
        assert failed.error.hint
        assert path(core, session.id)[-1] == ("assistant", "half", "stopped")


async def test_a_question_without_a_reply_is_answered(home: Path) -> None:
    model = scripted("Here I am.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        core.store.add_message(session.id, "user", "Is anybody there?")
        await events_of(core.engine.continue_reply(session.id))
        assert contents(core.store, session.id) == ["Is anybody there?", "Here I am."]
    assert said(model.requests[0]) == [("user", "Is anybody there?")]


# options


def test_options_are_stored_and_read_back(reopen: Callable[[], Store]) -> None:
    store = reopen()
    session = store.create_session()
    assert session.options == SessionOptions()
    chosen = SessionOptions("pirate", "Be \ud800 brief.", "m-2", 0.0, 50, {"top_p": 0.5, "stop": ["x"]})
    changed = store.update_session(session.id, options=chosen)
    assert changed.options == replace(chosen, system_prompt="Be \ufffd brief.")
    assert changed.updated_at == session.updated_at
    store.update_session(session.id, title="Named")
    store.suggest_title(session.id, "Other")
    store.add_message(session.id, "user", "hi")
    again = reopen().session(session.id)
    assert again.options == changed.options
    assert store.update_session(session.id, options=SessionOptions()).options == SessionOptions()


@pytest.mark.parametrize(
    "facts",
    [None, 7, "x", [], {"temperature": "hot", "max_tokens": True, "model": 3}, {"temperature": 9, "max_tokens": 0}],
)
def test_options_that_are_none_are_left_out(facts: object) -> None:
    assert SessionOptions.of(facts) == SessionOptions()


def test_facts_hold_what_was_chosen_and_read_back() -> None:
    chosen = SessionOptions(persona="pirate", temperature=0.0)
    assert chosen.facts() == {"persona": "pirate", "temperature": 0.0}
    assert SessionOptions.of({**chosen.facts(), "unknown": 1}) == chosen


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedChat]:
    """Models that the factory builds, by name."""
    built: dict[str, ScriptedChat] = {}

    async def build(settings: Settings, *_: object) -> ChatModel:
        name = settings.llm.model
        built[name] = ScriptedChat([f"I am {name}."], name=name, tiny=True)
        return built[name]

    monkeypatch.setattr(factory, "build_chat_model", build)
    return built


async def test_a_session_is_answered_as_it_chose(home: Path, others: dict[str, ScriptedChat]) -> None:
    model = scripted("I am the usual one.")
    wanted = replace(settings(), llm=LLMSettings(system_prompt="Be kind."))
    async with opened(home, model, settings=wanted) as core:
        session, plain = core.store.create_session(), core.store.create_session()
        chosen = SessionOptions(
            system_prompt="Be brief.", model="m-2", temperature=0.1, max_tokens=7, parameters={"top_p": 0.5}
        )
        core.store.update_session(session.id, options=chosen)
        await say(core, session.id, "Who are you, may I ask?")
        await say(core, session.id, "And who are you now, may I ask?")
        await say(core, plain.id, "Who are you, may I ask?")
        assert core.store.session(session.id).model == "m-2"
        assert contents(core.store, plain.id)[1] == "I am the usual one."
    other = others["m-2"]
    assert list(others) == ["m-2"]
    assert len(other.requests) == 2
    assert other.requests[0][0].content == "Be brief."
    options = other.options[0]
    assert options is not None
    assert (options.temperature, options.max_tokens, options.extra) == (0.1, 7, {"top_p": 0.5})
    assert model.requests[0][0].content == "Be kind."
    assert other.closed
    assert model.closed


async def test_a_persona_gives_what_the_session_does_not_say(home: Path, others: dict[str, ScriptedChat]) -> None:
    persona = PersonaSettings("Talk like a pirate.", "m-3", 0.9, 30)
    wanted = replace(settings(), personas={"pirate": persona}, llm=LLMSettings(system_prompt="Be kind."))
    model = scripted("Fine.")
    async with opened(home, model, settings=wanted) as core:
        session = core.store.create_session()
        core.store.update_session(session.id, options=SessionOptions(persona="pirate", temperature=0.0))
        await say(core, session.id, "Who are you, may I ask?")
        report = await core.manager.preview(session.id, window=await model.context_window())
        assert report.system_tokens > 0
        core.use_settings(replace(wanted, personas={}))
        events = await say(core, session.id, "Who are you now, may I ask?")
        assert [event.name for event in events if isinstance(event, Noticed)] == ["pirate"]
        assert isinstance(events[-1], TurnFinished)
    options = others["m-3"].options[0]
    assert options is not None
    assert (options.temperature, options.max_tokens) == (0.0, 30)
    assert others["m-3"].requests[0][0].content == "Talk like a pirate."
    assert model.requests[0][0].content == "Be kind."


async def test_the_usual_model_by_its_name_is_no_other(home: Path, others: dict[str, ScriptedChat]) -> None:
    model = scripted("Fine.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        core.store.update_session(session.id, options=SessionOptions(model="scripted"))
        await say(core, session.id, "Who are you, may I ask?")
        assert await core.chat_model_for(core.store.session(session.id)) is model
    assert others == {}


async def test_a_model_that_cannot_be_built_fails_the_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def build(*_: object) -> ChatModel:
        raise OrcaError("There is no such model.", hint="Choose another.")

    async with opened(home, scripted("never"), settings=settings()) as core:
        monkeypatch.setattr(factory, "build_chat_model", build)
        session = core.store.create_session()
        core.store.update_session(session.id, options=SessionOptions(model="nowhere"))
        failed = (await say(core, session.id, "Who are you, may I ask?"))[-1]
        assert isinstance(failed, TurnFailed)
        assert str(failed.error) == "There is no such model."
        assert path(core, session.id)[-1] == ("assistant", "", "failed")


async def test_another_provider_lets_go_of_the_models_before_it(home: Path, others: dict[str, ScriptedChat]) -> None:
    model, newer = scripted("Fine."), scripted("Finer.")
    async with opened(home, model, settings=settings()) as core:
        session = core.store.create_session()
        core.store.update_session(session.id, options=SessionOptions(model="m-2"))
        await say(core, session.id, "Who are you, may I ask?")
        first = others["m-2"]
        await core.use_chat_model(newer)
        assert model.closed
        assert first.closed
        await say(core, session.id, "Who are you now, may I ask?")
        assert others["m-2"] is not first


async def test_what_was_said_in_another_fork_does_not_come_up(home: Path) -> None:
    model = scripted("A quagga12 in the harbour, how nice: forty carrots.", "Which animal?")
    async with opened(home, model, settings=Settings()) as core:
        session = core.store.create_session()
        await say(core, session.id, "What does my animal in the harbour eat every day?")
        first = core.store.path(session.id)[0]
        assert "quagga12" in core.store.short_term(session.id)[0].content
        text = "What does my animal in the harbour eat, how many carrots?"
        await events_of(core.engine.start(session.id, text, parent_id=above(first)))
    assert "quagga12" not in model.requests[1][-1].content
    assert text in model.requests[1][-1].content
