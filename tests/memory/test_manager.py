"""What goes into a prompt: budget, recall across sessions and languages, and nothing that does not belong there."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import FakeClock, opened, say

from memory.config import Home, MemorySettings, Settings
from memory.core import Core
from memory.errors import EmbeddingFailed
from memory.events import ContextBuilt
from memory.provider.base import EmbedKind
from memory.provider.scripted import HashEmbedder, ScriptedChat
from memory.recalling.prompt import parse_block
from memory.recalling.ranking import Background, background
from memory.types import ContextReport, ContextWindow, LongTermMemory, NewMemory, Scope

WINDOW = ContextWindow(8192, "served")


def chat(*replies: str, window: int = 8192) -> ScriptedChat:
    return ScriptedChat(replies or ["Understood."], tiny=True, window=ContextWindow(window, "served"))


def report_of(events: list[Any]) -> ContextReport:
    return next(event.report for event in events if isinstance(event, ContextBuilt))


def remember(core: Core, content: str, **fields: Any) -> LongTermMemory:
    given: dict[str, Any] = {"memory_type": "fact", "branch": "short_term_fact", "source": "user", **fields}
    return core.store.add_memory(NewMemory(content, **given), actor="maintenance")


def recalled(events: list[Any]) -> list[str]:
    report = report_of(events)
    return [item.text for tier in report.tiers[1:] for item in tier.items]


async def test_a_message_of_an_earlier_session_is_found(home: Path) -> None:
    async with opened(home, chat("A fine name for a boat.")) as core:
        first = core.store.create_session()
        await say(core, first.id, "The boat that grandfather built is called Meridian.")
        await say(core, first.id, "How do I boil eggs so that they stay soft?")
        second = core.store.create_session()
        events = await say(core, second.id, "What was the boat of grandfather called?")
        texts = recalled(events)
        assert "The boat that grandfather built is called Meridian." in texts
        assert not any("eggs" in text for text in texts), "nothing irrelevant goes"


async def test_recall_in_chinese(home: Path) -> None:
    async with opened(home, chat("好的。")) as core:
        first = core.store.create_session()
        await say(core, first.id, "爷爷造的那条船名字叫做子午线号。")
        await say(core, first.id, "鸡蛋要煮几分钟才嫩？")
        second = core.store.create_session()
        texts = recalled(await say(core, second.id, "那条船的名字是什么来着？"))
        assert "爷爷造的那条船名字叫做子午线号。" in texts
        assert not any("鸡蛋" in text for text in texts)


async def test_small_talk_recalls_nothing(home: Path) -> None:
    async with opened(home) as core:
        first = core.store.create_session()
        await say(core, first.id, "Hello there, I keep bees in Kent.")
        second = core.store.create_session()
        assert recalled(await say(core, second.id, "hello there")) == []


async def test_every_prompt_of_a_long_session_is_within_budget(home: Path) -> None:
    model = chat(
        *[f"Answer {n}: " + "some words of explanation about bread and yeast. " * (n % 7) for n in range(30)],
        window=4096,
    )
    async with opened(home, model) as core:
        earlier = core.store.create_session()
        for n in range(5):
            await say(core, earlier.id, f"I bake bread number {n} with {n + 10} grams of yeast and long rests.")
        session = core.store.create_session()
        starts = []
        for n in range(30):
            question = f"Question {n} about bread and yeast: " + "what should I do with the dough now? " * (n % 9)
            report = report_of(await say(core, session.id, question))
            assert report.budget == int(4096 * 0.6)
            assert report.prompt_tokens <= report.budget
            counted = sum(core.counter.count_message(m.role, m.content) for m in model.requests[-1])
            assert counted <= report.prompt_tokens
            assert [tier.tier for tier in report.tiers] == ["working", "short_term", "long_term"]
            assert report.tiers[1].used <= report.tiers[1].budget
            assert report.tiers[2].used <= report.tiers[2].budget
            starts.append(report.tiers[0].items[0].id)
            assert report.tiers[0].items[0].role == "user"
        assert len(set(starts)) > 1, "the session outgrew the window"
        assert len(set(starts)) <= 12, "and its front did not move every turn"


async def test_a_message_larger_than_the_budget_goes_alone(home: Path) -> None:
    model = chat(window=600)
    async with opened(home, model) as core:
        session = core.store.create_session()
        await say(core, session.id, "A short question before about tides.")
        events = await say(core, session.id, "tides " * 2000)
        report = report_of(events)
        assert [item.role for item in report.tiers[0].items] == ["user"]
        assert report.tiers[1].items == report.tiers[2].items == ()
        assert len(model.requests[-1]) == 1


async def test_the_memory_block_stands_before_the_newest_message_and_is_not_stored(home: Path) -> None:
    model = chat()
    async with opened(home, model, settings=Settings()) as core:
        remember(core, "The spare key lies under the blue flower pot.")
        session = core.store.create_session()
        await say(core, session.id, "Where does the spare key lie?")
        sent = model.requests[-1][-1]
        nonce = sent.content.split("]", 1)[0].removeprefix("[memory ")
        entries, rest = parse_block(sent.content, nonce)
        assert rest == "Where does the spare key lie?"
        assert [(e.origin, e.tier, e.text) for e in entries] == [
            ("user", "long_term", "The spare key lies under the blue flower pot.")
        ]
        assert core.store.path(session.id)[0].content == rest
        await say(core, session.id, "And where does the spare key lie at night?")
        assert nonce not in model.requests[-1][-1].content, "each prompt has a nonce of its own"


async def test_each_part_of_a_score_is_kept_with_the_reply(home: Path) -> None:
    async with opened(home) as core:
        memory = remember(core, "The spare key lies under the blue flower pot.")
        session = core.store.create_session()
        await say(core, session.id, "Where does the spare key lie?")
        reply = core.store.path(session.id)[-1]
        (injection,) = core.store.injections(reply.id)
        assert (injection.kind, injection.item_id, injection.tier, injection.rank) == (
            "long_term",
            memory.id,
            "long_term",
            1,
        )
        parts = injection.parts
        added = parts.vector + parts.text + parts.importance + parts.recency + parts.heat + parts.branch
        added += parts.context + parts.form
        assert parts.total == pytest.approx(added)
        assert parts.coverage > 0.5
        assert injection.tokens > 0
        assert core.store.memory(memory.id).access_count == 1


async def test_without_memory_nothing_is_recalled(home: Path) -> None:
    async with opened(home) as core:
        remember(core, "The spare key lies under the blue flower pot.")
        session = core.store.create_session()
        events = await say(core, session.id, "Where does the spare key lie?", use_memory=False)
        assert recalled(events) == []
        assert core.store.injections(core.store.path(session.id)[-1].id) == []


async def test_memory_can_be_switched_off(home: Path) -> None:
    async with opened(home, settings=Settings(memory=MemorySettings(enabled=False))) as core:
        remember(core, "The spare key lies under the blue flower pot.")
        session = core.store.create_session()
        assert recalled(await say(core, session.id, "Where does the spare key lie? Remember that I like keys.")) == []
        assert len(core.store.memories()) == 1
        assert core.store.short_term(session.id) == []


async def test_an_incognito_session_leaves_no_trace_in_memory(home: Path) -> None:
    async with opened(home) as core:
        memory = remember(core, "The spare key lies under the blue flower pot.")
        session = core.store.create_session(incognito=True)
        await say(core, session.id, "Where does the spare key lie? Remember that I live in Oslo.")
        core.maintenance.end_session(session.id)
        await core.maintenance.settled()
        assert core.store.memory(memory.id).access_count == 0
        assert len(core.store.memories()) == 1
        assert core.store.short_term(session.id) == []


async def test_scopes_are_walls(home: Path) -> None:
    async with opened(home) as core:
        remember(core, "The gate code of the harbour is seven.", scope=Scope(project="harbour"))
        remember(core, "The gate code of the office is nine.")
        other = core.store.create_session(scope=Scope(project="garden"))
        assert recalled(await say(core, other.id, "What is the gate code?")) == ["The gate code of the office is nine."]
        same = core.store.create_session(scope=Scope(project="harbour"))
        assert len(recalled(await say(core, same.id, "What is the gate code?"))) >= 2


async def test_pending_and_general_memories_are_never_injected(home: Path) -> None:
    async with opened(home) as core:
        remember(core, "The spare key lies under the red carpet.", status="pending", source="tool")
        remember(core, "The spare key lies behind the clock.", branch="general_memory")
        session = core.store.create_session()
        assert recalled(await say(core, session.id, "Where does the spare key lie?")) == []


async def test_standing_instructions_go_with_every_question(home: Path) -> None:
    async with opened(home) as core:
        remember(core, "以后都用中文回答我", memory_type="constraint", branch="user_preference")
        session = core.store.create_session()
        assert recalled(await say(core, session.id, "How far away is the moon?")) == ["以后都用中文回答我"]


async def test_what_was_superseded_or_thrown_away_does_not_come_back_as_a_message(home: Path) -> None:
    async with opened(home) as core:
        first = core.store.create_session()
        await say(core, first.id, "I live in Paris.")
        core.maintenance.end_session(first.id)
        await core.maintenance.settled()
        second = core.store.create_session()
        await say(core, second.id, "I moved to Rome.")
        core.maintenance.end_session(second.id)
        await core.maintenance.settled()
        third = core.store.create_session()
        texts = recalled(await say(core, third.id, "Do I live in Paris, or where have I moved?"))
        assert any("Rome" in text for text in texts)
        assert not any("live in Paris" in text for text in texts)


async def test_a_memory_and_the_message_it_came_from_do_not_both_go(home: Path) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await say(core, session.id, "I love strong coffee from Kenya.")
        core.maintenance.end_session(session.id)
        await core.maintenance.settled()
        other = core.store.create_session()
        texts = recalled(await say(core, other.id, "Which strong coffee do I love?"))
        assert [text.rstrip(".") for text in texts].count("I love strong coffee from Kenya") == 1


async def test_working_memory_never_repeats_what_recall_brings(home: Path) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await say(core, session.id, "I love strong coffee from Kenya. Remember that.")
        assert len(core.store.memories()) == 1
        events = await say(core, session.id, "Which strong coffee do I love?")
        assert recalled(events) == [], "the words are in working memory already"


async def test_summaries_go_when_their_turns_are_gone(home: Path) -> None:
    model = chat("Long answer about rivers and rain. " * 40, window=2048)
    async with opened(home, model) as core:
        session = core.store.create_session()
        for n in range(6):
            report = report_of(await say(core, session.id, f"Question {n}: which river is number {n} in length?"))
        assert 1 <= len(report.tiers[1].items) <= 3
        shown = {item.id for item in report.tiers[0].items}
        for item in report.tiers[1].items:
            summary = core.store.short_term_memory(item.id)
            assert summary.first_message_id not in shown


class Mute(HashEmbedder):
    async def embed(self, texts: Any, kind: Any) -> Any:
        raise EmbeddingFailed("down")


async def test_without_vectors_text_search_and_the_most_used_serve(home: Path) -> None:
    async with opened(home, embedder=Mute()) as core:
        remember(core, "The spare key lies under the blue flower pot.")
        used = remember(core, "The neighbour's dog is called Bruno.")
        core.store.touch_memories([used.id])
        session = core.store.create_session()
        texts = recalled(await say(core, session.id, "Where does the spare key lie?"))
        assert texts == ["The spare key lies under the blue flower pot.", "The neighbour's dog is called Bruno."]


class Slow(HashEmbedder):
    """Gives its vectors when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> Any:
        await self.gate.wait()
        return await super().embed(texts, kind)


async def test_whether_recall_looked_by_meaning_is_told(home: Path) -> None:
    slow = Slow()
    place = Home(home)
    place.ensure()
    core = Core.open(place, Settings(), chat=chat(), embedder=slow, query_wait=0.01)
    session = core.store.create_session()
    await say(core, session.id, "The spare key lies under the blue flower pot.")
    other = core.store.create_session()
    report = report_of(await say(core, other.id, "Where does the spare key lie?"))
    assert report.by_meaning is False
    assert report.tiers[2].items, "words alone find it"
    assert report_of(await say(core, other.id, "hi")).by_meaning, "nothing was looked for"
    assert (await core.manager.preview(other.id, window=WINDOW)).by_meaning
    slow.gate.set()
    assert report_of(await say(core, other.id, "Where is the key, then?")).by_meaning
    assert (await core.manager.look_up("spare key")).by_meaning
    await core.close()
    async with opened(home, embedder=Mute()) as core:
        found = await core.manager.look_up("spare key")
        assert not found.by_meaning
        assert found.hits


async def test_a_reworded_memory_is_not_displaced_by_its_message(home: Path) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await say(core, session.id, "Remember that the spare key lies under the pot.")
        (memory,) = core.store.memories()
        core.store.update_memory(memory.id, {"content": "The spare key lies in the safe."}, actor="user")
        other = core.store.create_session()
        assert "The spare key lies in the safe." in recalled(await say(core, other.id, "Where does the spare key lie?"))


async def test_preview_tells_what_would_be_there(home: Path) -> None:
    async with opened(home) as core:
        remember(core, "The spare key lies under the blue flower pot.")
        empty = await core.manager.preview(None, window=WINDOW)
        assert [len(tier.items) for tier in empty.tiers] == [0, 0, 1]
        session = core.store.create_session()
        await say(core, session.id, "How far away is the moon?")
        report = await core.manager.preview(session.id, window=WINDOW)
        assert [item.text for item in report.tiers[0].items] == ["How far away is the moon?", "Fine."]
        assert report.tiers[0].used == sum(item.tokens for item in report.tiers[0].items)
        assert report.prompt_tokens <= report.budget


async def test_preview_after_a_reply_larger_than_the_window_shows_what_the_next_prompt_takes(home: Path) -> None:
    async with opened(home, chat("word " * 20_000, "Fine.")) as core:
        core.manager._nonce = lambda: "5eed5eed5eed5eed"  # random ones differ in their tokens
        session = core.store.create_session()
        await say(core, session.id, "Write me a very long story, please.")
        preview = await core.manager.preview(session.id, window=WINDOW)
        assert preview.prompt_tokens <= preview.budget
        assert preview.tiers[0].used <= preview.tiers[0].budget
        report = report_of(await say(core, session.id, "Thank you, that will do."))
        assert preview.prompt_tokens <= report.prompt_tokens <= preview.prompt_tokens + 100
        assert [item.text for item in preview.tiers[0].items] == [item.text for item in report.tiers[0].items[:-1]]
        assert preview.tiers[0].left_out == report.tiers[0].left_out


async def test_search_finds_messages_and_memories(home: Path) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await say(core, session.id, "The spare key lies under the blue flower pot. Remember that.")
        hits = await core.manager.search("spare key")
        assert {hit.kind for hit in hits} == {"message", "short_term", "long_term"}
        assert hits == sorted(hits, key=lambda hit: -hit.parts.total)
        only = await core.manager.search("spare key", kinds=("long_term",), limit=1)
        assert [hit.kind for hit in only] == ["long_term"]
        assert await core.manager.search("zebra crossing") == []
        assert await core.manager.search("   ") == []


@pytest.mark.parametrize("query", ['"', "c++ foo-bar a.b it's *", "\x00\ud800", "NEAR(a b)", "x" * 50_000])
async def test_any_query_is_legal(home: Path, query: str) -> None:
    async with opened(home) as core:
        session = core.store.create_session()
        await say(core, session.id, "Something to search in.")
        await core.manager.search(query)


def test_background_is_worked_back_from_the_top_of_a_search() -> None:
    # the best 100 of 10,000 normal cosines around 0.7 ± 0.05
    from statistics import NormalDist

    normal = NormalDist(0.7, 0.05)
    top = [normal.inv_cdf(1 - (rank + 0.5) / 10_000) for rank in range(100)]
    known = background([top], 10_000)
    assert known is not None
    assert known.mean == pytest.approx(0.7, abs=0.01)
    assert known.deviation == pytest.approx(0.05, abs=0.01)
    assert background([], 10) is None
    few = background([[0.5, 0.7]], 2)
    assert few is not None
    assert (few.mean, few.deviation) == (pytest.approx(0.6), pytest.approx(0.1))
    assert few.threshold < known.threshold, "chance has fewer tries in a small store"
    assert known.threshold > Background(0.6, 0.1).threshold, "chance has more tries in a large store"


async def test_expired_memories_rank_down_but_are_not_dropped(home: Path) -> None:
    clock = FakeClock()
    async with opened(home, clock=clock) as core:
        old = remember(core, "The ferry to the island leaves at nine.", expires_at=clock.now())
        fresh = remember(core, "The ferry to the island leaves at ten.")
        clock.advance(60)
        hits = await core.manager.search("When does the ferry to the island leave?", kinds=("long_term",))
        assert [hit.id for hit in hits] == [fresh.id, old.id]


async def test_a_request_is_previewed_as_it_would_be_sent(home: Path) -> None:
    async with opened(home, chat("Noted.")) as core:
        core.curator.add("The user drinks green tea in the morning.", "preference")
        session = core.store.create_session()
        await say(core, session.id, "Good evening to you all")
        session = core.store.session(session.id)
        question = "Which tea does the user drink in the morning?"
        used = [row.access_count for row in core.store.memories()]
        prompt = await core.manager.preview_request(session, question, window=WINDOW, system_prompt="Be kind.")
        assert [row.access_count for row in core.store.memories()] == used
        assert len(core.store.path(session.id)) == 2
        assert [m.role for m in prompt.messages] == ["system", "user", "assistant", "user"]
        assert "green tea" in prompt.messages[-1].content
        assert prompt.messages[-1].content.endswith(question)
        plain = await core.manager.preview_request(None, question, window=WINDOW, system_prompt="", use_memory=False)
        assert [m.content for m in plain.messages] == [question]
