"""Search at size by packed codes: as good as comparing everything, with every filter, and always in step."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from memory.store.coarse import CoarseIndex
from memory.store.codes import Coder, measure_centre
from memory.store.sqlite import SQLiteStore
from memory.types import MemoryStatus, NewMemory, Scope

WIDTH = 64
COUNT = 3000
Matrix = NDArray[np.float32]


def clusters(count: int, seed: int = 0) -> Matrix:
    """Vectors with much in common that lie in groups of about 30, as embeddings of texts do."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(9).normal(size=(100, WIDTH))
    vectors = 1.0 + centres[rng.integers(0, 100, count)] + 0.6 * rng.normal(size=(count, WIDTH))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def fill(path: Path) -> None:
    store = SQLiteStore(path)
    sessions = [store.create_session(scope=Scope(project=f"p{n % 3}")).id for n in range(30)]
    with store.act():
        for n in range(COUNT):
            store.add_message(sessions[n % 30], "user", f"message number {n}")
    store.put_embeddings([("message", n + 1) for n in range(COUNT)], clusters(COUNT), model="m")
    store.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    fill(path)
    return path


@pytest.fixture
def path(filled: Path, home: Path) -> Path:
    """A database with 3,000 messages, message n with the n-th vector, in 30 sessions of 3 projects."""
    home.mkdir()
    return Path(shutil.copy(filled, home / "memory.db"))


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(path)
    yield store
    store.close()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let coarse search begin at 50 vectors."""
    monkeypatch.setattr("memory.store.coarse.EXACT_ROWS", 50)
    monkeypatch.setattr("memory.store.coarse.FEW_ROWS", 10)
    monkeypatch.setattr("memory.store.vectors.CENTRE_ROWS", 60)


def nearest(store: SQLiteStore, query: Matrix, kind: Any = "message", limit: int = 10, **filters: Any) -> list[int]:
    return [hit.id for hit in store.search_vector(query, model="m", kinds=[kind], limit=limit, **filters)]


def truth(matrix: Matrix, query: Matrix, among: Any = None, limit: int = 10) -> list[int]:
    """Ids of the nearest rows, those of `among` only: row n has the id n + 1."""
    rows = np.arange(len(matrix)) if among is None else np.asarray(among)
    scores = matrix[rows] @ query
    return (rows[np.argsort(-scores)[:limit]] + 1).tolist()


def share(found: list[int], expected: list[int]) -> float:
    return len(set(found) & set(expected)) / len(expected)


@pytest.fixture
def coarse_searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every search that goes by codes leaves its kind here."""
    seen: list[str] = []
    search = CoarseIndex.search

    def noted(self: CoarseIndex, connection: Any, kind: Any, *rest: Any) -> Any:
        seen.append(kind)
        return search(self, connection, kind, *rest)

    monkeypatch.setattr(CoarseIndex, "search", noted)
    return seen


@pytest.mark.parametrize("limit", [1, 10, 40])
def test_it_finds_what_comparing_everything_finds(store: SQLiteStore, coarse_searches: list[str], limit: int) -> None:
    matrix, queries = clusters(COUNT), clusters(40, seed=1)
    shares = [share(nearest(store, query, limit=limit), truth(matrix, query, limit=limit)) for query in queries]
    assert np.mean(shares) >= 0.99
    assert len(coarse_searches) == len(queries)


def test_scores_are_the_cosines_best_first(store: SQLiteStore) -> None:
    matrix, query = clusters(COUNT), clusters(1, seed=2)[0]
    hits = store.search_vector(query, model="m", kinds=["message"], limit=20)
    assert [hit.score for hit in hits] == pytest.approx([float(matrix[hit.id - 1] @ query) for hit in hits], abs=1e-5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_noise_without_any_neighbours_is_searched_well(home: Path) -> None:
    fill_path = home / "memory.db"
    store = SQLiteStore(fill_path)
    session = store.create_session().id
    with store.act():
        for n in range(2000):
            store.add_message(session, "user", f"message number {n}")
    matrix = np.random.default_rng(3).normal(size=(2000, 200)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    store.put_embeddings([("message", n + 1) for n in range(2000)], matrix, model="m")
    queries = np.random.default_rng(4).normal(size=(20, 200)).astype(np.float32)
    assert np.mean([share(nearest(store, query), truth(matrix, query)) for query in queries]) >= 0.99
    store.close()


@pytest.mark.usefixtures("few")
def test_filters_hold_inside_the_search(store: SQLiteStore, coarse_searches: list[str]) -> None:
    matrix, rows = clusters(COUNT), np.arange(COUNT)
    sessions = [store.message(n + 1).session_id for n in range(30)]
    for query in clusters(5, seed=3):
        own = nearest(store, query, session_id=sessions[7])
        assert own == truth(matrix, query, rows[rows % 30 == 7])
        others = nearest(store, query, exclude_session=sessions[7])
        assert share(others, truth(matrix, query, rows[rows % 30 != 7])) >= 0.9
        project = nearest(store, query, scope=Scope(project="p1"), limit=60)
        assert share(project, truth(matrix, query, rows[rows % 3 == 1], limit=60)) >= 0.95
        assert {(item - 1) % 3 for item in project} == {1}
        assert nearest(store, query, scope=Scope()) == []
    assert len(coarse_searches) == 20


def add_memories(store: SQLiteStore, count: int = 200) -> Matrix:
    """Memories 1 … count: half of them in each branch, every fifth pending, every third of another user."""
    with store.act():
        for n in range(count):
            status: MemoryStatus = "pending" if n % 5 == 0 else "active"
            scope = Scope("other" if n % 3 == 0 else "default")
            branch = "even" if n % 2 == 0 else "odd"
            store.add_memory(NewMemory(f"memory {n}", "fact", branch, "user", scope, status=status), actor="user")
    matrix = clusters(count, seed=5)
    store.put_embeddings([("long_term", n + 1) for n in range(count)], matrix, model="m")
    return matrix


@pytest.mark.usefixtures("few")
def test_branch_status_and_scope_of_memories(store: SQLiteStore, coarse_searches: list[str]) -> None:
    matrix, rows = add_memories(store), np.arange(200)
    query, active = clusters(1, seed=6)[0], rows % 5 != 0

    def found(**filters: Any) -> set[int]:
        return set(nearest(store, query, "long_term", 200, **filters))

    def ids(mask: Any) -> set[int]:
        return set((rows[mask] + 1).tolist())

    assert found() == ids(active)
    assert found(status=None) == ids(rows >= 0)
    assert found(branches=["odd"]) == ids(active & (rows % 2 == 1))
    assert found(scope=Scope()) == ids(active & (rows % 3 != 0))
    assert found(scope=Scope("nobody")) == set()
    assert nearest(store, query, "long_term", 5) == truth(matrix, query, rows[active], 5)
    assert set(coarse_searches) == {"long_term"}


@pytest.mark.usefixtures("few")
def test_changes_of_memories_are_followed_also_from_elsewhere(store: SQLiteStore, path: Path) -> None:
    matrix = add_memories(store)
    query = matrix[1]
    assert nearest(store, query, "long_term", 1) == [2]
    other = SQLiteStore(path)
    other.update_memory(2, {"status": "archived"}, actor="user")
    assert 2 not in nearest(store, query, "long_term", 200)
    assert nearest(store, query, "long_term", 1, status=["archived"]) == [2]
    other.update_memory(2, {"status": "active", "branch": "third", "project": "p"}, actor="user")
    assert nearest(store, query, "long_term", 1, branches=["third"], scope=Scope(project="p")) == [2]
    assert 2 not in nearest(store, query, "long_term", 200, scope=Scope(project="q"))
    other.update_memory(2, {"content": "says something else now"}, actor="user")
    assert 2 not in nearest(store, query, "long_term", 200)
    other.put_embeddings([("long_term", 2)], -query[None], model="m")
    found = nearest(store, query, "long_term", 200)
    assert (found.count(2), found[-1]) == (1, 2)
    other.erase([5], actor="user")
    assert 5 not in nearest(store, query, "long_term", 200)
    other.close()


def test_what_another_connection_puts_is_found(store: SQLiteStore, path: Path) -> None:
    lonely = -np.ones(WIDTH, dtype=np.float32)
    nearest(store, lonely)
    other = SQLiteStore(path)
    session = other.create_session().id
    message = other.add_message(session, "user", "a message from elsewhere")
    other.put_embeddings([("message", message.id)], lonely[None], model="m")
    assert nearest(store, lonely, limit=1) == [message.id]
    assert nearest(store, lonely, session_id=session) == [message.id]
    other.put_embeddings([("message", 17)], lonely[None], model="m")
    assert nearest(store, lonely, limit=2) == [17, message.id]
    other.close()


@pytest.mark.usefixtures("few")
def test_the_limit_is_reached_though_most_of_the_nearest_are_gone(store: SQLiteStore, path: Path) -> None:
    matrix, query = clusters(COUNT), clusters(1, seed=7)[0]
    order = truth(matrix, query, limit=COUNT)
    nearest(store, query)
    gone, left = order[:2500], order[2500:]
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", 0)
    with connection:
        connection.executemany("DELETE FROM main_messages WHERE id = ?", [(item,) for item in gone])
    connection.close()
    assert share(nearest(store, query, limit=20), left[:20]) >= 0.95
    assert nearest(store, query, limit=COUNT) == left


def test_what_is_undone_is_not_found(store: SQLiteStore) -> None:
    lonely = -np.ones(WIDTH, dtype=np.float32)
    nearest(store, lonely)
    with suppress(ZeroDivisionError), store.act():
        store.put_embeddings([("message", 1)], lonely[None], model="m")
        assert nearest(store, lonely, limit=1) == [1]
        raise ZeroDivisionError
    assert nearest(store, lonely, limit=1) == truth(clusters(COUNT), lonely, limit=1)
    store.put_embeddings([("message", 2)], lonely[None], model="m")  # Has the id in `embeddings` that was undone.
    assert nearest(store, lonely, limit=1) == [2]


def test_vectors_without_a_code_are_coded_when_they_are_read_and_at_the_next_start(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE embeddings SET code = x'' WHERE id % 2")
    store = SQLiteStore(path)
    assert connection.execute("SELECT count(*) FROM embeddings WHERE code = x''").get == 0
    connection.execute("UPDATE embeddings SET code = x'' WHERE id % 2")
    matrix, queries = clusters(COUNT), clusters(10, seed=8)
    assert np.mean([share(nearest(store, query), truth(matrix, query)) for query in queries]) >= 0.99
    store.close()
    connection.close()


def test_without_a_centre_everything_is_compared(path: Path, coarse_searches: list[str]) -> None:
    store = SQLiteStore(path)
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM embedding_centres")
    connection.close()
    matrix, query = clusters(COUNT), clusters(1, seed=9)[0]
    assert nearest(store, query) == truth(matrix, query)
    assert not coarse_searches
    store.close()


@pytest.mark.usefixtures("few")
def test_another_model_has_codes_of_its_own(store: SQLiteStore) -> None:
    nearest(store, clusters(1)[0])
    matrix = np.random.default_rng(1).normal(size=(100, 24)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    store.put_embeddings([("message", n + 1) for n in range(100)], matrix, model="new")
    hits = store.search_vector(matrix[42], model="new", kinds=["message"], limit=5)
    assert [hit.id for hit in hits] == truth(matrix, matrix[42], limit=5)
    assert set(nearest(store, clusters(1)[0], limit=COUNT)) == set(range(101, COUNT + 1))


@pytest.mark.parametrize("width", [8, 64, 384, 1024])
@pytest.mark.parametrize("bits", [1, 2])
def test_estimates_are_right_on_average_and_their_errors_as_told(width: int, bits: int) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(400, width)).astype(np.float32) + 0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    coder = Coder(measure_centre(vectors))
    offsets, scales, planes = coder.decode(coder.encode(vectors))
    off: list[float] = []
    for query in vectors[:20]:
        code = coder.query(query, bits)
        constant = query @ coder.centre - coder.centre @ coder.centre
        estimates = offsets + scales * code.factor * coder.products(code, planes) + constant
        off += ((estimates - vectors @ query) / (scales * code.spread))[20:].tolist()
    assert abs(np.mean(off)) < 0.1
    assert 0.7 < np.std(off) < 1.2


def test_codes_are_the_same_everywhere_and_for_ever() -> None:
    vector = np.linspace(-1, 2, 100, dtype=np.float32)
    code = Coder(np.zeros(100, dtype=np.float32)).encode((vector / np.linalg.norm(vector))[None])[0]
    assert len(code) == 8 + 2 * 128 // 8
    assert code[8:].hex() == "702e3b99a100f68f40f780418507c58a064bc0fc5fe780d3a49835b6dba21a71"


def test_a_vector_at_the_centre_has_a_code() -> None:
    vectors = np.full((3, 10), 1 / np.sqrt(10), dtype=np.float32)
    coder = Coder(measure_centre(vectors))
    offsets, scales, planes = coder.decode(coder.encode(vectors))
    estimates = offsets + scales * coder.query(vectors[0], 2).factor * coder.products(
        coder.query(vectors[0], 2), planes
    )
    assert estimates == pytest.approx(1.0, abs=1e-5)
