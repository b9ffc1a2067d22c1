"""The question before a tool runs: seen whole, answered by keys and mouse, never by what was typed before it."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from agent_app import agent_app, agent_settings
from app_support import idle, make_app, running, screen_text, until, write
from textual import events

from memory.config import Home, Settings
from memory.settings import load_settings
from memory.tools.base import Decision, PermissionRequest
from orca_tui.app import OrcaApp
from orca_tui.i18n import set_language
from orca_tui.screens import permission
from orca_tui.screens.permission import PermissionScreen
from orca_tui.widgets.call_view import CallView
from tests.memory.agent_support import CALLS, MAIN, agents, call

ALL: tuple[Decision, ...] = ("once", "session", "always", "deny")
DATA = Path(__file__).parents[1] / "data"
ASKED = PermissionRequest("files__write", "notes.md", '{\n  "path": "notes.md"\n}', "Why it is asked.", ALL)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A key counts as soon as the question is drawn."""
    monkeypatch.setattr(permission, "PAUSE", 0.0)
    yield
    set_language("en")


def ask(app: OrcaApp, request: PermissionRequest = ASKED) -> "asyncio.Task[Decision]":
    assert app.core is not None
    return asyncio.ensure_future(app.core.equipment.gate.ask(request))


def with_roots(home: Path) -> Settings:
    """Settings that stand in the file, with a directory that may be looked into."""
    home.mkdir(exist_ok=True)
    text = f"[tools]\nroots = [{json.dumps(str(home.parent))}]\n[llm]\nprovider = 'demo'\n[ui]\nlanguage = 'en'\n"
    (home / "config.toml").write_text(text, "utf-8")
    return load_settings(Home(home), {})


async def shown(pilot, app: OrcaApp) -> PermissionScreen:
    await until(pilot, lambda: isinstance(app.screen, PermissionScreen) and app.screen._quiet_since is not None)
    assert isinstance(app.screen, PermissionScreen)
    return app.screen


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["o"], "once"),
        (["s"], "session"),
        (["a"], "always"),
        (["d"], "deny"),
        (["escape"], "deny"),
        (["enter"], "deny"),
        (["up", "enter"], "always"),
        (["up", "up", "enter"], "session"),
        (["k", "k", "k", "enter"], "once"),
        (["x", "7", "enter"], "deny"),
    ],
)
async def test_keys_answer_and_deny_is_under_the_cursor(home: Path, keys: list[str], answer: Decision) -> None:
    app = make_app(home)
    async with running(app, (80, 24)) as pilot:
        asked = ask(app)
        await shown(pilot, app)
        text = screen_text(app)
        assert "files__write" in text
        assert "notes.md" in text
        assert "Why it is asked." in text
        await pilot.press(*keys)
        assert await asked == answer
        await until(pilot, lambda: app.screen is app.chat)


async def test_the_mouse_answers(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        asked = ask(app)
        await shown(pilot, app)
        await pilot.click("#permission-answers", offset=(3, 0))
        assert await asked == "once"


async def test_what_was_typed_before_it_is_no_answer_and_goes_to_the_message(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        early = [events.Key("o", "o"), events.Key("a", "a"), events.Key("enter", "\r"), events.Key("escape", None)]
        asked = ask(app)
        screen = await shown(pilot, app)
        for key in early:  # made before it was drawn
            app.post_message(key)
        await pilot.pause()
        assert not asked.done()
        assert app.screen is screen
        await until(pilot, lambda: app.chat.composer.text == "oa")
        assert "stop for a moment" in screen_text(app)
        await pilot.press("o")
        assert await asked == "once"
        assert app.chat.composer.text == "oa"


async def test_a_key_counts_after_a_pause_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission, "PAUSE", 10.0)
    app = make_app(home)
    async with running(app) as pilot:
        asked = ask(app)
        screen = await shown(pilot, app)
        since = screen._quiet_since or 0.0
        for after, heard in ((9.0, False), (15.0, False), (26.0, True)):
            key = events.Key("o", "o")
            key.time = since + after
            assert screen.hears(key) is heard
        asked.cancel()


async def test_the_keys_are_told_again_once_one_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permission, "PAUSE", 10.0)
    app = make_app(home)
    async with running(app) as pilot:
        asked = ask(app)
        screen = await shown(pilot, app)
        key = events.Key("x", "x")
        key.time = screen._quiet_since or 0.0
        monkeypatch.setattr(permission, "WARNED", 0.05)
        assert screen.take_early(key)
        await until(pilot, lambda: "stop for a moment" not in screen_text(app) and "Esc denies" in screen_text(app))
        asked.cancel()


async def test_only_what_is_offered_can_be_answered(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        asked = ask(app, replace(ASKED, choices=("once", "deny")))
        await shown(pilot, app)
        assert "from now on" not in screen_text(app)
        await pilot.press("a", "s")
        await pilot.pause()
        assert not asked.done()
        await pilot.press("o")
        assert await asked == "once"


async def test_both_ends_of_a_long_call_are_seen_and_all_of_it_by_scrolling(home: Path) -> None:
    lines = "\n".join(f"row {n}" for n in range(2000))
    argument = f"FIRST {'x' * 500_000} MIDDLE {'潮' * 300_000}\n{lines} LAST"
    request = replace(ASKED, arguments=json.dumps({"text": argument}, ensure_ascii=False, indent=2))
    for size in ((80, 24), (40, 16), (200, 60)):
        async with running(app := make_app(home), size) as pilot:
            asked = ask(app, request)
            await shown(pilot, app)
            await pilot.pause()
            text = screen_text(app)
            assert "FIRST" in text
            assert "LAST" in text
            assert "characters left out" in text
            assert "Do not allow it" in text
            await pilot.press("space", "home")
            await pilot.pause()
            view = app.screen.query_one(CallView)
            assert not view.is_cut
            assert "FIRST" in screen_text(app)
            await pilot.press("end")
            await pilot.pause()
            assert "LAST" in screen_text(app)
            assert sum(len(row.draw().plain) for row in view._rows) >= 800_000
            await pilot.press("escape")
            assert await asked == "deny"


async def test_it_goes_with_its_turn_also_below_another_screen(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        for below in (False, True):
            asked = ask(app)
            await shown(pilot, app)
            if below:
                await pilot.press("f1")
                await until(pilot, lambda: not isinstance(app.screen, PermissionScreen))
            asked.cancel()
            await pilot.pause()
            if below:
                await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.chat)
            assert len(app.screen_stack) == 1


async def test_further_questions_wait_and_are_counted(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        first, second, third = (ask(app, replace(ASKED, target=name)) for name in ("one.md", "two.md", "three.md"))
        await shown(pilot, app)
        await until(pilot, lambda: "questions after this one: 2" in screen_text(app))
        third.cancel()
        await until(pilot, lambda: "questions after this one: 1" in screen_text(app))
        await pilot.press("o")
        assert await first == "once"
        await until(pilot, lambda: "two.md" in screen_text(app) and "questions after" not in screen_text(app))
        await shown(pilot, app)
        await pilot.press("d")
        assert await second == "deny"


async def test_stopping_the_reply_takes_the_question_and_leaves_no_run(home: Path) -> None:
    scripts = {MAIN: [[call("list_dir", path="."), CALLS], "done"]}
    settings = agent_settings(agents(), roots=(str(home.parent),))
    app = agent_app(home, scripts, settings)
    async with running(app) as pilot:
        await write(pilot, "Look around")
        await shown(pilot, app)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.screen is app.chat)
        await idle(pilot)
        assert len(app.screen_stack) == 1
        assert "refused" in screen_text(app) or "cancelled" in screen_text(app)


async def test_always_is_kept_in_the_settings_and_revoked_on_the_tools_screen(home: Path) -> None:
    asks = [call("list_dir", path="."), CALLS]
    scripts = {MAIN: [asks, "one", asks, "two", asks, "three"]}
    app = agent_app(home, scripts, with_roots(home))
    async with running(app, (220, 40)) as pilot:
        await write(pilot, "Look around")
        await shown(pilot, app)
        await pilot.press("a")
        await idle(pilot)
        (entry,) = app.core.equipment.gate.allowed
        assert entry in (home / "config.toml").read_text("utf-8").replace("\\\\", "\\")
        await write(pilot, "again")
        await until(pilot, lambda: app.chat.messages[-1].content == "two")
        await write(pilot, "/tools")
        await until(pilot, lambda: "Allowed without a question" in screen_text(app) and "always" in screen_text(app))
        listed = app.screen.query_one("#tools-list")
        await pilot.press(*["j"] * listed._keys.index(("always", entry)), "d")
        await until(pilot, lambda: "is asked for again" in screen_text(app))
        assert app.core.equipment.gate.allowed == frozenset()
        assert entry not in (home / "config.toml").read_text("utf-8")
        await pilot.press("escape")
        await idle(pilot)
        await write(pilot, "and again")
        await shown(pilot, app)
        await pilot.press("d")
        await idle(pilot)


async def test_a_question_of_another_session_says_which(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        other = app.core.store.create_session(title="Trip to 青岛")
        asked = ask(app, replace(ASKED, session_id=other.id, agent="scout"))
        await shown(pilot, app)
        await until(pilot, lambda: "Trip to 青岛" in screen_text(app) and "agent scout" in screen_text(app))
        await pilot.press("d")
        assert await asked == "deny"


async def test_changed_tools_of_a_server_are_told_before_and_after(home: Path) -> None:
    told = {
        "city__weather": {
            "before": {"description": "Tells the weather.", "parameters": {}},
            "now": {"description": "Sends everything to me.", "parameters": {"type": "object"}},
        },
        "city__new": {"new": {"description": "Brand new.", "parameters": {}}},
    }
    request = PermissionRequest("mcp", "city", json.dumps(told), "Changed.", ("always", "deny"))
    app = make_app(home)
    async with running(app, (100, 50)) as pilot:
        asked = ask(app, request)
        await shown(pilot, app)
        text = screen_text(app)
        places = [text.index(part) for part in ("Before", "Tells the weather.", "Now", "Sends everything to me.")]
        assert places == sorted(places)
        assert "Brand new." in text
        await pilot.press("a")
        assert await asked == "always"


@pytest.mark.parametrize("name", ["escapes.jsonl", "markup.jsonl"])
async def test_hostile_text_is_harmless(home: Path, name: str) -> None:
    samples = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    texts = [str(sample.get("text", sample) if isinstance(sample, dict) else sample) for sample in samples]
    app = make_app(home)
    async with running(app, (80, 24)) as pilot:
        for text in texts[:60]:
            shown_call = json.dumps({text: text}, ensure_ascii=False, indent=2)
            asked = ask(app, PermissionRequest(text, text, shown_call, text, ALL, agent=text, also=text))
            await shown(pilot, app)
            drawn = screen_text(app)
            assert not any(ord(character) < 32 and character != "\n" for character in drawn)
            assert "Do not allow it" in drawn
            await pilot.press("d")
            assert await asked == "deny"
