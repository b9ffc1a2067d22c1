"""The core as one object: the store, the models, the memory and the engine, opened and closed together."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from memory.clock import Clock, SystemClock
from memory.config import Home, Settings
from memory.curation.curator import Curator
from memory.curation.keeping import Keeping
from memory.curation.upkeep import Scheduler, Upkeep
from memory.embedding import EmbeddingQueue
from memory.engine import Engine, Outcome, TurnContext
from memory.errors import OrcaError
from memory.events import BackgroundEvent, MemoryChanged
from memory.maintenance import Maintenance
from memory.manager import MemoryManager
from memory.provider.base import ChatModel, Embedder
from memory.provider.chat_models import ChatModels
from memory.provider.own_embedder import OwnEmbedder
from memory.recalling.query_vector import QUERY_WAIT
from memory.searching import Searcher
from memory.settings.answering import answering
from memory.store import open_store_or_fallback
from memory.store.attachments import AttachmentFiles
from memory.store.backups import back_up_if_due
from memory.store.base import Store
from memory.store.ledger import Ledger
from memory.store.presence import Claim
from memory.subagents.equipment import Equipment
from memory.subagents.runner import Subagents
from memory.tokens import TokenCounter
from memory.turns import owner
from memory.turns.owner import WriterCheck
from memory.turns.unsaved import UnsavedReplies
from memory.types import Message, Session, SubagentRun

log = logging.getLogger(__name__)

CLOSE_SECONDS = 3.0
"""How long a model may take to let go."""

WARM_UP_AFTER = 1.0
"""Seconds after the start until models are loaded ahead of the first turn: what is drawn and typed then comes first."""

CoreEvent = BackgroundEvent
"""What subscribers get."""


class Core:
    """Everything behind the screen and the command line. Make one with `Core.open`; `start` it before the first turn.

    Public methods are for the event loop's thread.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        store: Store,
        *,
        clock: Clock,
        chat: ChatModel | None,
        embedder: Embedder | None,
        env: Mapping[str, str] | None,
        query_wait: float,
    ) -> None:
        self.home = home
        self.settings = settings
        self.store = store
        self.clock = clock
        self.counter = TokenCounter()
        self.interrupted: list[Message] = []
        """Replies that a process left unfinished, found at the start; nothing is sent for them."""
        self.interrupted_runs: list[SubagentRun] = []
        """Runs of subagents that a process left unfinished, found at the start."""
        self.problems: list[OrcaError] = []
        """What is not as it should be, though orca goes on: the database cannot be opened, and files take its place."""
        self.waiting_files = 0
        """Such files that hold what the database does not: `orca-tui migrate` brings it in."""
        self._models = ChatModels(settings, home, env, chat)
        self.files = AttachmentFiles(home.attachments)
        """What went with messages. Its methods block."""
        self._own_embedder = OwnEmbedder(settings, home, env, embedder)
        self._subscribers: list[Callable[[CoreEvent], None]] = []
        self._talked_in: dict[str, None] = {}
        self._closed = False
        self.manager = MemoryManager(
            *(store, self.counter, clock, settings, self.embedder),
            query_wait=query_wait,
            load_image=self.files.load,
        )
        self.searcher = Searcher(store, self.manager, clock, settings.memory.user_id)
        self.queue = EmbeddingQueue(
            store, self.embedder, settings.embedding, notify=self._publish, claim=Claim(home.root / "embedding.lock")
        )
        self.maintenance = Maintenance(store, clock, settings.memory, self.chat_model, notify=self._memory_changed)
        self.curator = Curator(store, settings.memory, clock, changed=self._curated)
        """What the user does with memory by hand. Its methods block: call them in a thread."""
        self.upkeep = Scheduler(Upkeep(self.curator, clock), notify=self._memory_changed)
        self.equipment = Equipment(
            *(store, self.counter, settings, home.root),
            manager=self.manager,
            curator=self.curator,
            chat=self._models.named,
            owner=partial(owner.stamp, clock),
            env=env,
        )
        """What models may call: `toolbox`, `subagents`, and the `gate` that asks the user (set its `approver`)."""
        self.keeping = Keeping(partial(back_up_if_due, home.database, clock, settings.memory.backups))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._warming: asyncio.Task[None] | None = None
        self._unsaved = UnsavedReplies(self._publish)
        self.engine = self._make_engine()
        self.manager.offered = self.engine.offered

    @classmethod
    def open(
        cls,
        home: Home,
        settings: Settings,
        *,
        clock: Clock | None = None,
        chat: ChatModel | None = None,
        embedder: Embedder | None = None,
        env: Mapping[str, str] | None = None,
        query_wait: float = QUERY_WAIT,
    ) -> "Core":
        """Open the store in `home`; models are built when they are first needed, unless they are given.

        A prompt waits `query_wait` seconds for the vector of its question, then goes on by words.

        A database that cannot be opened is left as it is, and plain files take its place (`problems`). Raises leaves of
        `StoreError` when that is not possible either.
        """
        clock = clock or SystemClock()
        store, problem = open_store_or_fallback(home, clock=clock)
        core = cls(home, settings, store, clock=clock, chat=chat, embedder=embedder, env=env, query_wait=query_wait)
        if problem is not None:
            core.problems.append(problem)
        return core

    def _make_engine(self) -> Engine:
        context = TurnContext(
            *(self.store, self.counter, self.clock, self.manager, self.settings, self.chat_model_for),
            *(self._unsaved, self._finished),
            files=self.files,
            toolbox=lambda: self.equipment.toolbox,
        )
        return Engine(context, started=self.maintenance.hold, ended=self._turn_ended)

    async def start(self, *, warm_up: bool = True, quiet: Callable[[], Awaitable[None]] | None = None) -> None:
        """Mark replies that were interrupted, and begin the background work. Sends nothing.

        `warm_up`: models of this machine are soon loaded, before the first turn needs them. `quiet` returns when
        that disturbs nobody; it is awaited before each of them.
        """
        check = WriterCheck(self.clock)
        self.interrupted = await asyncio.to_thread(self.store.recover_interrupted, check)
        self.interrupted_runs = await asyncio.to_thread(self.store.recover_subagent_runs, check)
        self.waiting_files = await asyncio.to_thread(self._count_waiting_files)
        self._loop = asyncio.get_running_loop()
        self.queue.start()
        self.maintenance.catch_up()
        if isinstance(self.store, Ledger):
            self.upkeep.start()
            self.keeping.start()
        if warm_up:
            quiet = quiet or partial(asyncio.sleep, WARM_UP_AFTER)
            self._warming = asyncio.create_task(self._warm_up(quiet), name="warm up")

    async def close(self, drain: float = 1.0) -> None:
        """Stop turns and keep their text, remember by rules, embed for at most `drain` seconds, close."""
        if self._closed:
            return
        self._closed = True
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait({self._warming})
        await self.engine.stop_all()
        await self.equipment.close()
        await self._unsaved.close()
        for session_id in self._talked_in:
            self.maintenance.end_session(session_id, by_rules=True)
        await self.upkeep.close()
        await self.keeping.close()
        await self.maintenance.close()
        self._loop = None
        await self.queue.close(drain)
        await self._close_models()
        await asyncio.to_thread(self.store.close)

    @property
    def unsaved(self) -> int:
        """Replies of which the store lacks something, on a full disk for one; `SavingChanged` tells of changes."""
        return self._unsaved.count

    @property
    def unsaved_replies(self) -> list[Message]:
        """Those replies, as far as they have come."""
        return self._unsaved.replies()

    @property
    def save_problem(self) -> str:
        """Why there are `unsaved` replies, for a person; empty when there are none."""
        return self._unsaved.problem

    async def chat_model(self) -> ChatModel:
        """The model that answers, built at the first call. Raises leaves of `ProviderError`."""
        return await self._models.default()

    async def chat_model_for(self, session: Session) -> ChatModel:
        """The model that answers in a session: the one that it has chosen. Raises leaves of `ProviderError`."""
        return await self._models.named(answering(self.settings, session).model)

    async def use_chat_model(self, model: ChatModel) -> None:
        """Answer with another model from the next turn on. The one before is closed; at the end, if a turn runs."""
        await self._models.use(model, close=not self.engine.live)

    def use_settings(self, settings: Settings) -> None:
        """Go by other settings from the next turn on. The models stay (`use_chat_model`), and so does what embeds."""
        self.settings = self._models.settings = settings
        self.manager.use_settings(settings)
        self.maintenance.use_settings(settings.memory)
        self.curator.use_settings(settings.memory)
        self.engine.use_settings(settings)
        self.equipment.use_settings(settings)

    async def drop_files(self) -> int:
        """Remove what went with messages that are erased now; tells how many files. Raises leaves of `StoreError`."""

        def work() -> int:
            return self.files.drop_unreferenced(self.store.attachments(), spared=0.0)

        return await asyncio.to_thread(work)

    async def embedder(self) -> Embedder | None:
        """What makes vectors, built at the first call; `None` when it is switched off. Raises leaves of `OrcaError`."""
        return await self._own_embedder.get()

    def subscribe(self, callback: Callable[[CoreEvent], None]) -> Callable[[], None]:
        """Call `callback` with every change of memory and queue, in the event loop's thread. Returns the way out."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            with suppress(ValueError):
                self._subscribers.remove(callback)

        return unsubscribe

    @property
    def subagents(self) -> Subagents:
        """Agents at work, to be watched and stopped."""
        return self.equipment.subagents

    def _count_waiting_files(self) -> int:
        from memory.migration.migrate import waiting_files

        return waiting_files(self.home, self.store)

    async def _warm_up(self, quiet: Callable[[], Awaitable[None]]) -> None:
        """First what answers, then what recalls. What fails here is told when it is needed."""
        from memory.provider.local_embed import LocalEmbedder

        await quiet()
        with suppress(OrcaError):
            warm = getattr(await self.chat_model(), "warm_up", None)
            if warm is not None:
                await warm()
        await quiet()
        with suppress(OrcaError):
            if isinstance(await self.embedder(), LocalEmbedder):
                await self.manager.warm_up()

    async def _close_models(self) -> None:
        self._own_embedder.give_up()
        models: list[ChatModel | Embedder] = [*self._models.all()]
        if self._own_embedder.current is not None:
            models.append(self._own_embedder.current)
        closing = [asyncio.create_task(_closed(model)) for model in models]
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_SECONDS)

    def _turn_ended(self, outcome: Outcome | None) -> None:
        self.maintenance.release()
        if outcome is not None:
            self._finished(outcome)

    def _finished(self, outcome: Outcome) -> None:
        """A turn is stored, in time or late."""
        self._talked_in[outcome.session.id] = None
        self.queue.wake()
        self.maintenance.turn_finished(outcome.session, outcome.user, outcome.reply)

    def _memory_changed(self, event: CoreEvent) -> None:
        self.queue.wake()
        self._publish(event)

    def _curated(self, ids: Sequence[int]) -> None:
        """From any thread: what the user changed by hand."""
        if self._loop is not None:
            change = MemoryChanged(None, "long_term", "update", tuple(ids))
            self._loop.call_soon_threadsafe(self._memory_changed, change)

    def _publish(self, event: CoreEvent) -> None:
        for callback in tuple(self._subscribers):
            try:
                callback(event)
            except Exception:
                log.exception("a subscriber failed")


async def _closed(model: ChatModel | Embedder) -> None:
    try:
        await model.close()
    except OrcaError as error:
        log.warning("a model did not close: %s", error)
