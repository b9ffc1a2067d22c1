"""Vectors: what waits for one, what is refused, and how neighbours are found."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.errors import InvalidVectorError
from memory.store.base import Store
from memory.types import ITEM_KINDS, ItemKind, NewMemory, Scope

WIDTH = 8


def vectors(count: int, seed: int = 0, width: int = WIDTH) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def fill(store: Store, count: int = 12) -> list[tuple[ItemKind, int]]:
    """A session with messages, a summary and a memory; gives what waits for a vector."""
    session = store.create_session()
    for number in range(count - 2):
        store.add_message(session.id, "user", f"message number {number}")
    store.add_short_term(session.id, "what was said")
    store.add_memory(NewMemory("likes tea", "preference", "user_preference", "user"), actor="user")
    return waiting(store)


def waiting(store: Store, model: str = "m") -> list[tuple[ItemKind, int]]:
    return [(kind, item_id) for kind, item_id, _ in store.waiting_for_embedding(model=model)]


def nearest(store: Store, query: Any, model: str = "m", **filters: Any) -> list[tuple[ItemKind, int]]:
    return [(hit.kind, hit.id) for hit in store.search_vector(query, model=model, kinds=ITEM_KINDS, **filters)]


def test_finished_talk_summaries_and_memories_wait_oldest_first(store: Store) -> None:
    session, hidden = store.create_session(), store.create_session(incognito=True)
    first = store.add_message(session.id, "user", "ten chars!")
    memory = store.add_memory(NewMemory("tea", "fact", "b", "user"), actor="user")
    summary = store.add_short_term(session.id, "sum")
    store.add_message(session.id, "user", "too short")
    store.add_message(session.id, "system", "you are a helpful pilot")
    store.add_message(session.id, "tool", "some output of a tool")
    reply = store.add_message(session.id, "assistant", "still being written", state="streaming")
    store.add_message(hidden.id, "user", "nobody is to know this")
    store.add_short_term(hidden.id, "secret")
    trashed = store.add_memory(NewMemory("gone", "fact", "b", "user", status="trashed"), actor="user")
    expected = [("message", first.id), ("long_term", memory.id), ("short_term", summary.id)]
    assert waiting(store) == expected
    assert store.waiting_for_embedding(model="m", limit=1) == [("message", first.id, "ten chars!")]
    store.update_message(reply.id, state="stopped")
    store.update_memory(trashed.id, {"status": "active"}, actor="user")
    assert set(waiting(store)) == {*expected, ("message", reply.id), ("long_term", trashed.id)}
    assert store.count_waiting(model="m") == 5


def test_a_short_sentence_in_chinese_is_worth_a_vector(store: Store) -> None:
    session = store.create_session()
    said = store.add_message(session.id, "user", "我想去京都看红叶")
    store.add_message(session.id, "user", "好的，谢谢"[:4])
    assert waiting(store) == [("message", said.id)]


def test_vectors_are_stored_once_and_marked(store: Store) -> None:
    items = fill(store)
    assert store.put_embeddings(items, vectors(len(items)), model="m") == len(items)
    assert store.count_waiting(model="m") == 0
    assert store.stats()["embeddings"] == len(items)
    messages = [item_id for kind, item_id in items if kind == "message"]
    assert all(store.message(item_id).has_embedding for item_id in messages)
    assert store.put_embeddings([], vectors(0), model="m") == 0


def test_items_that_are_gone_are_left_out(store: Store) -> None:
    items = fill(store)
    session = store.sessions()[0]
    store.keep_short_term(session.id, 0)
    assert store.put_embeddings([*items, ("message", 999)], vectors(len(items) + 1), model="m") == len(items) - 1


def test_neighbours_come_by_cosine(store: Store) -> None:
    items = fill(store)
    matrix = vectors(len(items))
    store.put_embeddings(items, matrix * 5, model="m")
    query = vectors(1, seed=7)[0]
    cosines = matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)
    expected = [items[at] for at in np.argsort(-cosines)]
    hits = store.search_vector(query, model="m", kinds=ITEM_KINDS, limit=5)
    assert [(hit.kind, hit.id) for hit in hits] == expected[:5]
    assert [hit.score for hit in hits] == pytest.approx(sorted(cosines, reverse=True)[:5], abs=1e-5)
    assert nearest(store, query, limit=0) == []
    assert store.search_vector(query, model="m", kinds=[]) == []


@pytest.mark.parametrize(
    "broken",
    [
        np.full((2, WIDTH), np.nan),
        np.full((2, WIDTH), np.inf),
        np.array([[1.0] * WIDTH, [0.0] * WIDTH]),
        np.ones((2, WIDTH + 1)),
        np.ones((1, WIDTH)),
        np.ones((2, 0)),
        np.ones(WIDTH),
        [[1.0, 2.0], [1.0]],
        [["a"], ["b"]],
    ],
    ids=["nan", "inf", "zero", "wider", "fewer", "empty", "flat", "ragged", "text"],
)
def test_broken_vectors_are_refused_and_nothing_is_stored(store: Store, broken: Any) -> None:
    items = fill(store)
    store.put_embeddings(items[2:4], vectors(2), model="m")
    with pytest.raises(InvalidVectorError):
        store.put_embeddings(items[:2], broken, model="m")
    assert store.stats()["embeddings"] == 2
    assert not store.message(items[0][1]).has_embedding


@pytest.mark.parametrize("query", [np.full(WIDTH, np.nan), np.zeros(WIDTH), np.ones(WIDTH + 1), np.ones((1, WIDTH))])
def test_a_broken_query_is_refused(store: Store, query: Any) -> None:
    items = fill(store)
    store.put_embeddings(items, vectors(len(items)), model="m")
    with pytest.raises(InvalidVectorError):
        nearest(store, query)


def test_filters_hold_inside_the_search(store: Store) -> None:
    sessions = [store.create_session(scope=Scope(project=name)) for name in ("a", "b")]
    ids = [store.add_message(sessions[n % 2].id, "user", f"message number {n}").id for n in range(40)]
    matrix = vectors(40)
    store.put_embeddings([("message", item_id) for item_id in ids], matrix, model="m")
    query = matrix[0] + matrix[2]  # The nearest are of the first session.
    assert len(nearest(store, query, session_id=sessions[1].id, limit=20)) == 20
    assert {item_id for _, item_id in nearest(store, query, session_id=sessions[1].id)} == set(ids[1::2])
    assert {item_id for _, item_id in nearest(store, query, exclude_session=sessions[1].id)} == set(ids[::2])
    assert {item_id for _, item_id in nearest(store, query, scope=Scope(project="b"))} == set(ids[1::2])
    assert nearest(store, query, scope=Scope()) == []


def test_branches_and_status_filter_memories(store: Store) -> None:
    ids = []
    for branch, status in (("one", "active"), ("two", "active"), ("two", "pending")):
        new = NewMemory("tea", "fact", branch, "user", status=status)  # type: ignore[arg-type]
        ids.append(store.add_memory(new, actor="user").id)
    store.put_embeddings([("long_term", item_id) for item_id in ids], vectors(3), model="m")
    query = vectors(1)[0]
    assert {item_id for _, item_id in nearest(store, query)} == set(ids[:2])
    assert nearest(store, query, branches=["two"]) == [("long_term", ids[1])]
    assert nearest(store, query, status=["pending"]) == [("long_term", ids[2])]


def test_a_changed_text_loses_its_vector_and_waits_again(store: Store) -> None:
    items = fill(store)
    store.put_embeddings(items, vectors(len(items)), model="m")
    message = next(item_id for kind, item_id in items if kind == "message")
    memory = next(item_id for kind, item_id in items if kind == "long_term")
    store.update_message(message, content="something else entirely")
    store.update_memory(memory, {"content": "likes coffee"}, actor="user")
    changed = {("message", message), ("long_term", memory)}
    assert set(waiting(store)) == changed
    assert not store.message(message).has_embedding
    assert not changed & set(nearest(store, vectors(1)[0]))
    store.put_embeddings([("message", message)], vectors(1, seed=3), model="m")
    assert nearest(store, vectors(1, seed=3)[0])[0] == ("message", message)


def test_vectors_of_another_model_are_ignored_and_made_again(store: Store) -> None:
    items = fill(store)
    store.put_embeddings(items, vectors(len(items)), model="old")
    assert store.count_waiting(model="new") == len(items)
    assert nearest(store, vectors(1, width=4)[0], "new") == []
    assert store.count_waiting(model="old") == 0

    store.put_embeddings(items[:3], vectors(3, width=4), model="new")
    assert waiting(store, "new") == items[3:]
    assert store.message(items[0][1]).has_embedding
    assert not store.message(items[5][1]).has_embedding
    assert set(nearest(store, vectors(1, width=4)[0], "new")) == set(items[:3])
    assert set(nearest(store, vectors(1)[0], "old")) == set(items[3:])
    with pytest.raises(InvalidVectorError):
        store.put_embeddings(items[3:4], vectors(1, width=8), model="new")


def test_going_back_to_a_model_keeps_what_it_made(store: Store) -> None:
    items = fill(store)
    store.put_embeddings(items, vectors(len(items)), model="old")
    store.put_embeddings(items[:3], vectors(3, width=4), model="new")
    assert waiting(store, "old") == items[:3]
    store.put_embeddings(items[:1], vectors(1), model="old")
    assert waiting(store, "old") == items[1:3]
    assert set(nearest(store, vectors(1)[0], "old")) == {items[0], *items[3:]}


def test_a_model_may_change_its_width_once_nothing_of_the_old_is_left(store: Store) -> None:
    memory = store.add_memory(NewMemory("likes tea", "preference", "b", "user"), actor="user")
    store.put_embeddings([("long_term", memory.id)], vectors(1), model="m")
    store.update_memory(memory.id, {"content": "likes coffee"}, actor="user")
    store.put_embeddings([("long_term", memory.id)], vectors(1, width=4), model="m")
    assert nearest(store, vectors(1, width=4)[0]) == [("long_term", memory.id)]


def test_incognito_is_found_only_from_inside(store: Store) -> None:
    session = store.create_session(incognito=True)
    message = store.add_message(session.id, "user", "a secret harbour")
    store.put_embeddings([("message", message.id)], vectors(1), model="m")
    assert nearest(store, vectors(1)[0]) == []
    assert nearest(store, vectors(1)[0], session_id=session.id) == [("message", message.id)]
