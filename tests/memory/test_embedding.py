"""The embedding queue: nothing is lost, nothing twice, and one bad text does not stop the rest."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from helpers import until
from numpy.typing import NDArray

from memory.config import EmbeddingSettings
from memory.embedding import EmbeddingQueue, backoff
from memory.errors import EmbeddingFailed, InvalidVectorError
from memory.events import QueueChanged
from memory.provider.base import EmbedKind
from memory.provider.scripted import HashEmbedder
from memory.store.base import Store

Vectors = NDArray[np.float32]
SETTINGS = EmbeddingSettings(batch_size=5, batch_wait=0.0)


class Fickle(HashEmbedder):
    """Fails as told: `failures` are raised first, a text with a word of `bad` always."""

    def __init__(self, failures: Sequence[Exception] = (), bad: str = "\0never") -> None:
        super().__init__()
        self.failures = list(failures)
        self.bad = bad
        self.batches: list[list[str]] = []

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        self.batches.append(list(texts))
        if self.failures:
            raise self.failures.pop(0)
        if any(self.bad in text for text in texts):
            raise EmbeddingFailed("bad text")
        return await super().embed(texts, kind)


def queue_of(store: Store, embedder: HashEmbedder | None, told: list[QueueChanged] | None = None) -> EmbeddingQueue:
    async def get() -> HashEmbedder | None:
        return embedder

    return EmbeddingQueue(
        store, get, SETTINGS, notify=(told if told is not None else []).append, backoff=lambda failures: 0.0
    )


def fill(store: Store, texts: Sequence[str]) -> list[int]:
    session = store.create_session()
    return [store.add_message(session.id, "user", text).id for text in texts]


async def until_idle(queue: EmbeddingQueue) -> None:
    queue.start()
    await queue.close(drain=20.0)


def embedded(store: Store) -> list[str]:
    return [m.content for s in store.sessions() for m in store.path(s.id) if m.has_embedding]


async def test_everything_that_waits_is_embedded_in_batches(store: Store) -> None:
    texts = [f"message number {n} here" for n in range(12)]
    fill(store, texts)
    embedder = Fickle()
    await until_idle(queue_of(store, embedder))
    assert embedded(store) == texts
    assert [len(batch) for batch in embedder.batches] == [5, 5, 2]


async def test_what_another_run_left_is_taken_up(store: Store) -> None:
    fill(store, ["left by an earlier run"])
    first = queue_of(store, Fickle([EmbeddingFailed("down")] * 100))
    first.start()
    await first.close(drain=0.2)
    assert embedded(store) == []
    await until_idle(queue_of(store, Fickle()))
    assert embedded(store) == ["left by an earlier run"]


async def test_failures_pause_the_queue_and_nothing_is_lost(store: Store) -> None:
    told: list[QueueChanged] = []
    fill(store, ["one text that waits", "two texts that wait"])
    embedder = Fickle([EmbeddingFailed("connection refused")] * 6)
    queue = queue_of(store, embedder, told)
    queue.start()
    await until(lambda: queue.status == "idle" and queue.waiting == 0 and embedded(store))
    await queue.close()
    assert len(embedded(store)) == 2
    assert any(change.status == "paused" and change.problem == "connection refused" for change in told)
    assert queue.problem == ""
    probes = [batch for batch in embedder.batches if batch == ["hello"]]
    assert len(probes) >= 3, "while it is down, one word is asked, not the whole batch"


async def test_the_wait_that_the_server_asked_for_is_kept(store: Store) -> None:
    fill(store, ["a text that has to wait"])
    queue = queue_of(store, Fickle([EmbeddingFailed("slow down", retry_after=3000.0)]))
    queue.start()
    await until(lambda: queue.status == "paused")
    assert (queue.waiting, queue.problem) == (1, "slow down")
    await queue.close(drain=20.0)
    assert embedded(store) == [], "closing does not wait for it, and does not ask again"


async def test_a_text_that_fails_alone_is_set_aside(store: Store) -> None:
    texts = ["good text number one", "this is poison indeed", "good text number two"]
    fill(store, texts)
    queue = queue_of(store, Fickle(bad="poison"))
    await until_idle(queue)
    assert embedded(store) == [texts[0], texts[2]]
    assert (queue.status, queue.waiting) == ("idle", 1)
    assert queue.problem == "1 set aside: the embedder refuses them"


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
async def test_invalid_vectors_are_never_stored(store: Store, value: float) -> None:
    class Broken(HashEmbedder):
        async def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
            return np.full((len(texts), 64), value, dtype=np.float32)

    fill(store, ["a text with a bad vector"])
    queue = queue_of(store, Broken())
    await until_idle(queue)
    assert embedded(store) == []
    assert store.stats()["embeddings"] == 0
    assert "set aside" in queue.problem


async def test_vectors_of_another_width_pause_the_queue(store: Store) -> None:
    fill(store, ["a text of the first width"])
    await until_idle(queue_of(store, HashEmbedder(64)))

    class Wider(HashEmbedder):
        @property
        def model(self) -> str:
            return HashEmbedder(64).model

    fill(store, [f"another text, number {n}" for n in range(8)])
    queue = queue_of(store, Wider(32))
    queue.start()
    await until(lambda: queue.status == "paused")
    await queue.close()
    assert len(embedded(store)) == 1


async def test_without_an_embedder_it_is_off(store: Store) -> None:
    fill(store, ["nobody embeds this text"])
    queue = queue_of(store, None)
    await until_idle(queue)
    assert (queue.status, queue.problem) == ("off", "")


async def test_an_unknown_error_does_not_end_the_queue(store: Store) -> None:
    fill(store, ["a text behind a bug"])
    queue = queue_of(store, Fickle([ZeroDivisionError()]))
    queue.start()
    await until(lambda: bool(embedded(store)))
    await queue.close()


async def test_wake_takes_up_new_messages(store: Store) -> None:
    queue = queue_of(store, Fickle())
    queue.start()
    await until(lambda: queue.status == "idle")
    fill(store, ["stored after the start"])
    queue.wake()
    await until(lambda: bool(embedded(store)))
    await queue.close()


async def test_close_gives_up_at_the_limit(store: Store) -> None:
    class Stuck(HashEmbedder):
        async def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
            await asyncio.Event().wait()
            raise InvalidVectorError("never")

    fill(store, ["a text that hangs for ever"])
    queue = queue_of(store, Stuck())
    queue.start()
    await asyncio.wait_for(queue.close(drain=0.01), 20)


async def test_close_without_start(store: Store) -> None:
    await queue_of(store, HashEmbedder()).close()


def test_waits_grow_and_stay_bounded() -> None:
    assert 1.0 <= backoff(1) <= 2.0
    assert 150.0 <= backoff(50) <= 300.0
