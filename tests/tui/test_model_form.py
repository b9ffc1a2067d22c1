"""The form of the model picker, and fetching the built-in model: one try at a time."""

import asyncio
from pathlib import Path

import pytest
from app_support import make_app, running, screen_text, until

from memory.config import Home
from memory.errors import ModelFileError
from memory.provider import model_files
from orca_tui.screens import model_picker
from orca_tui.screens.model_picker import ModelPicker


async def test_the_form_asks_for_the_key_where_one_is(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "SiliconFlow" in screen_text(app))
        choices = [choice.kind for choice in app.screen._choices]  # type: ignore[attr-defined]
        await pilot.press("home", *["down"] * choices.index("siliconflow"), "enter")
        await until(pilot, lambda: "Paste the key below" in screen_text(app))
        assert "SILICONFLOW_API_KEY" not in screen_text(app)


async def test_a_cancelled_download_ends_before_the_next_begins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, go_on, steps = asyncio.get_running_loop(), asyncio.Event(), list[str]()

    def install(home: Home, progress: model_files.Progress) -> None:
        steps.append("begin")
        progress(1, 93)
        try:
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
            progress(2, 93)
        except ModelFileError:
            steps.append("cancelled")
            raise
        raise ModelFileError("The index cannot be reached.")

    monkeypatch.setattr(model_files, "install_builtin", install)
    monkeypatch.setattr(model_picker, "require_runtime", lambda choice: None)
    app = make_app(home)
    async with running(app) as pilot:
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "Local model" in screen_text(app))
        choices = [choice.kind for choice in app.screen._choices]  # type: ignore[attr-defined]
        await pilot.press("home", *["down"] * choices.index("local"), "enter")
        await until(pilot, lambda: steps == ["begin"])
        await pilot.press("escape", "enter")
        go_on.set()
        await until(pilot, lambda: "The index cannot be reached." in screen_text(app))
        assert steps == ["begin", "cancelled", "begin"]
