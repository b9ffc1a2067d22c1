"""Thirty turns over a small window: what is told of every prompt is what was sent, within the budget."""

import re
from pathlib import Path

import pytest
from helpers import events_of, opened

from memory.config import LLMSettings, Settings, ToolsSettings
from memory.core import Core
from memory.events import ContextBuilt, TurnFinished
from memory.provider.base import ChatMessage
from memory.provider.scripted import ScriptedChat
from memory.recalling.prompt import Entry, fence_text, parse_block
from memory.types import ContextReport, ContextWindow

WINDOW = 4096
TURNS = 30
NONCE = re.compile(r"\[memory ([0-9a-f]+)\]")


def asked(number: int) -> str:
    if number % 3 == 0:
        return f"第{number}个问题：面包和酵母" + "现在面团应该怎么办？" * (number % 8)
    return f"Question {number} about bread and yeast: " + "what should I do with the dough now? " * (number % 9)


def parts_of(request: tuple[ChatMessage, ...]) -> tuple[list[ChatMessage], list[Entry], str]:
    """What stands before the newest message, the entries of the memory block, and the newest message itself."""
    *before, newest = request
    found = NONCE.match(newest.content)
    entries, text = parse_block(newest.content, found[1]) if found else ([], newest.content)
    return before, entries, text


def check_report(core: Core, report: ContextReport, request: tuple[ChatMessage, ...], question: str) -> None:
    """The bars and the budget: of this request, and of nothing else."""
    working, short, long = report.tiers
    assert [tier.tier for tier in report.tiers] == ["working", "short_term", "long_term"]
    assert report.budget == int(WINDOW * 0.6)
    assert (working.budget, short.budget, long.budget) == (1228, 737, 491)
    if not working.left_out:
        assert (short.items, short.left_out) == ((), 0), "every turn is there verbatim"
    assert all(tier.used == sum(item.tokens for item in tier.items) for tier in report.tiers)
    assert short.used <= short.budget
    assert long.used <= long.budget
    system, *before = parts_of(request)[0]
    assert system.role == "system"
    assert report.system_tokens == core.counter.count_message("system", system.content)
    entries, text = parts_of(request)[1:]
    recalled = [item.text for tier in (long, short) for item in tier.items]
    assert sorted(entry.text for entry in entries) == sorted(recalled)
    assert text.strip() == question.strip()
    assert [m.content for m in before] == [item.text for item in working.items[:-1]]
    nonce = NONCE.match(request[-1].content)
    fence = core.counter.count(fence_text(nonce[1])) if nonce else 0
    assert report.prompt_tokens == report.system_tokens + sum(tier.used for tier in report.tiers) + fence
    counted = sum(core.counter.count_message(message.role, message.content) for message in request)
    assert counted <= report.prompt_tokens <= report.budget


@pytest.mark.parametrize(("margin", "brought"), [(1.0, {"long_term"}), (1.3, {"short_term", "long_term"})])
async def test_every_prompt_is_within_budget_and_told_as_it_was_sent(
    home: Path, margin: float, brought: set[str]
) -> None:
    answers = [f"Answer {n}: " + "some words of explanation about bread and yeast. " * (n % 7) for n in range(TURNS)]
    model = ScriptedChat(answers, tiny=True, window=ContextWindow(WINDOW, "served"))
    llm, tools = LLMSettings(system_prompt="You are a baker. Be brief."), ToolsSettings(enabled=False)
    settings = Settings(llm=llm, tools=tools)
    async with opened(home, model, settings=settings) as core:
        core.counter.margin = margin
        earlier = core.store.create_session()
        for n in range(5):
            text = f"Remember that I bake bread number {n} with {n + 10} grams of yeast and long rests."
            await events_of(core.engine.start(earlier.id, text))
            await core.maintenance.settled()
        session, cuts, tiers_seen = core.store.create_session(), set(), set()
        for n in range(TURNS):
            events = await events_of(core.engine.start(session.id, asked(n)))
            await core.maintenance.settled()
            report = next(event.report for event in events if isinstance(event, ContextBuilt))
            check_report(core, report, model.requests[-1], asked(n))
            cuts.add(report.tiers[0].items[0].id)
            (finished,) = [event for event in events if isinstance(event, TurnFinished)]
            listed = core.store.injections(finished.message.id)
            told = {(i.tier, i.kind, i.id): (i.tokens, i.parts) for tier in report.tiers[1:] for i in tier.items}
            assert {(i.tier, i.kind, i.item_id): (i.tokens, i.parts) for i in listed} == told
            assert [i.rank for i in listed] == list(range(1, len(listed) + 1))
            assert all(i.tokens > 0 and i.parts.total for i in listed)
            tiers_seen |= {i.tier for i in listed}
        assert len(cuts) > 1, "the session outgrew the window"
        assert tiers_seen >= brought
