"""Subagents over real HTTP on loopback: a server whose models call tools, fail, and stall."""

from dataclasses import replace
from pathlib import Path

from llmock.scenarios import Fail, Match, Reply, StreamFault, ToolCall
from llmock.testing import LLMockServer

from memory.config import Home, LLMSettings, Secret, Settings
from memory.core import Core
from memory.events import SubagentDelta, TurnFinished
from memory.provider.scripted import HashEmbedder
from memory.subagents.reply import MAX_TOKENS
from memory.tokens import TokenCounter
from tests.helpers import FakeClock
from tests.memory.agent_support import agents

TASKS = {"writer": "write a lot", "broken": "try", "slow": "wait"}


def settings_at(url: str) -> Settings:
    """The user's model and one for each agent, at one server."""
    sections = {
        name: replace(agent, model=f"gpt-4o-{name}", max_tokens=1_000_000)
        for name, agent in agents(**dict.fromkeys(TASKS, ())).items()
    }
    llm = LLMSettings(
        provider="openai",
        base_url=url,
        model="gpt-4o-main",
        api_key=Secret("sk-x"),
        context_window=32_768,
        max_retries=0,
    )
    return replace(Settings(), llm=llm, agents=sections)


async def test_three_at_once_over_http(home: Path) -> None:
    calls = tuple(ToolCall("agent_call", {"agent": name, "task": task}) for name, task in TASKS.items())
    with LLMockServer() as server:
        server.state.scenarios.add(
            Reply(text="I let it be done.", tool_calls=calls, match=Match(model="gpt-4o-main")),
            Reply(text="All is done.", match=Match(model="gpt-4o-main")),
            Reply(text="很长的回答。" * 8_000, match=Match(model="gpt-4o-writer")),
            Fail(500, match=Match(model="gpt-4o-broken")),
            Reply(text="so far and no further", match=Match(model="gpt-4o-slow")),
            StreamFault("stall", after_chunks=3, match=Match(model="gpt-4o-slow")),
        )
        place = Home(home)
        place.ensure()
        core = Core.open(place, settings_at(server.base_url()), clock=FakeClock(), embedder=HashEmbedder(), env={})
        try:
            await core.start(warm_up=False)
            session = core.store.create_session()
            turn = core.engine.start(session.id, "Do three things at once")
            async for event in turn:
                if isinstance(event, SubagentDelta) and event.kind == "text" and event.text.startswith("so"):
                    core.subagents.cancel(event.run_id)
            assert isinstance(event, TurnFinished)
            assert event.message.content == "All is done."
            runs = {run.agent_name: run for run in core.store.subagent_runs(session.id)}
            assert {name: (run.state, run.truncated) for name, run in runs.items()} == {
                "writer": ("complete", True),
                "broken": ("failed", False),
                "slow": ("stopped", False),
            }
            assert runs["writer"].content.endswith("[内容已截断]")
            assert TokenCounter().count(runs["writer"].content) <= MAX_TOKENS
            assert runs["slow"].content.startswith("so")
            assert [message.role for message in core.store.path(session.id)] == [
                *("user", "assistant", "tool", "tool", "tool", "assistant")
            ]
        finally:
            await core.close()
