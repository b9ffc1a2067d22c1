"""How often recall finds the right memory or turn, in English, in Chinese and across the two.

Run: `python benchmarks/recall.py [--split test|dev|all] [--embedder local|none] [--json FILE]`. Vectors are kept in
`.cache/`; the first run makes them (about 3,000 short texts, 3 minutes on one core), later ones take a minute or two.

Data: `benchmarks/data`. Each dialogue is a store of its own with one session a day, as are the English and the Chinese
memories; two more hold memories of one language among talk in the other. Places are those of `MemoryManager.search`,
what `orca-tui memory search` shows. `960 tokens` is what `MemoryManager.build` puts into the long-term tier; at a
window of 8,000 tokens that is its budget. The baselines rank the same texts by FTS5 alone, by vectors alone, and
newest first, packed line by line as prompts are.
"""

import argparse
import asyncio
import hashlib
import json
import platform
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from memory.branches import route_branch
from memory.clock import to_iso
from memory.config import Home, Settings
from memory.core import Core
from memory.provider.base import Embedder
from memory.provider.local_embed import local_embedder
from memory.recalling.prompt import Entry, entry_line
from memory.store.base import Store
from memory.types import Candidate, ContextWindow, ItemKind, NewMemory

ROOT = Path(__file__).parents[1]
DATA = ROOT / "benchmarks" / "data"
WINDOW = ContextWindow(8000, "configured")
TIER_TOKENS = 960
KINDS: tuple[ItemKind, ...] = ("message", "long_term")
NOW = datetime(2025, 12, 15, 9, tzinfo=UTC)

Key = tuple[ItemKind, int]


class Calendar:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.moment = NOW

    def now(self) -> str:
        self.moment += timedelta(seconds=20)
        return to_iso(self.moment)

    def monotonic(self) -> float:
        return perf_counter()

    def new_id(self) -> str:
        return hashlib.sha256(self.now().encode()).hexdigest()[:32]


class CachedEmbedder:
    """The built-in embedder with its vectors kept on disk."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._file = ROOT / ".cache" / f"recall-{inner.model.replace('/', '-')}.npz"
        self._known: dict[str, Any] = dict(np.load(self._file)) if self._file.exists() else {}
        self._fresh = 0

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def width(self) -> int:
        return self._inner.width

    async def embed(self, texts: Sequence[str], kind: str) -> Any:
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest()[:24] for text in texts]
        for key, text in zip(keys, texts, strict=True):
            if key not in self._known:
                self._known[key] = (await self._inner.embed([text], kind))[0]  # type: ignore[arg-type]
                self._fresh += 1
                if self._fresh % 200 == 0:
                    self.save()
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        if self._fresh:
            self._file.parent.mkdir(exist_ok=True)
            np.savez(self._file, **self._known)

    async def close(self) -> None:
        await self._inner.close()


@dataclass
class Room:
    """One store with its questions."""

    name: str
    family: str
    core: Core
    ids: dict[Key, str]
    """The data's id of each stored item."""
    questions: list[dict[str, Any]]


@dataclass
class Score:
    """Figures of one method on one family of questions."""

    first: list[float] = field(default_factory=list)
    five: list[float] = field(default_factory=list)
    ten: list[float] = field(default_factory=list)
    packed: list[float] = field(default_factory=list)
    reciprocal: list[float] = field(default_factory=list)

    def add(self, ranked: Sequence[str], packed: Iterable[str], answers: Sequence[str]) -> None:
        wanted = set(answers)
        place = next((at for at, item in enumerate(ranked, 1) if item in wanted), None)
        self.first.append(float(place == 1))
        self.reciprocal.append(1 / place if place else 0.0)
        self.five.append(len(wanted & set(ranked[:5])) / len(wanted))
        self.ten.append(len(wanted & set(ranked[:10])) / len(wanted))
        self.packed.append(len(wanted & set(packed)) / len(wanted))

    def figures(self) -> dict[str, float]:
        names = ("recall@5", "recall@10", "960 tokens", "MRR", "first place")
        values = (self.five, self.ten, self.packed, self.reciprocal, self.first)
        return {name: round(fmean(value), 3) for name, value in zip(names, values, strict=True)}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def fill_dialogue(core: Core, clock: Calendar, turns: list[dict[str, Any]], *, named: bool) -> dict[Key, str]:
    """One session a day; the first speaker is the user, the other the assistant. Names stand before the text."""
    ids: dict[Key, str] = {}
    sessions: dict[int, str] = {}
    user = turns[0]["speaker"]
    for turn in turns:
        if turn["session"] not in sessions:
            clock.moment = datetime.fromisoformat(turn["date"]).replace(hour=10, tzinfo=UTC)
            sessions[turn["session"]] = core.store.create_session().id
        text = f"{turn['speaker']}: {turn['text']}" if named else turn["text"]
        role = "user" if turn["speaker"] == user else "assistant"
        ids["message", core.store.add_message(sessions[turn["session"]], role, text).id] = turn["id"]  # type: ignore[arg-type]
    return ids


def fill_memories(core: Core, clock: Calendar, memories: list[dict[str, Any]]) -> dict[Key, str]:
    ids: dict[Key, str] = {}
    for row in sorted(memories, key=lambda row: row["date"]):
        clock.moment = datetime.fromisoformat(row["date"]).replace(hour=10, tzinfo=UTC)
        branch = route_branch("user", row["type"], row["content"], core.settings.memory.branches)
        new = NewMemory(row["content"], row["type"], branch, "user", topic_key=row.get("topic_key"))
        ids["long_term", core.store.add_memory(new, actor="import").id] = row["id"]
    return ids


async def embed_all(store: Store, embedder: Embedder) -> None:
    while waiting := store.waiting_for_embedding(model=embedder.model, limit=200):
        vectors = await embedder.embed([text for _, _, text in waiting], "passage")
        store.put_embeddings([(kind, item) for kind, item, _ in waiting], vectors, model=embedder.model)


async def open_room(
    path: Path, place: Path, questions: list[dict[str, Any]], embedder: Embedder | None, top_k: int | None
) -> Room:
    data = rows(path)
    is_dialogue = "conversation" in data[0]
    name = data[0]["conversation"] if is_dialogue else path.stem
    clock = Calendar()
    home = Home(place / path.stem)
    home.ensure()
    settings = Settings()
    if top_k is not None:
        settings = replace(settings, memory=replace(settings.memory, long_term_top_k=top_k))
    core = Core.open(home, settings, clock=clock, embedder=embedder, env={})
    if embedder is None:
        core._own_embedder._is_known = True
    ids = (
        fill_dialogue(core, clock, data, named=path.stem.startswith("dialogue"))
        if is_dialogue
        else fill_memories(core, clock, data)
    )
    clock.moment = NOW
    if embedder is not None:
        await embed_all(core.store, embedder)
    language = path.stem.split("_")[1][:2]
    family = f"{'dialogue' if is_dialogue else 'memories'} {language}"
    return Room(name, family, core, ids, [q for q in questions if q["set"] == name])


async def open_mixed(language: str, place: Path, questions: list[dict[str, Any]], embedder: Embedder | None) -> Room:
    """The memories of one language among the talk of the other, asked in the other."""
    other = {"zh": "en", "en": "zh"}[language]
    clock = Calendar()
    home = Home(place / f"mixed_{language}")
    home.ensure()
    core = Core.open(home, Settings(), clock=clock, embedder=embedder, env={})
    if embedder is None:
        core._own_embedder._is_known = True
    ids = fill_memories(core, clock, rows(DATA / f"memories_{language}.jsonl"))
    for path in sorted(DATA.glob(f"dialogue_{other}_*.jsonl")):
        ids |= fill_dialogue(core, clock, rows(path), named=True)
    clock.moment = NOW
    if embedder is not None:
        await embed_all(core.store, embedder)
    asked = [q for q in questions if q["set"] == f"memories_{language}" and "cross" in q["tags"]]
    return Room("mixed", f"question {other}, memory {language}, among talk in {other}", core, ids, asked)


def family_of(room: Room, question: dict[str, Any]) -> str:
    if "cross" in question["tags"] and room.name != "mixed":
        return "question en, memory zh" if room.family.endswith("zh") else "question zh, memory en"
    return room.family


def packed_lines(room: Room, ranked: Sequence[Key]) -> list[str]:
    """What of a plain ranking fits into the tier, line by line."""
    room_left, found = TIER_TOKENS, []
    for kind, item in ranked:
        row = room.core.store.message(item) if kind == "message" else room.core.store.memory(item)
        date = (row.timestamp if kind == "message" else row.created_at)[:10]  # type: ignore[union-attr]
        entry = Entry("user", "long_term", date, row.content)
        room_left -= room.core.counter.count(entry_line(entry) + "\n")
        if room_left < 0:
            break
        found.append(room.ids[kind, item])
    return found


async def searched(room: Room, query: str) -> list[Key]:
    return [(hit.kind, hit.id) for hit in await room.core.manager.search(query, kinds=KINDS, limit=10)]


async def built(room: Room, query: str) -> list[Key]:
    """What goes into the long-term tier when `query` is asked in a new session."""
    store = room.core.store
    session = store.create_session(incognito=True)
    newest = store.add_message(session.id, "user", query)
    prompt = await room.core.manager.build(session, newest, window=WINDOW, system_prompt="")
    tier = prompt.report.tiers[2]
    assert tier.used <= TIER_TOKENS, (tier.used, query)
    return [(item.kind, item.id) for item in tier.items if (item.kind, item.id) in room.ids]


def is_rule(store: Store, key: Key) -> bool:
    """Standing instructions go whatever is asked."""
    return key[0] == "long_term" and store.memory(key[1]).memory_type == "constraint"


def baselines(room: Room, embedder: Embedder | None) -> dict[str, Callable[[str, Any], list[Key]]]:
    store = room.core.store

    def keys(found: Iterable[Candidate]) -> list[Key]:
        return [(c.kind, c.id) for c in found]

    newest = sorted(room.ids, key=lambda key: -key[1])[:50]
    methods: dict[str, Callable[[str, Any], list[Key]]] = {
        "newest first": lambda _query, _vector: newest,
        "text alone": lambda query, _vector: keys(store.search_text(query, kinds=KINDS, limit=50)),
    }
    if embedder is not None:
        model = embedder.model
        methods["vectors alone"] = lambda _query, vector: keys(
            store.search_vector(vector, model=model, kinds=KINDS, limit=50)
        )
    return methods


async def measure(
    rooms: list[Room], embedder: Embedder | None
) -> tuple[dict[str, dict[str, Score]], list[dict[str, Any]]]:
    scores: dict[str, dict[str, Score]] = defaultdict(lambda: defaultdict(Score))
    unanswerable: list[dict[str, Any]] = []
    for room in rooms:
        methods = baselines(room, embedder)
        for question in room.questions:
            query, answers = question["query"], question["answers"]
            if not answers:
                injected = [key for key in await built(room, query) if not is_rule(room.core.store, key)]
                unanswerable.append({"query": query, "injected": len(injected)})
                continue
            families = [family_of(room, question)]
            if "no_shared_wording" in question["tags"] and "cross" not in question["tags"]:
                families.append(f"{room.family}, no shared wording")
            vector = (await embedder.embed([query], "query"))[0] if embedder else None
            for name, method in methods.items():
                found = method(query, vector)
                packed = packed_lines(room, found)
                for family in families:
                    scores[family][name].add([room.ids[key] for key in found[:10]], packed, answers)
            hits = [room.ids[key] for key in await searched(room, query)]
            packed = [room.ids[key] for key in await built(room, query)]
            for family in families:
                scores[family]["orca"].add(hits, packed, answers)
    return scores, unanswerable


def table(scores: dict[str, dict[str, Score]]) -> str:
    lines = ["| questions | method | recall@5 | recall@10 | in 960 tokens | MRR | first place |", "| --- " * 7 + "|"]
    for family in sorted(scores):
        for method, score in scores[family].items():
            figures = " | ".join(f"{value:.2f}" for value in score.figures().values())
            lines.append(f"| {family} ({len(score.first)}) | {method} | {figures} |")
    return "\n".join(lines)


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--split", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--embedder", choices=("local", "none"), default="local")
    parser.add_argument("--top-k", type=int, help="how many the long-term tier takes (default: as configured)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    started = perf_counter()
    embedder = CachedEmbedder(local_embedder()) if options.embedder == "local" else None
    questions = [q for q in rows(DATA / "questions.jsonl") if options.split in ("all", q["split"])]
    with tempfile.TemporaryDirectory() as place:
        paths = sorted(DATA.glob("*_*.jsonl"))
        rooms = [await open_room(path, Path(place), questions, embedder, options.top_k) for path in paths]
        rooms += [await open_mixed(language, Path(place), questions, embedder) for language in ("zh", "en")]
        scores, unanswerable = await measure(rooms, embedder)
        for room in rooms:
            await room.core.close(drain=0)
    if embedder is not None:
        embedder.save()
    injected = [row["injected"] for row in unanswerable if row["injected"]]
    ran_on = (
        f"{options.split} split; {embedder.model if embedder else 'no embedder'}; Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}; {perf_counter() - started:.0f} s"
    )
    print(table(scores))
    print(f"\nQuestions without an answer: {len(injected)} of {len(unanswerable)} got something injected", end="")
    print(f" ({sum(injected)} items).\nRan on: {ran_on}")
    if options.json:
        figures = {family: {name: s.figures() for name, s in methods.items()} for family, methods in scores.items()}
        report = {"ran_on": ran_on, "figures": figures, "unanswerable": unanswerable}
        options.json.write_text(json.dumps(report, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
