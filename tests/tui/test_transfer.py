"""Export and import from the app."""

import json
from pathlib import Path

import pytest
from app_support import idle, make_app, rest, running, screen_text, until, write
from hosts import HOSTILE, unsafe_in

from orca_tui.app import OrcaApp
from orca_tui.screens.ask import Ask
from orca_tui.screens.import_chats import ImportScreen


def chatgpt(path: Path, *titles: str) -> Path:
    def talk(number: int, title: str) -> dict[str, object]:
        content = {"content_type": "text", "parts": [f"{title} {number}"]}
        said = {"author": {"role": "user"}, "create_time": 1750000000, "content": content}
        return {
            "title": title,
            "conversation_id": str(number),
            "current_node": "q",
            "mapping": {"q": {"id": "q", "parent": None, "message": said}},
        }

    path.write_text(json.dumps([talk(number, title) for number, title in enumerate(titles)]), "utf-8")
    return path


def told(app: OrcaApp, text: str) -> bool:
    return any(text in notice.message for notice in app._notifications)


async def test_a_session_is_written_and_asked_about(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = make_app(home, ["The moon."])
    async with running(app, (100, 30)) as pilot:
        await write(pilot, "/export")
        await until(pilot, lambda: told(app, "nothing to keep"))
        await write(pilot, "Why are there tides?")
        await idle(pilot)
        await rest(pilot)
        await write(pilot, "/export")
        await until(pilot, lambda: any(tmp_path.glob("*.md")))
        page = next(iter(tmp_path.glob("*.md")))  # noqa: ASYNC240
        assert "The moon." in page.read_text("utf-8")
        await write(pilot, "/export json talk.json")
        await until(pilot, lambda: (tmp_path / "talk.json").exists())
        page.write_text("mine", "utf-8")
        await write(pilot, f"/export {page.name}")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is app.chat)
        assert page.read_text("utf-8") == "mine"
        await write(pilot, "/export md /nowhere/at/all/x.md")
        await until(pilot, lambda: told(app, "cannot be written"))


async def test_an_import_is_shown_before_it_is_done(home: Path, tmp_path: Path) -> None:
    path = chatgpt(tmp_path / "conversations.json", "Knots", "Boats")
    app = make_app(home)
    async with running(app, (100, 30)) as pilot:
        assert app.core is not None
        await write(pilot, f"/import {path}")
        await until(pilot, lambda: "would come in" in screen_text(app))
        assert app.core.store.sessions() == []
        await pilot.press("enter")
        await until(pilot, lambda: "came in" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.chat.sessions._sessions) == 2)
        assert {session.title for session in app.core.store.sessions()} == {"Knots", "Boats"}
        await write(pilot, f"/import {path}")
        await until(pilot, lambda: "2 were here already" in screen_text(app))
        await pilot.press("escape")
        await write(pilot, f"/import {tmp_path / 'missing.zip'}")
        await until(pilot, lambda: "There is no file" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))


async def test_hostile_exports_on_the_screen(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31m[red]x[.json"
    chatgpt(path, *HOSTILE)
    app = make_app(home)
    async with running(app, (100, 30)) as pilot:
        app.sending.start("import", str(path))
        await until(pilot, lambda: "would come in" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "came in" in screen_text(app))
        assert not list(unsafe_in(screen_text(app)))
        await pilot.press("escape")
        await pilot.pause()
        assert not list(unsafe_in(screen_text(app)))
