"""The transcript in the app: keys on a message, search, calls, the clipboard."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from app_support import SETTINGS, idle, make_app, running, screen_text, until, write

from memory.config import UISettings
from memory.events import ToolFinished, ToolsAsked, ToolStarted
from memory.provider.base import TextPart, ToolCall, ToolCallPart
from memory.provider.scripted import ScriptedChat
from memory.types import Message, SubagentRun
from orca_tui import clipboard
from orca_tui.entries import entries_of
from orca_tui.screens.page import Page
from orca_tui.screens.why import WhyScreen

DATA = Path(__file__).parents[1] / "data"


def row(number: int, role: str, content: str, **metadata: object) -> Message:
    time = "2026-01-02T03:04:05.000000+00:00"
    return Message(number, "s", role, content, "normal", 12, True, time, metadata, None, "complete")  # type: ignore[arg-type]


def run_of(state: str) -> SubagentRun:
    values: dict[str, object] = dict.fromkeys(SubagentRun.__dataclass_fields__, None)
    values |= {
        "id": 5,
        "agent_name": "scout\x1b[2J",
        "content": "",
        "task": "find 潮汐",
        "state": state,
        "token_count": 7,
    }
    return SubagentRun(**(values | {"timestamp": "2026-01-02T03:04:05.000000+00:00"}))  # type: ignore[arg-type]


def hints(app: object) -> str:
    return screen_text(app).splitlines()[-1]  # type: ignore[arg-type]


async def test_keys_on_a_message_are_shown_and_work(home: Path) -> None:
    app = make_app(home, ["See https://a.example and\n\n```sh\nls -l\n```\n", "Second."])
    async with running(app, (140, 30)) as pilot:
        for text in ("First question", "Second question"):
            await write(pilot, text)
            await idle(pilot)
        app.chat.transcript.focus()
        await until(pilot, lambda: "raw" in hints(app))
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == "Second.")
        await pilot.press("k", "k", "Y")
        await until(pilot, lambda: app.clipboard == "ls -l")
        assert "Copied 5 characters" in hints(app)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, Page))
        shown = screen_text(app)
        assert "scripted" in shown
        assert "assistant" in shown
        await pilot.press("escape", "f5")
        await until(pilot, lambda: isinstance(app.screen, WhyScreen) and "See https" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)
        await pilot.press("f8")
        await until(pilot, lambda: app.clipboard.startswith("See https"))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "open 1/2 a.example" in hints(app))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "copy 2/2 sh" in hints(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is app.chat.composer)
        await pilot.press("f8")
        await until(pilot, lambda: app.clipboard == "Second.")


async def test_a_key_that_means_nothing_says_so(home: Path) -> None:
    app = make_app(home, ["Answer."])
    async with running(app) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        app.chat.transcript.focus()
        await pilot.press("space")
        await until(pilot, lambda: "does nothing with this message" in hints(app))


async def test_search_is_typed_on_a_line_of_its_own(home: Path) -> None:
    app = make_app(home, ["The tide turns. 潮汐 Tide.", "No more."])
    async with running(app) as pilot:
        for text in ("What does the tide do?", "And then?"):
            await write(pilot, text)
            await idle(pilot)
        app.chat.transcript.focus()
        await pilot.press("slash", "t", "i", "d", "e")
        await until(pilot, lambda: "1/3" in screen_text(app))
        await pilot.press("down")
        await until(pilot, lambda: "2/3" in screen_text(app))
        await pilot.press("enter", "n")
        await until(pilot, lambda: "3/3" in screen_text(app) and app.focused is app.chat.transcript)
        assert "end search" in hints(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.chat.find_line.display)
        assert app.focused is app.chat.transcript
        await pilot.press("slash")
        app.chat.find_line.field.insert_text_at_cursor("潮\x1b[2J\n汐")
        await until(pilot, lambda: "not found" in screen_text(app))
        assert "\x1b" not in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.chat.find_line.display and app.focused is app.chat.transcript)


async def test_keys_of_messages_can_be_remapped(home: Path) -> None:
    app = make_app(home, ["Answer."], settings=replace(SETTINGS, keys={"message_copy": "x"}))
    async with running(app, (140, 30)) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        app.chat.transcript.focus()
        await until(pilot, lambda: "x copy" in hints(app))
        await pilot.press("x")
        await until(pilot, lambda: app.clipboard == "Answer.")
        assert app.chat.composer.text == ""


def test_stored_calls_become_entries_with_their_arguments() -> None:
    calls = [{"id": "call_1", "name": "read_file", "arguments": '{"path": "notes.md"}'}, "broken", {"id": None}]
    path = [
        row(1, "user", "Look"),
        row(2, "assistant", "Let me see.", tool_calls=calls, finish_reason="tool_calls"),
        row(3, "tool", "text", tool_call_id="call_1", tool="read_file", state="done"),
        row(4, "tool", "x", tool_call_id=["?"], tool=7, state="exploded"),
        row(5, "assistant", "Done."),
    ]
    found = entries_of(path)
    assert [entry.key for entry in found] == ["1", "2", "3", "4", "5"]
    assert found[1].note == ""
    call = found[2].call
    assert call is not None
    assert (found[2].title, call.arguments, call.outcome, call.tokens) == (
        "read_file",
        '{"path": "notes.md"}',
        "done",
        12,
    )
    other = found[3].call
    assert other is not None
    assert (found[3].title, other.outcome) == ("7", "")


async def test_a_call_is_drawn_while_it_runs_and_when_it_is_done(home: Path) -> None:
    app = make_app(home)
    async with running(app, (160, 40)) as pilot:
        chat = app.chat
        asked = row(2, "assistant", "Let me see.", tool_calls=[{"id": "c", "name": "fetch", "arguments": "{}"}])
        chat.message_stored(row(1, "user", "Look"))
        chat.message_stored(replace(asked, content="", state="streaming"))
        chat.tools_asked(ToolsAsked("t", asked).message)
        chat.tool_started(ToolStarted("t", "c", "fetch\x1b[2J", '{"url": "https://a.example/[red]"}'))
        await until(pilot, lambda: "⚙ fetch␛[2J  https://a.example/[red] · running …" in screen_text(app))
        done = row(3, "tool", "The page", tool_call_id="c", tool="fetch", state="failed")
        chat.tool_finished(ToolFinished("t", "c", "fetch", "failed", done))
        await until(pilot, lambda: "⚙ fetch  https://a.example/[red] · failed · 12 tokens" in screen_text(app))
        chat.run_changed(run_of("running"), "", 0)
        chat.run_changed(run_of("running"), "reads [b]x[/b]\x07", 450)
        await until(pilot, lambda: "⚙ scout␛[2J  find 潮汐 · reads [b]x[/b]␇ · running … · 450" in screen_text(app))
        chat.run_changed(run_of("stopped"), "", 7)
        await until(pilot, lambda: "find 潮汐 · cancelled · 7 tokens" in screen_text(app))


@pytest.mark.parametrize("name", ["escapes.jsonl", "markup.jsonl"])
async def test_hostile_text_in_every_new_place(home: Path, name: str) -> None:
    samples = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    texts = [str(sample.get("text", sample) if isinstance(sample, dict) else sample) for sample in samples]
    app = make_app(home, settings=replace(SETTINGS, ui=UISettings(language="zh")))
    async with running(app, (120, 40)) as pilot:
        for number, text in enumerate(texts[:60], 10):
            calls = [{"id": "c", "name": text, "arguments": json.dumps({"path": text})}]
            path = [
                row(number, "assistant", text, tool_calls=calls, reasoning=text, model=text),
                row(number + 1, "tool", text, tool_call_id="c", tool=text, state="done"),
            ]
            app.chat.messages = path
            app.chat.transcript.set_entries(entries_of(path))
            app.chat.leave_greeting()
            app.chat.transcript.focus()
            app.chat.transcript.action_deed("fold")
            app.chat.transcript.action_first()
            app.chat.transcript.action_deed("raw")
            app.chat.transcript.search(text[:80])
            app.chat.transcript.step_target(1, around=True)
            await pilot.pause()
            shown = screen_text(app)
            assert not any(c in shown for c in "\x1b\x07\x9b\x9d\u202e\u200b")


# the clipboard


async def test_the_system_takes_what_is_copied() -> None:
    taken: list[str] = []
    written: list[str] = []
    assert await clipboard.put("text", written.append, {}, system=taken.append) == "system"
    assert (taken, written) == (["text"], [])


async def test_without_one_the_terminal_does() -> None:
    def missing(_text: str) -> None:
        raise RuntimeError("no xclip")

    written: list[str] = []
    assert await clipboard.put("中文", written.append, {}, system=missing) == "terminal"
    assert written == ["\x1b]52;c;5Lit5paH\x07"]


async def test_through_ssh_and_tmux_the_terminal_is_asked() -> None:
    taken: list[str] = []
    written: list[str] = []
    env = {"SSH_TTY": "/dev/pts/1", "TMUX": "/tmp/tmux"}
    assert await clipboard.put("x", written.append, env, system=taken.append) == "terminal"
    assert taken == []
    assert written == ["\x1b]52;c;eA==\x07\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\"]


async def test_what_is_copied_holds_nothing_that_a_terminal_obeys(home: Path) -> None:
    app = make_app(home, ["```sh\nls\x1b[201~rm -rf ~\n```"])
    async with running(app) as pilot:
        await write(pilot, "Question")
        await idle(pilot)
        app.chat.transcript.focus()
        await pilot.press("Y")
        await until(pilot, lambda: "rm -rf" in app.clipboard)
        assert app.clipboard == "ls␛[201~rm -rf ~"


async def test_a_turn_with_calls_looks_alike_while_it_runs_and_when_it_is_opened_again(home: Path) -> None:
    call = ToolCallPart(ToolCall("c1", "memory_search", '{"query": "潮汐"}'))
    app = make_app(home, chat=ScriptedChat([[TextPart("Let me look."), call], "It is high at four."], name="scripted"))
    async with running(app, (160, 40)) as pilot:
        await write(pilot, "When is the tide?")
        await idle(pilot)
        await until(pilot, lambda: "It is high at four." in screen_text(app))
        live = [replace(entry, note="") for entry in app.chat.transcript.entries]
        assert [entry.kind for entry in live] == ["user", "assistant", "tool", "assistant"]
        assert "⚙ memory_search  潮汐 · done" in screen_text(app)
        talk = app.conversation
        assert talk is not None
        session = talk.session_id
        assert session is not None
        await talk.open(session)
        again = app.chat.transcript.entries
        assert [(e.key, e.kind, e.text, e.state, e.call) for e in again] == [
            (e.key, e.kind, e.text, e.state, e.call) for e in live
        ]
