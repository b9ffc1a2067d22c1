"""A disk that is full, and a home that cannot be written to: told for as long as it is so, and nothing is half."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from homes import filled, write_config
from shim import Shim
from textual.pilot import Pilot

from memory.config import Home, LLMSettings, Settings, UISettings
from memory.errors import BackupError, StoreFullError
from memory.provider.scripted import HashEmbedder, ScriptedChat
from memory.store import open_store
from memory.store.backup import back_up
from memory.types import Message
from orca_tui.app import OrcaApp
from orca_tui.rescue import write_rescue

SETTINGS = Settings(llm=LLMSettings(provider="demo"), ui=UISettings(language="en"))
LIMIT = 2000
"""Turns of the event loop until a condition that does not come about fails the test."""


async def until(pilot: Pilot[object], holds: Any) -> None:
    for _ in range(LIMIT):
        if holds():
            return
        await pilot.pause()
    raise AssertionError("it did not come about")


def screen_text(app: OrcaApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def test_the_app_says_so_while_the_disk_is_full_and_writes_elsewhere(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
    monkeypatch.setattr("memory.turns.unsaved.FIRST_WAIT", 0.001)
    monkeypatch.setattr("memory.turns.unsaved.LONGEST_WAIT", 0.001)
    app = OrcaApp(Home(home), SETTINGS, chat=ScriptedChat(["All of the answer."]), embedder=HashEmbedder(), env={})
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.conversation is not None and app.core is not None)
        assert app.core is not None
        store, full = app.core.store, True
        real = store.update_message

        def maybe(*args: Any, **kwargs: Any) -> Message:
            if full:
                raise StoreFullError("The disk is full.", hint="Make room.")
            return real(*args, **kwargs)

        monkeypatch.setattr(store, "update_message", maybe)
        app.chat.composer.insert("Answer into a full disk.")
        await pilot.press("enter")
        await until(pilot, lambda: "✗ not saved: 1" in screen_text(app))
        assert "/rescue PATH" in screen_text(app)
        written = tmp_path / "elsewhere.md"
        await app.run_command("rescue", str(written))
        assert "Answer into a full disk." in written.read_text("utf-8")
        assert "All of the answer." in written.read_text("utf-8")
        assert stat.S_IMODE(written.stat().st_mode) == 0o600
        await app.run_command("backup", str(tmp_path))
        await until(pilot, lambda: "Backed up and verified" in " ".join(told.message for told in app._notifications))
        full = False
        await until(pilot, lambda: "not saved" not in screen_text(app))
        assert app.core.unsaved == 0
        await app.leave(0)
    with closing(open_store(home / "memory.db")) as store:
        assert store.path(store.sessions()[0].id)[-1].content == "All of the answer."


async def test_what_is_lost_at_the_end_shows_in_the_exit_code(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
    app = OrcaApp(Home(home), SETTINGS, chat=ScriptedChat(["All of the answer."]), embedder=HashEmbedder(), env={})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.conversation is not None and app.core is not None)
        assert app.core is not None

        def refuse(*_args: Any, **_kwargs: Any) -> Message:
            raise StoreFullError("The disk is full.", hint="Make room.")

        monkeypatch.setattr(app.core.store, "update_message", refuse)
        app.chat.composer.insert("Answer into a full disk.")
        await pilot.press("enter")
        await until(pilot, lambda: app.core is not None and app.core.unsaved)
        await app.leave(0)
    assert app.return_code == 1


def test_a_rescue_replaces_nothing_and_says_why_it_failed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(BackupError, match="cannot be written"):
        write_rescue(tmp_path / "mine", [], [])
    assert (tmp_path / "mine").read_text() == "mine"
    with pytest.raises(BackupError, match="cannot be written"):
        write_rescue(tmp_path / "missing" / "file", [], [])


def test_a_backup_that_does_not_fit_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_store(home / "memory.db")) as store:
        store.add_message(store.create_session().id, "user", "hello")
    monkeypatch.setattr("memory.store.backup.ROOM", 1e12)
    with pytest.raises(BackupError, match="too little room"):
        back_up(home / "memory.db", home / "copy.db")
    assert not (home / "copy.db").exists()


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that everybody may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


COMMANDS = {
    "sessions": ("sessions", "list"),
    "ask": ("ask", "hello"),
    "remember": ("memory", "add", "The anchor weighs nine kilograms"),
    "backup": ("backup",),
    "restore": ("restore", "memory.db.copy"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("what", ["home", "file"])
def test_what_cannot_be_written_to_is_told_and_left_as_it_is(
    place: Path, shim: Shim, model_url: str, command: str, what: str
) -> None:
    home = place / "home"
    write_config(home, model_url)
    filled(home)
    shutil.copy(home / "memory.db", home / "memory.db.copy")
    as_nobody = os.geteuid() == 0
    for path in (home, *home.iterdir()):
        if as_nobody:
            os.chown(path, 65534, 65534)
        path.chmod(0o500 if path == home and what == "home" else 0o400 if path.suffix == ".db" else path.stat().st_mode)
    before = contents(home)
    done = shim.run(home, COMMANDS[command], nobody=as_nobody)
    home.chmod(0o700)
    assert "Traceback" not in done.err
    assert "unexpected error" not in done.err, (home / "orca.log").read_text() if (home / "orca.log").exists() else ""
    if what == "home" or command not in ("backup", "restore"):
        assert str(home) in done.err
    assert contents(home)["memory.db"] == before["memory.db"] or command == "restore"
    if what == "home":
        assert done.code == 1, done.err
        assert contents(home) == before


def contents(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
