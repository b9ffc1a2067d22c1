"""Who answers: the first run, the choices, the test call, and what is saved."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from app_support import idle, make_app, running, screen_text, until, write
from textual import events

from memory.config import Home, LLMSettings, Secret, Settings, SiliconFlowSettings, UISettings
from memory.errors import AuthenticationFailed, BadReply, ConfigError, ModelFileError
from memory.provider import factory, model_files
from memory.provider.base import ChatModel
from memory.provider.scripted import DemoChat, HashEmbedder, ScriptedChat
from memory.settings import load_settings
from memory.store import extension
from orca_tui import settings_file
from orca_tui.app import OrcaApp
from orca_tui.provider_setup import Answer, changes_for, connect, differing, notice_about, probe, with_changes
from orca_tui.screens import model_picker
from orca_tui.screens.model_picker import ModelPicker
from orca_tui.settings_file import set_values

ENGLISH = UISettings(language="en")


def first_time(home: Path) -> OrcaApp:
    return OrcaApp(Home(home), Settings(ui=ENGLISH), embedder=HashEmbedder(), env={})


async def test_the_first_run_offers_the_choices_and_the_demo_talks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DemoChat.__init__.__kwdefaults__, "pace", 0.0)
    app = first_time(home)
    async with app.run_test(size=(110, 34)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "SiliconFlow" in screen_text(app))
        shown = screen_text(app)
        for part in ("Welcome to orca", "OpenAI", "Ollama", "Another server", "Demo", "Local model"):
            assert part in shown
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)
        assert "demo" in screen_text(app)
        await write(pilot, "hello")
        await idle(pilot)
        assert app.chat.chosen_reply() is not None
        assert not (home / "config.toml").exists()
        await app.leave(0)


async def test_a_choice_is_saved_after_it_answered(home: Path) -> None:
    app = first_time(home)
    async with app.run_test(size=(110, 34)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "Demo" in screen_text(app))
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.screen is app.chat)
        assert load_settings(Home(home), {}).llm.provider == "demo"
        await app.leave(0)
    again = OrcaApp(Home(home), load_settings(Home(home), {}), embedder=HashEmbedder(), env={})
    async with again.run_test(size=(110, 34)) as pilot:
        await until(pilot, lambda: again.chat.status.status.model == "demo")
        assert again.screen is again.chat
        await again.leave(0)


def offer(monkeypatch: pytest.MonkeyPatch, build: Callable[[Settings], ChatModel]) -> list[Settings]:
    """Build models by `build` from now on; gives the settings that were asked for."""
    asked: list[Settings] = []

    async def build_chat_model(settings: Settings, home: Home, env: Mapping[str, str] | None = None) -> ChatModel:
        asked.append(settings)
        return build(settings)

    monkeypatch.setattr(factory, "build_chat_model", build_chat_model)
    return asked


async def test_another_server_is_tested_first_and_a_refusal_saves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good: list[bool] = []
    refused = AuthenticationFailed("The key was refused.", hint="Check it.")

    def build(settings: Settings) -> ChatModel:
        return ScriptedChat(["hi"] if good else [[refused]], name="mine")

    asked = offer(monkeypatch, build)
    app = OrcaApp(Home(home), Settings(llm=LLMSettings(provider="demo"), ui=ENGLISH), embedder=HashEmbedder(), env={})
    async with app.run_test(size=(110, 34)) as pilot:
        await until(pilot, lambda: app.conversation is not None)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "Another server" in screen_text(app))
        await pilot.press("end", "up", "enter")
        for text in ("http://localhost:9/v1", "m", "sk-secret"):
            app.post_message(events.Paste(text))
            await pilot.press("enter")
        await until(pilot, lambda: "The key was refused." in screen_text(app))
        assert "Check it." in screen_text(app)
        assert "sk-secret" not in screen_text(app)
        assert not (home / "config.toml").exists()
        good.append(True)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat)
        saved = load_settings(Home(home), {}).llm
        assert (saved.provider, saved.base_url, saved.model) == ("openai", "http://localhost:9/v1", "m")
        assert saved.api_key.reveal() == "sk-secret"
        assert asked[-1].llm.api_key.reveal() == "sk-secret"
        assert (home / "config.toml").stat().st_mode & 0o077 == 0
        await until(pilot, lambda: app.chat.status.status.model == "mine")
        await app.leave(0)


async def test_a_choice_that_cannot_be_saved_leaves_the_settings_whole(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Address and key change together: the old key never meets the new address."""
    config = Home(home).config
    set_values(Home(home), {"llm.base_url": "https://old.example/v1", "llm.api_key": "old-key"})
    before = config.read_bytes()
    model = ScriptedChat(["hi"])
    offer(monkeypatch, lambda settings: model)
    written: list[bytes] = []

    def full(target: Path, old: bytes | None, new: bytes) -> bool:
        written.append(new)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(settings_file, "_replace", full)
    changes = changes_for("openai", Answer("https://new.example/v1", "m", "new-key"), load_settings(Home(home), {}))
    with pytest.raises(ConfigError, match="No space left"):
        await connect(Home(home), load_settings(Home(home), {}), changes, {})
    assert config.read_bytes() == before
    assert [b"https://new.example/v1" in text and b"new-key" in text for text in written] == [True]
    assert model.closed


async def test_the_builtin_model_is_fetched_with_progress_and_can_be_cancelled(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    def install(home: Home, progress: model_files.Progress) -> None:
        calls.append(1)
        progress(41 << 20, 93 << 20)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        progress(42 << 20, 93 << 20)  # raises when the user has cancelled
        raise ModelFileError("The index cannot be reached.", hint="Try later.")

    monkeypatch.setattr(model_files, "install_builtin", install)
    monkeypatch.setattr(model_picker, "require_runtime", lambda choice: None)
    app = first_time(home)
    async with app.run_test(size=(110, 34)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "Local model" in screen_text(app))
        await pilot.press("end", "up", "up", "enter")
        await until(pilot, lambda: "44 %" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "cancelled" in screen_text(app))
        go_on.set()
        await pilot.press("enter")
        await until(pilot, lambda: "The index cannot be reached." in screen_text(app))
        assert len(calls) == 2
        await app.leave(0)


def test_a_key_never_meets_another_host() -> None:
    before = Settings(
        llm=LLMSettings(
            provider="openai", base_url="https://one.example/v1", api_key=Secret("sk-one"), api_key_env="ONE"
        )
    )
    after = with_changes(before, changes_for("openai", Answer("https://two.example/v1", "m", ""), before))
    assert after.llm.base_url == "https://two.example/v1"
    assert not after.llm.api_key
    assert after.llm.api_key_env == ""
    ollama = with_changes(before, changes_for("ollama", Answer(model="qwen"), before))
    assert (ollama.llm.base_url, ollama.llm.api_key.reveal()) == ("", "")


def test_the_same_server_keeps_its_key() -> None:
    before = Settings(llm=LLMSettings(provider="auto", base_url="https://one.example/v1", api_key=Secret("sk-one")))
    changes = changes_for("openai", Answer(model="m"), before)
    after = with_changes(before, changes)
    assert (after.llm.base_url, after.llm.api_key.reveal()) == ("https://one.example/v1", "sk-one")
    assert differing(before, changes) == {"llm.provider": "openai", "llm.model": "m"}


def test_siliconflow_has_a_key_of_its_own() -> None:
    changes = changes_for("siliconflow", Answer(model="Qwen/Qwen3-8B", key=" sk-flow "), Settings())
    after = with_changes(Settings(), changes)
    assert after.siliconflow.api_key.reveal() == "sk-flow"
    assert not after.llm.api_key
    assert isinstance(after.siliconflow, SiliconFlowSettings)


async def test_a_model_that_says_nothing_is_not_taken() -> None:
    with pytest.raises(BadReply):
        await probe(ScriptedChat([[BadReply("nothing")]]))
    await probe(ScriptedChat(["hi"]))


def test_a_tiny_model_is_told() -> None:
    assert "F2" in notice_about(ScriptedChat(["x"], name="SmolLM2-135M", tiny=True))
    assert notice_about(ScriptedChat(["x"])) == ""


async def test_without_sqlite_vec_the_app_says_once_how_it_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "library", lambda: None)
    app = make_app(home)
    async with running(app) as pilot:
        await until(pilot, lambda: len(app._notifications) > 0)
        assert "sqlite-vec cannot be used here" in screen_text(app)
        await write(pilot, "hello")
        await idle(pilot)
        assert app.chat.chosen_reply() is not None
        assert len(app._notifications) == 1
