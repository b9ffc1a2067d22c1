"""The app with a scripted model, on a home that has been used for some weeks."""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from story import STORIES, Story
from textual.pilot import Pilot

from memory.clock import to_iso
from memory.config import Home, LLMSettings, PersonaSettings, Settings, ToolsSettings, UISettings
from memory.core import Core
from memory.errors import ServerFailed
from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    ChatPart,
    Embedder,
    FinishPart,
    TextPart,
    ToolCall,
    ToolCallPart,
)
from memory.provider.local_embed import local_embedder
from memory.types import ContextWindow
from orca_tui.app import OrcaApp

TODAY = datetime(2026, 5, 4, 9, 12, tzinfo=UTC)
NOTES = Path(tempfile.gettempdir()) / "ada" / "notes"
"""What the model may read; its name is on the pictures."""
LIMIT = 60.0
"""Seconds until what does not come about is an error."""


class StoryClock:
    """A clock that is set by hand; each reading moves it by a thousandth of a second. Ids count up."""

    def __init__(self, ids: int = 0) -> None:
        self.moment = TODAY
        self._ids = ids

    def ago(self, days: float) -> None:
        """Set it."""
        self.moment = TODAY - timedelta(days=days)

    def now(self) -> str:
        """The time."""
        self.moment += timedelta(milliseconds=1)
        return to_iso(self.moment)

    def monotonic(self) -> float:
        """The machine's seconds: waiting is no part of the story."""
        return time.monotonic()

    def new_id(self) -> str:
        """Looks like a random id."""
        self._ids += 1
        return f"{self._ids * 0x9E3779B97F4A7C15 % 2**128:032x}"[::-1]


class Script:
    """A chat model that knows the answers by heart; asked for anything else it fails, so rules write summaries."""

    name = "Qwen3-8B"
    tiny = False

    def __init__(self, story: Story) -> None:
        ask, task, found, reply = story.agent
        turns = [turn for _days, _title, turns in story.earlier for turn in turns]
        self._answers = dict([*turns, *story.now, story.plan, story.edited, (task, found)])
        self._calls = {
            ask: ("agent_call", {"agent": "critic", "task": task}),
            story.asked_file: ("read_file", {"path": "notes.md"}),
        }
        self._reply = reply
        self.pace: Callable[[str], AsyncIterator[str]] | None = None
        """How an answer arrives; all at once when it is `None`."""

    async def context_window(self) -> ContextWindow:
        """A small window, so that the bars show something."""
        return ContextWindow(8192, "served")

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncIterator[ChatPart]:
        """The answer to the newest message."""
        newest = messages[-1]
        called = next((call for text, call in self._calls.items() if newest.content.endswith(text)), None)
        if called is not None:
            yield ToolCallPart(ToolCall("call-1", called[0], json.dumps(called[1], ensure_ascii=False)))
            yield FinishPart("tool_calls")
            return
        answer = next((reply for text, reply in self._answers.items() if newest.content.endswith(text)), "")
        answer = self._reply if newest.role == "tool" else answer
        if not answer:
            raise ServerFailed("not in the script")
        if self.pace is None:
            yield TextPart(answer)
        else:
            async for piece in self.pace(answer):
                yield TextPart(piece)
        yield FinishPart("stop")

    async def close(self) -> None:
        """Nothing to let go of."""


def settings_for(language: str, theme: str) -> Settings:
    """What the pictures are set to."""
    personas: Mapping[str, PersonaSettings] = {
        "editor": PersonaSettings("You are a strict editor: shorter, plainer, no adjectives.", temperature=0.2),
        "navigator": PersonaSettings("You are a ship's navigator. Answer with bearings and times.", max_tokens=400),
        "老师": PersonaSettings("你是耐心的老师，一次只讲一个概念。"),
    }
    return Settings(
        llm=LLMSettings(provider="demo"),
        ui=UISettings(theme=theme, language="zh" if language == "zh" else "en"),
        tools=ToolsSettings(roots=(str(NOTES),)),
        personas=personas,
    )


async def fill(home: Path, language: str, *, whole: bool = True) -> None:
    """Some weeks of use: sessions, memories warm and cold, what waits in the inbox; `whole`: and today's talk."""
    story, clock, script = STORIES[language], StoryClock(), Script(STORIES[language])
    place = Home(home)
    place.ensure()
    NOTES.mkdir(parents=True, exist_ok=True)
    (NOTES / "notes.md").write_text("Demo on 12 May, ten o'clock, pier 3.\n", "utf-8")
    settings = settings_for(language, "orca-dark")
    embedder = await _embedder()
    core = Core.open(place, settings, clock=clock, chat=script, embedder=embedder, env={}, query_wait=LIMIT)
    await core.start(warm_up=False)
    for days, kind, text in story.facts:
        clock.ago(days)
        core.curator.add(text, kind, importance=0.3 if days > 90 else 0.6)
    for days, title, turns in story.earlier:
        clock.ago(days)
        await _talk(core, title, turns)
    clock.ago(0.1)
    for kind, text in story.waiting:
        core.curator.propose(text, kind, source="tool", reason="from a page")
    clock.ago(0.01)
    if whole:
        await _talk(core, story.title, story.now)
    await core.close(LIMIT)


async def _embedder() -> Embedder:
    embedder = local_embedder()
    await embedder.embed(["warm"], "query")
    return embedder


async def _talk(core: Core, title: str, turns: Sequence[tuple[str, str]]) -> None:
    session = core.store.create_session(title=title, model=Script.name)
    for text, _answer in turns:
        async for _event in core.engine.start(session.id, text):
            pass
        await _settled(core)
    core.store.update_session(session.id, title=title)
    core.maintenance.end_session(session.id)
    await _settled(core)


async def _settled(core: Core) -> None:
    await core.maintenance.settled()
    async with asyncio.timeout(LIMIT):
        while core.queue.waiting:  # noqa: ASYNC110 — the queue has no event for it
            await asyncio.sleep(0.02)


async def open_app(home: Path, language: str, theme: str, *, newest: bool = True) -> tuple[OrcaApp, Script]:
    """The app on a filled home, with its newest session or a new one, and the model that answers."""
    from memory.store import open_store

    script, place, clock = Script(STORIES[language]), Home(home), StoryClock(ids=1000)
    session_id = None
    if newest:
        store = open_store(place.database)
        session_id = store.sessions()[0].id
        store.close()
    settings = settings_for(language, theme)
    app = OrcaApp(place, settings, chat=script, embedder=await _embedder(), session_id=session_id, clock=clock, env={})
    return app, script


async def ready(app: OrcaApp, pilot: Pilot[object]) -> None:
    """Wait until one can talk."""
    await until(pilot, lambda: app.conversation is not None and app.chat.status.status.model != "")
    await settle(pilot)


async def until(pilot: Pilot[object], holds: Callable[[], object]) -> None:
    """Wait until `holds()`."""
    async with asyncio.timeout(LIMIT):
        while not holds():
            await pilot.pause(0.01)


async def say(app: OrcaApp, pilot: Pilot[object], text: str, *, whole: bool = True) -> None:
    """Send `text`; `whole`: wait until the turn, its summary and its vectors are done."""
    app.chat.composer.load_text(text)
    await pilot.press("enter")
    await until(pilot, lambda: not app.chat.composer.text)
    core = app.core
    if whole and core is not None:
        await until(pilot, lambda: not core.engine.live)
        await core.maintenance.settled()
        await until(pilot, lambda: not core.queue.waiting)
    await settle(pilot)


async def settle(pilot: Pilot[object], seconds: float = 0.6) -> None:
    """Let what is read in the background be drawn."""
    for _step in range(int(seconds / 0.05)):
        await pilot.pause(0.05)
