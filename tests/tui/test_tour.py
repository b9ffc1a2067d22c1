"""The whole app by real keys alone: talk, stop, edit, fork, switch, search, prune, undo, roll back, export."""

import asyncio
from pathlib import Path

from app_support import idle, running, screen_text, until
from test_memories import core_of, settled, status
from test_talk import shown, talk_app
from textual.pilot import Pilot

from orca_tui.screens.memories import MemoriesScreen
from orca_tui.screens.rollback import RollbackScreen
from orca_tui.screens.search import SearchScreen
from orca_tui.screens.tree import TreeScreen

NAMES = {" ": "space", "/": "slash", ".": "full_stop", "?": "question_mark", "_": "underscore", "-": "minus"}
FACTS = ("Momo is my cat", "Erlang is my hobby", "Sundays are for running", "Green tea is best", "The cello is mine")


async def typed(pilot: Pilot[object], text: str, *then: str) -> None:
    """Type letter by letter, then further keys."""
    await pilot.press(*(NAMES.get(letter, letter) for letter in text), *then)


async def test_the_tour(home: Path, tmp_path: Path) -> None:
    replies = ["Whales are mammals.", ["They eat", asyncio.Event()], " krill.", "Orcas hunt seals.", "Fine.", "Noted."]
    app = talk_app(home, replies)
    async with running(app, (110, 34)) as pilot:
        # talk
        await typed(pilot, "What are whales?", "enter")
        await until(pilot, lambda: shown(app)[1:] == ["Whales are mammals."])
        await idle(pilot)
        # stop, and go on
        await typed(pilot, "What do they eat?", "enter")
        await until(pilot, lambda: "They eat" in screen_text(app))
        await pilot.press("escape")
        await idle(pilot)
        assert app.chat.messages[-1].state == "stopped"
        await pilot.press("alt+c")
        await until(pilot, lambda: shown(app)[-1] == "They eat krill.")
        await idle(pilot)
        # edit, which forks
        await pilot.press("shift+tab")
        await until(pilot, lambda: app.chat.transcript.has_focus)
        await pilot.press("k", "e")
        await until(pilot, lambda: app.chat.composer.text == "What do they eat?")
        await pilot.press(*["backspace"] * len("they eat?"))
        await typed(pilot, "orcas hunt?", "enter")
        await until(pilot, lambda: shown(app)[2:] == ["What do orcas hunt?", "Orcas hunt seals."])
        await idle(pilot)
        await until(pilot, lambda: "‹ 2/2 ›" in screen_text(app))
        # switch, by the message and by the tree
        await pilot.press("shift+tab", "k", "h")
        await until(pilot, lambda: shown(app)[2:] == ["What do they eat?", "They eat krill."])
        await pilot.press("alt+t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen) and "seals" in screen_text(app))
        await pilot.press("G", "enter")
        await until(pilot, lambda: shown(app)[2:] == ["What do orcas hunt?", "Orcas hunt seals."])
        # search everything, and jump to the place
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await typed(pilot, "mammals")
        await until(pilot, lambda: "Whales are mammals" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.chat)
        # five memories: pruned, two taken back, all rolled back
        for fact in FACTS:
            core_of(app).curator.add(fact)
        await pilot.press("f7")
        await until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        screen = app.screen
        assert isinstance(screen, MemoriesScreen)
        await settled(pilot, screen)
        for key in "dddddd"[: len(FACTS)] + "uu":
            await pilot.press(key)
            await settled(pilot, screen)
        assert sorted(status(app).values()) == ["active"] * 2 + ["trashed"] * 3
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, RollbackScreen))
        await until(pilot, lambda: "This would put back" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: set(status(app).values()) == {"trashed"})
        await settled(pilot, screen)
        await pilot.press("f7")
        await until(pilot, lambda: app.screen is app.chat)
        # export, and leave
        await pilot.press("escape")  # the marks of the search go
        await pilot.press("escape")
        await until(pilot, lambda: app.chat.composer.has_focus)
        await typed(pilot, f"/export md {tmp_path}/tour.md", "enter")
        await until(pilot, lambda: (tmp_path / "tour.md").exists())
        assert "Orcas hunt seals." in (tmp_path / "tour.md").read_text()
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running or app.return_code is not None)
