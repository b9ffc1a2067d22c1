"""Where a message goes and whether it goes at all is settled when Enter is pressed, at any moment of the app's life."""

import asyncio
import gc
from contextlib import closing
from pathlib import Path

import pytest
from app_support import idle, make_app, running, screen_text, until, write
from textual import events
from textual.pilot import Pilot

from memory.config import Home
from memory.errors import StoreOpenError
from memory.store import open_store
from memory.types import Session
from orca_tui.app import OrcaApp
from orca_tui.draft import read_draft


def press_at_once(app: OrcaApp, *keys: str) -> None:
    """Keys as one read of the terminal brings them: none is looked at before the last has come."""
    for key in keys:
        app.post_message(events.Key(key, "\r" if key == "enter" else key if len(key) == 1 else None))


def sessions(app: OrcaApp) -> dict[str, Session]:
    """Every stored session by its first message: titles change."""
    assert app.core is not None
    store = app.core.store
    return {store.path(session.id)[0].content: session for session in store.sessions()}


def held_back(app: OrcaApp, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let the app start only once the event is set."""
    gate, start = asyncio.Event(), app._startup.run

    async def later() -> None:
        await gate.wait()
        await start()

    monkeypatch.setattr(app._startup, "run", later)
    return gate


async def answered(pilot: Pilot[object], title: str) -> None:
    """Wait until the first message of a session has its reply."""
    app = pilot.app
    assert isinstance(app, OrcaApp)
    await until(pilot, lambda: app.core is not None and title in sessions(app))
    assert app.core is not None
    session = sessions(app)[title]
    store = app.core.store
    await until(pilot, lambda: [m.state for m in store.path(session.id)] == ["complete", "complete"])


@pytest.mark.parametrize("key", ["ctrl+n", "f9"])
async def test_a_key_right_behind_enter_does_not_overtake_it(home: Path, key: str) -> None:
    app = make_app(home, ["One.", "Two."])
    async with running(app) as pilot:
        await write(pilot, "/incognito")
        await until(pilot, lambda: app.chat.status.status.incognito)
        await write(pilot, "a secret", send=False)
        press_at_once(app, "enter", key)
        await answered(pilot, "a secret")
        assert sessions(app)["a secret"].incognito
        await until(pilot, lambda: app.chat.composer.text == "")
        assert app.chat.messages == []  # the new session is the open one
        await write(pilot, "what comes next")
        await answered(pilot, "what comes next")
        assert sessions(app)["what comes next"].incognito is (key == "f9")


@pytest.mark.parametrize("key", ["ctrl+n", "f9"])
async def test_enter_right_behind_a_key_goes_to_what_it_began(home: Path, key: str) -> None:
    app = make_app(home, ["One.", "Two."])
    async with running(app) as pilot:
        await write(pilot, "first")
        await idle(pilot)
        await write(pilot, "second", send=False)
        press_at_once(app, key, "enter")
        await answered(pilot, "second")
        assert sessions(app)["second"].incognito is (key == "f9")
        assert [message.content for message in app.chat.messages] == ["second", "Two."]


async def test_incognito_counts_from_the_first_moment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home, ["Late."])
    gate = held_back(app, monkeypatch)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f9")
        await until(pilot, lambda: app.chat.status.status.incognito)
        await write(pilot, "a secret")
        await until(pilot, lambda: "starting" in app.chat.hint_line.remark)
        gate.set()
        await answered(pilot, "a secret")
        assert sessions(app)["a secret"].incognito
        assert app.chat.messages[0].content == "a secret"
        await app.leave(0)


async def test_what_was_sent_before_a_new_session_began_stays_out_of_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(home, ["Late."])
    gate = held_back(app, monkeypatch)
    async with app.run_test(size=(100, 30)) as pilot:
        await write(pilot, "for everyone")
        await until(pilot, lambda: app.sending.waits)
        await pilot.press("f9")
        gate.set()
        await answered(pilot, "for everyone")
        assert not sessions(app)["for everyone"].incognito
        await until(pilot, lambda: app.chat.composer.text == "")
        assert app.chat.messages == []
        assert app.chat.status.status.incognito
        await app.leave(0)


async def test_what_waits_does_not_go_to_an_interrupted_session(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "question")
        await idle(pilot)
        assert app.core is not None
        session = app.chat.target.session_id
        assert session is not None
        owner = {"stream": {"pid": 2**22 + 1, "host": "gone", "heartbeat": "2020-01-01T00:00:00.000000+00:00"}}
        app.core.store.add_message(session, "assistant", "half a sen", state="streaming", metadata=owner)
    again = make_app(home, ["New."])
    gate = held_back(again, monkeypatch)
    async with again.run_test(size=(100, 30)) as pilot:
        await write(pilot, "early bird")
        await until(pilot, lambda: again.sending.waits)
        gate.set()
        await answered(pilot, "early bird")
        await again.leave(0)


async def test_a_store_that_cannot_be_opened_promises_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home)
    gate = held_back(app, monkeypatch)

    def broken() -> None:
        raise StoreOpenError("The folder cannot be written to.", hint="Give ORCA_HOME another folder.")

    monkeypatch.setattr(app._startup, "_open_core", broken)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await write(pilot, "early")
        await until(pilot, lambda: app.sending.waits)
        gate.set()
        await until(pilot, lambda: "cannot be written" in app.chat.hint_line.remark)
        assert not app.sending.waits
        await write(pilot, " and late")
        await until(pilot, lambda: "cannot be written" in app.chat.hint_line.remark)
        assert app.chat.composer.value == "early and late"
        shown = screen_text(app)
        assert "Give ORCA_HOME another folder." in shown
        assert "starting" not in shown
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen_text(app).count("cannot be written") > 2)


async def test_esc_right_behind_enter_stops_the_reply(home: Path) -> None:
    app = make_app(home, [["never", asyncio.Event()]])
    async with running(app) as pilot:
        await write(pilot, "go", send=False)
        press_at_once(app, "enter", "escape")
        await idle(pilot)
        assert app.chat.messages[0].content == "go"
        assert app.chat.messages[-1].state in ("stopped", "complete")


async def test_what_waits_when_one_leaves_is_in_the_draft(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home)
    gate = held_back(app, monkeypatch)
    async with app.run_test(size=(100, 30)) as pilot:
        await write(pilot, "not lost", send=False)
        press_at_once(app, "enter", "ctrl+q")
        await until(pilot, lambda: not app.is_running or app._exit)
        gate.set()
    assert read_draft(Home(home)).text == "not lost"


async def test_what_is_sent_when_one_leaves_is_stored(home: Path) -> None:
    app = make_app(home, [["never", asyncio.Event()]])
    async with running(app) as pilot:
        await write(pilot, "not lost", send=False)
        press_at_once(app, "enter", "ctrl+q")
        await until(pilot, lambda: app._exit)
    with closing(open_store(Home(home).database)) as store:
        assert [m.content for s in store.sessions() for m in store.path(s.id) if m.role == "user"] == ["not lost"]
    assert read_draft(Home(home)).text == ""


async def test_an_incognito_draft_stays_incognito(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await pilot.press("f9")
        await write(pilot, "a secret", send=False)
    again = make_app(home, ["Fine."])
    async with running(again) as pilot:
        assert again.chat.composer.text == "a secret"
        assert again.chat.status.status.incognito
        await pilot.press("enter")
        await answered(pilot, "a secret")
        assert sessions(again)["a secret"].incognito


async def test_work_that_is_cancelled_before_its_first_step_is_never_begun(home: Path) -> None:
    app = make_app(home)
    begun: list[str] = []

    async def work(name: str) -> None:
        begun.append(name)

    async with running(app) as pilot:
        app.spawn("early", work, "early")
        app.workers.cancel_group(app, "early")
        app.spawn("late", work, "late")
        await until(pilot, lambda: "late" in begun)
    gc.collect()
    assert begun == ["late"]
