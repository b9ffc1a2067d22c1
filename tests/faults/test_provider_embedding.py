"""Every fault of the embedding server, through the queue, on real connections: nothing lost, twice or bad.

| fault | test here |
| --- | --- |
| 401, 403, 404, 429, 500, 503, reset, HTML, refused | `test_texts_wait_and_come_when_it_is_well` |
| slow | `test_texts_wait_and_come_when_it_is_well[silence]` |
| width, NaN, infinite, zero, null, count | `test_bad_vectors_are_never_stored`; order: `test_openai_embed.py` |
| Retry-After, seconds and date | `test_the_pause_is_what_the_server_asks` |
| breaker: pause, one probe, then all | `test_after_a_failure_one_word_is_asked_before_the_rest` |
| leaving while it hangs | `test_closing_does_not_wait_for_a_server_that_hangs` |
| model changed, local model missing | `tests/memory/test_embedding_change.py`, `test_degradation.py` |
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memory.config import EmbeddingSettings, Secret, Settings
from memory.core import Core
from memory.embedding import PROBE, EmbeddingQueue
from memory.provider.openai_embed import OpenAIEmbedder
from tests.faults.talking_server import HANG, RESET, Piece, head, refusal, talking
from tests.helpers import opened, until

KEY = "sk-canary-9e8d7c6b5a40"
WIDTH = 4
TEXTS = [f"The boat number {number} lies in the harbour" for number in range(8)]


def vectors(rows: list[Any]) -> list[Piece]:
    data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    return [head(200, "application/json"), json.dumps({"data": data}).encode()]


def good(number: int) -> list[Piece]:
    return vectors([[1.0, 0.5, 0.25, float(at + 1)] for at in range(number)])


def embedder_at(url: str, timeout: float = 5.0) -> OpenAIEmbedder:
    settings = EmbeddingSettings(timeout=timeout, batch_wait=0.0)
    return OpenAIEmbedder(base_url=url, model="m", api_key=Secret(KEY), dimensions=WIDTH, settings=settings)


def queue_of(core: Core, embedder: OpenAIEmbedder, timeout: float, waits: list[int]) -> EmbeddingQueue:
    """A queue whose pauses are short; `waits` gets the number of failures at each."""

    async def get() -> OpenAIEmbedder:
        return embedder

    def pause(failures: int) -> float:
        waits.append(failures)
        return 0.01

    settings = EmbeddingSettings(timeout=timeout, batch_wait=0.0, batch_size=8)
    return EmbeddingQueue(core.store, get, settings, backoff=pause)


FAULTS: dict[str, list[Piece]] = {
    "401": refusal(401, {"error": "no"}),
    "403": refusal(403, {"error": "no"}),
    "404": refusal(404, b"no"),
    "429": refusal(429, {"error": "slow down"}, retry_after="0"),
    "500": refusal(500, b"no"),
    "503": refusal(503, b"no"),
    "a web page": [head(200, "text/html"), b"<html>"],
    "reset": [RESET],
    "silence": [HANG],
    "half an answer": [head(200, "application/json", content_length="900"), b'{"data": [', RESET],
}


@pytest.mark.parametrize("name", FAULTS)
async def test_texts_wait_and_come_when_it_is_well(home: Path, name: str) -> None:
    timeout = 0.3 if name == "silence" else 5.0
    async with (
        talking(FAULTS[name], FAULTS[name], FAULTS[name]) as server,
        opened(home, start=False, settings=Settings()) as core,
    ):
        session = core.store.create_session()
        for text in TEXTS:
            core.store.add_message(session.id, "user", text)
        embedder, waits = embedder_at(server.url, timeout), list[int]()
        queue = queue_of(core, embedder, timeout, waits)
        queue.start()
        await until(lambda: waits or not server.script)
        assert core.store.search_text("boat number 3", kinds=("message",)), "words serve meanwhile"
        server.script[:] = [good(1), good(8), *[good(1)] * 20]
        await until(lambda: core.store.stats()["embeddings"] == len(TEXTS))
        await until(lambda: queue.status == "idle")
        assert core.store.count_waiting(model=embedder.model) == 0
        await queue.close(0.1)
        await embedder.close()
        await until(lambda: server.open == 0)


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0] * 3] * 8,
        [[NOT_A_NUMBER] * 4] * 8,
        [[float("inf")] * 4] * 8,
        [[0.0] * 4] * 8,
        [None] * 8,
        [[1.0] * 4] * 7,
        [[1.0] * 4] * 9,
        [],
        [[1.0] * 4] * 7 + [[1.0] * 3],
        [["a"] * 4] * 8,
    ],
    ids=["width", "NaN", "infinite", "zero", "null", "fewer", "more", "none", "ragged", "text"],
)
async def test_bad_vectors_are_never_stored(home: Path, rows: list[Any]) -> None:
    async with talking(*[vectors(rows)] * 3) as server, opened(home, start=False) as core:
        session = core.store.create_session()
        for text in TEXTS:
            core.store.add_message(session.id, "user", text)
        embedder, waits = embedder_at(server.url), list[int]()
        queue = queue_of(core, embedder, 5.0, waits)
        queue.start()
        await until(lambda: server.requests and (waits or queue.problem or len(server.requests) > 2))
        await queue.close(0.1)
        assert core.store.stats()["embeddings"] == 0
        assert core.store.count_waiting(model=embedder.model) == len(TEXTS)
        await embedder.close()


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [({"retry_after": "120"}, 60), ({"retry_after": "7"}, 7), ({"retry_after": "Wed, 01 Jan 2031 00:00:09 GMT"}, 9)],
)
async def test_the_pause_is_what_the_server_asks(
    home: Path, asked: dict[str, str], seconds: int, caplog: pytest.LogCaptureFixture
) -> None:
    more = {**asked, "date": "Wed, 01 Jan 2031 00:00:00 GMT"}
    async with (
        talking(refusal(429, {"error": f"slow down {KEY}"}, **more)) as server,
        opened(home, start=False) as core,
    ):
        core.store.add_message(core.store.create_session().id, "user", TEXTS[0])
        embedder = embedder_at(server.url)
        queue = queue_of(core, embedder, 5.0, [])
        queue.start()
        await until(lambda: queue.status == "paused")
        assert len(server.requests) == 1
        assert f"paused for {seconds} s" in caplog.text
        assert KEY not in caplog.text + queue.problem
        await queue.close(0.1)
        await embedder.close()


async def test_after_a_failure_one_word_is_asked_before_the_rest(home: Path) -> None:
    """The breaker: open after a failure, half open with one word, closed when that went well."""
    down = refusal(500, b"no")
    async with talking(down, down, down, down, good(1), good(8)) as server, opened(home, start=False) as core:
        session = core.store.create_session()
        for text in TEXTS:
            core.store.add_message(session.id, "user", text)
        embedder, waits = embedder_at(server.url), list[int]()
        queue = queue_of(core, embedder, 5.0, waits)
        queue.start()
        await until(lambda: core.store.stats()["embeddings"] == len(TEXTS))
        sent = [request.body["input"] for request in server.requests]
        assert [PROBE] in sent
        assert all(texts in (TEXTS, [PROBE]) for texts in sent), "no storm of single requests"
        assert sent[-2:] == [[PROBE], TEXTS]
        assert waits == list(range(1, len(waits) + 1)), "each pause is longer than the one before"
        await queue.close(0.1)
        await embedder.close()


async def test_closing_does_not_wait_for_a_server_that_hangs(home: Path) -> None:
    async with talking([HANG]) as server, opened(home, start=False) as core:
        core.store.add_message(core.store.create_session().id, "user", TEXTS[0])
        embedder = embedder_at(server.url, 600.0)
        queue = queue_of(core, embedder, 600.0, [])
        queue.start()
        await asyncio.wait_for(server.hanging.wait(), 20)
        await asyncio.wait_for(queue.close(0.01), 10)
        await embedder.close()
        await until(lambda: server.open == 0)
        assert core.store.count_waiting(model=embedder.model) == 1
