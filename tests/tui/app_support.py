"""What the tests of the whole app share: an app with a scripted model, waiting on conditions, reading the screen."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from memory.clock import Clock
from memory.config import Home, LLMSettings, Settings, UISettings
from memory.provider.base import ChatModel
from memory.provider.scripted import HashEmbedder, Reply, ScriptedChat
from orca_tui.app import OrcaApp

LIMIT = 60.0
"""Seconds until a condition that does not come about fails the test."""

SETTINGS = Settings(llm=LLMSettings(provider="demo"), ui=UISettings(language="en"))
"""A model was chosen, so nothing greets as on the first run."""


class StillClock:
    """A clock that stands still; ids count up."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)

    def now(self) -> str:
        return "2026-01-02T03:04:05.000000+00:00"

    def monotonic(self) -> float:
        return 0.0

    def new_id(self) -> str:
        return f"{next(self._ids):032x}"


def make_app(
    root: Path,
    replies: Iterable[Reply] = ("Hello.",),
    *,
    chat: ChatModel | None = None,
    settings: Settings = SETTINGS,
    session_id: str | None = None,
    warnings: tuple[str, ...] = (),
    clock: Clock | None = None,
) -> OrcaApp:
    """The app with a home of its own, a scripted model and a hashing embedder."""
    return OrcaApp(
        Home(root),
        settings,
        chat=chat or ScriptedChat(replies, name="scripted"),
        embedder=HashEmbedder(),
        session_id=session_id,
        warnings=warnings,
        clock=clock,
        env={},
    )


@asynccontextmanager
async def running(app: OrcaApp, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Pilot[object]]:
    """The app, ready to be talked with."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.conversation is not None and app.chat.status.status.model != "")
        yield pilot
        await app.leave(0)


async def until(pilot: Pilot[object], condition: Callable[[], object]) -> None:
    """Wait until `condition` holds."""
    async with asyncio.timeout(LIMIT):
        while not condition():
            await pilot.pause()


def screen_text(app: OrcaApp) -> str:
    """What is on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def write(pilot: Pilot[object], text: str, *, send: bool = True) -> None:
    """Type `text` into the composer, and send it."""
    app = pilot.app
    assert isinstance(app, OrcaApp)
    app.chat.composer.insert(text)
    await pilot.pause()
    if send:
        await pilot.press("enter")


async def idle(pilot: Pilot[object]) -> None:
    """Wait until the open session's reply is over and drawn."""
    app = pilot.app
    assert isinstance(app, OrcaApp)
    talk = app.conversation
    assert talk is not None
    await until(pilot, lambda: not talk.busy and bool(app.chat.messages) and app.chat.messages[-1].state != "streaming")
    await pilot.pause()


async def rest(pilot: Pilot[object]) -> None:
    """Wait until the background has nothing to do and the screen shows it."""
    app = pilot.app
    assert isinstance(app, OrcaApp)
    core = app.core
    assert core is not None
    await core.maintenance.settled()
    await until(pilot, lambda: core.queue.waiting == 0 and app.chat.status.status.waiting == 0)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
