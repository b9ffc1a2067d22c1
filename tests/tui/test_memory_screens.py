"""The memory screen beyond its lists: what has cooled, rolling back, one memory's history, long lists."""

from datetime import timedelta
from pathlib import Path

import pytest
from app_support import idle, make_app, rest, running, screen_text, until, write
from test_memories import by_text, core_of, deed, open_memories, settled, status

from memory.clock import from_iso, to_iso
from memory.types import Scope
from orca_tui import memory_rows
from orca_tui.screens.rollback import RollbackScreen


class MovingClock:
    """Stands still until it is moved; ids count up."""

    def __init__(self) -> None:
        self.moment = from_iso("2026-03-01T12:00:00.000000+00:00")
        self._ids = 0

    def now(self) -> str:
        self.moment += timedelta(microseconds=1)
        return to_iso(self.moment)

    def monotonic(self) -> float:
        return 0.0

    def new_id(self) -> str:
        self._ids += 1
        return f"{self._ids:032x}"


async def test_what_has_cooled_is_proposed_and_kept_or_archived(home: Path) -> None:
    clock = MovingClock()
    app = make_app(home, clock=clock)
    async with running(app, (130, 30)) as pilot:
        curator = core_of(app).curator
        for text in ("Old boat", "Old bike", "Old house"):
            curator.add(text, importance=0.1)
        clock.moment += timedelta(days=200)
        screen = await open_memories(pilot)
        await deed(pilot, screen, "left")
        assert "‹Cold 3›" in screen_text(app)
        text = screen.list.current.memory.content if screen.list.current else ""
        said = await deed(pilot, screen, "n")
        assert "not proposed again" in said
        assert "‹Cold 2›" in screen_text(app)
        assert status(app)[text] == "active"
        await deed(pilot, screen, "asterisk")
        assert "2 marked" in screen_text(app)
        await pilot.press("a")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.screen is screen)
        await settled(pilot, screen)
        assert sorted(status(app).values()) == ["active", "archived", "archived"]
        assert "Nothing has cooled" in screen_text(app)
        assert curator.cold() == []
        await deed(pilot, screen, "u")
        assert sorted(status(app).values()) == ["active"] * 3
        assert "Taken back: Old" in await deed(pilot, screen, "u")
        assert "‹Cold 1›" in screen_text(app)


async def test_what_says_the_same_is_made_one_or_kept(home: Path) -> None:
    app = make_app(home, clock=MovingClock())
    async with running(app, (130, 30)) as pilot:
        curator = core_of(app).curator
        curator.add("Owns a red boat in Kiel")
        curator.add("Owns a red boat in Kiel.")
        screen = await open_memories(pilot)
        screen._open("duplicates")
        await settled(pilot, screen)
        assert "‹Duplicates 1›" in screen_text(app)
        assert "says what 1 says" in screen_text(app)
        assert "n keep" in screen_text(app)
        await deed(pilot, screen, "n")
        assert "No two memories say the same" in screen_text(app)
        await deed(pilot, screen, "u")
        assert "‹Duplicates 1›" in screen_text(app)
        await pilot.press("m")
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is screen)
        await settled(pilot, screen)
        assert sorted(row.status for row in curator.all(status=None)) == ["active", "superseded", "superseded"]


async def test_a_rollback_is_shown_before_and_can_be_undone(home: Path) -> None:
    app = make_app(home)
    async with running(app, (130, 40)) as pilot:
        curator = core_of(app).curator
        curator.add("Written just now")
        screen = await open_memories(pilot)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, RollbackScreen))
        await until(pilot, lambda: "This would put back 1" in screen_text(app))
        assert status(app) == {"Written just now": "active"}
        await pilot.press(*["backspace"] * 4, *"soon")
        await until(pilot, lambda: "is no time" in screen_text(app))
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, RollbackScreen)
        await pilot.press(*["backspace"] * 4, *"2h")
        await until(pilot, lambda: "This would put back 1" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: status(app) == {"Written just now": "trashed"})
        await settled(pilot, screen)
        await deed(pilot, screen, "u")
        assert status(app) == {"Written just now": "active"}


async def test_a_rollback_keeps_to_its_branch(home: Path) -> None:
    app = make_app(home)
    async with running(app, (130, 40)) as pilot:
        curator = core_of(app).curator
        curator.add("Prefers short answers", "preference")
        curator.add("Owns a boat")
        await open_memories(pilot)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, RollbackScreen))
        await until(pilot, lambda: "This would put back 2" in screen_text(app))
        await pilot.press("tab", "tab", "right")
        await until(pilot, lambda: "This would put back 1" in screen_text(app))
        await pilot.press("escape")


async def test_the_newest_change_of_one_memory_is_taken_back(home: Path) -> None:
    app = make_app(home)
    async with running(app, (130, 30)) as pilot:
        curator = core_of(app).curator
        first = curator.add("Owns a boat")
        curator.edit(first.id, content="Owns two boats")
        curator.pin(first.id)
        curator.add("Owns a bike")
        screen = await open_memories(pilot)
        screen.list.move_to(first.id)
        await settled(pilot, screen)
        await deed(pilot, screen, "U")
        assert not by_text(app, "Owns two boats").pinned
        screen.list.move_to(first.id)
        await settled(pilot, screen)
        await deed(pilot, screen, "U")
        assert status(app) == {"Owns a boat": "active", "Owns a bike": "active"}


async def test_a_long_list_begins_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_rows, "FIRST", 5)
    app = make_app(home)
    async with running(app, (130, 30)) as pilot:
        curator = core_of(app).curator
        for number in range(12):
            curator.add(f"Fact number {number} about boats")
        reader = memory_rows.MemoryReader(curator, core_of(app).counter, core_of(app).clock.now)
        beginning = reader.beginning("active")
        assert (len(beginning.rows), beginning.is_whole, beginning.counts["active"]) == (5, False, 12)
        screen = await open_memories(pilot)
        await until(pilot, lambda: screen._listing is not None and len(screen._listing.rows) == 12)
        assert "‹Active 12›" in screen_text(app)
        assert "written in 12 weeks" in screen_text(app)
        for _step in range(3):
            await deed(pilot, screen, "s")
        assert screen.list.order == "tokens"


async def test_the_sidebar_follows_the_reply_under_the_cursor(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(home, ["First reply.", "Second reply."])
    async with running(app, (140, 40)) as pilot:
        for text in ("Tell me of boats", "And of the sea"):
            await write(pilot, text)
            await idle(pilot)
            await rest(pilot)
        assert "Given to the newest reply" in screen_text(app)
        monkeypatch.setattr(core_of(app).manager, "preview", None)  # the next prompt is not put together once more
        app.chat.transcript.focus()
        await pilot.press("g")
        first = next(m for m in app.chat.messages if m.role == "assistant")
        assert app.chat.transcript.jump_to(first.id)
        await until(pilot, lambda: "Given to the chosen reply" in screen_text(app))
        assert app.conversation is not None
        assert app.conversation.shown_reply == first.id
        await pilot.press("G")
        await until(pilot, lambda: "Given to the newest reply" in screen_text(app))


async def test_the_scope_is_switched_and_said(home: Path) -> None:
    app = make_app(home, ["Fine."])
    async with running(app, (130, 30)) as pilot:
        curator = core_of(app).curator
        curator.add("Likes tea")
        curator.add("The keel is bent", scope=Scope("default", "boat"))
        await write(pilot, "/scope")
        await until(pilot, lambda: "2 memories are seen" in screen_text(app))
        assert "1 memories are seen" in screen_text(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "▣ boat" in screen_text(app))
        await write(pilot, "How is the keel?")
        await idle(pilot)
        assert app.conversation is not None
        assert app.conversation.session is not None
        assert app.conversation.session.project == "boat"
        await write(pilot, "/scope user")
        await until(pilot, lambda: core_of(app).settings.memory.project == "")
        assert "stays as it is" in app.chat.hint_line.remark
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "▣" not in screen_text(app))
