"""Talking on the screen: edit and resend, ask again, go on, forks and their tree, messages that wait."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
from app_support import idle, make_app, running, screen_text, until, write
from textual.pilot import Pilot

from memory.config import Home
from memory.errors import ServerFailed
from memory.provider.base import ChatMessage, ChatOptions, ChatPart, FinishPart, TextPart
from memory.provider.scripted import Reply, ScriptedChat
from orca_tui.app import OrcaApp
from orca_tui.draft import read_draft
from orca_tui.screens.tree import TreeScreen
from orca_tui.widgets.tree_list import TreeList


class Talker(ScriptedChat):
    """Answers in turns; what is asked in the background, titles and summaries, gets none of the replies."""

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncGenerator[ChatPart, None]:
        if options is not None and options.max_tokens is not None:
            yield TextPart("No.")
            yield FinishPart("stop")
            return
        async with aclosing(super().stream(messages, options)) as parts:
            async for part in parts:
                yield part


def talk_app(home: Path, replies: Sequence[Reply] = ("Hello.",)) -> OrcaApp:
    """An app whose model is asked for nothing but replies."""
    return make_app(home, chat=Talker(replies))


def shown(app: OrcaApp) -> list[str]:
    return [message.content for message in app.chat.messages]


def app_of(pilot: Pilot[object]) -> OrcaApp:
    app = pilot.app
    assert isinstance(app, OrcaApp)
    return app


async def say(pilot: Pilot[object], text: str) -> None:
    """Send, and wait for the reply."""
    app = app_of(pilot)
    before = len(app.chat.messages)
    await write(pilot, text)
    await until(pilot, lambda: len(app.chat.messages) > before or app.queue.mine)
    await idle(pilot)
    await until(pilot, lambda: app.chat.composer.text == "")


async def at_message(pilot: Pilot[object], number: int) -> None:
    """Put the cursor of the transcript on an entry, counted from the first."""
    app = app_of(pilot)
    app.chat.transcript.focus()
    await pilot.press("g")
    for _step in range(number):
        await pilot.press("j")
    await pilot.pause()


# edit and resend


async def test_an_edited_message_is_sent_as_a_fork_and_the_draft_comes_back(home: Path) -> None:
    app = talk_app(home, ["One.", "Two.", "Three."])
    async with running(app) as pilot:
        await say(pilot, "first question")
        await say(pilot, "second question")
        await write(pilot, "a draft", send=False)
        await at_message(pilot, 0)
        await pilot.press("e")
        await until(pilot, lambda: app.chat.composer.text == "first question")
        assert "editing an earlier message" in screen_text(app)
        assert app.chat.focused is app.chat.composer
        await pilot.press("exclamation_mark", "enter")
        await until(pilot, lambda: shown(app) == ["first question!", "Three."])
        await idle(pilot)
        await until(pilot, lambda: app.chat.composer.text == "a draft")
        assert "editing" not in app.chat.tray.said
        await until(pilot, lambda: app.chat.transcript.entries[0].fork == (2, 2))
        assert "‹ 2/2 ›" in screen_text(app)
        assert app.core is not None
        assert len(app.core.store.messages(app.chat.target.session_id or "")) == 6


async def test_esc_drops_an_edit(home: Path) -> None:
    app = talk_app(home, ["One."])
    async with running(app) as pilot:
        await say(pilot, "question")
        await write(pilot, "a draft", send=False)
        await pilot.press("alt+e")
        await until(pilot, lambda: app.chat.composer.text == "question")
        await pilot.press("escape")
        await until(pilot, lambda: app.chat.composer.text == "a draft")
        assert app.writing.editing is None
        await pilot.press("enter")
        await until(pilot, lambda: len(app.chat.messages) == 4)


async def test_an_edit_does_not_go_to_another_session(home: Path) -> None:
    app = talk_app(home, ["One.", "Two."])
    async with running(app) as pilot:
        await say(pilot, "question")
        await write(pilot, "draft", send=False)
        await pilot.press("alt+e")
        await until(pilot, lambda: app.writing.editing is not None)
        await pilot.press("x")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.writing.editing is None)
        assert app.chat.composer.text == "draft\n\nquestionx"
        await pilot.press("enter")
        await until(pilot, lambda: shown(app) == ["draft\n\nquestionx", "Two."])


async def test_a_draft_below_an_edit_survives_a_crash(home: Path) -> None:
    app = talk_app(home, ["One."])
    async with running(app) as pilot:
        await say(pilot, "question")
        await write(pilot, "the draft", send=False)
        await pilot.press("alt+e")
        await until(pilot, lambda: app.writing.editing is not None)
        await until(pilot, lambda: read_draft(Home(home)).before != ())
    again = talk_app(home)
    async with running(again):
        assert again.chat.composer.text == "the draft\n\nquestion"


# ask again, go on


async def test_any_reply_can_be_asked_for_again(home: Path) -> None:
    app = talk_app(home, ["One.", "Two.", "Other one."])
    async with running(app) as pilot:
        await say(pilot, "first")
        await say(pilot, "second")
        await at_message(pilot, 1)
        await pilot.press("r")
        await until(pilot, lambda: shown(app) == ["first", "Other one."])
        await idle(pilot)
        await until(pilot, lambda: app.chat.transcript.entries[1].fork == (2, 2))
        await pilot.press("less_than_sign")
        await until(pilot, lambda: shown(app) == ["first", "One.", "second", "Two."])
        await until(pilot, lambda: app.chat.transcript.current is not None)
        assert app.chat.transcript.current is not None
        assert app.chat.transcript.current.text == "One."
        await until(pilot, lambda: app.chat.transcript.entries[1].fork == (1, 2))
        await pilot.press("h")
        await until(pilot, lambda: "first fork" in app.chat.hint_line.remark)
        await pilot.press("l")
        await until(pilot, lambda: shown(app) == ["first", "Other one."])


async def test_a_stopped_reply_goes_on_in_its_place(home: Path) -> None:
    app = talk_app(home, [["Half a sen", asyncio.Event()], "tence."])
    async with running(app) as pilot:
        await write(pilot, "question")
        await until(pilot, lambda: "Half a sen" in screen_text(app))
        await pilot.press("escape")
        await idle(pilot)
        assert app.chat.messages[-1].state == "stopped"
        await at_message(pilot, 1)
        await pilot.press("c")
        await until(pilot, lambda: shown(app) == ["question", "Half a sentence."])
        await idle(pilot)
        assert [entry.text for entry in app.chat.transcript.entries] == ["question", "Half a sentence."]
        assert app.chat.transcript.entries[1].note == ""
        await pilot.press("alt+c")
        await until(pilot, lambda: "newest reply is whole" in screen_text(app))


async def test_a_reply_cut_for_its_length_and_a_failed_one_go_on_too(home: Path) -> None:
    cut = [TextPart("Cut "), FinishPart("length")]
    app = talk_app(home, [cut, ["here, then ", ServerFailed("It broke.")], "whole."])
    async with running(app) as pilot:
        await write(pilot, "question")
        await until(pilot, lambda: "Cut" in screen_text(app))
        await idle(pilot)
        await pilot.press("alt+c")
        await until(pilot, lambda: "It broke." in screen_text(app))
        await idle(pilot)
        await write(pilot, "/continue")
        await until(pilot, lambda: shown(app)[-1:] == ["Cut here, then whole."])
        await idle(pilot)
        assert [entry.kind for entry in app.chat.transcript.entries] == ["user", "assistant"]


async def test_a_reply_that_goes_on_is_whole_when_one_comes_back_to_it(home: Path) -> None:
    gate = asyncio.Event()
    app = talk_app(home, [["Half a sen", asyncio.Event()], ["ten", gate, "ce."], "x"])
    async with running(app) as pilot:
        await write(pilot, "question")
        await until(pilot, lambda: "Half a sen" in screen_text(app))
        await pilot.press("escape")
        await idle(pilot)
        session = app.chat.target.session_id
        await pilot.press("alt+c")
        await until(pilot, lambda: "Half a senten" in screen_text(app))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.chat.messages == [])
        assert app.conversation is not None
        await app.conversation.open(session or "")
        await until(pilot, lambda: "Half a senten" in screen_text(app))
        gate.set()
        await until(pilot, lambda: "Half a sentence." in screen_text(app))


async def test_while_a_reply_is_written_neither_begins(home: Path) -> None:
    app = talk_app(home, [["never", asyncio.Event()]])
    async with running(app) as pilot:
        await write(pilot, "go")
        await until(pilot, lambda: "never" in screen_text(app))
        for key in ("ctrl+r", "alt+c", "alt+r"):
            await pilot.press(key)
            await until(pilot, lambda: "still being written" in screen_text(app))
            app.clear_notifications()
            await pilot.pause()
        assert app.conversation is not None
        assert app.conversation.busy


# the tree


async def test_the_tree_shows_all_forks_and_leads_to_each(home: Path) -> None:
    app = talk_app(home, ["One.", "Two.", "Other one."])
    async with running(app) as pilot:
        await say(pilot, "first")
        await say(pilot, "second")
        await at_message(pilot, 1)
        await pilot.press("r")
        await until(pilot, lambda: shown(app) == ["first", "Other one."])
        await idle(pilot)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen) and "Other one." in screen_text(app))
        text = screen_text(app)
        assert "messages: 5 · forks: 1" in text
        rows = [line for line in text.splitlines() if "●" in line or "│" in line]
        assert ["●" in row for row in rows[:5]] == [True, False, False, False, True]
        await pilot.press("g", "j", "j", "enter")
        await until(pilot, lambda: shown(app) == ["first", "One.", "second", "Two."])
        assert app.chat.transcript.current is not None
        assert app.chat.transcript.current.text == "second"
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)


async def test_ten_thousand_messages_in_the_tree(home: Path) -> None:
    from time import process_time

    from memory.turns.forks import Node

    nodes = [
        Node(
            n, n - 1 or None, "user" if n % 2 else "assistant", f"words {n}", "complete", "", n % 3 == 0, n // 100, 1, 1
        )
        for n in range(1, 10_001)
    ]
    app = talk_app(home)
    async with running(app) as pilot:
        began = process_time()
        app.push_screen(TreeScreen(lambda: nodes))
        await until(pilot, lambda: "words 9999" in screen_text(app))
        await pilot.press("g", "G", "pageup", "slash", "7", "7", "7", "7")
        await until(pilot, lambda: "words 7777" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat)
        assert process_time() - began < 8  # a sign of care; usually a tenth of it


@pytest.mark.parametrize("name", ["markup", "escapes"])
async def test_hostile_words_in_the_tree_are_only_words(home: Path, name: str) -> None:
    from memory.turns.forks import Node

    texts = [
        json.loads(line) for line in (Path(__file__).parents[1] / "data" / f"{name}.jsonl").read_text().splitlines()
    ]
    nodes = [
        Node(n, None, "assistant", str(one.get("text", one)), "failed", "x", True, n, 1, len(texts))
        for n, one in enumerate(texts, 1)
    ]
    app = talk_app(home)
    async with running(app) as pilot:
        app.push_screen(TreeScreen(lambda: nodes))
        await until(pilot, lambda: any(found.cursor_key for found in app.screen.query(TreeList)))
        await pilot.press("g", "pagedown", "G")
        await pilot.pause()
        assert "\x1b" not in screen_text(app)


# messages that wait


async def test_enter_while_a_reply_streams_queues_and_each_goes_in_its_turn(home: Path) -> None:
    gates = [asyncio.Event(), asyncio.Event()]
    app = talk_app(home, [["One", gates[0], "."], ["Two", gates[1], "."], "Three."])
    async with running(app) as pilot:
        await write(pilot, "first")
        await until(pilot, lambda: "One" in screen_text(app))
        await write(pilot, "second")
        await until(pilot, lambda: app.chat.composer.text == "")
        await write(pilot, "third")
        await until(pilot, lambda: len(app.queue) == 2)
        await pilot.pause()
        text = screen_text(app)
        assert text.count("You  ◷ waiting") == 2
        assert text.index("One") < text.index("second") < text.index("third")
        assert "waiting: 2" in app.chat.tray.said
        assert app.chat.status.status.queued == 2
        gates[0].set()
        await until(pilot, lambda: shown(app)[:3] == ["first", "One.", "second"] and "Two" in screen_text(app))
        assert [entry.text for entry in app.chat.transcript.entries][-1] == "third"
        gates[1].set()
        await until(pilot, lambda: shown(app) == ["first", "One.", "second", "Two.", "third", "Three."])
        await idle(pilot)
        assert len(app.queue) == 0
        assert app.chat.tray.said == ""
        assert [entry.state for entry in app.chat.transcript.entries] == ["complete"] * 6


async def test_after_a_stop_nothing_goes_until_the_user_says_so(home: Path) -> None:
    app = talk_app(home, [["One", asyncio.Event()], "Two."])
    async with running(app) as pilot:
        await write(pilot, "first")
        await until(pilot, lambda: "One" in screen_text(app))
        await write(pilot, "second")
        await until(pilot, lambda: len(app.queue) == 1)
        await pilot.press("escape")
        await idle(pilot)
        await until(pilot, lambda: "nothing is sent by itself" in app.chat.tray.said)
        assert shown(app) == ["first", "One"]
        await pilot.press("enter")
        await until(pilot, lambda: shown(app) == ["first", "One", "second", "Two."])


async def test_after_an_error_what_waits_can_be_taken_back(home: Path) -> None:
    gate = asyncio.Event()
    app = talk_app(home, [["One", gate, ServerFailed("It broke.")]])
    async with running(app) as pilot:
        await write(pilot, "first")
        await until(pilot, lambda: "One" in screen_text(app))
        for text in ("second", "third"):
            await write(pilot, text)
            await until(pilot, lambda: app.chat.composer.text == "")
        gate.set()
        await until(pilot, lambda: "It broke." in screen_text(app))
        await until(pilot, lambda: "nothing is sent by itself" in app.chat.tray.said)
        await pilot.press("up")
        await until(pilot, lambda: app.chat.composer.text == "third")
        app.chat.composer.clear()
        await write(pilot, "/unqueue")
        await until(pilot, lambda: app.chat.composer.text == "second")
        assert len(app.queue) == 0
        assert app.chat.status.status.queued == 0
        assert all(entry.state != "queued" for entry in app.chat.transcript.entries)


async def test_esc_twice_takes_all_back(home: Path) -> None:
    app = talk_app(home, [["One", asyncio.Event()]])
    async with running(app) as pilot:
        await write(pilot, "first")
        await until(pilot, lambda: "One" in screen_text(app))
        for text in ("second", "third"):
            await write(pilot, text)
            await until(pilot, lambda: app.chat.composer.text == "")
        await pilot.press("escape")
        await idle(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.chat.composer.text == "second\n\nthird")


async def test_what_waits_is_a_draft_after_a_crash_and_is_not_sent(home: Path) -> None:
    app = talk_app(home, [["One", asyncio.Event()]])
    async with running(app) as pilot:
        await write(pilot, "first")
        await until(pilot, lambda: "One" in screen_text(app))
        await write(pilot, "second")
        await until(pilot, lambda: len(app.queue) == 1)
        await write(pilot, "half typed", send=False)
        await until(pilot, lambda: read_draft(Home(home)).before != () and read_draft(Home(home)).text)
        copy = (home / "draft.json").read_bytes()
    (home / "draft.json").write_bytes(copy)
    again = talk_app(home, ["never"])
    async with running(again):
        assert again.chat.composer.text == "second\n\nhalf typed"
        assert len(again.queue) == 0


async def test_another_session_shows_its_own_queue_only(home: Path) -> None:
    gate = asyncio.Event()
    app = talk_app(home, [["One", gate, "."], "Two."])
    async with running(app) as pilot:
        await write(pilot, "first")
        await until(pilot, lambda: "One" in screen_text(app))
        await write(pilot, "second")
        await until(pilot, lambda: len(app.queue) == 1)
        session = app.chat.target.session_id
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.chat.messages == [])
        await until(pilot, lambda: app.chat.tray.said == "")
        assert app.chat.status.status.queued == 1
        gate.set()
        await until(pilot, lambda: len(app.queue) == 0)
        assert app.core is not None
        store = app.core.store
        await until(pilot, lambda: [m.content for m in store.path(session or "")][2:] == ["second", "Two."])
        assert app.chat.messages == []
