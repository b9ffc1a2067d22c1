"""The embedding queue: turns stored text into vectors, in the background, in batches, and never loses one.

What waits is what the store says waits, so the queue survives restarts and needs no table of its own. While the
embedder fails, the queue pauses with growing waits and asks with one word before it goes on; chat never waits for it.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memory.config import EmbeddingSettings
from memory.errors import EmbeddingFailed, InvalidVectorError, OrcaError
from memory.events import QueueChanged, QueueStatus
from memory.provider.base import Embedder
from memory.recalling.query_vector import GetEmbedder
from memory.store.base import Store
from memory.store.presence import Claim
from memory.types import ItemKind
from memory.writing.secrets import masked

if TYPE_CHECKING:
    from memory.provider.base import Vectors

log = logging.getLogger(__name__)

MAX_TRIES = 3
"""An item that fails alone so often, while others succeed, is set aside until the next start."""
MAX_CHARACTERS = 6000
"""More of a text than this is not embedded: no embedder looks at it."""
LONGEST_WAIT = 300.0
MOST_PATIENCE = 3600.0
"""Seconds; longest wait that a server may ask for."""
ELSEWHERE = 2.0
"""Seconds until it is looked again whether what another process embeds is done."""
PROBE = "hello"

Row = tuple[ItemKind, int, str]


def backoff(failures: int) -> float:
    """Seconds to wait after so many failures in a row: 2, 4, 8 … 300, with jitter."""
    wait = min(LONGEST_WAIT, float(2 ** min(failures, 12)))
    return wait * random.uniform(0.5, 1.0)  # noqa: S311 — spreads load, guards nothing


class EmbeddingQueue:
    """One worker over everything that waits for a vector."""

    def __init__(
        self,
        store: Store,
        embedder: GetEmbedder,
        settings: EmbeddingSettings,
        *,
        notify: Callable[[QueueChanged], None] = lambda change: None,  # noqa: ARG005
        backoff: Callable[[int], float] = backoff,
        claim: Claim | None = None,
    ) -> None:
        """`claim`: taken while it embeds, so that no two processes embed the same; who does not get it waits."""
        self.status: QueueStatus = "idle"
        self.waiting = 0
        """Items without a vector, as last counted."""
        self.problem = ""
        """Why it is paused, or what was set aside; for a person."""
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._notify = notify
        self._backoff = backoff
        self._claim = claim
        self._look_again: asyncio.TimerHandle | None = None
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._tries: dict[tuple[ItemKind, int], int] = {}
        self._aside: set[tuple[ItemKind, int]] = set()
        self._failures = 0
        self._refused_in_a_row = 0

    def start(self) -> None:
        """Begin to work; what waits from earlier runs comes first. Needs a running event loop."""
        if self._task is None:
            self._wake.set()
            self._task = asyncio.get_running_loop().create_task(self._run(), name="embedding queue")

    def wake(self) -> None:
        """Tell that something new was stored."""
        self._wake.set()

    async def close(self, drain: float = 1.0) -> None:
        """Embed what waits for at most `drain` seconds, then stop. What is left comes at the next start."""
        self._closing.set()
        self._wake.set()
        if self._look_again is not None:
            self._look_again.cancel()
        task, self._task = self._task, None
        if task is None:
            return
        await asyncio.wait({task}, timeout=drain)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not self._closing.is_set():
                await self._pause(self._settings.batch_wait)
            try:
                await self._work()
                self._failures = 0
            except OrcaError as error:
                await self._failed(error)
            except Exception as error:
                log.exception("the embedding queue met an error that it does not know")
                await self._failed(EmbeddingFailed(f"unexpected {type(error).__name__}"))
            if self._closing.is_set():
                return

    async def _work(self) -> None:
        """Embed until nothing waits. Raises when the embedder or the store does not work."""
        embedder = await self._embedder()
        if embedder is None:
            self._tell("off", 0, "")
            return
        await self._count(embedder, "paused" if self._failures else "working", self.problem if self._failures else "")
        if self._claim is not None and self.waiting and not self._claim.take():
            self._look_again = asyncio.get_running_loop().call_later(ELSEWHERE, self._wake.set)
            return
        try:
            await self._embed_all(embedder)
        finally:
            if self._claim is not None:
                self._claim.let_go()

    async def _embed_all(self, embedder: Embedder) -> None:
        if self._failures and self.waiting:
            await self._vectors(embedder, [PROBE])
        while rows := await self._next(embedder):
            await self._embed(embedder, rows)
            self._failures = 0
            await self._count(embedder, "working")
        await self._count(embedder, "idle")

    async def _next(self, embedder: Embedder) -> list[Row]:
        size = self._settings.batch_size
        limit = size + len(self._aside)
        rows = await asyncio.to_thread(self._store.waiting_for_embedding, model=embedder.model, limit=limit)
        return [row for row in rows if row[:2] not in self._aside][:size]

    async def _embed(self, embedder: Embedder, rows: Sequence[Row]) -> None:
        """Embed and store a batch; when it fails though the embedder works, each of it alone."""
        try:
            vectors = await self._vectors(embedder, [masked(text)[:MAX_CHARACTERS] or PROBE for _, _, text in rows])
            items = [(kind, item) for kind, item, _ in rows]
            await asyncio.to_thread(self._store.put_embeddings, items, vectors, model=embedder.model)
        except (EmbeddingFailed, InvalidVectorError) as error:
            if isinstance(error, EmbeddingFailed):
                await self._prove(embedder, error)
            if len(rows) == 1:
                self._refuse(rows[0], error)
                return
            for row in rows:
                await self._embed(embedder, [row])
        else:
            self._refused_in_a_row = 0
            for row in rows:
                self._tries.pop(row[:2], None)

    async def _vectors(self, embedder: Embedder, texts: list[str]) -> "Vectors":
        try:
            return await asyncio.wait_for(embedder.embed(texts, "passage"), self._settings.timeout)
        except TimeoutError:
            raise EmbeddingFailed(f"no vectors within {self._settings.timeout:.0f} s") from None

    async def _prove(self, embedder: Embedder, error: EmbeddingFailed) -> None:
        """Raise `error` unless the embedder can embed a plain word: then it is the text's fault."""
        if error.retry_after is not None:
            raise error
        try:
            await self._vectors(embedder, [PROBE])
        except (EmbeddingFailed, InvalidVectorError):
            raise error from None

    def _refuse(self, row: Row, error: OrcaError) -> None:
        key = row[:2]
        self._tries[key] = self._tries.get(key, 0) + 1
        if self._tries[key] < MAX_TRIES:
            return
        self._aside.add(key)
        self._refused_in_a_row += 1
        log.warning("%s %d could not be embedded and is set aside: %s", *key, error)
        if self._refused_in_a_row >= MAX_TRIES:
            self._refused_in_a_row = 0
            raise error

    async def _failed(self, error: OrcaError) -> None:
        """Pause: as long as the server asked, else longer after each failure."""
        self._failures += 1
        asked = error.retry_after if isinstance(error, EmbeddingFailed) else None
        wait = min(asked, MOST_PATIENCE) if asked is not None else self._backoff(self._failures)
        log.warning("embedding is paused for %.0f s: %s", wait, error)
        self._tell("paused", self.waiting, str(error))
        await self._rest(wait, str(error))
        self._wake.set()

    async def _rest(self, seconds: float, problem: str) -> None:
        """Sit out a pause; what is stored meanwhile is counted, not tried."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        self._wake.set()
        while not self._closing.is_set() and (left := end - loop.time()) > 0:
            try:
                await asyncio.wait_for(self._wake.wait(), left)
            except TimeoutError:
                return
            self._wake.clear()
            with suppress(OrcaError):
                if not self._closing.is_set() and (embedder := await self._embedder()) is not None:
                    await self._count(embedder, "paused", problem)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    async def _count(self, embedder: Embedder, status: QueueStatus, problem: str = "") -> None:
        waiting = await asyncio.to_thread(self._store.count_waiting, model=embedder.model)
        if status == "working" and waiting <= len(self._aside):
            status = "idle"
        if self._aside and not problem:
            problem = f"{len(self._aside)} set aside: the embedder refuses them"
        self._tell(status, waiting, problem)

    def _tell(self, status: QueueStatus, waiting: int, problem: str) -> None:
        if (status, waiting, problem) != (self.status, self.waiting, self.problem):
            self.status, self.waiting, self.problem = status, waiting, problem
            self._notify(QueueChanged(status, waiting, problem))
