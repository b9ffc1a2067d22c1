"""The screen around the talk: commands, keys, side columns, sizes, themes, palette, language."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from app_support import SETTINGS, idle, make_app, rest, running, screen_text, until, write

from memory.config import LLMSettings, Settings, UISettings
from memory.errors import StoreOpenError
from orca_tui.commands import COMMANDS
from orca_tui.screens.choose import Choose
from orca_tui.screens.model_picker import ModelPicker
from orca_tui.screens.page import Page
from orca_tui.screens.search import SearchScreen
from orca_tui.themes import VARIABLES
from orca_tui.widgets.memory_sidebar import MemorySidebar
from orca_tui.widgets.session_list import SessionList


async def test_an_empty_session_greets_and_names_the_keys(home: Path) -> None:
    app = make_app(home)
    async with running(app):
        shown = screen_text(app)
        for part in ("o r c a", "F2", "F1", "Send a message"):
            assert part in shown


async def test_help_lists_every_command(home: Path) -> None:
    app = make_app(home)
    async with running(app, (100, 120)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Page))
        shown = screen_text(app)
        assert all(f"/{command.name}" in shown for command in COMMANDS)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)


async def test_a_slash_command_runs_and_leaves_the_composer_empty(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "/help ")
        await until(pilot, lambda: isinstance(app.screen, Page))
        assert app.chat.composer.text == ""


async def test_an_unknown_command_stays_and_says_so(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "/nonsense")
        await until(pilot, lambda: "nonsense" in app.chat.hint_line.remark)
        assert app.chat.composer.value == "/nonsense"
        await write(pilot, "x", send=False)
        await until(pilot, lambda: not app.chat.hint_line.remark)


async def test_text_that_begins_with_a_slash_can_be_sent(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "//help is a command")
        await idle(pilot)
        assert app.chat.messages[0].content == "/help is a command"


@pytest.mark.parametrize(
    ("width", "panel", "sidebar"), [(200, True, True), (110, False, True), (80, False, False), (40, False, False)]
)
async def test_side_columns_have_a_place_when_there_is_room(home: Path, width: int, panel: bool, sidebar: bool) -> None:
    app = make_app(home)
    async with running(app, (width, 24)):
        assert app.chat.query_one("#panel").display is panel
        assert app.chat.query_one("#sidebar").display is sidebar
        assert app.chat.composer.size.width > 20


async def test_the_sidebar_lies_over_a_narrow_chat_until_esc(home: Path) -> None:
    app = make_app(home)
    async with running(app, (80, 24)) as pilot:
        before = app.chat.composer.size.width
        await pilot.press("f3")
        await until(pilot, lambda: app.chat.query_one("#sidebar").display)
        assert app.chat.composer.size.width == before
        assert "Memory" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.chat.query_one("#sidebar").display)


async def test_the_columns_can_be_put_away_in_a_wide_chat(home: Path) -> None:
    app = make_app(home)
    async with running(app, (160, 30)) as pilot:
        await pilot.press("f3")
        await pilot.press("f4")
        await until(pilot, lambda: not app.chat.query_one("#sidebar").display)
        assert not app.chat.query_one("#panel").display


async def test_a_session_is_chosen_from_the_list(home: Path) -> None:
    app = make_app(home, ["Answer."])
    async with running(app, (80, 24)) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "Answer." not in screen_text(app))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.focused, SessionList))
        await pilot.press("enter")
        await until(pilot, lambda: "Answer." in screen_text(app))
        assert not app.chat.query_one("#panel").display


async def test_the_memory_shows_the_turn(home: Path) -> None:
    app = make_app(home, ["The answer."])
    async with running(app, (120, 30)) as pilot:
        await write(pilot, "A question of mine")
        await idle(pilot)
        sidebar = app.chat.query_one(MemorySidebar)
        await until(pilot, lambda: sidebar._report is not None and len(sidebar._report.tiers[0].items) == 2)
        assert screen_text(app).count("A question of mine") >= 2
        assert "Given to the newest reply" in screen_text(app)


async def test_the_memory_shows_what_the_newest_reply_was_given(home: Path) -> None:
    app = make_app(home, ["Noted.", "Blue.", "Bye."])
    async with running(app, (140, 40)) as pilot:
        assert "For the next reply" in screen_text(app)
        await write(pilot, "The door of my workshop is blue")
        await idle(pilot)
        await rest(pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "For the next reply" in screen_text(app))
        await write(pilot, "Which colour has the door of my workshop?")
        await idle(pilot)
        await rest(pilot)
        shown = screen_text(app)
        assert "Given to the newest reply" in shown
        assert "from “" in shown
        session = app.chat.target.session_id
    again = make_app(home, session_id=session)
    async with running(again, (140, 40)):
        await until(pilot, lambda: "from “" in screen_text(again))


async def test_a_memory_search_shows_hits(home: Path) -> None:
    app = make_app(home, ["Noted."])
    async with running(app, (100, 40)) as pilot:
        await write(pilot, "My bicycle is green")
        await idle(pilot)
        await write(pilot, "/memory bicycle")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await until(pilot, lambda: "My bicycle is green" in screen_text(app))


@pytest.mark.parametrize("size", [(1, 1), (39, 9), (40, 10), (500, 200)])
async def test_it_survives_any_size(home: Path, size: tuple[int, int]) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await write(pilot, "draft", send=False)
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: app.size == size)
        small = size[0] < 40 or size[1] < 10
        assert ("Too small" in screen_text(app)) == (small and size != (1, 1))
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: "draft" in screen_text(app))
        assert app.focused is app.chat.composer


async def test_a_theme_is_chosen_with_a_preview_and_saved(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await pilot.press("f6")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        started = app.theme
        await pilot.press("down")
        await until(pilot, lambda: app.theme != started)
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == started)
        await write(pilot, "/theme abyss")
        await until(pilot, lambda: app.theme == "abyss" and (home / "config.toml").exists())
        await until(pilot, lambda: "abyss" in (home / "config.toml").read_text("utf-8"))


async def test_the_palette_runs_a_command(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "Find a command" in screen_text(app))
        await pilot.press(*"keys", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Page))


async def test_keys_can_be_changed_and_problems_are_told(home: Path) -> None:
    settings = replace(SETTINGS, keys={"help": "f5", "nonsense": "f9"})
    app = make_app(home, settings=settings, warnings=("config.toml: unknown key [/b]",))
    async with running(app) as pilot:
        await until(pilot, lambda: "unknown key [/b]" in screen_text(app) and "nonsense" in screen_text(app))
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, Page))


async def test_commands_of_the_chat_rest_while_a_page_is_open(home: Path) -> None:
    app = make_app(home, ["Answer."])
    async with running(app) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Page))
        await pilot.press("ctrl+n", "escape")
        await until(pilot, lambda: app.screen is app.chat)
        assert "Answer." in screen_text(app)


async def test_the_screen_speaks_chinese(home: Path) -> None:
    settings = Settings(llm=LLMSettings(provider="demo"), ui=UISettings(language="zh"))
    app = make_app(home, ["你好，很高兴认识你。👩‍👩‍👧"], settings=settings)
    async with running(app) as pilot:
        await write(pilot, "你好")
        await idle(pilot)
        assert "很高兴认识你" in screen_text(app)


async def test_what_is_sent_before_the_store_is_open_is_sent_then(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Event()
    app = make_app(home, ["Late but there."])
    start = app._startup.run

    async def later() -> None:
        await gate.wait()
        await start()

    monkeypatch.setattr(app._startup, "run", later)
    async with app.run_test(size=(100, 30)) as pilot:
        await write(pilot, "early bird")
        await until(pilot, lambda: "starting" in app.chat.hint_line.remark)
        assert app.chat.composer.value == "early bird"
        gate.set()
        await until(pilot, lambda: "Late but there." in screen_text(app))
        assert app.chat.composer.text == ""


async def test_a_store_that_cannot_be_opened_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home)

    def broken() -> None:
        raise StoreOpenError("memory.db is damaged.", hint="Move it away.")

    monkeypatch.setattr(app._startup, "_open_core", broken)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "memory.db is damaged." in screen_text(app))
        await write(pilot, "typed all the same")
        assert app.chat.composer.value == "typed all the same"


async def test_f2_opens_the_choices(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ModelPicker) and "SiliconFlow" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)


async def test_help_goes_on_below_where_it_began(home: Path) -> None:
    app = make_app(home)
    async with running(app, (60, 120)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Page) and "/help" in screen_text(app))
        lines = screen_text(app).splitlines()
        wrapped = next(at for at, line in enumerate(lines) if "/incognito" in line)
        column = lines[wrapped].index("Begin")
        assert lines[wrapped + 1][:column].strip() == ""
        assert lines[wrapped + 1][column] != " "


async def test_typing_goes_on_after_a_session_was_opened(home: Path) -> None:
    app = make_app(home, ["Answer."])
    async with running(app, (140, 30)) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "Answer." not in screen_text(app))
        await pilot.press("ctrl+o", "enter")
        await until(pilot, lambda: "Answer." in screen_text(app))
        await pilot.press("h", "i")
        await until(pilot, lambda: app.chat.composer.text == "hi")


async def test_what_is_typed_in_the_transcript_goes_to_the_composer(home: Path) -> None:
    app = make_app(home, ["Answer."])
    async with running(app) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        app.chat.transcript.focus()
        await pilot.press("j", "k", "s", "o")
        await until(pilot, lambda: app.chat.composer.text == "so")


@pytest.mark.parametrize(("key", "name"), [("f3", "sidebar"), ("f4", "panel")])
async def test_an_overlay_leaves_the_composer_and_the_status_line_free(home: Path, key: str, name: str) -> None:
    app = make_app(home)
    async with running(app, (80, 24)) as pilot:
        column = app.chat.query_one(f"#{name}")
        await pilot.press(key)
        await until(pilot, lambda: column.display and column.region.bottom == app.chat.composer.region.y)
        await write(pilot, "one\ntwo\nthree", send=False)
        await until(pilot, lambda: column.region.bottom == app.chat.composer.region.y < 18)
        await pilot.resize_terminal(160, 30)
        await until(pilot, lambda: column.region.bottom == app.chat.composer.region.bottom)


async def test_a_notice_covers_neither_composer_nor_status_line(home: Path) -> None:
    app = make_app(home)
    async with running(app, (80, 24)) as pilot:
        app.notify("a notice\nof two lines", markup=False)
        await until(pilot, lambda: "a notice" in screen_text(app))
        at = next(y for y, line in enumerate(screen_text(app).splitlines()) if "a notice" in line)
        assert at < 4


async def test_what_is_remembered_is_told(home: Path) -> None:
    app = make_app(home, ["Noted."])
    async with running(app, (120, 30)) as pilot:
        await write(pilot, "Remember that my [/b] key\x1b[2J lies under the mat")
        await until(pilot, lambda: "Remembered: " in screen_text(app))
        assert "[/b]" in screen_text(app)
        await idle(pilot)


async def test_before_it_is_known_nothing_is_said_of_models_and_numbers(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(home)

    async def never() -> None:
        app.warn(app.keymap.unknown(await app.chat.furnish()))

    monkeypatch.setattr(app._startup, "run", never)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "starting…" in screen_text(app) and "Memory" in screen_text(app))
        assert not any(part in screen_text(app) for part in ("no model", "0 / 0", "Nothing yet"))


async def test_the_first_hints_name_the_memory(home: Path) -> None:
    app = make_app(home)
    async with running(app, (80, 24)):
        assert "F3 memory" in screen_text(app)
        assert "what it remembers" in screen_text(app)


async def test_a_light_theme_of_textual_gets_colours_of_its_own(home: Path) -> None:
    app = make_app(home, settings=replace(SETTINGS, ui=UISettings(language="en", theme="textual-light")))
    async with running(app):
        assert app.theme_variables["user-background"] != VARIABLES["user-background"]
