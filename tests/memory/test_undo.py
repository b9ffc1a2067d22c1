"""Taking changes back: undo by act, by change, and rollback of a span of time."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.config import MemorySettings
from memory.curation.curator import Curator
from memory.errors import NotFoundError, OrcaError
from memory.store import open_store
from memory.store.ledger import Ledger
from memory.types import Scope
from tests.helpers import FakeClock, opened, say

HOUR = 3600


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def curator(home: Path, clock: FakeClock) -> Curator:
    return Curator(open_store(home / "memory.db", clock=clock), MemorySettings(), clock)


def active(curator: Curator) -> list[str]:
    return sorted(row.content for row in curator.all())


async def test_paris_then_rome(home: Path) -> None:
    clock = FakeClock()
    async with opened(home, clock=clock) as core:
        session = core.store.create_session()
        await say(core, session.id, "Remember that I live in Paris")
        clock.advance(2 * HOUR)
        before = clock.now()
        await say(core, session.id, "Remember that I moved to Rome")
        assert active(core.curator) == ["I moved to Rome"]
        [old] = core.curator.all(status=("superseded",))
        assert old.content == "I live in Paris"
        assert old.created_at < before
        core.curator.history.undo()
        assert active(core.curator) == ["I live in Paris"]
        # The undo itself is undone by naming one of its changes …
        core.curator.history.undo(event=core.curator.ledger.changes(limit=1)[0].id)
        assert active(core.curator) == ["I moved to Rome"]
        # … and a rollback to before gives Paris again.
        taken = core.curator.history.rollback(before)
        assert {one.id for one in taken} == {1, 2}
        assert active(core.curator) == ["I live in Paris"]
        core.curator.history.undo()
        assert active(core.curator) == ["I moved to Rome"]


def test_steps_go_back_one_act_at_a_time(curator: Curator) -> None:
    row = curator.add("Likes tea")
    curator.edit(row.id, content="Likes green tea")
    curator.pin(row.id)
    curator.archive(row.id)
    curator.history.undo()
    curator.history.undo()
    now = curator.store.memory(row.id)
    assert (now.status, now.pinned, now.content) == ("active", False, "Likes green tea")
    curator.history.undo(2)
    assert curator.store.memory(row.id).status == "trashed"
    with pytest.raises(OrcaError, match="nothing to undo"):
        curator.history.undo()


def test_an_act_on_many_is_undone_at_once(curator: Curator) -> None:
    ids = [curator.add(f"Fact number {n}").id for n in range(5)]
    curator.trash(*ids)
    taken = curator.history.undo()
    assert sorted(one.id for one in taken) == ids
    assert len(active(curator)) == 5


def test_undoing_an_old_act_leaves_what_was_changed_since(curator: Curator) -> None:
    row = curator.add("Likes tea")
    curator.edit(row.id, content="Likes green tea", importance=0.9)
    edit = curator.history.of("long_term", row.id)[0]
    curator.edit(row.id, content="Likes black tea")
    [taken] = curator.history.undo(event=edit.id)
    assert (dict(taken.changes), taken.left) == ({"importance": 0.6}, ("content",))
    assert curator.store.memory(row.id).content == "Likes black tea"
    with pytest.raises(OrcaError, match="changed again"):
        curator.history.undo(event=edit.id)


def test_upkeep_is_not_the_users_act(curator: Curator) -> None:
    row = curator.add("Likes tea")
    curator.pin(row.id)
    curator.ledger.update_memory(row.id, {"importance": 0.2}, actor="upkeep")
    curator.history.undo()
    now = curator.store.memory(row.id)
    assert (now.pinned, now.importance) == (False, 0.2)


def test_what_is_not_there(curator: Curator) -> None:
    with pytest.raises(OrcaError, match="nothing to undo"):
        curator.history.undo()
    with pytest.raises(NotFoundError):
        curator.history.undo(event=77)
    with pytest.raises(NotFoundError):
        curator.history.of("long_term", 77)


def test_an_act_is_whole_or_not_at_all(curator: Curator) -> None:
    row = curator.add("Likes tea")

    def broken() -> None:
        with curator.ledger.act():
            curator.archive(row.id)
            assert curator.store.memory(row.id).status == "archived"
            curator.archive(999)

    with pytest.raises(NotFoundError):
        broken()
    assert curator.store.memory(row.id).status == "active"
    assert len(curator.ledger.changes()) == 1


def test_the_indexes_follow_an_undo(curator: Curator) -> None:
    row = curator.add("Likes tea")
    curator.edit(row.id, content="Likes coffee")
    curator.history.undo()
    find: Callable[[str], list[int]] = lambda q: [c.id for c in curator.store.search_text(q, kinds=("long_term",))]  # noqa: E731
    assert find("tea") == [row.id]
    assert find("coffee") == []


def test_rollback_by_branch_scope_and_span(curator: Curator, clock: FakeClock) -> None:
    old = curator.add("Likes tea", "preference")
    clock.advance(HOUR)
    start = clock.now()
    curator.edit(old.id, content="Likes coffee")
    project = curator.add("Ships on Fridays", scope=Scope("default", "boat"))
    clock.advance(HOUR)
    middle = clock.now()
    curator.add("Has a dog")
    everything = curator.history.rollback(start, dry_run=True)
    assert len(everything) == 3
    assert active(curator) == ["Has a dog", "Likes coffee", "Ships on Fridays"]
    assert [t.id for t in curator.history.rollback(start, branch="user_preference", dry_run=True)] == [old.id]
    assert [t.id for t in curator.history.rollback(start, scope=Scope("default", "boat"), dry_run=True)] == [project.id]
    assert len(curator.history.rollback(start, until=middle)) == 2
    assert active(curator) == ["Has a dog", "Likes tea"]
    curator.history.undo()
    assert active(curator) == ["Has a dog", "Likes coffee", "Ships on Fridays"]


def test_rollback_with_nothing_to_do(curator: Curator, clock: FakeClock) -> None:
    curator.add("Likes tea")
    assert curator.history.rollback(clock.now()) == []


def test_rollback_passes_by_what_was_erased(curator: Curator, clock: FakeClock) -> None:
    start = clock.now()
    row = curator.add("Likes tea")
    curator.erase(row.id)
    [taken] = curator.history.rollback(start)
    assert taken.note == "it was erased for good"


async def test_forget_and_undo(home: Path) -> None:
    async with opened(home) as core:
        first = core.store.create_session()
        await say(core, first.id, "Remember that harbour-2 is closed on Mondays")
        second = core.store.create_session()
        await say(core, second.id, "Forget what I said about harbour-2.")
        assert active(core.curator) == []
        assert core.store.search_text("harbour-2", kinds=("message", "long_term", "short_term")) == []
        core.curator.history.undo()
        assert active(core.curator) == ["harbour-2 is closed on Mondays"]
        assert core.store.search_text("harbour-2", kinds=("message",))


def test_without_a_journal_there_is_no_undo(curator: Curator, clock: FakeClock) -> None:
    class Plain:
        """A store without the ledger's methods."""

    plain = Curator(Plain(), MemorySettings(), clock)  # type: ignore[arg-type]
    with pytest.raises(OrcaError, match="no history"):
        plain.history.undo()
    curator.store.close()


def test_a_ledger_is_what_sqlite_is(curator: Curator) -> None:
    assert isinstance(curator.store, Ledger)
