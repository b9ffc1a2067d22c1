"""A change of embedding model: noticed, made up for in the background with progress, and safe from a kill."""

import os
import signal
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import opened, until

from memory.config import EmbeddingSettings, Settings
from memory.core import Core
from memory.curation.overview import overview
from memory.events import QueueChanged
from memory.provider.scripted import HashEmbedder
from memory.store import open_store
from memory.types import ITEM_KINDS, NewMemory

ROOT = Path(__file__).parents[2]
SETTINGS = Settings(embedding=EmbeddingSettings(batch_size=5, batch_wait=0.0))
COUNT = 23
WIDTHS = {"a": 64, "b": 32}

CHILD = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from memory.config import EmbeddingSettings, Home, Settings
    from memory.core import Core
    from memory.provider.scripted import HashEmbedder, ScriptedChat

    class Stops(HashEmbedder):
        calls = 0

        async def embed(self, texts, kind):
            self.calls += 1
            if self.calls == 3:
                print("half", flush=True)
                await asyncio.Event().wait()
            return await super().embed(texts, kind)

    async def main():
        embedder = Stops(int(sys.argv[3]), model=sys.argv[2])
        settings = Settings(embedding=EmbeddingSettings(batch_size=5, batch_wait=0.0))
        core = Core.open(Home(Path(sys.argv[1])), settings, chat=ScriptedChat(["x"], tiny=True), embedder=embedder)
        await core.start(warm_up=False)
        await asyncio.Event().wait()

    asyncio.run(main())
    """
)


def embedder_of(model: str) -> HashEmbedder:
    return HashEmbedder(WIDTHS[model], model=model)


def fill(core: Core) -> None:
    for number in range(COUNT):
        core.store.add_memory(
            NewMemory(f"Hive number {number} stands by tree {number}", "fact", "b", "user"), actor="user"
        )


async def finish(home: Path, model: str, *, first: bool = False) -> HashEmbedder:
    """Open with a model and let the queue do all that waits."""
    embedder = embedder_of(model)
    async with opened(home, settings=SETTINGS, embedder=embedder, start=False) as core:
        if first:
            fill(core)
        await core.start(warm_up=False)
        await until(
            lambda: core.store.embedding_model() == (model, WIDTHS[model]) and not overview(core.curator).waiting
        )
    return embedder


def killed_in_the_middle(home: Path, model: str) -> None:
    """Begin to embed anew with a model, and be killed when two batches of five are done."""
    command = [sys.executable, "-c", CHILD, str(home), model, str(WIDTHS[model])]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline().strip() == "half"
        child.send_signal(signal.SIGKILL)
        assert child.wait(20) == -signal.SIGKILL


async def found(home: Path, model: str) -> bool:
    """Whether words and vectors both find one memory, whatever is embedded by now."""
    store = open_store(home / "memory.db")
    try:
        (vector,) = await embedder_of(model).embed(["Hive number 7 stands by tree 7"], "query")
        words = store.search_text("hive number 7", kinds=ITEM_KINDS, limit=COUNT)
        near = store.search_vector(vector, model=model, kinds=ITEM_KINDS, limit=1)
        return 8 in [hit.id for hit in words] and [hit.id for hit in near] == [8]
    finally:
        store.close()


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize(("old", "new"), [("a", "b"), ("b", "a")])
async def test_a_kill_in_the_middle_loses_nothing(home: Path, old: str, new: str) -> None:
    await finish(home, old, first=True)
    killed_in_the_middle(home, new)

    async with opened(home, settings=SETTINGS, embedder=embedder_of(new), start=False) as core:
        seen = overview(core.curator)
        assert (seen.embedding_model, seen.waiting, seen.vectors) == (new, COUNT - 10, {old: COUNT - 10, new: 10})
        assert f"Texts without a vector of {new} yet, found by their words only: {COUNT - 10}." in " ".join(seen.limits)
        hits = await core.manager.search("hive number 20", kinds=("long_term",))
        assert "Hive number 20 stands by tree 20" in [hit.text for hit in hits], "by its words: it has no vector yet"

    resumed = await finish(home, new)
    assert len([text for text, kind in resumed.embedded if kind == "passage"]) == COUNT - 10, "not what was done"
    assert await found(home, new)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize(("old", "new"), [("a", "b"), ("b", "a")])
async def test_going_back_after_a_kill_makes_only_what_was_replaced(home: Path, old: str, new: str) -> None:
    await finish(home, old, first=True)
    killed_in_the_middle(home, new)
    back = await finish(home, old)
    assert len([text for text, kind in back.embedded if kind == "passage"]) == 10
    assert await found(home, old)
    async with opened(home, settings=SETTINGS, embedder=embedder_of(old), start=False) as core:
        assert overview(core.curator).limits == []


async def test_a_change_is_made_up_for_with_progress(home: Path) -> None:
    await finish(home, "a", first=True)
    told: list[QueueChanged] = []
    async with opened(home, settings=SETTINGS, embedder=embedder_of("b"), start=False) as core:
        core.subscribe(lambda event: told.append(event) if isinstance(event, QueueChanged) else None)
        await core.start(warm_up=False)
        await until(lambda: told and told[-1].status == "idle")
    counts = [event.waiting for event in told]
    assert (counts[0], counts[-1]) == (COUNT, 0)
    assert all(more > less for more, less in pairwise(counts))
    assert {event.status for event in told[:-1]} == {"working"}
