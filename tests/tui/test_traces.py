"""Agents on the screen: the panel while they work, the full screen, cancel by key, what stays after a restart."""

import asyncio
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from agent_app import agent_app, agent_settings
from app_support import idle, running, screen_text, until, write

from memory.errors import ServerFailed
from memory.events import SubagentDelta, SubagentFinished, SubagentStarted
from memory.provider.base import TextPart
from memory.store import open_store
from memory.types import SubagentRun
from orca_tui.screens.traces import TracesScreen
from orca_tui.widgets.trace_panel import TracePanel
from tests.memory.agent_support import CALLS, MAIN, agent_call, agents

DATA = Path(__file__).parents[1] / "data"
NOW = "2026-01-02T03:04:05.000000+00:00"
LONG = "The tide is high in every line of this report.\n" * 6000


def sections() -> dict:
    return {n: replace(a, max_tokens=10_000_000) for n, a in agents(writer=(), broken=(), slow=()).items()}


def scripts(gate: asyncio.Event) -> dict:
    calls = [agent_call("writer", "write a lot", 1), agent_call("broken", "try", 2), agent_call("slow", "wait", 3)]
    return {
        MAIN: [["I ask three. ", *calls, CALLS], "All done."],
        "writer": [[LONG]],
        "broken": [["half ", ServerFailed("The server failed (500).", hint="Try again.")]],
        "slow": [["begun with the tide ", gate, "never"]],
    }


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_three_at_once_one_fails_one_is_cancelled_by_a_key_one_is_cut(home: Path, size: tuple[int, int]) -> None:
    gate = asyncio.Event()
    app = agent_app(home, scripts(gate), agent_settings(sections()))
    async with running(app, size) as pilot:
        await write(pilot, "Do three things")
        await until(pilot, lambda: app.core.subagents.live)
        await until(pilot, lambda: "begun" in "".join(_said(app, "slow")))
        await until(pilot, lambda: len(app.core.subagents.live) == 1)
        if size[0] >= 100:
            panel = app.chat.query_one(TracePanel)
            await until(pilot, lambda: "Agents at work: 1" in screen_text(app))
            assert panel.display
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, TracesScreen) and "slow" in screen_text(app))
        await until(pilot, lambda: "begun with the tide" in screen_text(app))
        shown = screen_text(app)
        assert "3 runs" in shown
        assert "1 at work" in shown
        assert "done, cut" in shown
        assert "failed" in shown
        assert "failed · The server" in shown
        await pilot.press("c")
        await until(pilot, lambda: not app.core.subagents.live)
        await until(pilot, lambda: "cancelled" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.chat)
        await idle(pilot)
        assert not app.chat.query(TracePanel) or not app.chat.query_one(TracePanel).display
        rows = {run.agent_name: run for run in app.core.store.subagent_runs(app.chat.target.session_id)}
        assert {name: (run.state, run.truncated) for name, run in rows.items()} == {
            "writer": ("complete", True),
            "broken": ("failed", False),
            "slow": ("stopped", False),
        }
        final = _main(app).requests[-1]
        assert [message.role for message in final] == ["user", "assistant", "tool", "tool", "tool"]
        assert all(len(message.content) < 3000 for message in final)
        assert "half" not in "".join(message.content for message in final)


async def test_by_hand_with_completion_and_again_after_a_restart(home: Path) -> None:
    gate = asyncio.Event()
    app = agent_app(home, {MAIN: ["x"], "slow": [["so far **bold** ", gate, "and done"]]}, agent_settings(sections()))
    async with running(app, (100, 30)) as pilot:
        await write(pilot, "/agent sl", send=False)
        await until(pilot, lambda: "/agent slow" in screen_text(app))
        await pilot.press("tab")
        assert app.chat.composer.text == "/agent slow "
        await write(pilot, "wait for the tide")
        await until(pilot, lambda: "so far" in "".join(_said(app, "slow")))
        await until(pilot, lambda: "⚙ slow" in screen_text(app))
        gate.set()
        await idle(pilot)
        await until(pilot, lambda: "and done" in screen_text(app))
        assert "⚙" not in screen_text(app)
        session_id = app.chat.target.session_id
    app = agent_app(home, {MAIN: ["x"]}, agent_settings(sections()), session_id=session_id)
    async with running(app, (100, 30)) as pilot:
        await until(pilot, lambda: app.traces.of(session_id))
        app.chat.transcript.focus()
        await until(pilot, lambda: "agents" in screen_text(app).splitlines()[-1])
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, TracesScreen) and "so far bold and done" in screen_text(app))
        assert "wait for the tide" in screen_text(app)
        await pilot.press("b")
        await until(pilot, lambda: app.screen is app.chat and app.chat.transcript.has_focus)


async def test_what_cannot_begin_goes_back_into_the_composer(home: Path) -> None:
    app = agent_app(home, {MAIN: ["x"]}, agent_settings(sections()))
    async with running(app, (100, 30)) as pilot:
        for line, told in (("/agent slwo wait", "slow"), ("/agent", "Say which agent"), ("/agent slow", "Say which")):
            await write(pilot, line)
            await until(pilot, lambda told=told: told in screen_text(app))
            assert app.chat.composer.text.strip() == line
            app.chat.composer.clear()
            app.clear_notifications()
        assert app.chat.target.session_id is None
        await write(pilot, "/agents")
        await until(pilot, lambda: "50,000 tokens, 300 s" in screen_text(app))


async def test_a_run_that_a_crash_cut_is_told_once_and_shown_as_interrupted(home: Path) -> None:
    store = open_store(home / "memory.db")
    session = store.create_session(title="Before")
    message = store.add_message(session.id, "user", "/agent slow wait")
    gone = {"pid": 2**22 - 3, "host": socket.gethostname(), "heartbeat": "2020-01-01T00:00:00.000000+00:00"}
    store.add_subagent_run(message.id, "slow", "wait", parent_run_id=None, owner=gone)
    store.close()
    app = agent_app(home, {MAIN: ["x"]}, agent_settings(sections()), session_id=session.id)
    async with running(app, (100, 30)) as pilot:
        await until(pilot, lambda: any("orca ended: slow" in one.message for one in app._notifications))
        await pilot.press("f12")
        await until(pilot, lambda: "interrupted · " in screen_text(app) and "is lost" in screen_text(app))


@pytest.mark.parametrize("key", ["c", "C", "escape"])
async def test_four_at_work_resized_and_ended_leave_nothing(home: Path, key: str) -> None:
    names = ("one", "two", "three", "four")
    stream = [TextPart(f"line {n} of the *stream*\n") for n in range(200)]
    scripts = {name: [[*stream, asyncio.Event(), "never"]] for name in names}
    asks = [agent_call(name, "go", n) for n, name in enumerate(names)]
    settings = agent_settings(
        {n: replace(a, max_tokens=10_000_000) for n, a in agents(**dict.fromkeys(names, ())).items()}
    )
    app = agent_app(home, {MAIN: [[*asks, CALLS], "All done."], **scripts}, settings)
    async with running(app, (120, 40)) as pilot:
        await write(pilot, "Go")
        await until(pilot, lambda: len(app.core.subagents.live) == 4)
        if key != "escape":
            await pilot.press("f12")
            await until(pilot, lambda: isinstance(app.screen, TracesScreen))
        for size in ((80, 24), (40, 12), (60, 10), (200, 60), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await until(pilot, lambda: all("line 199" in "".join(_said(app, name)) for name in names))
        if key == "c":
            for _name in names:
                await pilot.press("g", *["j"] * names.index(_name), "c")
        else:
            await pilot.press(key)
        await until(pilot, lambda: not app.core.subagents.live)
        if key != "escape":
            await pilot.press("escape")
        await idle(pilot)
        await until(pilot, lambda: not app.traces.running(app.chat.target.session_id))
        runs = app.core.store.subagent_runs(app.chat.target.session_id)
        assert {run.state for run in runs} == {"stopped"}
        assert app.screen is app.chat


@pytest.mark.parametrize("name", ["escapes.jsonl", "markup.jsonl"])
async def test_hostile_text_in_every_place(home: Path, name: str) -> None:
    samples = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    texts = [str(sample.get("text", sample) if isinstance(sample, dict) else sample) for sample in samples]
    app = agent_app(home, {MAIN: ["x"]}, agent_settings(sections(), language="zh"))
    async with running(app, (120, 40)) as pilot:
        await write(pilot, "Hello")
        await idle(pilot)
        session_id, parent = app.chat.target.session_id, app.chat.messages[0].id
        for number, text in enumerate(texts[::12], 1):
            for state in ("running", "failed", "complete"):
                run = SubagentRun(
                    number, parent, None, session_id, text, "assistant", text, NOW, text, state, 5, 5, False, NOW, None
                )
                app.traces.take(SubagentStarted("t", run) if state == "running" else SubagentFinished("t", run))
                for kind in ("text", "reasoning", "step"):
                    app.traces.take(SubagentDelta("t", number, kind, text, 7))
                app.traces._tell()
                await pilot.pause()
                if not isinstance(app.screen, TracesScreen):
                    await pilot.press("f12")
                    await until(pilot, lambda: isinstance(app.screen, TracesScreen))
                drawn = screen_text(app)
                assert not any(ord(character) < 32 and character != "\n" for character in drawn)
        await pilot.press("escape", "escape")


def _main(app):
    return app._startup._chat.main


def _said(app, name: str) -> list[str]:
    found = next((run for run in app.traces._runs.values() if run.agent_name == name), None)
    stream = app.traces.stream(found.id) if found is not None else None
    return stream.pieces["text"] if stream is not None else []
