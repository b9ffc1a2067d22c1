"""Orderings that must hold whatever the weights are; `benchmarks/recall.py` measures how well the whole does."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from helpers import opened

from memory.config import MemorySettings, Settings
from memory.core import Core
from memory.errors import EmbeddingFailed
from memory.provider.base import EmbedKind
from memory.provider.scripted import HashEmbedder
from memory.recalling.pick import PASSAGES
from memory.recalling.question import Wanted, question_share, substance
from memory.recalling.ranking import Around, Background, Nearness, relevant, score
from memory.store.search import terms
from memory.types import ContextItem, ContextWindow, Hit, LongTermMemory, Message, NewMemory, ScoreParts

if TYPE_CHECKING:
    from memory.provider.base import Vectors

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
WINDOW = ContextWindow(8000, "configured")
NOW = "2026-03-01T12:00:00.000000+00:00"


def remember(core: Core, content: str, **fields: Any) -> LongTermMemory:
    given: dict[str, Any] = {"memory_type": "fact", "branch": "short_term_fact", "source": "user", **fields}
    return core.store.add_memory(NewMemory(content, **given), actor="maintenance")


def talk(core: Core, *turns: str) -> list[Message]:
    """One earlier session; user and assistant in turn."""
    session = core.store.create_session().id
    return [core.store.add_message(session, "assistant" if n % 2 else "user", text) for n, text in enumerate(turns)]


class Down(HashEmbedder):
    """Words are all there is: vectors that only hash words would add nothing but noise."""

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> "Vectors":
        raise EmbeddingFailed("the embedder is down")


class Bilingual(HashEmbedder):
    """One axis a subject and one a language; the language weighs most, as in real models."""

    subjects = ({"cat", "猫"}, {"boat", "船"}, {"cello", "琴"}, {"boiler", "锅炉"}, {"tyre", "胎"})

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> "Vectors":
        import numpy as np

        rows = np.full((len(texts), self.width), 0.05, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[10 if text.isascii() else 11] = 3.0
            row[20 + len(text) % 7] += 0.3
            for axis, words in enumerate(self.subjects):
                row[axis] += sum(word in text.casefold() for word in words)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


async def embed(core: Core) -> None:
    embedder = await core.embedder()
    if embedder is None or isinstance(embedder, Down):
        return
    while waiting := core.store.waiting_for_embedding(model=embedder.model):
        vectors = await embedder.embed([text for _, _, text in waiting], "passage")
        core.store.put_embeddings([row[:2] for row in waiting], vectors, model=embedder.model)


async def found(core: Core, query: str) -> list[Hit]:
    await embed(core)
    return await core.manager.search(query)


async def injected(core: Core, query: str) -> list[ContextItem]:
    """The long-term tier of a prompt in a new session."""
    await embed(core)
    session = core.store.create_session(incognito=True)
    newest = core.store.add_message(session.id, "user", query)
    prompt = await core.manager.build(session, newest, window=WINDOW, system_prompt="")
    return list(prompt.report.tiers[2].items)


@pytest.mark.parametrize(
    ("right", "wrong", "query"),
    [
        (
            "The herb that I don't like is lovage.",
            "The herb that I really like is chervil.",
            "Which herb don't I like?",
        ),
        ("我不喜欢吃的菜是苦瓜。", "我最喜欢吃的菜是豆腐。", "我不喜欢吃的菜是什么？"),
        ("We went to the lake with Ana in May.", "We went to the lake with Ana by car.", "When did we go to the lake?"),
        (
            "The lamp in the hall cost forty euros.",
            "The lamp in the hall cost a fortune.",
            "How much did the lamp cost?",
        ),
    ],
)
@pytest.mark.parametrize("right_first", [True, False])
async def test_what_is_asked_for_comes_first(home: Path, right: str, wrong: str, query: str, right_first: bool) -> None:
    """Denials, dates and numbers: the words alone do not tell the two apart."""
    async with opened(home, start=False) as core:
        for text in (right, wrong) if right_first else (wrong, right):
            remember(core, text)
        assert (await found(core, query))[0].text == right


async def test_the_answer_comes_before_the_question(home: Path) -> None:
    async with opened(home, embedder=Down(), start=False) as core:
        talk(core, "What did the doctor say about the knee?", "It is the cartilage, so no more hills until spring.")
        talk(core, "What did the doctor say about the ear?", "It is nothing that will not heal by itself in a week.")
        hits = await found(core, "What did the doctor say about my knee?")
        places = {hit.text: at for at, hit in enumerate(hits)}
        right = "It is the cartilage, so no more hills until spring."
        other = "It is nothing that will not heal by itself in a week."
        assert places[right] < places[other], "it shares no word with the query; the turn before it does"
        assert hits[places[right]].parts.context > hits[places[other]].parts.context


async def test_a_statement_comes_before_the_question_it_answers(home: Path) -> None:
    async with opened(home, embedder=Down(), start=False) as core:
        talk(core, "Do you know what the boat of my uncle is called?")
        talk(core, "The boat of my uncle is called the Patient Heron.")
        first, second = await found(core, "What is the boat of my uncle called?")
        assert first.text.endswith("Heron.")
        assert first.parts.form > second.parts.form


async def test_a_memory_in_the_other_language_is_found_among_those_in_the_same(home: Path) -> None:
    async with opened(home, embedder=Bilingual(), start=False) as core:
        for text in (
            "The boat of my uncle is slow.",
            "Freya plays the cello.",
            "The boiler is new.",
            "A tyre is flat.",
        ):
            remember(core, text)
        for text in ("我家的猫名叫汤圆。", "舅舅有一条旧船。", "锅炉是去年装的。"):
            remember(core, text)
        assert (await found(core, "What is the name of my cat?"))[0].text == "我家的猫名叫汤圆。"


async def test_what_was_superseded_does_not_come_back(home: Path) -> None:
    async with opened(home, start=False) as core:
        said = talk(core, "I live in a flat in Paris.", "Good to know.")
        old = remember(core, "Lives in a flat in Paris.", topic_key="home", source_message_id=said[0].id)
        new = remember(core, "Lives in a flat in Rome.", topic_key="home")
        hits = await found(core, "In which flat do I live?")
        assert hits[0].id == new.id
        assert not any(hit.kind == "long_term" and hit.id == old.id for hit in hits)
        texts = [item.text for item in await injected(core, "In which flat do I live?")]
        assert texts[0] == "Lives in a flat in Rome."
        assert not any("Paris" in text for text in texts)


async def test_a_memory_and_the_turn_it_was_made_from_go_as_one(home: Path) -> None:
    async with opened(home, start=False) as core:
        said = talk(core, "The spare key lies under the blue flower pot.", "I will keep that in mind for you.")
        remember(core, "The spare key lies under the blue flower pot.", source_message_id=said[0].id)
        texts = [item.text for item in await injected(core, "Where does the spare key lie?")]
        assert texts.count("The spare key lies under the blue flower pot.") == 1


async def test_turns_around_a_hit_share_its_place(home: Path) -> None:
    settings = Settings(memory=MemorySettings(long_term_top_k=1))
    async with opened(home, settings=settings, start=False) as core:
        turns = talk(
            core,
            "We looked at three houses on Saturday.",
            "Which of the houses has the orchard that you dream of?",
            "The house with the orchard is the one in Marlow.",
            "Then you should call the agent before somebody else does.",
            "My bicycle has a flat tyre again.",
        )
        for owner in ("monks", "mayor", "miller", "bishop"):
            talk(core, f"The orchard of the {owner} was sold last year.")
        items = await injected(core, "Which house has the orchard?")
        ids = [item.id for item in items]
        assert turns[2].id in ids
        assert {turns[1].id, turns[3].id} <= set(ids), "what was said before and after makes it clear"
        assert turns[4].id not in ids
        assert len({core.store.message(i).session_id for i in ids}) <= PASSAGES, "a passage takes one place"


@pytest.mark.parametrize("query", ["How do volcanoes erupt under glaciers?", "冰川下的火山怎样喷发？"])
async def test_nothing_is_injected_when_nothing_fits(home: Path, query: str) -> None:
    async with opened(home, start=False) as core:
        for content in ("Freya plays the cello.", "The boiler is under warranty until 2029.", "我儿子在学击剑。"):
            remember(core, content)
        talk(core, "My bicycle has a flat tyre again.", "There is a repair shop by the station.")
        assert await injected(core, query) == []


async def test_recall_beats_the_text_index_on_a_dialogue(home: Path) -> None:
    """Even without vectors: the turns around and what is asked for tell a good deal."""
    turns = rows("dialogue_en_1.jsonl")
    async with opened(home, embedder=Down(), start=False) as core:
        ids: dict[int, str] = {}
        for before, turn in pairwise([{"session": 0}, *turns]):
            if turn["session"] != before["session"]:
                session = core.store.create_session().id
            role = "user" if turn["speaker"] == turns[0]["speaker"] else "assistant"
            ids[core.store.add_message(session, role, f"{turn['speaker']}: {turn['text']}").id] = turn["id"]
        await embed(core)
        text = ours = 0
        for question in [q for q in rows("questions.jsonl") if q["set"] == turns[0]["conversation"]]:
            query, answers = question["query"], set(question["answers"])
            hits = await core.manager.search(query, kinds=("message",))
            ours += bool(answers & {ids[hit.id] for hit in hits})
            plain = core.store.search_text(query, kinds=("message",), limit=10)
            text += bool(answers & {ids[hit.id] for hit in plain})
        assert ours >= text + 5


def test_every_part_is_in_the_total() -> None:
    parts = score(
        Wanted.by("When did it not rain?"),
        "It did not rain in May.",
        near=Nearness(2.0, 1.0),
        bm25=1.0,
        coverage=0.5,
        timestamp=NOW,
        now=NOW,
        around=Around(before=1.0, after=2.0, question=1.0),
        importance=0.7,
        access_count=3,
        preferred_branch=True,
    )
    named = (parts.vector, parts.text, parts.importance, parts.recency, parts.heat, parts.branch)
    assert parts.total == pytest.approx(sum(named) + parts.context + parts.form)
    assert all(part > 0 for part in (*named, parts.context, parts.form))
    assert parts.evidence == pytest.approx(1.5 + parts.text + parts.context + parts.form)


def test_a_query_near_to_everything_is_not_near_to_anything() -> None:
    store = Background(0.6, 0.04)
    here = store.adapted([0.80, 0.79, 0.78, 0.77, 0.76] * 8, 40)
    assert store.z(0.80) > 4
    assert here.z(0.80) < 3
    assert store.adapted([], 0) == store


def test_the_gate() -> None:
    known = Background(0.6, 0.05, threshold=2.0)
    sure, fair, poor = ScoreParts(evidence=2.1), ScoreParts(evidence=1.2), ScoreParts(evidence=0.4, total=9.0, heat=5.0)
    assert relevant([sure, fair, poor], "Where is it?", known) == [True, True, False]
    assert relevant([fair, poor], "Where is it?", known) == [False, False], "nothing goes because of its rank alone"
    assert relevant([], "Where is it?", known) == []
    some, little = ScoreParts(coverage=0.4), ScoreParts(coverage=0.2, evidence=9.0)
    assert relevant([some, little], "Where is it?", None) == [True, False]
    assert relevant([some, little], "它在哪里？", None) == [True, True]


def test_what_a_question_asks_for() -> None:
    assert Wanted.by("When did it start?") == Wanted(date=True, number=False, negative=False)
    assert Wanted.by("哪天开始的？").date
    assert Wanted.by("How many cups?").number
    assert Wanted.by("一共多少钱？").number
    assert Wanted.by("What did I stop using?").negative
    assert Wanted.by("我不吃什么？").negative
    assert not Wanted.by("What is the boat called?").negative


def test_substance() -> None:
    assert substance("Yes.") < substance("Yes, I sold the piano to a teacher in Norwood for two hundred pounds.")
    assert substance("Do you think that they will sell the piano before the summer comes?") < substance(
        "I do think that they will sell the piano before the summer comes."
    )
    assert substance("") < 0
    assert substance("word " * 100_000) == substance("word " * 100)
    assert question_share("Nice. And you?") == pytest.approx(9 / 14)
    assert question_share("") == 0


# the data that the benchmark measures with


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def texts_by_id() -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in DATA.glob("*_*.jsonl"):
        for row in rows(path.name):
            assert row["id"] not in texts
            texts[row["id"]] = row.get("content") or row["text"]
    return texts


def test_the_data_is_large_enough_and_whole() -> None:
    texts, questions = texts_by_id(), rows("questions.jsonl")
    assert len(rows("memories_en.jsonl")) >= 200
    assert len(rows("memories_zh.jsonl")) >= 200
    assert len([q for q in questions if q["answers"]]) >= 300
    assert len({q["id"] for q in questions}) == len(questions)
    assert all(answer in texts for q in questions for answer in q["answers"])
    assert {q["split"] for q in questions} == {"dev", "test"}


def test_half_of_the_questions_share_no_wording_with_their_answer() -> None:
    texts = texts_by_id()
    questions = [q for q in rows("questions.jsonl") if q["answers"]]
    without = [q for q in questions if "no_shared_wording" in q["tags"]]
    assert 2 * len(without) >= len(questions)
    for question in without:
        wanted = {term for term in terms(question["query"]) if len(term) > 1 or term.isascii()}
        assert not any(wanted & set(terms(texts[answer])) for answer in question["answers"]), question["id"]


def test_nothing_is_both_tuned_on_and_held_out() -> None:
    split: dict[str, str] = {}
    for question in rows("questions.jsonl"):
        for answer in question["answers"]:
            assert split.setdefault(answer, question["split"]) == question["split"]
