"""A text that was not sent yet survives: restored into the composer, never sent by itself, gone once it was sent."""

import json
import stat
from pathlib import Path

import pytest
from app_support import idle, make_app, running, until, write
from textual import events

from memory.config import Home
from orca_tui import draft
from orca_tui.draft import Draft, read_draft, write_draft


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "SAVE_AFTER", 0.01)


def test_what_is_written_is_read_and_only_the_owner_may(home: Path) -> None:
    kept = Draft("línea 1\n第二行 \x1b[2J", ("第二行",))
    write_draft(Home(home), kept)
    assert read_draft(Home(home)) == kept
    assert stat.S_IMODE((home / "draft.json").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["draft.json"]
    write_draft(Home(home), Draft())
    assert read_draft(Home(home)) == Draft()
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 1, "pasted": []}', '{"text": "x"}', "\xff", "[" * 9999])
def test_a_damaged_file_is_no_draft(home: Path, content: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "draft.json").write_text(content, encoding="latin-1")
    assert read_draft(Home(home)) == Draft()


async def test_a_crash_leaves_the_text_and_the_next_start_shows_it(home: Path) -> None:
    app = make_app(home)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.conversation is not None)
        await pilot.press("h", "a", "l", "f")
        await until(pilot, lambda: read_draft(Home(home)).text == "half")
    again = make_app(home)
    async with running(again) as pilot:
        assert again.chat.composer.text == "half"
        assert again.chat.messages == []
        assert not again.sending.waits
        await pilot.press("!")
        assert again.chat.composer.text == "half!"


async def test_quitting_saves_what_was_typed_a_moment_ago(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "SAVE_AFTER", 3600.0)
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "almost", send=False)
    assert read_draft(Home(home)).text == "almost"


async def test_a_sent_draft_is_gone_and_a_taken_out_one_too(home: Path) -> None:
    write_draft(Home(home), Draft("ready"))
    app = make_app(home, ["Fine."])
    async with running(app) as pilot:
        await pilot.press("enter")
        await idle(pilot)
        await until(pilot, lambda: not (home / "draft.json").exists())
        await write(pilot, "other", send=False)
        await until(pilot, lambda: read_draft(Home(home)).text == "other")
        app.chat.composer.clear()
        await until(pilot, lambda: not (home / "draft.json").exists())


async def test_what_was_pasted_does_not_become_typed(home: Path) -> None:
    piece = "Everything here came from somewhere else, all of it."
    app = make_app(home)
    async with running(app) as pilot:
        app.chat.composer.post_message(events.Paste(piece))
        await until(pilot, lambda: piece in app.chat.composer.value)
    assert json.loads((home / "draft.json").read_bytes())["pasted"] == [piece]
    again = make_app(home)
    async with running(again):
        assert again.chat.composer.pasted_in(again.chat.composer.value) == (piece,)


async def test_keys_that_come_early_go_behind_the_draft(home: Path) -> None:
    write_draft(Home(home), Draft("one "))
    app = make_app(home)
    await app.on_event(events.Key("t", "t"))
    async with running(app):
        assert app.chat.composer.text == "one t"


async def test_a_disk_that_refuses_does_not_disturb(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(draft, "write_draft", full)
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "text", send=False)
        await until(
            pilot, lambda: "draft: No space" in Home(home).log.read_text() if Home(home).log.exists() else False
        )
        assert app.chat.composer.text == "text"
