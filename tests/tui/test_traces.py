"""Agents on the screen: the panel while they work, the full screen, cancel by key, what stays after a restart."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from agent_app import agent_app, agent_settings
from app_support import idle, running, screen_text, until, write

from memory.errors import ServerFailed
from orca_tui.screens.traces import TracesScreen
from orca_tui.widgets.trace_panel import TracePanel
from tests.memory.agent_support import CALLS, MAIN, agent_call, agents

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
            await until(pilot, lambda: "1 agents at work" in screen_text(app))
            assert panel.display
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, TracesScreen) and "slow" in screen_text(app))
        await until(pilot, lambda: "begun with the tide" in screen_text(app))
        shown = screen_text(app)
        assert "3 runs" in shown
        assert "1 at work" in shown
        assert "done, cut" in shown
        assert "failed" in shown
        assert "The server failed (500)." in shown
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


def _main(app):
    return app._startup._chat.main


def _said(app, name: str) -> list[str]:
    found = next((run for run in app.traces._runs.values() if run.agent_name == name), None)
    stream = app.traces.stream(found.id) if found is not None else None
    return stream.pieces["text"] if stream is not None else []
