"""The settings screen: fields from the schema, written key by key, in force at once; errors at the field."""

import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from app_support import make_app, running, screen_text, until
from textual.pilot import Pilot

from memory.config import AgentSettings, Home, MCPSettings, PersonaSettings, Settings
from memory.settings import load_settings
from memory.settings.schema import is_mapping
from orca_tui.app import OrcaApp
from orca_tui.i18n import set_language
from orca_tui.screens.settings import SettingsScreen
from orca_tui.settings_fields import Field, pattern_of
from orca_tui.settings_pages import PAGES, items
from orca_tui.settings_words import WORDS

CONFIG = '# mine\n[llm]\nprovider = "demo" # to look around\nmodel = "one"\n\n[ui]\nlanguage = "en"\n'


@pytest.fixture(autouse=True)
def _english() -> Any:
    yield
    set_language("en")


@asynccontextmanager
async def opened(
    home: Path, page: str = "providers", *, config: str = CONFIG, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[Pilot[object], OrcaApp, SettingsScreen]]:
    """The app with a settings file, its settings open at a page with the focus in the fields."""
    home.mkdir(mode=0o700, exist_ok=True)  # noqa: ASYNC240 - before anything runs
    (home / "config.toml").write_text(config, "utf-8")
    (home / "config.toml").chmod(0o600)
    app = make_app(home, settings=load_settings(Home(home), {}))
    async with running(app, size) as pilot:
        await app.run_command("settings", page)
        screen = await shown(pilot)
        screen.fields.focus()
        await pilot.pause()
        yield pilot, app, screen


async def shown(pilot: Pilot[object]) -> SettingsScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, SettingsScreen) and pilot.app.screen.is_mounted)
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    await until(pilot, lambda: screen.desk.is_set(("llm",)) or not (screen.app.home.config).exists())
    return screen


def said(screen: SettingsScreen) -> str:
    return str(screen.about.content)


def in_file(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "config.toml").read_text("utf-8"))


async def go_to(pilot: Pilot[object], screen: SettingsScreen, *path: str) -> None:
    screen.fields.move_to(path)
    await pilot.pause()
    assert screen.fields.item is not None
    assert screen.fields.item.path == path or path[:-1] == screen.fields.item.path


async def fill(pilot: Pilot[object], screen: SettingsScreen, text: str) -> None:
    await pilot.press("enter")
    screen.field_input.value = text
    await pilot.press("enter")
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def test_every_setting_has_a_field_and_words() -> None:
    everything = Settings(personas={"x": PersonaSettings()}, agents={"x": AgentSettings()}, mcp={"x": MCPSettings()})
    found = {pattern_of(one.path) for page in PAGES for one in items(page, everything) if isinstance(one, Field)}
    known = set(_keys(Settings, ""))
    assert found == {name for name in known if not name.endswith(".*")}
    assert known - set(WORDS) == set()
    assert set(WORDS) - known == set()


def _keys(kind: type, start: str) -> list[str]:
    found = []
    for one in fields(kind):  # type: ignore[arg-type]
        hint, name = get_type_hints(kind)[one.name], f"{start}{one.name}"
        if name == "keys":
            continue
        if is_mapping(hint):
            inner = get_args(hint)[1]
            found += _keys(inner, f"{name}.*.") if is_dataclass(inner) else [f"{name}.*"]
        elif is_dataclass(hint):
            found += _keys(hint, f"{name}.")  # type: ignore[arg-type]
        else:
            found.append(name)
    return found


async def test_a_value_is_written_alone_and_holds_at_once(home: Path) -> None:
    async with opened(home, "memory") as (pilot, app, screen):
        await go_to(pilot, screen, "memory", "long_term_top_k")
        await fill(pilot, screen, "9")
        assert said(screen) == "Saved."
        assert (home / "config.toml").read_text("utf-8").startswith(CONFIG)
        assert in_file(home)["memory"] == {"long_term_top_k": 9}
        assert app.settings.memory.long_term_top_k == 9
        assert app.core is not None
        assert app.core.settings.memory.long_term_top_k == 9


async def test_what_is_not_allowed_is_told_at_the_field(home: Path) -> None:
    async with opened(home, "memory") as (pilot, _app, screen):
        await go_to(pilot, screen, "memory", "long_term_top_k")
        await fill(pilot, screen, "21")
        assert said(screen) == "It must be a whole number from 1 to 20."
        assert screen.has_class("-editing")
        await pilot.press("escape")
        await go_to(pilot, screen, "memory", "working_share")
        await fill(pilot, screen, "0.9")
        assert "must not be more than 1" in said(screen)
        assert (home / "config.toml").read_text("utf-8") == CONFIG


async def test_a_share_that_is_typed_is_drawn(home: Path) -> None:
    async with opened(home, "memory") as (pilot, app, screen):
        await go_to(pilot, screen, "memory", "working_share")
        assert "50%" in screen_text(app)
        await pilot.press("enter")
        screen.field_input.value = "0.25"
        await pilot.pause()
        assert "25%" in screen_text(app)
        await pilot.press("escape")
        assert "50%" in screen_text(app)


async def test_arrows_step_and_space_switches(home: Path) -> None:
    async with opened(home, "memory") as (pilot, app, screen):
        await go_to(pilot, screen, "memory", "long_term_share")
        await pilot.press("left")
        await app.workers.wait_for_complete()
        assert in_file(home)["memory"]["long_term_share"] == 0.15
        await go_to(pilot, screen, "memory", "enabled")
        await pilot.press("space")
        await app.workers.wait_for_complete()
        assert app.settings.memory.enabled is False
        await pilot.press("delete")
        await app.workers.wait_for_complete()
        assert in_file(home)["memory"] == {"long_term_share": 0.15}


async def test_another_programs_changes_are_kept(home: Path) -> None:
    async with opened(home, "memory") as (pilot, app, screen):
        theirs = CONFIG.replace('model = "one"', 'model = "theirs"')
        (home / "config.toml").write_text(theirs, "utf-8")
        await go_to(pilot, screen, "memory", "short_term_top_k")
        await fill(pilot, screen, "2")
        assert in_file(home) | {} == {**tomllib.loads(theirs), "memory": {"short_term_top_k": 2}}
        assert app.settings.llm.model == "theirs"


async def test_a_key_that_both_changed_is_told(home: Path) -> None:
    async with opened(home, "providers") as (pilot, _app, screen):
        await go_to(pilot, screen, "llm", "model")
        await pilot.press("enter")
        (home / "config.toml").write_text(CONFIG.replace('"one"', '"theirs"'), "utf-8")
        screen.field_input.value = "mine"
        await pilot.press("enter")
        await pilot.app.workers.wait_for_complete()
        assert "it is theirs now" in said(screen)
        assert in_file(home)["llm"]["model"] == "theirs"
        await pilot.press("enter")
        await pilot.app.workers.wait_for_complete()
        assert in_file(home)["llm"]["model"] == "mine"


async def test_a_key_is_hidden_and_leaves_no_trace(home: Path) -> None:
    async with opened(home, "providers") as (pilot, app, screen):
        await go_to(pilot, screen, "llm", "api_key")
        await pilot.press("enter", *"sk-secret")
        assert "sk-secret" not in screen_text(app)
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "sk-secret" not in screen_text(app)
        assert "••••••••" in screen_text(app)
        assert in_file(home)["llm"]["api_key"] == "sk-secret"
        await pilot.press("enter")
        assert screen.field_input.value == ""
        await pilot.press("enter")
        assert in_file(home)["llm"]["api_key"] == "sk-secret"


async def test_the_test_really_asks(home: Path) -> None:
    async with opened(home, "providers") as (pilot, app, screen):
        await go_to(pilot, screen, "llm", "test")
        await pilot.press("enter")
        await until(pilot, lambda: said(screen).startswith("✓ demo answers"))
        await go_to(pilot, screen, "llm", "provider")
        await app.run_command("settings")
    broken = CONFIG.replace('"demo"', '"openai"') + '[embedding]\nprovider = "off"\n'
    broken = broken.replace('model = "one"', 'model = "one"\nbase_url = "http://127.0.0.1:9/v1"\nmax_retries = 0')
    async with opened(home, "providers", config=broken) as (pilot, _app, screen):
        await go_to(pilot, screen, "llm", "test")
        await pilot.press("enter")
        await until(pilot, lambda: said(screen).startswith("✗"))
        assert "127.0.0.1:9" in said(screen)


async def test_theme_is_previewed_and_language_changes_at_once(home: Path) -> None:
    async with opened(home, "interface") as (pilot, app, screen):
        await go_to(pilot, screen, "ui", "theme")
        before = app.theme
        await pilot.press("enter", "down")
        await until(pilot, lambda: app.theme != before)
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == before)
        await pilot.press("right")
        await until(pilot, lambda: app.theme != before)
        await go_to(pilot, screen, "ui", "language")
        await pilot.press("right")
        await until(pilot, lambda: "设置" in screen_text(app))
        assert in_file(home)["ui"]["language"] == "zh"


async def test_a_key_is_pressed_and_a_clash_is_told(home: Path) -> None:
    async with opened(home, "keys") as (pilot, app, screen):
        await go_to(pilot, screen, "keys", "doctor")
        await pilot.press("enter", "ctrl+n")
        await until(pilot, lambda: "new: Begin a new session" in screen_text(app))
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        assert in_file(home)["keys"] == {"doctor": "ctrl+n", "new": ""}
        assert app.keymap.first("doctor") == "ctrl+n"
        assert app.keymap.first("new") == ""
        await pilot.press("delete")
        await app.workers.wait_for_complete()
        assert in_file(home)["keys"] == {"new": ""}
        await go_to(pilot, screen, "keys", "memory_trash")
        await pilot.press("plus", "f1", "enter")
        await app.workers.wait_for_complete()
        assert app.keymap.others["memory_trash"] == "d,f1"


async def test_sections_are_added_and_deleted(home: Path) -> None:
    async with opened(home, "personas") as (pilot, app, screen):
        await pilot.press("enter")
        await pilot.press(*"a b", "enter")
        await until(pilot, lambda: "Letters, digits" in screen_text(app))
        await pilot.press("backspace", "backspace", "enter")
        await app.workers.wait_for_complete()
        assert in_file(home)["personas"] == {"a": {"prompt": ""}}
        await go_to(pilot, screen, "personas", "a", "prompt")
        await pilot.press("enter", *"Be brief.", "ctrl+s")
        await app.workers.wait_for_complete()
        assert app.settings.personas["a"].prompt == "Be brief."
        await go_to(pilot, screen, "personas", "a", "delete")
        await pilot.press("enter", "y")
        await app.workers.wait_for_complete()
        assert "a" not in in_file(home).get("personas", {})


async def test_a_broken_file_is_told_and_never_written_over(home: Path) -> None:
    async with opened(home, "memory") as (pilot, _app, screen):
        (home / "config.toml").write_text("[llm\n", "utf-8")
        await go_to(pilot, screen, "memory", "short_term_top_k")
        await fill(pilot, screen, "2")
        assert "config.toml line 1" in said(screen)
        assert (home / "config.toml").read_text("utf-8") == "[llm\n"


async def test_a_variable_that_wins_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home, "providers") as (pilot, _app, screen):
        screen.desk._env = {"ORCA_MODEL": "from-outside"}
        await go_to(pilot, screen, "llm", "model")
        assert "from the variable ORCA_MODEL" in said(screen)


@pytest.mark.parametrize("size", [(40, 12), (200, 60)])
async def test_every_page_is_drawn_in_every_size(home: Path, size: tuple[int, int]) -> None:
    async with opened(home, "providers", size=size) as (pilot, app, screen):
        await pilot.press("escape")
        for page in PAGES:
            screen.pages.move_to(page)
            await until(pilot, lambda page=page: screen.page == page)  # type: ignore[misc]
            await pilot.press("enter")
            await pilot.press("escape")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)


async def test_foreign_text_in_the_file_is_only_text(home: Path) -> None:
    config = CONFIG.replace('"one"', '"\\u001b[2J[/x]\\u202e"')
    async with opened(home, "providers", config=config) as (_pilot, app, _screen):
        assert "\x1b" not in screen_text(app)
        assert "\u202e" not in screen_text(app)
        assert "[/x]" in screen_text(app)


async def test_a_click_and_the_filter_find_a_field(home: Path) -> None:
    found: Callable[[SettingsScreen], Any] = lambda screen: screen.fields.item  # noqa: E731
    async with opened(home, "memory") as (pilot, app, screen):
        await pilot.press("slash", *"top_k", "enter")
        await pilot.press("home")
        await pilot.pause()
        assert found(screen).path == ("memory", "short_term_top_k")
        await pilot.click("#settings-fields", offset=(4, 2))
        await pilot.pause()
        assert screen.has_class("-editing")
        await pilot.press("escape", "escape")
        assert "Working memory" in screen_text(app)
