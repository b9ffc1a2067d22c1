"""Upkeep: what it marks, merges and proposes; that it drops nothing, is logged, and tells when it fails."""

import asyncio
from pathlib import Path

import pytest

from memory.config import MemorySettings
from memory.curation.curator import Curator
from memory.curation.upkeep import Scheduler, Upkeep
from memory.errors import StoreError
from memory.events import UpkeepChanged
from memory.provider.scripted import HashEmbedder
from memory.store import open_store
from memory.store.ledger import Ledger
from memory.types import LongTermMemory, NewMemory
from tests.helpers import FakeClock, opened, until

DAY = 86_400


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def curator(home: Path, clock: FakeClock) -> Curator:
    return Curator(open_store(home / "memory.db", clock=clock), MemorySettings(), clock)


def said(curator: Curator, text: str, **more: object) -> LongTermMemory:
    """A memory that was taken from a conversation: nobody's hand has touched it."""
    new = NewMemory(text, "fact", "short_term_fact", "user", **more)  # type: ignore[arg-type]
    return curator.ledger.add_memory(new, actor="maintenance")


def test_expired_memories_are_marked_and_still_there(curator: Curator, clock: FakeClock) -> None:
    row = curator.add("The printer is on floor two")
    pinned = curator.add("The router is on floor one")
    curator.pin(pinned.id)
    clock.advance(40 * DAY)
    run = Upkeep(curator, clock).run(started_by="command")
    assert (run.counts["expired"], run.problem) == (1, "")
    assert curator.store.memory(row.id).status == "expired"
    assert curator.store.memory(pinned.id).status == "active"
    assert curator.history.of("long_term", row.id)[0].actor == "upkeep"
    assert Upkeep(curator, clock).run(started_by="command").counts["expired"] == 0


async def test_an_expired_memory_is_still_recalled(home: Path) -> None:
    clock = FakeClock()
    async with opened(home, clock=clock) as core:
        row = core.curator.add("The spare key lies under the green flowerpot")
        clock.advance(400 * DAY)
        await core.upkeep.run_now()
        assert core.store.memory(row.id).status == "expired"
        hits = await core.manager.search("where is the spare key?", kinds=("long_term",))
        assert [hit.id for hit in hits] == [row.id]


def test_copies_that_nobody_touched_become_one(curator: Curator, clock: FakeClock) -> None:
    older = said(curator, "The boat lies in harbour four", confidence=0.5)
    newer = said(curator, "The boat lies in harbour four!", confidence=0.8)
    run = Upkeep(curator, clock).run(started_by="command")
    assert (run.counts["merged"], run.counts["duplicates_proposed"]) == (1, 0)
    kept = curator.store.memory(older.id)
    assert (kept.confidence, kept.merged_from, kept.status) == (0.8, (newer.id,), "active")
    assert curator.store.memory(newer.id).status == "superseded"


def test_what_the_user_wrote_is_only_proposed(curator: Curator, clock: FakeClock) -> None:
    curator.add("The boat lies in harbour four")
    said(curator, "The boat lies in harbour four!")
    run = Upkeep(curator, clock).run(started_by="command")
    assert (run.counts["merged"], run.counts["duplicates_proposed"]) == (0, 1)
    assert len(list(curator.all())) == 2


def test_opposites_are_never_merged(curator: Curator, clock: FakeClock) -> None:
    for text in (
        "我喜欢吃辣",
        "我不喜欢吃香菜",
        "I eat meat",
        "I do not eat meat",
        "Room 12 is free",
        "Room 21 is free",
    ):
        said(curator, text)
    run = Upkeep(curator, clock).run(started_by="command")
    assert (run.counts["merged"], run.counts["duplicates_proposed"]) == (0, 0)


def test_cold_ones_are_proposed_and_left(curator: Curator, clock: FakeClock) -> None:
    said(curator, "The kettle is blue", importance=0.1, expires_at=None)
    clock.advance(300 * DAY)
    assert Upkeep(curator, clock).run(started_by="command").counts["cold_proposed"] == 1
    assert [row.status for row in curator.all()] == ["active"]


def test_a_step_that_fails_does_not_stop_the_others(curator: Curator, clock: FakeClock) -> None:
    upkeep = Upkeep(curator, clock)

    def fail() -> int:
        raise StoreError("no room")

    def break_down() -> int:
        raise ZeroDivisionError

    upkeep._expire = fail  # type: ignore[method-assign]
    upkeep._merge = lambda cancelled: break_down()  # type: ignore[method-assign]
    run = upkeep.run(started_by="app")
    assert run.problem == "expired: no room; merged: unexpected ZeroDivisionError"
    assert run.counts["cold_proposed"] == 0
    assert curator.ledger.runs() == [run]


def test_a_run_that_is_cancelled_says_so(curator: Curator, clock: FakeClock) -> None:
    run = Upkeep(curator, clock).run(started_by="app", cancelled=lambda: True)
    assert (run.counts, run.problem) == ({}, "it was ended early")


def test_due_looks_at_the_runs_of_every_process(curator: Curator, clock: FakeClock) -> None:
    upkeep = Upkeep(curator, clock)
    assert upkeep.due()
    upkeep.run(started_by="command")
    assert not upkeep.due()
    clock.advance(7 * 3600)
    assert upkeep.due()


async def test_the_scheduler_runs_and_tells(curator: Curator, clock: FakeClock) -> None:
    told: list[UpkeepChanged] = []
    scheduler = Scheduler(Upkeep(curator, clock), notify=told.append, first_delay=0)
    scheduler.start()
    scheduler.start()
    await until(lambda: told)
    await scheduler.close()
    assert (told[0].problem, scheduler.problem, len(told)) == ("", "", 1)
    assert scheduler.last is not None
    assert scheduler.last.started_by == "app"


async def test_the_scheduler_tells_of_a_failure_and_goes_on(
    curator: Curator, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[UpkeepChanged] = []
    monkeypatch.setattr("memory.curation.upkeep.RETRY_AFTER", 0.0)
    upkeep = Upkeep(curator, clock)
    results = iter([StoreError("the disk is full")])

    def run(**options: object) -> object:
        for error in results:
            raise error
        return Upkeep.run(upkeep, started_by="app")

    monkeypatch.setattr(upkeep, "run", run)
    scheduler = Scheduler(upkeep, notify=told.append, first_delay=0)
    scheduler.start()
    await until(lambda: len(told) == 2)
    await scheduler.close()
    assert [change.problem for change in told] == ["the disk is full", ""]
    assert scheduler.problem == ""


async def test_closing_before_the_first_run(curator: Curator, clock: FakeClock) -> None:
    scheduler = Scheduler(Upkeep(curator, clock))
    scheduler.start()
    await asyncio.wait_for(scheduler.close(), 5)
    assert curator.ledger.runs() == []


async def test_holes_in_the_index_are_closed(curator: Curator, clock: FakeClock) -> None:
    ledger: Ledger = curator.ledger
    with ledger.act():
        rows = [said(curator, f"Fact number {n} about boats") for n in range(1100)]
    embedder = HashEmbedder(256)
    items = [("long_term", row.id) for row in rows]
    vectors = await embedder.embed([row.content for row in rows], "passage")
    ledger.put_embeddings(items, vectors, model=embedder.model)  # type: ignore[arg-type]
    assert ledger.compact_vectors() == 0
    with ledger.act():
        for row in rows[:400]:
            ledger.update_memory(row.id, {"content": f"Now about {row.id} trees"}, actor="user")
    assert ledger.compact_vectors() == 1
    assert ledger.compact_vectors() == 0
    found = ledger.search_vector(vectors[1000], model=embedder.model, kinds=("long_term",), limit=1)
    assert [c.id for c in found] == [rows[1000].id]
