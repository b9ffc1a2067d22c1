"""Memory on the screen: looked through, pruned, edited, merged, reviewed, taken back; why, preview, without it."""

from pathlib import Path

import pytest
from app_support import SETTINGS, idle, make_app, rest, running, screen_text, until, write
from hosts import HOSTILE, unsafe_in
from textual.pilot import Pilot

from memory.config import Settings, UISettings
from memory.core import Core
from memory.provider.scripted import ScriptedChat
from memory.types import LongTermMemory
from orca_tui.app import OrcaApp
from orca_tui.screens.ask import Ask
from orca_tui.screens.memories import MemoriesScreen
from orca_tui.screens.memory_form import MemoryForm
from orca_tui.screens.request import RequestScreen
from orca_tui.screens.why import WhyScreen
from orca_tui.widgets.safe_editor import SafeEditor

FACTS = [
    "The cat is called Momo",
    "Runs ten kilometres on Sundays",
    "Is learning Erlang",
    "喜欢喝龙井茶",
    "Plays the cello",
]


def core_of(app: OrcaApp) -> Core:
    assert app.core is not None
    return app.core


def by_text(app: OrcaApp, text: str) -> LongTermMemory:
    return next(row for row in core_of(app).curator.all(status=None) if row.content == text)


def status(app: OrcaApp) -> dict[str, str]:
    return {row.content: row.status for row in core_of(app).curator.all(status=None)}


async def open_memories(pilot: Pilot[object]) -> MemoriesScreen:
    """The memory screen, drawn."""
    await pilot.press("f7")
    await until(pilot, lambda: isinstance(pilot.app.screen, MemoriesScreen))
    screen = pilot.app.screen
    assert isinstance(screen, MemoriesScreen)
    await settled(pilot, screen)
    return screen


async def settled(pilot: Pilot[object], screen: MemoriesScreen) -> None:
    await until(pilot, lambda: screen._listing is not None and screen._listing.tab == screen._tab)
    for _step in range(3):
        await until(pilot, lambda: not [w for w in screen.workers if w.node is screen and not w.is_finished])
        await pilot.pause()


async def deed(pilot: Pilot[object], screen: MemoriesScreen, *keys: str) -> str:
    """Press keys one by one; tells the line that says what was done."""
    for key in keys:
        await pilot.press(key)
        if pilot.app.screen is screen:
            await settled(pilot, screen)
    return str(screen.said.render())


async def test_lists_with_numbers_and_teaches_when_empty(home: Path) -> None:
    app = make_app(home)
    async with running(app, (130, 30)) as pilot:
        screen = await open_memories(pilot)
        assert "Nothing is remembered yet" in screen_text(app)
        core_of(app).curator.add(FACTS[0])
        await until(pilot, lambda: screen.list.current is not None)
        await settled(pilot, screen)
        text = screen_text(app)
        assert "‹Active 1›" in text
        assert "short_term_fact" in text
        assert "added by hand" in text
        await deed(pilot, screen, "right")
        assert "Nothing waits." in screen_text(app)
        await pilot.press("f7")
        await until(pilot, lambda: app.screen is app.chat)


async def test_thrown_away_and_taken_back(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        for fact in FACTS[:2]:
            core_of(app).curator.add(fact)
        screen = await open_memories(pilot)
        assert screen.list.current is not None
        assert screen.list.current.memory.content == FACTS[1]
        said = await deed(pilot, screen, "d")
        assert "1 thrown away" in said
        assert "u takes it back" in said
        assert status(app) == {FACTS[0]: "active", FACTS[1]: "trashed"}
        assert screen.list.current.memory.content == FACTS[0]
        said = await deed(pilot, screen, "u")
        assert FACTS[1] in said
        assert status(app)[FACTS[1]] == "active"
        assert "Mark two or more" in await deed(pilot, screen, "m")


async def test_prune_five_and_take_two_back(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        for fact in FACTS:
            core_of(app).curator.add(fact)
        screen = await open_memories(pilot)
        await deed(pilot, screen, *"ddddd")
        assert set(status(app).values()) == {"trashed"}
        assert "Nothing is remembered yet" in screen_text(app)
        await deed(pilot, screen, "u", "u")
        back = [text for text, state in status(app).items() if state == "active"]
        assert sorted(back) == sorted(FACTS[:2])


async def test_many_are_asked_for_with_what_they_free(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        for fact in FACTS:
            core_of(app).curator.add(fact)
        screen = await open_memories(pilot)
        assert "5 marked · frees" in await deed(pilot, screen, *["space"] * 5)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        assert "Throw away 5 memories? That frees" in screen_text(app)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        assert set(status(app).values()) == {"active"}
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press("y")
        await until(pilot, lambda: set(status(app).values()) == {"trashed"})
        await settled(pilot, screen)
        await deed(pilot, screen, "u")
        assert set(status(app).values()) == {"active"}


async def test_edited_in_a_form_and_an_escape_drops_nothing_at_once(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        memory = core_of(app).curator.add(FACTS[0])
        screen = await open_memories(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, MemoryForm))
        form = app.screen
        form.query_one(SafeEditor).insert(" and is grey")
        await pilot.press("escape")
        assert app.screen is form
        assert "Esc again drops" in screen_text(app)
        await pilot.press("tab", "right", "ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: core_of(app).store.memory(memory.id).content.endswith("grey"))
        assert core_of(app).store.memory(memory.id).memory_type == "decision"
        await settled(pilot, screen)
        assert "changed" in await deed(pilot, screen)


async def test_accepted_and_rejected_from_the_inbox(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        for fact in FACTS[:2]:
            core_of(app).curator.propose(fact)
        screen = await open_memories(pilot)
        await deed(pilot, screen, "right")
        assert "y accept" in screen_text(app)
        assert "accepted: recalled from now on" in await deed(pilot, screen, "y")
        await deed(pilot, screen, "n")
        assert status(app) == {FACTS[0]: "trashed", FACTS[1]: "active"}
        await deed(pilot, screen, "left")
        assert "inbox is accepted" in await deed(pilot, screen, "y")


async def test_two_are_merged_into_a_text(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        for fact in FACTS[:2]:
            core_of(app).curator.add(fact)
        screen = await open_memories(pilot)
        await deed(pilot, screen, "asterisk", "m")
        await until(pilot, lambda: isinstance(app.screen, MemoryForm))
        assert FACTS[0] in screen_text(app)
        app.screen.query_one(SafeEditor).load_text("Runs with Momo, the cat")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Runs with Momo, the cat" in status(app))
        assert {status(app)[fact] for fact in FACTS[:2]} == {"superseded"}
        await settled(pilot, screen)
        await deed(pilot, screen, "u")
        assert {status(app)[fact] for fact in FACTS[:2]} == {"active"}


async def test_pinned_promoted_restored_and_erased(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        memory = core_of(app).curator.add(FACTS[0])
        screen = await open_memories(pilot)
        await deed(pilot, screen, "p", "plus")
        row = core_of(app).store.memory(memory.id)
        assert row.pinned
        assert row.importance > memory.importance
        assert "◆" in screen_text(app)
        await deed(pilot, screen, "p", "minus", "a", "right", "right", "R")
        assert status(app) == {FACTS[0]: "active"}
        await deed(pilot, screen, "left", "left")
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.press("enter")
        await until(pilot, lambda: not status(app))
        await settled(pilot, screen)


async def test_filtered_sorted_and_only_what_is_seen_goes(home: Path) -> None:
    app = make_app(home)
    async with running(app, (130, 30)) as pilot:
        for fact in FACTS:
            core_of(app).curator.add(fact)
        screen = await open_memories(pilot)
        await deed(pilot, screen, "asterisk", "slash", *"cello", "enter")
        assert [row.memory.content for row in screen.list.marked] == ["Plays the cello"]
        await deed(pilot, screen, "a")
        assert status(app)["Plays the cello"] == "archived"
        assert list(status(app).values()).count("archived") == 1
        await deed(pilot, screen, "escape", "s", "s", "s")
        assert screen.list.order == "tokens"
        first = screen.list._found
        sizes = [row.tokens for row in first.values()]
        assert sizes == sorted(sizes, reverse=True)
        await deed(pilot, screen, "S")
        assert [row.tokens for row in screen.list._found.values()] == sorted(sizes)


async def test_jumps_to_the_source_in_its_session(home: Path) -> None:
    app = make_app(home, ["Noted."] * 3)
    async with running(app) as pilot:
        await write(pilot, "I moved to Lisbon last spring and work from there")
        await idle(pilot)
        await rest(pilot)
        message, talk = app.chat.messages[0], app.conversation
        assert talk is not None
        for row in list(core_of(app).curator.all()):
            core_of(app).curator.erase(row.id)
        core_of(app).curator.keep_message(message.id)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: talk.session_id is None)
        screen = await open_memories(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: app.focused is screen.detail)
        await pilot.press("o")
        await until(pilot, lambda: app.screen is app.chat and talk.session_id == message.session_id)
        await until(pilot, lambda: app.focused is app.chat.transcript)


async def test_keys_of_the_sidebar_act_on_its_item(home: Path) -> None:
    app = make_app(home)
    async with running(app, (120, 40)) as pilot:
        core_of(app).curator.add(FACTS[0])
        core_of(app).curator.propose(FACTS[1])
        await until(pilot, lambda: FACTS[0] in screen_text(app))
        await until(pilot, lambda: "1 to review · F7" in screen_text(app))
        app.chat.memory.focus()
        await pilot.press("G", "d")
        await until(pilot, lambda: status(app)[FACTS[0]] == "trashed")
        await until(pilot, lambda: FACTS[0] not in screen_text(app).replace("thrown", ""))
        await pilot.press("u")
        await until(pilot, lambda: status(app)[FACTS[0]] == "active")
        await until(pilot, lambda: app.chat.memory.has_focus and FACTS[0] in screen_text(app))
        await pilot.press("G", "enter")
        await until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        screen = app.screen
        assert isinstance(screen, MemoriesScreen)
        await until(pilot, lambda: app.focused is screen.detail)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is app.chat)
        await pilot.press("g", "enter")
        await until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "Inbox 1" in screen_text(app))


async def test_a_message_of_the_sidebar_is_shown_in_its_place(home: Path) -> None:
    app = make_app(home, ["\n\n".join(f"line {n}" for n in range(80))])
    async with running(app, (120, 30)) as pilot:
        await write(pilot, "tell me a long story please")
        await idle(pilot)
        await rest(pilot)
        assert "tell me a long story" not in str(app.chat.transcript.render_line(0).text)
        app.chat.memory.focus()
        await pilot.press("g", "enter")
        await until(pilot, lambda: app.focused is app.chat.transcript)
        await until(pilot, lambda: not app.chat.transcript.at_end)


async def test_why_tells_each_item_and_bad_leads_there(home: Path) -> None:
    app = make_app(home, ["Momo, as you told me."])
    async with running(app, (120, 40)) as pilot:
        memory = core_of(app).curator.add(FACTS[0])
        await rest(pilot)
        await write(pilot, "What is the cat called?")
        await idle(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and FACTS[0] in screen_text(app))
        text = screen_text(app)
        assert "Why this reply?" in text
        assert "words +" in text
        assert "1 from memory" in text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)
        await pilot.press("alt+n")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and "trusted less" in screen_text(app))
        assert core_of(app).store.memory(memory.id).confidence < memory.confidence
        await pilot.press("d")
        await until(pilot, lambda: status(app)[FACTS[0]] == "trashed")
        await until(pilot, lambda: "in the trash" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "‹Trash 1›" in screen_text(app))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)
        await pilot.press("alt+y")
        await until(pilot, lambda: "Rated as good" in app.chat.hint_line.remark)


async def test_again_without_memory_sends_none_and_says_so(home: Path) -> None:
    chat = ScriptedChat(["With.", "Without."], tiny=True)
    app = make_app(home, chat=chat)
    async with running(app, (120, 40)) as pilot:
        core_of(app).curator.add(FACTS[0])
        await rest(pilot)
        await write(pilot, "What is the cat called?")
        await idle(pilot)
        await write(pilot, "/again-without-memory")
        await until(pilot, lambda: len(chat.requests) == 2)
        await idle(pilot)
        with_it, without = ("\n".join(m.content for m in request) for request in chat.requests)
        assert FACTS[0] in with_it
        assert FACTS[0] not in without
        assert "without memory" in screen_text(app)
        await pilot.press("f5")
        await until(pilot, lambda: "asked for without memory" in screen_text(app))


async def test_the_preview_is_what_is_sent(home: Path) -> None:
    chat = ScriptedChat(["Momo."], tiny=True)
    app = make_app(home, chat=chat)
    async with running(app, (120, 40)) as pilot:
        core_of(app).curator.add(FACTS[0])
        await rest(pilot)
        await write(pilot, "What is the cat called?", send=False)
        await pilot.press("alt+p")
        await until(pilot, lambda: isinstance(app.screen, RequestScreen))
        await pilot.pause()
        text = screen_text(app)
        assert FACTS[0] in text
        assert "What is the cat called?" in text
        assert "1 from memory" in text
        assert not chat.requests
        screen = app.screen
        assert isinstance(screen, RequestScreen)
        previewed = [(m.role, m.content.split("\n")[1:]) for m in screen._prompt.messages]
        await pilot.press("escape")
        await pilot.press("enter")
        await idle(pilot)
        sent = [(m.role, m.content.split("\n")[1:]) for m in chat.requests[0]]
        assert [(role, lines[:-3]) for role, lines in previewed] == [(role, lines[:-3]) for role, lines in sent]


async def test_keys_can_be_changed(home: Path) -> None:
    settings = Settings(llm=SETTINGS.llm, ui=SETTINGS.ui, keys={"memory_trash": "X", "memory_why": "f12"})
    app = make_app(home, settings=settings)
    async with running(app) as pilot:
        core_of(app).curator.add(FACTS[0])
        screen = await open_memories(pilot)
        assert "X trash" in screen_text(app)
        await deed(pilot, screen, "d")
        assert status(app) == {FACTS[0]: "active"}
        await deed(pilot, screen, "X")
        assert status(app) == {FACTS[0]: "trashed"}
        assert [n.message for n in app._notifications if "memory_why" in n.message]
        assert not [n.message for n in app._notifications if "memory_trash" in n.message]


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (140, 40)])
async def test_foreign_text_does_no_harm_anywhere(home: Path, size: tuple[int, int]) -> None:
    app = make_app(home, ["Fine."])
    async with running(app, size) as pilot:
        curator = core_of(app).curator
        for text in HOSTILE:
            curator.add(text, topic_key=text.encode(errors="replace").decode()[:40].strip() or None)
        screen = await open_memories(pilot)
        places = []
        for _row in HOSTILE:
            await deed(pilot, screen, "j")
            places.append(screen_text(app))
        await deed(pilot, screen, "asterisk")
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        await pilot.pause()
        places.append(screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, MemoryForm))
        await pilot.pause()
        places.append(screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await deed(pilot, screen, "asterisk", "e")
        await until(pilot, lambda: isinstance(app.screen, MemoryForm))
        places.append(screen_text(app))
        await pilot.press("escape", "q")
        await until(pilot, lambda: app.screen is app.chat)
        for text in places:
            assert not list(unsafe_in(text.replace("\n", "")))
        assert "[@click=app.quit]" in "".join(places)


async def test_why_and_preview_show_foreign_text_safely(home: Path) -> None:
    text = " ".join(HOSTILE[:20])
    app = make_app(home, [text])
    async with running(app, (100, 30)) as pilot:
        memory = core_of(app).curator.add(f"zebra {text}")
        core_of(app).curator.pin(memory.id)
        await write(pilot, f"zebra {text}")
        await idle(pilot)
        for key, kind in (("f5", WhyScreen), ("alt+p", RequestScreen)):
            await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            await until(pilot, lambda: "zebra" in screen_text(app))
            assert not list(unsafe_in(screen_text(app).replace("\n", "")))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.chat)


async def test_chinese_words(home: Path) -> None:
    app = make_app(home, settings=Settings(llm=SETTINGS.llm, ui=UISettings(language="zh")))
    async with running(app) as pilot:
        core_of(app).curator.add(FACTS[3], "preference")
        screen = await open_memories(pilot)
        text = screen_text(app)
        assert "长期记忆" in text
        assert "‹使用中 1›" in text
        assert "手动添加" in text or "偏好" in text
        assert "已移到回收站 1 条" in await deed(pilot, screen, "d")
