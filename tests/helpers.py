"""Shared by tests: a clock that stands still until it is told otherwise, and a core on a home of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.clock import to_iso
from memory.config import Home, Settings
from memory.core import Core
from memory.engine import Turn
from memory.events import TurnEvent
from memory.provider.base import ChatModel, Embedder
from memory.provider.scripted import HashEmbedder, ScriptedChat

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FakeClock:
    """Time and ids under the test's control. Every reading of the time moves it by one microsecond, so it sorts."""

    def __init__(self, start: datetime = NOON) -> None:
        self.moment = start
        self.seconds = 1000.0
        self.ids = 0

    def now(self) -> str:
        self.moment += timedelta(microseconds=1)
        return to_iso(self.moment)

    def monotonic(self) -> float:
        return self.seconds

    def new_id(self) -> str:
        self.ids += 1
        return f"{self.ids:032x}"

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)
        self.seconds += seconds


@asynccontextmanager
async def opened(
    home: Path,
    chat: ChatModel | None = None,
    *,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    clock: FakeClock | None = None,
    start: bool = True,
) -> AsyncIterator[Core]:
    """A core with scripted models; closed at the end."""
    place = Home(home)
    place.ensure()
    core = Core.open(
        place,
        settings or Settings(),
        clock=clock or FakeClock(),
        chat=chat or ScriptedChat(["Fine."], tiny=True),
        embedder=embedder or HashEmbedder(),
    )
    try:
        if start:
            await core.start()
        yield core
    finally:
        await core.close()


async def events_of(turn: Turn) -> list[TurnEvent]:
    """All that a turn tells."""
    return [event async for event in turn]


async def say(core: Core, session_id: str, text: str, *, use_memory: bool = True) -> list[TurnEvent]:
    """One whole turn with its upkeep."""
    events = await events_of(core.engine.start(session_id, text, use_memory=use_memory))
    await core.maintenance.settled()
    return events


async def until(holds: Callable[[], object]) -> None:
    """Return as soon as `holds()`; gives the loop a chance in between, fails after 20 seconds."""

    async def look() -> None:
        while not holds():  # noqa: ASYNC110 — what is waited for has no event
            await asyncio.sleep(0)

    await asyncio.wait_for(look(), 20)
