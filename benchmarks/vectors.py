"""Vector search at size: how exact it is, what it costs, and whether the event loop notices.

Run: `python benchmarks/vectors.py [count]` (100,000 vectors of 1024 values by default: two to four minutes, 2 GB of
memory and of disk). CPU is that of the whole process; wall times and waits depend on what else runs: see `at rest`.
"""

import asyncio
import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from memory.store.filters import Filter
from memory.store.search import index_text, terms
from memory.store.sqlite import SQLiteStore
from memory.store.vectors import search_index
from memory.types import ITEM_KINDS, ItemKind, Scope

Vectors = NDArray[np.float32]

WIDTH = 1024
QUERIES = 60
LIMIT = 10
PER_SESSION = 40
WORDS = (
    *("harbour", "tide", "ledger", "boat", "quay", "night", "number", "rope", "lamp", "signal", "depth", "north"),
    *("wind", "cargo", "chart", "pilot", "潮汐表放在抽屉里"),
)


def mixture(count: int, rng: np.random.Generator) -> Vectors:
    """Clusters with a power-law spectrum around a common mean, much like embeddings of text; mean cosine about 0.4."""
    spectrum = (np.arange(1, WIDTH + 1) ** -0.35).astype(np.float32)
    spectrum /= np.linalg.norm(spectrum)
    mean = rng.normal(size=WIDTH).astype(np.float32)
    centres = rng.normal(size=(1000, WIDTH)).astype(np.float32) * spectrum
    found = 0.85 * mean / np.linalg.norm(mean) + 0.75 * centres[rng.integers(0, 1000, count)]
    return unit(found + 0.75 * noise(count, rng) * spectrum)


def isotropic(count: int, rng: np.random.Generator) -> Vectors:
    """Pure noise, in which nothing is near to anything: the hardest case, and none that texts give."""
    return unit(noise(count, rng))


def noise(count: int, rng: np.random.Generator) -> Vectors:
    return rng.standard_normal((count, WIDTH), dtype=np.float32)


def unit(vectors: Vectors) -> Vectors:
    vectors = vectors.astype(np.float32, copy=False)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def texts(count: int) -> Iterator[str]:
    for number in range(count):
        words = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 5, 7, 11)]
        yield f"{' '.join(words)} {number % 997} number{number}"


def fill(store: SQLiteStore, count: int) -> list[int]:
    """Messages in sessions of ten projects, written past the store's checks; gives their ids."""
    sessions = [
        store.create_session(scope=Scope(project=f"p{number % 10}")).id for number in range(-(-count // PER_SESSION))
    ]
    lines = list(texts(count))
    rows = [(at + 1, sessions[at // PER_SESSION], line) for at, line in enumerate(lines)]
    with store._db.write() as connection:
        connection.executemany(
            "INSERT INTO main_messages (id, session_id, role, content, timestamp) VALUES (?, ?, 'user', ?, '2026')",
            rows,
        )
        connection.executemany(
            "INSERT INTO fts_main_messages (rowid, terms) VALUES (?, ?)",
            ((at + 1, index_text(line)) for at, line in enumerate(lines)),
        )
    return [row[0] for row in rows]


def timed(run: Callable[[Any], object], queries: Iterable[Any]) -> str:
    cpu, wall = [], []
    for query in queries:
        began, used = perf_counter(), process_time()
        run(query)
        wall.append(1000 * (perf_counter() - began))
        cpu.append(1000 * (process_time() - used))
    return "  ".join(
        f"{kind} {median(times):6.2f} (p95 {quantiles(times, n=20)[-1]:6.2f}) ms"
        for kind, times in (("CPU", cpu), ("wall", wall))
    )


@dataclass
class Bench:
    """One set of vectors in the database at `path`."""

    path: Path
    model: str
    ids: list[int]
    vectors: Vectors
    queries: Vectors

    def run(self) -> None:
        store = SQLiteStore(self.path)
        took = self.embed(store)
        store.close()
        store = SQLiteStore(self.path)
        before, began, used = memory(), perf_counter(), process_time()
        self.found(store, self.queries[0])
        first, cpu = perf_counter() - began, process_time() - used
        print(f"\n{self.model}: {len(self.ids)} vectors stored in {took:.1f} s; file {store.stats()['bytes'] >> 20} MB")
        print(f"first search  {first:.2f} s, CPU {cpu:.2f} s; memory {before} MB before, {memory()} MB after")
        print(f"recall@{LIMIT}     {self.recall(store):.4f}")
        session = store.message(self.ids[0]).session_id
        self.time(store, "search        ")
        self.time(store, "all but one   ", exclude_session=session)
        self.time(store, "a tenth of it ", scope=Scope(project="p3"))
        self.time(store, "one session   ", session_id=session)
        print(f"vec0's scan   {timed(lambda query: scan(store, query), self.queries[:5])}")
        print(f"another process's vector is found: {self.follows(store)}")
        store.close()
        store = SQLiteStore(self.path)
        print(f"event loop    {asyncio.run(ticks(lambda: self.search_all(store)))}, reading the codes included")
        print(f"  at rest     {asyncio.run(ticks(lambda: sleep(2)))}")
        store.close()

    def embed(self, store: SQLiteStore) -> float:
        """Seconds that storing all vectors takes."""
        began = perf_counter()
        for start in range(0, len(self.ids), 1000):
            part = slice(start, start + 1000)
            items: list[tuple[ItemKind, int]] = [("message", item) for item in self.ids[part]]
            store.put_embeddings(items, self.vectors[part], model=self.model)
        return perf_counter() - began

    def found(self, store: SQLiteStore, query: Vectors, **filters: Any) -> list[int]:
        hits = store.search_vector(query, model=self.model, kinds=["message"], limit=LIMIT, **filters)
        return [hit.id for hit in hits]

    def time(self, store: SQLiteStore, name: str, **filters: Any) -> None:
        print(f"{name}{timed(lambda query: self.found(store, query, **filters), self.queries)}")

    def recall(self, store: SQLiteStore) -> float:
        at_ids, hits = np.array(self.ids), 0
        for query, row in zip(self.queries, self.queries @ self.vectors.T, strict=True):
            nearest = set(at_ids[np.argpartition(-row, LIMIT)[:LIMIT]].tolist())
            hits += len(nearest & set(self.found(store, query)))
        return hits / (LIMIT * len(self.queries))

    def follows(self, store: SQLiteStore) -> bool:
        """Whether a vector that another process puts is found here."""
        spawn = multiprocessing.get_context("spawn")
        sent = spawn.SimpleQueue()
        other = spawn.Process(target=put_from_elsewhere, args=(self.path, self.model, self.queries[1], sent))
        other.start()
        other.join()
        return self.found(store, self.queries[1])[0] == sent.get()

    def search_all(self, store: SQLiteStore) -> None:
        for query in self.queries:
            self.found(store, query)


async def ticks(work: Callable[[], object]) -> str:
    """How long the event loop waits for its turn while another thread is at work."""
    waits, working = [], asyncio.create_task(asyncio.to_thread(work))
    before = perf_counter()
    while not working.done():
        await asyncio.sleep(0.001)
        waits.append(1000 * (perf_counter() - before) - 1)
        before = perf_counter()
    return f"wait p50 {median(waits):.2f}, p99 {quantiles(waits, n=100)[-1]:.2f}, max {max(waits):.2f} ms"


def scan(store: SQLiteStore, query: Vectors) -> None:
    with store._db.read() as connection:
        search_index(connection, "message", query, Filter(), LIMIT)


def put_from_elsewhere(path: Path, model: str, vector: Vectors, sent: "SimpleQueue[int]") -> None:
    store = SQLiteStore(path)
    message = store.add_message(store.create_session().id, "user", "from another process")
    store.put_embeddings([("message", message.id)], vector[None], model=model)
    store.close()
    sent.put(message.id)


def memory() -> int:
    """MB of this process that are no mapped file."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) >> 10


def measure_text(path: Path) -> None:
    store = SQLiteStore(path)
    question = "which lamp was at the north quay that night, number77, 潮汐表"
    searched = terms(question)
    print(f"\ntext search   {timed(lambda _: store.search_text(question, kinds=ITEM_KINDS), range(QUERIES))}")
    print(f"document freq {timed(lambda _: store.document_frequency(searched), range(QUERIES))}")
    store.close()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "memory.db"
        store = SQLiteStore(path)
        ids = fill(store, count)
        store.close()
        measure_text(path)
        for name, make in (("mixture", mixture), ("noise", isotropic)):
            vectors = make(count + QUERIES, rng)
            Bench(path, name, ids, vectors[:count], vectors[count:]).run()


if __name__ == "__main__":
    main()
