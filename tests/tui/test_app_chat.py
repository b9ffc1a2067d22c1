"""Talking: send, stream, stop, errors, retry, coming back; nothing typed or streamed is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from app_support import idle, make_app, running, screen_text, until, write
from textual import events

from memory.errors import AuthenticationFailed, ServerFailed, StoreFullError
from memory.provider.base import ReasoningPart, RetryPart, TextPart
from memory.provider.scripted import ScriptedChat
from memory.types import Message
from orca_tui.app import OrcaApp

HOSTILE = (
    "a \x1b]52;c;aGk=\x07 b [/x] [@click=app.quit]x[/] c\n\nList<int> and <think>x</think> and 2*3*4 \x9b31m\x1b[2J end"
)


def stored(app: OrcaApp) -> list[tuple[str, str, str]]:
    assert app.core is not None
    assert app.conversation is not None
    assert app.conversation.session_id is not None
    path = app.core.store.path(app.conversation.session_id)
    return [(message.role, message.content, message.state) for message in path]


async def test_a_message_is_sent_streamed_and_stored(home: Path) -> None:
    app = make_app(home, ["Nice to meet you."])
    async with running(app) as pilot:
        await write(pilot, "Hello there")
        await idle(pilot)
        shown = screen_text(app)
        assert "Hello there" in shown
        assert "Nice to meet you." in shown
        assert app.chat.composer.text == ""
        assert stored(app) == [("user", "Hello there", "complete"), ("assistant", "Nice to meet you.", "complete")]


async def test_the_reply_is_on_the_screen_while_it_streams(home: Path) -> None:
    gate = asyncio.Event()
    app = make_app(home, [["one two ", gate, "three"]])
    async with running(app) as pilot:
        await write(pilot, "count")
        await until(pilot, lambda: "one two" in screen_text(app))
        assert "streaming" in screen_text(app)
        assert "three" not in screen_text(app)
        gate.set()
        await idle(pilot)
        assert "one two three" in screen_text(app)


async def test_esc_stops_and_keeps_the_text_on_screen_and_on_disk(home: Path) -> None:
    gate = asyncio.Event()
    app = make_app(home, [["kept part", gate, "never"]])
    async with running(app) as pilot:
        await write(pilot, "go")
        await until(pilot, lambda: "kept part" in screen_text(app))
        await pilot.press("escape")
        await idle(pilot)
        assert stored(app)[1] == ("assistant", "kept part", "stopped")
        shown = screen_text(app)
        assert "kept part" in shown
        assert "stopped" in shown


@pytest.mark.parametrize("before", ["", "as far as it came"])
async def test_an_error_is_shown_and_kept_with_what_arrived(home: Path, before: str) -> None:
    error = ServerFailed("The server broke.", hint="Try again later.")
    app = make_app(home, [[before, error] if before else [error], "better"])
    async with running(app) as pilot:
        await write(pilot, "please")
        await idle(pilot)
        shown = screen_text(app)
        for part in ("please", "The server broke.", "Try again later.", before):
            assert part in shown
        role, content, state = stored(app)[1]
        assert (role, content, state) == ("assistant", before, "failed")

        await pilot.press("ctrl+r")
        await until(pilot, lambda: "better" in screen_text(app))
        await idle(pilot)
        assert "The server broke." not in screen_text(app)
        assert [content for _, content, _ in stored(app)] == ["please", "better"]


async def test_a_stored_error_is_there_again_on_coming_back(home: Path) -> None:
    app = make_app(home, [[AuthenticationFailed("The key was refused.", hint="Set another.")]])
    async with running(app) as pilot:
        await write(pilot, "please")
        await idle(pilot)
        assert app.conversation is not None
        session = app.conversation.session_id
    again = make_app(home, session_id=session)
    async with running(again):
        shown = screen_text(again)
        assert "please" in shown
        assert "The key was refused." in shown
        assert "Set another." in shown


async def test_a_session_comes_back_after_a_restart_and_goes_on(home: Path) -> None:
    app = make_app(home, ["My reply."])
    async with running(app) as pilot:
        await write(pilot, "Remember the blue door")
        await idle(pilot)
    model = ScriptedChat(["Yes."])
    again = make_app(home, chat=model)
    async with running(again, (140, 30)) as pilot:
        assert again.core is not None
        (session,) = again.core.store.sessions()
        await until(pilot, lambda: session.title in screen_text(again))  # in the list of sessions
        await write(pilot, f"/resume {session.title}")
        await until(pilot, lambda: "My reply." in screen_text(again))
        await write(pilot, "Still there?")
        await idle(pilot)
        assert [content for _, content, _ in stored(again)][-2:] == ["Still there?", "Yes."]
        assert any("Remember the blue door" in message.content for message in model.requests[0])


async def test_an_interrupted_reply_is_marked_and_nothing_is_sent_by_itself(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "question")
        await idle(pilot)
        assert app.core is not None
        assert app.conversation is not None
        session = app.conversation.session_id
        assert session is not None
        owner = {"stream": {"pid": 2**22 + 1, "host": "gone", "heartbeat": "2020-01-01T00:00:00.000000+00:00"}}
        app.core.store.add_message(session, "user", "more")
        app.core.store.add_message(session, "assistant", "half a sen", state="streaming", metadata=owner)
    model = ScriptedChat(["whole"])
    again = make_app(home, chat=model)
    async with running(again) as pilot:
        shown = screen_text(again)
        assert "half a sen" in shown
        assert "interrupted" in shown
        assert "/retry" in shown
        await pilot.pause()
        assert model.requests == []


async def test_waiting_for_a_retry_says_how_long(home: Path) -> None:
    gate = asyncio.Event()
    app = make_app(home, [[RetryPart(12.0, "too many requests"), gate, "done"]])
    async with running(app, (120, 30)) as pilot:
        await write(pilot, "hi")
        await until(pilot, lambda: "too many requests" in screen_text(app))
        assert " s " in app.chat.status.status.activity
        gate.set()
        await idle(pilot)
        assert app.chat.status.status.activity == ""


async def test_a_reply_goes_on_while_another_session_is_open(home: Path) -> None:
    gate = asyncio.Event()
    app = make_app(home, [["early ", gate, "late"]])
    async with running(app) as pilot:
        await write(pilot, "long one")
        await until(pilot, lambda: "early" in screen_text(app))
        assert app.conversation is not None
        first = app.conversation.session_id
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "early" not in screen_text(app))
        await write(pilot, f"/resume {first}")
        await until(pilot, lambda: "early" in screen_text(app))
        assert app.conversation.busy
        gate.set()
        await idle(pilot)
        assert "early late" in screen_text(app)


async def test_leaving_in_the_middle_of_a_reply_saves_it(home: Path) -> None:
    gate = asyncio.Event()
    app = make_app(home, [["partial", gate]])
    async with running(app) as pilot:
        await write(pilot, "go")
        await until(pilot, lambda: "partial" in screen_text(app))
        assert app.conversation is not None
        session = app.conversation.session_id
    again = make_app(home, session_id=session)
    async with running(again):
        assert stored(again)[1] == ("assistant", "partial", "stopped")
        assert "partial" in screen_text(again)


async def test_hostile_text_is_shown_whole_and_does_nothing(home: Path) -> None:
    app = make_app(home, [[ReasoningPart("\x1b[31mthinking [/b]"), TextPart(HOSTILE[:9]), TextPart(HOSTILE[9:])]])
    async with running(app, (120, 40)) as pilot:
        await write(pilot, HOSTILE)
        await idle(pilot)
        shown = screen_text(app)
        for part in ("[/x]", "[@click=app.quit]x[/]", "List<int>", "<think>x</think>", "2*3*4", "52;c;aGk=", "␛"):
            assert shown.count(part) >= 2, part  # once as typed, once as answered
        assert all(ch == "\n" or (ch >= " " and not "\x7f" <= ch <= "\x9f") for ch in shown)
        assert app.is_running
        assert HOSTILE in {content for _, content, _ in stored(app)}


async def test_a_title_and_a_model_name_are_foreign_text_too(home: Path) -> None:
    app = make_app(home, chat=ScriptedChat(["ok"], name="evil[/b]\x1b[2J"))
    async with running(app, (140, 30)) as pilot:
        await write(pilot, "[/bold] \x1b]0;title\x07")
        await idle(pilot)
        await until(pilot, lambda: screen_text(app).count("[/bold]") >= 2)
        assert "evil[/b]" in screen_text(app)
        assert "\x1b" not in screen_text(app)


async def test_an_incognito_session_is_marked_and_stored_as_such(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "/incognito")
        await until(pilot, lambda: "incognito" in screen_text(app))
        await write(pilot, "secret")
        await idle(pilot)
        assert app.conversation is not None
        assert app.conversation.session is not None
        assert app.conversation.session.incognito


async def test_what_is_pasted_is_stored_as_such(home: Path) -> None:
    app = make_app(home, ["Fine."])
    async with running(app) as pilot:
        await write(pilot, "Look: ", send=False)
        app.chat.composer.post_message(events.Paste("Remember that the spare key lies under the flowerpot"))
        await until(pilot, lambda: "flowerpot" in app.chat.composer.value)
        await pilot.press("enter")
        await idle(pilot)
        assert app.core is not None
        await app.core.maintenance.settled()
        assert app.chat.messages[0].metadata["pasted"] == [[6, 58]]
        assert list(app.core.curator.all()) == []


async def test_a_reply_that_cannot_be_written_is_told_until_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
    monkeypatch.setattr("memory.turns.unsaved.FIRST_WAIT", 0.001)
    app = make_app(home, ["the whole reply"])
    full = True
    async with running(app) as pilot:
        assert app.core is not None
        write_message = app.core.store.update_message

        def maybe(*args: Any, **kwargs: Any) -> Message:
            if full:
                raise StoreFullError("The disk is full.", hint="Make room.")
            return write_message(*args, **kwargs)

        monkeypatch.setattr(app.core.store, "update_message", maybe)
        await write(pilot, "please")
        await until(pilot, lambda: "Replies that are not saved" in screen_text(app))
        await idle(pilot)
        assert "the whole reply" in screen_text(app)
        full = False
        await until(pilot, lambda: "Every reply is saved now" in screen_text(app))
        assert "Replies that are not saved" not in screen_text(app)
        assert stored(app)[1] == ("assistant", "the whole reply", "complete")
        assert app.chat.messages[-1].state == "complete"


async def test_what_could_not_be_saved_is_told_behind_the_app(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
    app = make_app(home, ["the whole reply"])
    async with running(app) as pilot:
        assert app.core is not None

        def full(*args: Any, **kwargs: Any) -> Message:
            raise StoreFullError("The disk is full.")

        monkeypatch.setattr(app.core.store, "update_message", full)
        await write(pilot, "please")
        await idle(pilot)
    assert "Replies that could not be saved: 1 (The disk is full.)" in capsys.readouterr().err
