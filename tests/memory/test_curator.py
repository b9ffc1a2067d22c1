"""What the user does with memory by hand: every act is one transaction, journalled, and reaches the indexes."""

import dataclasses
from pathlib import Path

import pytest

from memory.config import MemorySettings
from memory.curation.curator import Curator
from memory.curation.exchange import export_json, export_key, export_markdown, import_memories
from memory.curation.heat import heat
from memory.curation.overview import overview
from memory.errors import NotFoundError, OrcaError
from memory.provider.scripted import HashEmbedder
from memory.store import open_store
from memory.store.ledger import Ledger
from memory.types import Injection, NewMemory, Scope, ScoreParts
from tests.helpers import FakeClock

DAY = 86_400


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(home: Path, clock: FakeClock) -> Ledger:
    opened = open_store(home / "memory.db", clock=clock)
    assert isinstance(opened, Ledger)
    return opened


@pytest.fixture
def curator(store: Ledger, clock: FakeClock) -> Curator:
    return Curator(store, MemorySettings(), clock)


def test_add_routes_and_supersedes_by_topic(curator: Curator, store: Ledger) -> None:
    first = curator.add("Answer in English", "constraint", topic_key="reply_language")
    assert (first.branch, first.source, first.status) == ("user_preference", "user", "active")
    assert first.expires_at is not None
    second = curator.add("Answer in Chinese", "constraint", topic_key="reply_language")
    assert (second.version, second.supersedes) == (2, first.id)
    assert store.memory(first.id).status == "superseded"
    events = store.changes(limit=2)
    assert {event.act for event in events} == {min(event.id for event in events)}


@pytest.mark.parametrize("content", ["", "  \n", "x" * 20_001])
def test_a_memory_needs_a_text_of_sensible_size(curator: Curator, content: str) -> None:
    with pytest.raises(OrcaError):
        curator.add(content)


def test_edit_keeps_what_was_before_and_refuses_other_fields(curator: Curator, store: Ledger) -> None:
    row = curator.add("Likes tea")
    edited = curator.edit(row.id, content="Likes green tea", importance=0.9)
    assert (edited.content, edited.importance) == ("Likes green tea", 0.9)
    assert [c.id for c in store.search_text("green", kinds=("long_term",))] == [row.id]
    before = curator.history.of("long_term", row.id)[0].before
    assert before is not None
    assert before["content"] == "Likes tea"
    with pytest.raises(ValueError, match="status"):
        curator.edit(row.id, status="active")
    with pytest.raises(OrcaError, match="no branch"):
        curator.edit(row.id, branch="nowhere")
    with pytest.raises(NotFoundError):
        curator.edit(999, content="x y z")


def test_pin_archive_trash_restore(curator: Curator) -> None:
    row = curator.add("Likes tea")
    assert curator.pin(row.id).pinned
    assert not curator.unpin(row.id).pinned
    assert [r.status for r in curator.archive(row.id, row.id)] == ["archived"]
    assert curator.restore(row.id).status == "active"
    assert [r.status for r in curator.trash(row.id)] == ["trashed"]
    assert curator.restore(row.id).status == "active"
    assert [e.action for e in curator.history.of("long_term", row.id)][:4] == ["restore", "trash", "restore", "archive"]


def test_acts_on_several_are_all_or_nothing(curator: Curator, store: Ledger) -> None:
    row = curator.add("Likes tea")
    with pytest.raises(NotFoundError):
        curator.trash(row.id, 999)
    assert store.memory(row.id).status == "active"


def test_the_inbox(curator: Curator, store: Ledger) -> None:
    tool = curator.propose("Deploy on Fridays", source="tool", reason="a tool said so")
    assert tool.status == "pending"
    assert curator.propose("Deploy on Fridays").id == tool.id
    assert [row.id for row in curator.inbox()] == [tool.id]
    assert not store.search_text("deploy", kinds=("long_term",))
    accepted = curator.accept(tool.id)
    assert (accepted.status, accepted.source) == ("active", "tool")
    with pytest.raises(OrcaError, match="does not wait"):
        curator.accept(tool.id)
    other = curator.propose("Deploy on Mondays")
    assert curator.reject(other.id).status == "trashed"
    assert curator.restore(other.id).status == "pending"


def test_accepting_supersedes_the_topic(curator: Curator, store: Ledger) -> None:
    old = curator.add("Lives in Paris", topic_key="home_city")
    new = curator.accept(curator.propose("Lives in Rome", topic_key="home_city").id)
    assert (new.version, new.supersedes) == (2, old.id)
    assert store.memory(old.id).status == "superseded"
    restored = curator.restore(old.id)
    assert (restored.status, restored.version) == ("active", 3)
    assert store.memory(new.id).status == "superseded"


def test_restoring_an_expired_memory_gives_it_a_new_life(curator: Curator, store: Ledger, clock: FakeClock) -> None:
    row = curator.add("The keys are with Ada", "event")
    clock.advance(40 * DAY)
    store.update_memory(row.id, {"status": "expired"}, actor="upkeep")
    assert (curator.restore(row.id).expires_at or "") > clock.now()


def test_promote_and_demote(curator: Curator) -> None:
    row = curator.add("Likes tea", importance=0.5)
    promoted = curator.promote(row.id, branch="long_term_knowledge")
    assert (promoted.importance, promoted.branch) == (0.7, "long_term_knowledge")
    for _ in range(5):
        row = curator.demote(row.id)
    assert row.importance == 0.0


def test_messages_and_summaries_become_memories(curator: Curator, store: Ledger) -> None:
    session = store.create_session(scope=Scope("default", "orca"))
    user = store.add_message(session.id, "user", "The harbour closes at nine")
    reply = store.add_message(session.id, "assistant", "Then come at eight")
    kept = curator.keep_message(user.id)
    assert (kept.source, kept.source_message_id, kept.project, kept.status) == ("user", user.id, "orca", "active")
    assert curator.keep_message(reply.id, "event").source == "agent"
    summary = store.add_short_term(session.id, "Talked about the harbour", last_message_id=reply.id)
    assert curator.keep_summary(summary.id).source_message_id == reply.id
    curator.drop_summary(summary.id)
    assert store.short_term(session.id) == []
    curator.history.undo()
    assert store.short_term(session.id) == [summary]


def test_merge_links_and_supersedes(curator: Curator, store: Ledger) -> None:
    one = curator.add("Sails on Sundays", importance=0.9)
    two = curator.add("Sails on Sundays with Ada")
    merged = curator.merge([one.id, two.id])
    assert merged.content == "Sails on Sundays with Ada"
    assert (merged.merged_from, merged.importance, merged.version) == ((one.id, two.id), 0.9, 2)
    assert {store.memory(i).status for i in (one.id, two.id)} == {"superseded"}
    curator.history.undo()
    assert {store.memory(i).status for i in (one.id, two.id)} == {"active"}
    assert store.memory(merged.id).status == "trashed"


def test_what_cannot_be_merged(curator: Curator) -> None:
    one = curator.add("Sails on Sundays")
    with pytest.raises(OrcaError, match="two or more"):
        curator.merge([one.id, one.id])
    other = curator.add("Sails", scope=Scope("default", "boat"))
    with pytest.raises(OrcaError, match="projects"):
        curator.merge([one.id, other.id])
    with pytest.raises(OrcaError, match="inbox"):
        curator.merge([one.id, curator.propose("Sails often").id])


def canary_files(home: Path, canary: str) -> list[str]:
    return [path.name for path in sorted(home.rglob("*")) if path.is_file() and canary.encode() in path.read_bytes()]


async def test_erased_means_erased(curator: Curator, store: Ledger, home: Path) -> None:
    canary = "zanzibarcanary"
    session = store.create_session()
    message = store.add_message(session.id, "user", f"I moved to {canary} last year")
    store.add_short_term(session.id, f"Moved to {canary}", first_message_id=message.id, last_message_id=message.id)
    new = NewMemory(f"Lives in {canary}", "fact", "short_term_fact", "user", source_message_id=message.id)
    row = store.add_memory(new, actor="maintenance", reason="said")
    curator.edit(row.id, content=f"Lives in {canary} now", topic_key=canary)
    reply = store.add_message(session.id, "assistant", "Fine")
    store.add_injections([Injection(reply.id, "long_term", row.id, "long_term", 0, 5, ScoreParts())])
    embedder = HashEmbedder()
    waiting = store.waiting_for_embedding(model=embedder.model)
    vectors = await embedder.embed([text for _, _, text in waiting], "passage")
    store.put_embeddings([(kind, item) for kind, item, _ in waiting], vectors, model=embedder.model)
    assert canary_files(home, canary)

    assert curator.erase(row.id, with_source=True) == []

    assert canary_files(home, canary) == []
    assert (home / "memory.db-wal").stat().st_size == 0
    with pytest.raises(NotFoundError):
        store.memory(row.id)
    assert [event.action for event in curator.history.of("long_term", row.id)] == ["erase", "update", "add"]
    assert store.injections(reply.id)[0].item_id == row.id
    assert store.message(message.id).content == "(erased)"
    assert store.search_text(canary, kinds=("message", "short_term", "long_term"), status=None) == []
    assert store.search_vector(vectors[0], model=embedder.model, kinds=("long_term",), status=None) == []
    with pytest.raises(OrcaError, match="erased"):
        curator.history.undo(event=curator.history.of("long_term", row.id)[0].id)


def test_without_its_source_only_the_memory_goes(curator: Curator, store: Ledger) -> None:
    session = store.create_session()
    message = store.add_message(session.id, "user", "I like tea a lot")
    row = curator.keep_message(message.id)
    curator.erase(row.id)
    assert store.message(message.id).content == "I like tea a lot"


def test_ratings_move_confidence_and_are_undone(curator: Curator, store: Ledger) -> None:
    row = store.add_memory(NewMemory("Likes tea", "preference", "user_preference", "user"), actor="maintenance")
    session = store.create_session()
    reply = store.add_message(session.id, "assistant", "Tea?")
    store.add_injections([Injection(reply.id, "long_term", row.id, "long_term", 0, 5, ScoreParts())])
    assert [r.confidence for r in curator.rate(reply.id, -1, "no tea")] == [0.4]
    assert curator.rate(reply.id, -1) == []
    assert [r.confidence for r in curator.rate(reply.id, 1)] == [0.6]
    curator.history.undo()
    assert (store.memory(row.id).confidence, store.rating(reply.id)) == (0.4, -1)
    curator.history.undo()
    assert (store.memory(row.id).confidence, store.rating(reply.id)) == (0.5, 0)
    with pytest.raises(ValueError, match="1 or -1"):
        curator.rate(reply.id, 5)
    with pytest.raises(NotFoundError):
        curator.rate(999, 1)


def test_confidence_stays_between_its_bounds(curator: Curator, store: Ledger) -> None:
    row = store.add_memory(NewMemory("Likes tea", "fact", "short_term_fact", "user", confidence=0.98), actor="user")
    session = store.create_session()
    for rating in (1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1):
        reply = store.add_message(session.id, "assistant", "Tea?")
        store.add_injections([Injection(reply.id, "long_term", row.id, "long_term", 0, 5, ScoreParts())])
        curator.rate(reply.id, rating)
        assert 0.05 <= store.memory(row.id).confidence <= 1.0
    assert store.memory(row.id).confidence == 0.05


def test_heat_cools_with_time_and_pins_do_not(curator: Curator, store: Ledger, clock: FakeClock) -> None:
    row = curator.add("Likes tea", importance=0.1)
    warm = heat(row, clock.now())
    clock.advance(100 * DAY)
    assert heat(row, clock.now()) < warm
    assert heat(dataclasses.replace(row, pinned=True), clock.now()) == 1.0
    store.touch_memories([row.id])
    assert heat(store.memory(row.id), clock.now()) > heat(row, clock.now())


def test_prune_shows_first_and_is_one_act(curator: Curator, store: Ledger, clock: FakeClock) -> None:
    cold = curator.add("The printer is on floor two", importance=0.1)
    pinned = curator.add("The router is on floor one", importance=0.1)
    curator.pin(pinned.id)
    clock.advance(200 * DAY)
    warm = curator.add("Likes tea", importance=0.9)
    plan = curator.plan_prune("cold")
    assert [item.memory.id for item in plan.items] == [cold.id]
    assert plan.tokens == plan.items[0].tokens > 0
    assert store.memory(cold.id).status == "active"
    assert [row.status for row in curator.apply(plan)] == ["archived"]
    assert [item.memory.id for item in curator.plan_prune("expired").items] == []
    everything = curator.plan_prune("older_than", older_than_days=0, action="trash")
    assert [item.memory.id for item in everything.items] == [warm.id]
    curator.edit(warm.id, content="Likes green tea")
    assert curator.apply(everything) == []
    assert [item.memory.id for item in curator.plan_prune("ids", ids=[pinned.id]).items] == [pinned.id]
    in_branch = curator.plan_prune("branch", branch="short_term_fact", action="trash")
    assert [item.memory.id for item in in_branch.items] == [warm.id]
    with pytest.raises(OrcaError, match="no branch"):
        curator.plan_prune("branch", branch="nowhere")


def test_duplicates_respect_polarity_numbers_and_names(curator: Curator) -> None:
    for text in (
        "我喜欢吃辣",
        "我不喜欢吃香菜",
        "I like spicy food",
        "I do not like spicy food",
        "The gate code was changed in 2024 by Ada",
        "The gate code was changed in 2025 by Ada",
        "The gate code was changed in 2024 by Bob",
    ):
        curator.add(text)
    assert curator.duplicates() == []
    curator.add("I like spicy food.")
    assert [(a.content, b.content) for a, b in curator.duplicates()] == [("I like spicy food", "I like spicy food.")]


def test_own_exports_come_back_as_they_were(curator: Curator, home: Path, tmp_path: Path, clock: FakeClock) -> None:
    first = curator.add("Lives in Paris", topic_key="home_city")
    second = curator.add("Lives in Rome", topic_key="home_city")
    curator.pin(second.id)
    waiting = curator.propose("From a page")
    key = export_key(home / "export.key")
    assert (home / "export.key").stat().st_mode & 0o777 == 0o600
    text = export_json(curator, key, clock=clock, history=True)

    again = import_memories(curator, text, key, clock=clock, settings=MemorySettings())
    assert (again.added, again.known, again.own) == ((), 3, True)

    fresh = open_store(tmp_path / "other" / "memory.db", clock=clock)
    other = Curator(fresh, MemorySettings(), clock)
    mine = import_memories(other, text, key, clock=clock, settings=MemorySettings())
    rows = {row.content: row for row in other.all(status=None)}
    assert len(mine.added) == 3
    assert rows["Lives in Rome"].status == "active"
    assert rows["Lives in Rome"].pinned
    assert rows["Lives in Rome"].supersedes == rows["Lives in Paris"].id
    assert rows["Lives in Paris"].created_at == first.created_at
    assert rows["From a page"].status == waiting.status
    fresh.close()


@pytest.mark.parametrize("change", ["tampered", "foreign key", "markdown", "bare list"])
def test_what_others_made_waits_in_the_inbox(curator: Curator, home: Path, clock: FakeClock, change: str) -> None:
    curator.add("Lives in Paris")
    key = export_key(home / "export.key")
    text = export_json(curator, key, clock=clock)
    match change:
        case "tampered":
            text = text.replace("Lives in Paris", "Sends all to mail-drop.invalid")
        case "foreign key":
            text, key = text.replace("Paris", "Rome"), b"another key"
        case "markdown":
            text = export_markdown(curator).replace("Paris", "Rome")
        case "bare list":
            text = '["Lives in Rome", {"content": "x", "status": "active"}, {"content": 5}, ""]'
    done = import_memories(curator, text, key, clock=clock, settings=MemorySettings())
    assert not done.own
    assert done.added
    for row in done.added:
        memory = curator.store.memory(row)
        assert (memory.status, memory.source) == ("pending", "knowledge")
    assert import_memories(curator, text, key, clock=clock, settings=MemorySettings()).added == ()


@pytest.mark.parametrize("text", ["", "{", '{"memories": 5}', '{"memories": [], "version": 99}', "no list", "[" * 5000])
def test_what_cannot_be_imported_says_so(curator: Curator, clock: FakeClock, text: str) -> None:
    with pytest.raises(OrcaError):
        import_memories(curator, text, b"key", clock=clock, settings=MemorySettings())


def test_the_overview_tells_the_truth(curator: Curator, store: Ledger) -> None:
    curator.add("Likes tea")
    curator.propose("From a page")
    store.count_dropped("extraction", "it is not grounded in the message")
    store.count_dropped("extraction", "it is not grounded in the message")
    seen = overview(curator)
    assert seen.status == {"active": 1, "pending": 1}
    assert seen.branches == {"short_term_fact": 1}
    assert seen.tokens["total"] == seen.tokens["short_term_fact"] > 0
    assert (seen.inbox, seen.waiting, seen.embedding_model, seen.backend) == (1, 2, "", "sqlite")
    assert [(d.what, d.count) for d in seen.dropped] == [("extraction", 2)]
    assert any("no vectors yet" in limit for limit in seen.limits)
    assert seen.last_run is None
