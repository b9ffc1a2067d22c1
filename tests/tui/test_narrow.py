"""Terminals that are too small to show anything: the app goes on, and is whole again when there is room."""

from pathlib import Path

import pytest
from app_support import make_app, running, screen_text, until, write
from hosts import Host
from textual.pilot import Pilot

from memory.provider.scripted import ScriptedChat
from orca_tui.widgets.composer import Composer
from orca_tui.widgets.safe_editor import SafeEditor

SIZES = [(1, 1), (2, 2), (3, 1), (4, 8), (5, 3), (6, 2), (8, 3)]


async def resized(pilot: Pilot[object]) -> None:
    for size in [*SIZES, *reversed(SIZES)]:
        await pilot.resize_terminal(*size)
        await pilot.pause()


@pytest.mark.parametrize("text", ["", "some words", "多字的一行\n👨‍👩‍👧‍👦 and\n\ttabs " + "x" * 60])
async def test_the_editor_lives_in_any_size(text: str) -> None:
    editor = Composer()
    app = Host(editor)
    async with app.run_test(size=(60, 20)) as pilot:
        editor.load_text(text)
        await resized(pilot)
        for key in ("a", "backspace", "home", "up", "down", "end", "pagedown", "shift+left", "right"):
            await pilot.press(key)
        await resized(pilot)
        await pilot.resize_terminal(60, 20)
        assert editor.value.strip() == text.strip()


async def test_an_editor_without_any_room_draws_nothing() -> None:
    editor = SafeEditor(placeholder="Write here")
    app = Host(editor)
    async with app.run_test(size=(20, 5)) as pilot:
        for width, height in ((0, 3), (0, 0), (1, 0), (1, 1)):
            editor.styles.width, editor.styles.height = width, height
            await pilot.pause()
            assert all(editor.render_line(y).cell_length <= 1 for y in range(3))


async def test_the_app_lives_in_any_size_while_a_reply_streams(tmp_path: Path) -> None:
    parts = [f"- item {n} **bold** of the reply\n" for n in range(200)]
    app = make_app(tmp_path, chat=ScriptedChat([parts], name="scripted"))
    async with running(app) as pilot:
        await write(pilot, "go")
        await resized(pilot)
        app.chat.composer.insert("a draft 草稿")
        await resized(pilot)
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: "item 199" in screen_text(app))
        assert "a draft 草稿" in screen_text(app)
