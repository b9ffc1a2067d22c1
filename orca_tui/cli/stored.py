"""Opens what is stored, for commands that run once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from memory.config import Home, Settings
from memory.errors import ConfigError
from memory.events import BackgroundEvent, QueueChanged
from memory.text import label
from orca_tui.plain import complain

if TYPE_CHECKING:
    from memory.core import Core
    from memory.store.base import Store


@contextmanager
def open_read(home: Home) -> "Iterator[Store]":
    """The store alone, for what needs neither model nor embedder. Raises leaves of `StoreError`.

    A database that cannot be opened is told on stderr; what plain files hold is read instead.
    """
    from memory.store import open_store_or_fallback

    prepare(home)
    store, problem = open_store_or_fallback(home)
    if problem is not None:
        complain(problem)
    try:
        yield store
    finally:
        store.close()


def drop_files(home: Home, store: "Store") -> int:
    """Remove what went with messages that are erased now; tells how many files. Raises leaves of `StoreError`."""
    from memory.store.attachments import AttachmentFiles

    return AttachmentFiles(home.attachments).drop_unreferenced(store.attachments(), spared=0.0)


@asynccontextmanager
async def open_core(home: Home, settings: Settings) -> "AsyncIterator[Core]":
    """The whole core, started; closed with a second for what is still to be written. Raises leaves of `OrcaError`."""
    from memory.core import Core
    from memory.manager import COLD_WAIT

    prepare(home)
    core = Core.open(home, settings, query_wait=COLD_WAIT)
    for problem in core.problems:
        complain(problem)
    try:
        await core.start(warm_up=False)
        yield core
    finally:
        await core.close()


async def embed_what_waits(core: "Core", wait: float | None = None) -> tuple[int, str]:
    """Let the queue work until nothing waits or it pauses, for at most `wait` seconds.

    Gives how many items got a vector, and why it paused. Raises `TimeoutError`, and leaves of `OrcaError` when there is
    no embedder.
    """
    done = asyncio.Event()

    def look(event: BackgroundEvent) -> None:
        if isinstance(event, QueueChanged) and (event.status != "working" or not event.waiting):
            done.set()

    unsubscribe = core.subscribe(look)
    try:
        embedder = await core.embedder()
        if embedder is None:
            return 0, ""
        before = await asyncio.to_thread(core.store.count_waiting, model=embedder.model)
        if not before:
            return 0, ""
        if core.queue.status != "paused":
            await asyncio.wait_for(done.wait(), wait)
        left = await asyncio.to_thread(core.store.count_waiting, model=embedder.model)
        return max(0, before - left), core.queue.problem if core.queue.status == "paused" else ""
    finally:
        unsubscribe()


def prepare(home: Home) -> None:
    """Make the home directory. Raises `ConfigError` when that is not possible."""
    try:
        home.ensure()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"
        raise ConfigError(
            f"{label(str(home.root))} cannot be used: {reason}.", hint="Choose another place: --home DIR"
        ) from error
