"""The terminal around the screen: title, notices, suspending, the caret for input methods."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_support import SETTINGS, idle, make_app, running, until, write
from textual import events

from orca_tui import terminal_room, terminal_signs
from orca_tui.app import OrcaApp
from orca_tui.screens.settings import SettingsScreen
from orca_tui.terminal_signs import desktop_command, has_titles, notice, way, window_title

HOSTILE = "a\x1b]0;x\x07b\x9b2J\n;c\u202e"


@pytest.mark.parametrize(
    ("kind", "env", "expected"),
    [
        ("auto", {}, "bell"),
        ("auto", {"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ("auto", {"TERM": "xterm-kitty"}, "osc9"),
        ("auto", {"TERM": "foot"}, "osc777"),
        ("auto", {"TERM": "xterm-kitty", "TMUX": "/x"}, "bell"),
        ("osc9", {"TERM": "rxvt-unicode-256color"}, "osc777"),
        ("osc9", {}, "osc9"),
        ("bell", {"TERM": "foot"}, "bell"),
        ("desktop", {}, "desktop"),
        ("off", {"TERM": "foot"}, "off"),
    ],
)
def test_a_notice_goes_the_way_that_the_terminal_knows(kind: Any, env: dict[str, str], expected: str) -> None:
    assert way(kind, env) == expected


@pytest.mark.parametrize("chosen", ["osc9", "osc777"])
def test_a_notice_holds_no_live_byte(chosen: Any) -> None:
    sign = notice(chosen, HOSTILE)
    inner = sign.removeprefix("\x1b]").removesuffix("\x1b\\")
    assert inner.isprintable()
    assert inner.count(";") == {"osc9": 1, "osc777": 3}[chosen]


def test_nothing_is_written_where_nothing_is_to_be() -> None:
    assert notice("off", "x") == notice("desktop", "x") == ""
    assert notice("bell", HOSTILE) == "\a"


def test_a_title_holds_no_live_byte_and_is_cut() -> None:
    assert window_title("") == "\x1b]2;orca\x1b\\"
    assert window_title("Tides") == "\x1b]2;orca — Tides\x1b\\"
    sign = window_title(HOSTILE * 100)
    assert sign.removeprefix("\x1b]2;").removesuffix("\x1b\\").isprintable()
    assert len(sign) < 90
    assert [has_titles({"TERM": term}) for term in ("xterm-256color", "linux", "dumb", "")] == [
        True,
        False,
        False,
        False,
    ]


def test_the_desktop_gets_one_argument_and_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_signs.sys, "platform", "linux")
    monkeypatch.setattr(terminal_signs.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert desktop_command("--icon=x") == ["/usr/bin/notify-send", "--app-name=orca", "--", "orca", "--icon=x"]
    monkeypatch.setattr(terminal_signs.shutil, "which", lambda name: None)
    assert desktop_command("x") is None
    monkeypatch.setattr(terminal_signs.sys, "platform", "darwin")
    command = desktop_command('" & (do shell script "x")')
    assert command is not None
    assert command[-1] == '" & (do shell script "x")'

    def late(*_args: object, **_options: object) -> None:
        raise subprocess.TimeoutExpired("x", 1)

    monkeypatch.setattr(terminal_signs.subprocess, "run", late)
    assert terminal_signs.tell_desktop("x") is False


class Signs:
    """In place of the terminal: what was written beside the screen."""

    def __init__(self, app: OrcaApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.written: list[str] = []
        monkeypatch.setattr(app, "_write_sign", self.written.append)


async def test_the_window_is_called_after_the_session_and_gets_its_name_back(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(home, ["One.", "Two."])
    app.env = {"TERM": "xterm-256color"}
    signs = Signs(app, monkeypatch)
    async with running(app) as pilot:
        await write(pilot, "about the tides")
        await idle(pilot)
        await until(pilot, lambda: window_title("about the tides") in signs.written)
        app.sending.start("new")
        await until(pilot, lambda: signs.written[-1] == window_title(""))
    assert signs.written[0] == terminal_signs.SAVE_TITLE
    assert signs.written[-1] == terminal_signs.RESTORE_TITLE
    assert signs.written.count(terminal_signs.SAVE_TITLE) == signs.written.count(terminal_signs.RESTORE_TITLE) == 1


@pytest.mark.parametrize("incognito", [False, True])
async def test_a_long_reply_that_ends_out_of_focus_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, incognito: bool
) -> None:
    monkeypatch.setattr(terminal_room, "LONG", 0.0)
    settings = replace(SETTINGS, ui=replace(SETTINGS.ui, notifications="osc9"))
    app = make_app(home, ["the secret answer"] * 9, settings=settings)
    signs = Signs(app, monkeypatch)
    async with running(app) as pilot:
        if incognito:
            app.sending.start("incognito")
            await pilot.pause()
        await write(pilot, "tides")
        await idle(pilot)
        assert signs.written == []
        app.post_message(events.AppBlur())
        await until(pilot, lambda: not app.app_focus)
        app.chat.composer.load_text("moon")
        app.chat.composer.action_send()
        await until(pilot, lambda: signs.written)
        told = signs.written[0]
        assert told.startswith("\x1b]9;orca: the reply is there")
        assert app.core is not None
        title = app.core.store.session(app.chat.target.session_id or "").title
        assert (told == f"\x1b]9;orca: the reply is there: {title}\x1b\\") is not incognito
        assert told.endswith("there\x1b\\") is incognito
        app.post_message(events.AppFocus())
        await until(pilot, lambda: app.focused is app.chat.composer)


async def test_a_short_reply_is_not_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home)
    signs = Signs(app, monkeypatch)
    async with running(app) as pilot:
        app.post_message(events.AppBlur())
        await until(pilot, lambda: not app.app_focus)
        app.chat.composer.load_text("hello")
        app.chat.composer.action_send()
        await idle(pilot)
        assert signs.written == []


async def test_suspending_says_so_where_it_cannot_be(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await app.run_command("suspend")
        await until(pilot, lambda: len(app._notifications) == 1)
        assert app.return_code is None


async def test_the_terminals_cursor_is_at_the_caret(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        composer = app.chat.composer
        assert app.focused is composer
        await pilot.press(*"ab你")
        await pilot.pause()
        region = composer.content_region
        assert app.cursor_position == (region.x + 4, region.y)
        await pilot.press("left")
        await pilot.pause()
        assert app.cursor_position == (region.x + 2, region.y)
        await app.run_command("settings", "memory")
        await until(pilot, lambda: isinstance(app.screen, SettingsScreen) and app.screen.is_mounted)
        screen = app.screen
        assert isinstance(screen, SettingsScreen)
        screen.fields.focus()
        screen.fields.move_to(("memory", "user_id"))
        await pilot.press("enter", "home")
        await pilot.pause()
        assert app.focused is screen.field_input
        assert app.cursor_position == screen.field_input.content_region.offset
