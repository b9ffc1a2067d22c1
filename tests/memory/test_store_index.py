"""SQLite's vector and text indexes: what they hold, and that the store works the same without the extension."""

from pathlib import Path

import apsw
import numpy as np
import pytest

from memory.store import open_store
from memory.store.base import Store
from memory.types import ITEM_KINDS, Candidate, ItemKind, NewMemory

WIDTH = 16


def matrix(count: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)


def fill(store: Store, count: int = 30) -> list[tuple[ItemKind, int]]:
    session = store.create_session()
    for number in range(count):
        store.add_message(session.id, "user", f"message number {number}")
        store.add_memory(NewMemory(f"memory {number}", "fact", "b", "user"), actor="user")
    return [(kind, item_id) for kind, item_id, _ in store.waiting_for_embedding(model="m", limit=1000)]


def search(store: Store, seed: int) -> list[Candidate]:
    return store.search_vector(matrix(1, seed)[0], model="m", kinds=ITEM_KINDS, limit=25)


def same(one: list[Candidate], other: list[Candidate]) -> bool:
    ids = [(hit.kind, hit.id) for hit in one] == [(hit.kind, hit.id) for hit in other]
    return ids and [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-5)


@pytest.fixture
def path(home: Path) -> Path:
    return home / "memory.db"


@pytest.fixture
def without_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.store.extension.library", lambda: None)


def rows_in(path: Path, query: str) -> list[tuple[object, ...]]:
    from memory.store import extension

    connection = apsw.Connection(str(path))
    extension.load(connection)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_the_extension_is_there() -> None:
    from memory.store import extension

    assert extension.load(apsw.Connection(":memory:")).version.startswith("0.1.9")


def test_loading_shuts_the_door_behind_it() -> None:
    from memory.store import extension

    connection = apsw.Connection(":memory:")
    extension.load(connection)
    with pytest.raises(apsw.Error):
        connection.load_extension(str(extension.library()))


def test_a_library_that_cannot_be_loaded_is_told_not_raised(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.store.extension.library", lambda: Path("/nowhere/vec0"))
    store = open_store(path)
    assert str(store.capabilities()["sqlite_vec"]).startswith("sqlite-vec cannot be loaded")
    store.close()


def test_without_the_extension_the_same_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(path)
    items = fill(store)
    store.put_embeddings(items, matrix(len(items)), model="m")
    by_index = [search(store, seed) for seed in range(5)]
    store.close()
    monkeypatch.setattr("memory.store.extension.library", lambda: None)
    store = open_store(path)
    assert store.capabilities()["sqlite_vec"] == "sqlite-vec is not installed"
    assert all(same(search(store, seed), found) for seed, found in enumerate(by_index))
    store.close()


def test_what_was_stored_without_the_extension_is_indexed_when_it_is_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(path)
    items = fill(store)
    store.put_embeddings(items[:20], matrix(20), model="m")
    store.close()
    with monkeypatch.context() as patch:
        patch.setattr("memory.store.extension.library", lambda: None)
        store = open_store(path)
        store.put_embeddings(items[10:], matrix(len(items) - 10, seed=1), model="m")
        store.update_message(items[0][1], content="a new text, and no vector")
        exact = search(store, 3)
        store.close()
    store = open_store(path)
    assert same(search(store, 3), exact)
    store.put_embeddings(items[:1], matrix(1), model="m")
    assert same(store.search_vector(matrix(1)[0], model="m", kinds=["message"], limit=1), [Candidate(*items[0], 1.0)])
    store.close()
    tables = ("vec_main_messages", "vec_long_term_memories")
    assert [rows_in(path, f"SELECT count(*) FROM {table}") for table in tables] == [[(30,)], [(30,)]]


def test_an_index_that_fell_far_behind_is_not_searched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.store.vectors.CATCH_UP_ROWS", 7)
    with monkeypatch.context() as patch:
        patch.setattr("memory.store.extension.library", lambda: None)
        store = open_store(path)
        items = fill(store)
        store.put_embeddings(items, matrix(len(items)), model="m")
        exact = search(store, 3)
        store.close()
    store = open_store(path)
    assert same(search(store, 3), exact)
    store.close()


@pytest.mark.usefixtures("without_extension")
def test_the_exact_index_grows_and_looks_at_few_or_many(path: Path) -> None:
    store = open_store(path)
    items = fill(store, 140)
    lonely = store.add_message(store.create_session().id, "user", "a message on its own")
    store.put_embeddings([*items, ("message", lonely.id)], matrix(len(items) + 1), model="m")
    query = matrix(len(items) + 1)[-1]
    few = store.search_vector(query, model="m", kinds=ITEM_KINDS, session_id=lonely.session_id)
    many = store.search_vector(query, model="m", kinds=ITEM_KINDS)
    assert (few[0].id, many[0].id) == (lonely.id, lonely.id)
    assert [hit.kind for hit in few].count("message") == 1
    assert few[0].score == pytest.approx(1.0, abs=1e-5)
    store.close()


@pytest.mark.usefixtures("without_extension")
def test_the_exact_index_follows_every_change(path: Path) -> None:
    store = open_store(path)
    items = fill(store)
    store.put_embeddings(items[:30], matrix(30), model="m")
    search(store, 0)
    other = open_store(path)
    other.put_embeddings(items[30:], matrix(30, seed=5), model="m")
    other.put_embeddings(items[:1], matrix(1, seed=6), model="m")
    assert (search(store, 6)[0].kind, search(store, 6)[0].id) == items[0]
    assert (search(store, 5)[0].kind, search(store, 5)[0].id) == items[30]
    other.close()
    store.close()


def test_a_change_of_model_makes_the_index_anew(path: Path) -> None:
    store = open_store(path)
    items = fill(store)
    store.put_embeddings(items, matrix(len(items)), model="m")
    store.put_embeddings(items[:4], np.eye(4, 5, dtype=np.float32), model="other")
    hits = store.search_vector(np.eye(1, 5, dtype=np.float32)[0], model="other", kinds=ITEM_KINDS)
    assert (hits[0].kind, hits[0].id) == items[0]
    store.close()
    models = rows_in(path, "SELECT table_name, model, width FROM embedding_models ORDER BY 1")
    assert {(model, width) for _, model, width in models} == {("other", 5)}
    assert [name for name, _, _ in models] == [
        *("embeddings", "vec_long_term_memories", "vec_main_messages", "vec_short_term_memories"),
    ]


def test_vectors_are_kept_normalised(path: Path) -> None:
    store = open_store(path)
    items = fill(store, 1)
    given = matrix(len(items)) * 3
    store.put_embeddings(items, given, model="m")
    store.close()
    for at, (vector,) in enumerate(rows_in(path, "SELECT vector FROM embeddings ORDER BY id")):
        assert isinstance(vector, bytes)
        assert np.frombuffer(vector, "<f4") == pytest.approx(given[at] / np.linalg.norm(given[at]), abs=1e-6)


def test_deleting_a_session_takes_its_index_rows_along(path: Path) -> None:
    store = open_store(path)
    items = fill(store, 3)
    store.put_embeddings(items, matrix(len(items)), model="m")
    session = store.sessions()[0]
    store.close()
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", 1)
    connection.pragma("trusted_schema", 0)
    connection.execute("DELETE FROM sessions WHERE id = ?", (session.id,))
    connection.close()
    store = open_store(path)
    assert store.stats()["embeddings"] == 3
    assert store.search_text("message", kinds=["message"]) == []
    assert {hit.kind for hit in search(store, 0)} == {"long_term"}
    assert store.document_frequency(["messag"]) == (3, {"messag": 0})
    store.close()


def test_a_word_in_very_many_texts_gives_the_newest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.store.fts.HITS_BUDGET", 5)
    store = open_store(path)
    session = store.create_session()
    ids = [store.add_message(session.id, "user", f"harbour day{n}").id for n in range(20)]
    assert [hit.id for hit in store.search_text("harbour", kinds=["message"], limit=3)] == ids[:-4:-1]
    assert store.search_text("harbour day7", kinds=["message"])[0].id == ids[7]
    store.close()
