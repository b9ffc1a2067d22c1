"""Search in everything: results as one types, filters, and the way to the place."""

import asyncio
from pathlib import Path

from app_support import idle, make_app, rest, running, screen_text, until, write
from hosts import HOSTILE, unsafe_in
from textual.pilot import Pilot

from memory.searching import Results
from orca_tui.app import OrcaApp
from orca_tui.screens.memories import MemoriesScreen
from orca_tui.screens.search import SearchScreen


def screen(app: OrcaApp) -> SearchScreen:
    assert isinstance(app.screen, SearchScreen)
    return app.screen


def kinds(app: OrcaApp) -> set[str]:
    return {item.hit.kind for item in screen(app).list._found.values()}


async def filled(app: OrcaApp, pilot: Pilot[object]) -> str:
    """A session about salmon, another about boats, which is open; and a memory. Gives the first one's id."""
    assert app.core is not None
    assert app.conversation is not None
    await write(pilot, "Where do salmon spawn in the river?")
    await idle(pilot)
    await rest(pilot)
    first = str(app.conversation.session_id)
    await pilot.press("ctrl+n")
    await until(pilot, lambda: app.conversation is not None and app.conversation.session_id is None)
    await write(pilot, "Which boats are made of wood?")
    await idle(pilot)
    await rest(pilot)
    app.core.curator.add("The user likes smoked salmon", "preference")
    return first


async def opened(app: OrcaApp, pilot: Pilot[object], text: str) -> None:
    await pilot.press("ctrl+f")
    await until(pilot, lambda: isinstance(app.screen, SearchScreen))
    await pilot.press(*text)
    await until(pilot, lambda: not screen(app)._is_searching and screen(app)._results is not None)


async def test_results_come_while_typing_and_lead_to_the_message(home: Path) -> None:
    app = make_app(home, ["In gravel."])
    async with running(app, (100, 30)) as pilot:
        first = await filled(app, pilot)
        await opened(app, pilot, "salmon")
        await until(pilot, lambda: {"message", "long_term"} <= kinds(app))
        shown = screen_text(app)
        assert "Where do salmon spawn" in shown
        assert "smoked salmon" in shown
        while screen(app).list.current is not None and screen(app).list.current.hit.role != "user":  # type: ignore[union-attr]
            await pilot.press("down")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat)
        await until(pilot, lambda: app.conversation is not None and app.conversation.session_id == first)
        await until(pilot, lambda: app.focused is app.chat.transcript)
        current = app.chat.transcript.current
        assert current is not None
        assert current.text.startswith("Where do salmon")


async def test_a_memory_opens_on_its_screen(home: Path) -> None:
    app = make_app(home, ["In gravel."])
    async with running(app, (100, 30)) as pilot:
        await filled(app, pilot)
        await opened(app, pilot, "kind:memory salmon")
        await until(pilot, lambda: kinds(app) == {"long_term"})
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        await pilot.press("q")
        await until(pilot, lambda: app.screen is app.chat)


async def test_filters_by_key_and_by_click(home: Path) -> None:
    app = make_app(home, ["In gravel."])
    async with running(app, (100, 30)) as pilot:
        await filled(app, pilot)
        await opened(app, pilot, "salmon")
        await pilot.press("ctrl+r")
        assert screen(app).box.value == "salmon role:user"
        await until(pilot, lambda: kinds(app) == {"message"})
        assert "role:user ×" in screen_text(app)
        await pilot.press("ctrl+r")
        assert screen(app).box.value == "salmon role:assistant"
        await pilot.click("#search-chips", offset=(3, 0))
        assert screen(app).box.value == "salmon"
        await pilot.press("ctrl+t", "ctrl+l")
        assert screen(app).box.value == "salmon kind:message session:this"
        await until(pilot, lambda: not screen(app)._is_searching and kinds(app) == set())
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)


async def test_what_is_wrong_with_a_filter_is_told(home: Path) -> None:
    app = make_app(home)
    async with running(app, (100, 30)) as pilot:
        await opened(app, pilot, "rol:user fish")
        await until(pilot, lambda: "There is no filter “rol”" in screen_text(app))
        screen(app).box.value = "fish session:ffff"
        await until(pilot, lambda: "No session begins with" in screen_text(app))
        screen(app).box.value = "fish since:soon"
        await until(pilot, lambda: "is no time" in screen_text(app))
        screen(app).box.value = "fish role:user kind:memory"
        await until(pilot, lambda: "leave nothing to look in" in screen_text(app))


async def test_a_slow_search_is_never_in_the_way(home: Path) -> None:
    app = make_app(home)
    async with running(app, (100, 30)) as pilot:
        assert app.core is not None
        gate, asked, find = asyncio.Event(), list[str](), app.core.searcher.find

        async def slow(text: str, **options: object) -> Results:
            asked.append(text)
            await gate.wait()
            return await find(text)

        app.core.searcher.find = slow  # type: ignore[method-assign,assignment]
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        screen(app).box.value = "a"
        await until(pilot, lambda: asked == ["a"])
        for text in ("ab", "abc", "abcd"):
            screen(app).box.value = text
        await pilot.pause()
        assert "abcd" in screen_text(app)
        gate.set()
        await until(pilot, lambda: screen(app)._results is not None)
        assert asked == ["a", "abcd"], "what was typed in between is not searched for"
        await pilot.press("escape")


async def test_another_fork_is_opened(home: Path) -> None:
    app = make_app(home, ["First answer about herring.", "Second answer."])
    async with running(app, (100, 30)) as pilot:
        await write(pilot, "Tell me of fish")
        await idle(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Second answer" in screen_text(app))
        await idle(pilot)
        await rest(pilot)
        await opened(app, pilot, "herring role:assistant")
        await until(pilot, lambda: kinds(app) == {"message"})
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat and "First answer about herring" in screen_text(app))
        assert any("another fork" in notice.message for notice in app._notifications)


async def test_hostile_texts_are_shown_as_they_may_be(home: Path) -> None:
    app = make_app(home)
    async with running(app, (100, 30)) as pilot:
        assert app.core is not None
        store = app.core.store
        for text in HOSTILE:
            session = store.create_session(title=text)
            store.add_message(session.id, "user", f"herring {text}")
        await opened(app, pilot, "herring")
        await until(pilot, lambda: len(screen(app).list._found) > 10)
        for _row in HOSTILE:
            assert not list(unsafe_in(screen_text(app)))
            await pilot.press("down")
        screen(app).box.value = HOSTILE[5] + " rol:" + HOSTILE[7]
        await until(pilot, lambda: not screen(app)._is_searching)
        await pilot.pause()
        assert not list(unsafe_in(screen_text(app)))
