"""What the keys of the list of sessions do: rename in place, archive, delete, undo, erase."""

import asyncio
from pathlib import Path

import pytest
from agent_app import agent_app, agent_settings
from app_support import idle, make_app, rest, running, screen_text, until, write
from hosts import HOSTILE, unsafe_in
from textual.pilot import Pilot

from memory.errors import NotFoundError
from memory.provider.scripted import Reply
from memory.types import SessionState
from orca_tui.app import OrcaApp
from orca_tui.screens.ask import Ask
from tests.memory.agent_support import MAIN, agents


async def talk(app: OrcaApp, pilot: Pilot[object], *texts: str) -> list[str]:
    """One session a text, each with a reply; gives their ids."""
    assert app.conversation is not None
    ids = []
    for text in texts:
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.conversation is not None and app.conversation.session_id is None)
        await write(pilot, text)
        await idle(pilot)
        await rest(pilot)
        ids.append(str(app.conversation.session_id))
    return ids


async def go(app: OrcaApp, pilot: Pilot[object], session_id: str) -> None:
    """Put the list's cursor on a session."""
    await pilot.press("ctrl+o")
    await until(pilot, lambda: app.focused is app.chat.sessions)
    app.chat.sessions.move_to(session_id)


def state(app: OrcaApp, session_id: str) -> SessionState:
    assert app.core is not None
    return app.core.store.session(session_id).state


def listed(app: OrcaApp) -> list[str]:
    return [row.id for row in app.chat.sessions._sessions]  # type: ignore[union-attr]


async def test_a_title_is_typed_in_place(home: Path) -> None:
    app = make_app(home)
    async with running(app, (110, 30)) as pilot:
        first, second = await talk(app, pilot, "about tides", "about boats")
        await go(app, pilot, first)
        await pilot.press("e", "ctrl+u", *"Tides", "enter")
        await until(pilot, lambda: app.core and app.core.store.session(first).title == "Tides")
        assert app.core is not None
        assert app.core.store.session(first).title_by == "user"
        await until(pilot, lambda: "Tides" in screen_text(app))
        assert listed(app) == [second, first]
        await pilot.press("e", *"xyz", "escape")
        await rest(pilot)
        assert app.core.store.session(first).title == "Tides"


async def test_archive_delete_and_undo(home: Path) -> None:
    app = make_app(home)
    async with running(app, (110, 30)) as pilot:
        first, second = await talk(app, pilot, "about tides", "about boats")
        await go(app, pilot, first)
        await pilot.press("a")
        await until(pilot, lambda: listed(app) == [second])
        assert state(app, first) == "archived"
        await pilot.press("d")
        await until(pilot, lambda: listed(app) == [])
        assert state(app, second) == "trashed"
        assert app.conversation is not None
        assert app.conversation.session_id is None, "what was thrown away does not stay open"
        await pilot.press("right")
        await until(pilot, lambda: listed(app) == [first])
        assert "Archived" in screen_text(app)
        await pilot.press("right")
        await until(pilot, lambda: listed(app) == [second])
        await pilot.press("u")
        await until(pilot, lambda: state(app, second) == "open")
        await pilot.press("u")
        await until(pilot, lambda: state(app, first) == "open")
        await pilot.press("u")
        await until(pilot, lambda: "nothing to undo" in app.chat.hint_line.remark)


async def test_erasing_asks_and_is_for_good(home: Path) -> None:
    app = make_app(home)
    async with running(app, (110, 30)) as pilot:
        (first,) = await talk(app, pilot, "about tides")
        await go(app, pilot, first)
        await pilot.press("d")
        await until(pilot, lambda: state(app, first) == "trashed")
        await pilot.press("left")
        await until(pilot, lambda: listed(app) == [first])
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Ask))
        assert state(app, first) == "trashed"
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press("y")
        await until(pilot, lambda: listed(app) == [])
        assert app.core is not None
        with pytest.raises(NotFoundError):
            app.core.store.session(first)


async def test_going_on_with_an_archived_session_brings_it_back(home: Path) -> None:
    app = make_app(home)
    async with running(app, (110, 30)) as pilot:
        (first,) = await talk(app, pilot, "about tides")
        await pilot.press("escape")
        await write(pilot, "/archive")
        await until(pilot, lambda: state(app, first) == "archived")
        assert app.conversation is not None
        await app.conversation.open(first)
        await write(pilot, "more")
        await idle(pilot)
        assert state(app, first) == "open"


async def test_the_keys_of_the_list_are_on_the_last_line(home: Path) -> None:
    app = make_app(home)
    async with running(app, (110, 30)) as pilot:
        await talk(app, pilot, "about tides")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "e rename" in screen_text(app).splitlines()[-1])
        await pilot.press("tab")
        await until(pilot, lambda: "e rename" not in screen_text(app).splitlines()[-1])


async def test_hostile_titles_while_renaming_and_in_remarks(home: Path) -> None:
    app = make_app(home)
    async with running(app, (90, 24)) as pilot:
        (first,) = await talk(app, pilot, "about tides")
        assert app.core is not None
        assert app.conversation is not None
        for title in HOSTILE:
            app.core.store.update_session(first, title=title, state="open")
            await app.conversation.refresh_sessions()
            await go(app, pilot, first)
            await pilot.press("e")
            assert not list(unsafe_in(screen_text(app)))
            await pilot.press("escape", "d")
            await until(pilot, lambda: state(app, first) == "trashed")
            await pilot.pause()
            assert not list(unsafe_in(screen_text(app)))


async def test_erasing_a_session_ends_its_reply_and_its_agents(home: Path) -> None:
    scripts: dict[str, list[Reply]] = {MAIN: ["Hello."], "slow": [["begun ", asyncio.Event(), "never"]]}
    app = agent_app(home, scripts, agent_settings(agents(slow=())))
    async with running(app, (110, 30)) as pilot:
        await write(pilot, "/agent slow wait")
        assert app.core is not None
        core = app.core
        await until(pilot, lambda: core.subagents.live)
        assert app.conversation is not None
        session_id = str(app.conversation.session_id)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.conversation is not None and app.conversation.session_id is None)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: app.chat.sessions is not None and app.focused is app.chat.sessions)
        await until(pilot, lambda: listed(app) == [session_id])
        app.chat.sessions.move_to(session_id)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press("y")
        await until(pilot, lambda: listed(app) == [])
        assert not core.subagents.live
        assert app.bridge is not None
        assert app.bridge.live(session_id) is None
        with pytest.raises(NotFoundError):
            core.store.session(session_id)
        assert app.conversation.session_id is None
