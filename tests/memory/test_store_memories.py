"""Short-term and long-term memory, their journal, and what replies were given."""

from dataclasses import asdict

import pytest

from memory.errors import StoreError
from memory.store.base import Store
from memory.types import Injection, LongTermMemory, NewMemory, Scope, ScoreParts


def add(store: Store, content: str, *, scope: Scope | None = None, **fields: object) -> LongTermMemory:
    values = {"memory_type": "fact", "branch": "short_term_fact", "source": "user", **fields}
    return store.add_memory(NewMemory(content, scope=scope or Scope(), **values), actor="user")  # type: ignore[arg-type]


def test_summaries_come_newest_first_and_the_oldest_go(store: Store) -> None:
    session = store.create_session()
    added = [store.add_short_term(session.id, f"summary {n}", source_count=n + 1) for n in range(4)]
    assert store.short_term(session.id) == added[::-1]
    assert store.short_term(session.id, limit=2) == added[:1:-1]
    assert store.short_term_memory(added[0].id) == added[0]
    assert store.keep_short_term(session.id, 1) == 3
    assert store.short_term(session.id) == added[-1:]
    assert store.search_text("summary", kinds=["short_term"])[0].id == added[-1].id
    assert len(store.search_text("summary", kinds=["short_term"])) == 1
    removed = store.journal(kind="short_term", item_id=added[0].id)
    assert [(event.action, event.after is None) for event in removed] == [("remove", True), ("add", False)]
    assert removed[0].before == asdict(added[0])


def test_summaries_of_what_is_spared_stay(store: Store) -> None:
    session = store.create_session()
    messages = [store.add_message(session.id, "user", f"message {n}") for n in range(4)]
    added = [store.add_short_term(session.id, m.content, first_message_id=m.id) for m in messages]
    assert store.keep_short_term(session.id, 1, spare={messages[1].id}) == 2
    assert store.short_term(session.id) == [added[3], added[1]]


@pytest.mark.parametrize("wrong", [{"source_count": 0}, {"confidence": 1.5}])
def test_a_summary_has_sources_and_a_confidence_from_0_to_1(store: Store, wrong: dict[str, int]) -> None:
    session = store.create_session()
    with pytest.raises(StoreError):
        store.add_short_term(session.id, "x", **wrong)
    assert store.journal() == []


def test_a_memory_keeps_what_it_was_given(store: Store) -> None:
    scope = Scope("ann", "harbour", "pilot", "crew")
    memory = add(store, "the\0 pier opens at 6", scope=scope, importance=0.9, expires_at="2027", pinned=True)
    assert store.memory(memory.id) == memory
    assert memory.content == "the\ufffd pier opens at 6"
    assert (memory.user_id, memory.project, memory.agent_id, memory.team_id) == ("ann", "harbour", "pilot", "crew")
    assert (memory.version, memory.supersedes, memory.merged_from, memory.access_count) == (1, None, (), 0)
    (event,) = store.journal(kind="long_term", item_id=memory.id)
    assert (event.action, event.actor, event.before) == ("add", "user", None)
    assert event.after == asdict(memory) | {"merged_from": []}


def test_a_topic_key_supersedes_within_its_scope_only(store: Store) -> None:
    old = add(store, "Ann lives in Paris", topic_key="home")
    elsewhere = add(store, "the office is in Lyon", topic_key="home", scope=Scope(project="work"))
    new = add(store, "Ann moved to Rome", topic_key="home")
    third = add(store, "Ann moved to Oslo", topic_key="home")
    assert store.memory(old.id).status == "superseded"
    assert (new.version, new.supersedes) == (2, old.id)
    assert (third.version, third.supersedes) == (3, new.id)
    assert store.memory(elsewhere.id).status == "active"
    assert [event.action for event in store.journal(item_id=old.id)] == ["supersede", "add"]
    assert [memory.id for memory in store.memories(scope=Scope())] == [third.id]


def test_a_pending_memory_supersedes_nothing(store: Store) -> None:
    old = add(store, "likes tea", topic_key="drink")
    add(store, "likes coffee", topic_key="drink", status="pending")
    assert store.memory(old.id).status == "active"


def test_changes_are_journalled_with_the_whole_row_before_and_after(store: Store) -> None:
    memory = add(store, "likes tea")
    changed = store.update_memory(
        memory.id, {"content": "likes coffee", "merged_from": (7, 8)}, actor="user", reason="said"
    )
    assert (changed.content, changed.merged_from) == ("likes coffee", (7, 8))
    assert changed.updated_at > memory.updated_at
    event = store.journal(item_id=memory.id)[0]
    assert (event.action, event.reason) == ("update", "said")
    assert event.before == asdict(memory) | {"merged_from": []}
    assert event.after == asdict(changed) | {"merged_from": [7, 8]}
    assert store.search_text("tea", kinds=["long_term"]) == []
    assert store.search_text("coffee", kinds=["long_term"])[0].id == memory.id


def test_what_the_journal_holds_puts_a_memory_back(store: Store) -> None:
    memory = add(store, "likes tea", topic_key="drink", pinned=True)
    store.update_memory(
        memory.id, {"content": "x", "status": "trashed", "pinned": False, "topic_key": None}, actor="user"
    )
    before = store.journal(item_id=memory.id)[0].before
    assert before is not None
    kept = ("id", "created_at", "updated_at", "access_count", "last_accessed")
    changes = {name: value for name, value in before.items() if name not in kept}
    back = store.update_memory(memory.id, changes, actor="user", reason="undo")
    assert asdict(back) | {"updated_at": memory.updated_at} == asdict(memory)


@pytest.mark.parametrize(
    ("first", "then", "action"),
    [
        ("active", "archived", "archive"),
        ("active", "trashed", "trash"),
        ("active", "expired", "expire"),
        ("trashed", "active", "restore"),
        ("pending", "active", "accept"),
    ],
)
def test_a_change_of_status_has_its_own_name(store: Store, first: str, then: str, action: str) -> None:
    memory = add(store, "x", status=first)
    store.update_memory(memory.id, {"status": then}, actor="user")
    assert store.journal(item_id=memory.id)[0].action == action


def test_a_change_that_changes_nothing_leaves_no_trace(store: Store) -> None:
    memory = add(store, "x")
    assert store.update_memory(memory.id, {"content": "x", "merged_from": []}, actor="user") == memory
    assert len(store.journal()) == 1


@pytest.mark.parametrize("field", ["id", "access_count", "created_at", "content = 'x' --", ""])
def test_fields_that_are_not_to_be_changed_are_refused(store: Store, field: str) -> None:
    memory = add(store, "x")
    with pytest.raises(ValueError):
        store.update_memory(memory.id, {field: 1}, actor="user")
    with pytest.raises(StoreError):
        store.update_memory(memory.id, {"confidence": 2}, actor="user")
    assert store.memory(memory.id) == memory


def test_memories_are_filtered_by_scope_branch_and_status(store: Store) -> None:
    for_all = add(store, "a")
    in_project = add(store, "b", scope=Scope(project="harbour"))
    of_team = add(store, "c", scope=Scope(team_id="crew"), branch="task_event")
    of_other = add(store, "d", scope=Scope("bob"))
    trashed = add(store, "e", status="trashed")

    def ids(**filters: object) -> list[int]:
        return [memory.id for memory in store.memories(**filters)]  # type: ignore[arg-type]

    assert ids() == [of_other.id, of_team.id, in_project.id, for_all.id]
    assert ids(scope=Scope()) == [for_all.id]
    assert ids(scope=Scope(project="harbour")) == [in_project.id, for_all.id]
    assert ids(scope=Scope(project="other")) == [for_all.id]
    assert ids(scope=Scope(team_id="crew")) == [of_team.id, for_all.id]
    assert ids(branches=["task_event"]) == [of_team.id]
    assert ids(branches=[]) == []
    assert ids(status=["trashed"]) == [trashed.id]
    assert len(ids(status=None)) == 5
    assert ids(limit=2, offset=1) == [of_team.id, in_project.id]


def test_touching_counts_and_dates_the_access(store: Store) -> None:
    memory, other = add(store, "x"), add(store, "y")
    store.touch_memories([memory.id, memory.id, 999])
    store.touch_memories([])
    touched = store.memory(memory.id)
    assert touched.access_count == 1
    assert touched.last_accessed is not None
    assert touched.updated_at == memory.updated_at
    assert store.memory(other.id) == other
    assert len(store.journal()) == 2


def test_a_failed_change_leaves_neither_row_nor_journal_nor_index(store: Store) -> None:
    with pytest.raises(StoreError):
        add(store, "impossible harbour", memory_type="nonsense")
    old = add(store, "likes tea", topic_key="drink")
    with pytest.raises(StoreError):
        add(store, "likes coffee", topic_key="drink", importance=7)
    assert store.memories() == [old]
    assert len(store.journal()) == 1
    assert store.search_text("harbour coffee", kinds=["long_term"]) == []


def test_injections_are_kept_by_rank(store: Store) -> None:
    session = store.create_session()
    reply = store.add_message(session.id, "assistant", "reply")
    parts = ScoreParts(0.5, 0.25, 1.0, 0.1, 0.2, 0.3, 0.05, 1.4)
    second = Injection(reply.id, "long_term", 7, "long_term", 2, 30, parts)
    first = Injection(reply.id, "message", 1, "working", 1, 12, ScoreParts())
    store.add_injections([second, first])
    assert store.injections(reply.id) == [first, second]
    assert store.injections(999) == []
    with pytest.raises(StoreError):
        store.add_injections([first, Injection(999, "message", 1, "working", 1, 12, ScoreParts())])
    assert len(store.injections(reply.id)) == 2
