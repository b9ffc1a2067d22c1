"""The list of sessions: rows, cursor, filter, hostile titles."""

from dataclasses import replace

import pytest
from hosts import HOSTILE, Host, drawn, unsafe_in
from textual import events

from memory.types import Session
from orca_tui.widgets.session_list import SessionList, SessionRow

NOW = "2026-03-10T12:00:00.000000+00:00"
ROWS = [
    SessionRow("a", "Trip to Lisbon", "2026-03-10T11:58:00+00:00", 10),
    SessionRow("b", "数据库迁移", "2026-03-09T11:58:00+00:00", 1),
    SessionRow("c", "", "2026-01-09T11:58:00+00:00", None, incognito=True),
]


def host() -> tuple[Host, SessionList]:
    sessions = SessionList(now=lambda: NOW)
    return Host(sessions), sessions


def chosen(app: Host) -> list[str]:
    return [message.session_id for message in app.posted if isinstance(message, SessionList.Chosen)]


async def test_rows_say_title_age_and_size() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 20)):
        sessions.show(ROWS, "b")
        screen = drawn(app)
        assert "  Trip to Lisbon" in screen
        assert "2 min · 10 messages" in screen
        assert "▌ 数据库迁移" in screen
        assert "1 d · 1 message " in screen
        assert "◌ Untitled" in screen
        assert "2 mo · incognito" in screen
        assert sessions.cursor_key == "b"


async def test_takes_what_the_store_gives() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 20)):
        session = Session("s", "From the store", "u", None, None, None, 1, "open", False, NOW, NOW)
        sessions.show([session], None)
        assert "From the store" in drawn(app)


async def test_keys_and_clicks_choose() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 20)) as pilot:
        sessions.show(ROWS, None)
        await pilot.press("j", "enter", "G", "enter", "g", "enter")
        await pilot.click(sessions, offset=(5, 5))
        assert chosen(app) == ["b", "c", "a", "b"]


async def test_an_update_keeps_the_cursor() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 20)) as pilot:
        sessions.show(ROWS, "a")
        await pilot.press("G")
        sessions.show([replace(ROWS[1], title="new"), *ROWS], "a")
        assert sessions.cursor_key == "c"


async def test_filter() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 20)) as pilot:
        sessions.show(ROWS, None)
        await pilot.press("slash", *"lis j", "backspace", "backspace")
        assert "数据库" not in drawn(app)
        assert "/lis" in drawn(app)
        await pilot.press("enter")
        assert chosen(app) == ["a"]
        await pilot.press("x")
        assert "No session matches" in drawn(app)
        await pilot.press("escape")
        assert "数据库" in drawn(app)
        await pilot.press("j", "enter")
        assert chosen(app) == ["a", "b"]


async def test_filter_takes_pasted_and_composed_words() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 20)) as pilot:
        sessions.show(ROWS, None)
        await pilot.press("slash")
        app.post_message(events.Paste("数据\x1b[31m\n"))
        await pilot.pause()
        assert "/数据" in drawn(app)
        assert app.cursor_position == (6, 1)
        assert "Trip" not in drawn(app)
        assert not list(unsafe_in(drawn(app)))
        await pilot.press(*["backspace"] * 6)
        assert "Trip" in drawn(app)


async def test_empty_list_teaches() -> None:
    app, sessions = host()
    async with app.run_test(size=(40, 20)) as pilot:
        sessions.show([], None)
        assert "No sessions yet." in drawn(app)
        await pilot.press("j", "enter", "G")
        assert chosen(app) == []


async def test_a_long_list_draws_only_what_is_seen() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 10)) as pilot:
        sessions.show([SessionRow(str(n), f"session {n}", NOW) for n in range(5000)], "4000")
        await pilot.pause()
        assert "session 4000" in drawn(app)
        assert len(sessions._strips) < 100
        await pilot.press("pagedown")
        assert sessions.cursor_key == "4005"


@pytest.mark.parametrize("text", HOSTILE)
async def test_foreign_titles_do_no_harm(text: str) -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 12)):
        sessions.show([SessionRow("x", text, text)], "x")
        assert not list(unsafe_in(drawn(app)))
        assert "\x1b" not in app.export_screenshot()


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (200, 60)])
async def test_any_size(size: tuple[int, int]) -> None:
    app, sessions = host()
    async with app.run_test(size=size) as pilot:
        sessions.show(ROWS, "a")
        await pilot.press("j", "slash", "t")
        drawn(app)


async def test_a_theme_change_redraws() -> None:
    app, sessions = host()
    async with app.run_test(size=(30, 12)) as pilot:
        sessions.show(ROWS, "a")
        before = app.export_screenshot()
        app.theme = "paper"
        await pilot.pause()
        assert app.export_screenshot() != before
