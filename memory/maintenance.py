"""Upkeep after a turn, in the background: the turn's summary, and extraction into long-term memory.

One job at a time. While a turn is live the chat model belongs to it: a running request for upkeep is dropped and the
rules write instead, so nothing here is ever in the way. A failure is logged and counted, never shown as a turn's.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from memory.clock import Clock
from memory.config import MemorySettings
from memory.errors import OrcaError
from memory.events import MemoryChanged, SecretNoticed, SessionTitled
from memory.provider.base import ChatModel
from memory.store.base import Store
from memory.store.ledger import Ledger
from memory.store.run_store import AGENT_CALL, AGENT_RUN
from memory.types import FORGOTTEN, Message, Session, TitleBy
from memory.writing.distill import Refused, extract, summarise
from memory.writing.extract_rules import LOOKED_AT, Finding, find, find_explicit
from memory.writing.forget import forget
from memory.writing.gist import gist
from memory.writing.remember import Rememberer, findings_of
from memory.writing.secrets import masked, secret_kind
from memory.writing.title import TURNS, title_by_model, title_by_words
from memory.writing.trust import TAINTED, typed_text
from memory.writing.worth import is_grounded, is_small_talk

log = logging.getLogger(__name__)

MODEL_WAIT = 60.0
"""Seconds that one request for upkeep may take."""
CATCH_UP = 3
"""Sessions that are looked through at the start for turns that were never extracted."""
LOOK_BACK = 100
"""Messages of a path that are read first, to find where extraction stands."""
EXTRACTED = "extracted"
"""Key in the metadata of the last message by the user that extraction has seen."""

T = TypeVar("T")


class Maintenance:
    """Writes short-term and long-term memory from what was said."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: MemorySettings,
        chat: Callable[[], Awaitable[ChatModel]],
        *,
        notify: Callable[[MemoryChanged | SessionTitled | SecretNoticed], None] = lambda change: None,  # noqa: ARG005
    ) -> None:
        self.failures = 0
        """Jobs that went wrong since the start."""
        self._store = store
        self._settings = settings
        self._chat = chat
        self._notify = notify
        self._rememberer = Rememberer(store, clock, settings)
        self._jobs: asyncio.Queue[tuple[str, Coroutine[Any, Any, None]]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[Any] | None = None
        self._live = 0
        self._noticed: set[tuple[str, str]] = set()
        self._closed = False

    def use_settings(self, settings: MemorySettings) -> None:
        """Go by these from the next turn on."""
        self._settings = self._rememberer.settings = settings

    def hold(self) -> None:
        """A turn begins: the chat model is its alone until `release`."""
        self._live += 1
        if self._asking is not None:
            self._asking.cancel()

    def release(self) -> None:
        """The turn is over."""
        self._live = max(0, self._live - 1)

    def turn_finished(self, session: Session, user: Message, reply: Message) -> None:
        """Keep what the rules see at once, summarise the turn, title the session, and extract when it is time."""
        if session.incognito:
            return
        if self._settings.enabled:
            self._notice_secret(session, user)
            self._add("turn", self._after_turn(session, user, reply))
        self._add("title", self._title(session.id))

    def end_session(self, session_id: str, *, by_rules: bool = False) -> None:
        """Extract what is left of a session; `by_rules` without the model."""
        if self._settings.enabled:
            self._add("end", self._end(session_id, by_rules))

    def catch_up(self) -> None:
        """Extract, by rules, what sessions left that ended with the process; nothing is sent."""
        if self._settings.enabled:
            self._add("catch up", self._catch_up())

    async def settled(self) -> None:
        """Wait until all jobs so far are done."""
        await self._jobs.join()

    async def close(self, wait: float = 1.0) -> None:
        """Finish what is queued, without the model, for at most `wait` seconds; drop the rest."""
        self._closed = True
        self.hold()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._jobs.join(), wait)
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        while not self._jobs.empty():
            self._jobs.get_nowait()[1].close()
            self._jobs.task_done()

    def _add(self, name: str, job: Coroutine[Any, Any, None]) -> None:
        if self._closed:
            job.close()
            return
        self._jobs.put_nowait((name, job))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="memory maintenance")

    async def _run(self) -> None:
        while True:
            name, job = await self._jobs.get()
            try:
                await job
            except Exception:
                self.failures += 1
                log.exception("upkeep of memory failed: %s", name)
            finally:
                self._jobs.task_done()

    async def _after_turn(self, session: Session, user: Message, reply: Message) -> None:
        if await self._forget(session, user, reply):
            return
        await self._write(session, await asyncio.to_thread(findings_of, user))
        await self._propose(session)
        if reply.state == "complete" and reply.content.strip() and not is_small_talk(user.content):
            await self._summarise(session, user, reply)
        waiting = await asyncio.to_thread(self._unextracted, session.id)
        if len(waiting) >= self._settings.extract_every:
            await self._extract(session, waiting, by_rules=False)
            waiting = []
        await self._drop_old_summaries(session.id, waiting)

    def _notice_secret(self, session: Session, user: Message) -> None:
        """Say once in a session that a kind of secret was seen, and is not remembered."""
        kind = secret_kind(user.content[:LOOKED_AT])
        if kind and (session.id, kind) not in self._noticed:
            self._noticed.add((session.id, kind))
            self._notify(SecretNoticed(session.id, user.id, kind))

    async def _forget(self, session: Session, user: Message, reply: Message) -> bool:
        """Do what the user asks to be forgotten. The reply repeats what it was about, so it goes as well."""
        gone = await asyncio.to_thread(forget, self._store, session, user, reply)
        if gone is not None:
            self._notify(MemoryChanged(session.id, "long_term", "remove", tuple(row.id for row in gone.memories)))
        return gone is not None

    async def _propose(self, session: Session) -> None:
        """Put into the inbox what tools say that should be remembered; it stays there until the user accepts it."""
        path = await asyncio.to_thread(self._unseen, session.id)
        tools = [message for message in path if message.role == "tool" and not message.metadata.get(EXTRACTED)]
        tools = [message for message in tools if message.metadata.get("tool") != AGENT_CALL]
        await self._write(session, [(message, f) for message in tools for f in find_explicit(message.content)])
        for message in tools:
            await asyncio.to_thread(self._store.update_message, message.id, metadata={EXTRACTED: True})

    async def _summarise(self, session: Session, user: Message, reply: Message) -> None:
        """Not again when the reply was gone on with. Of a turn that foreign text came into only what the user said."""
        if await asyncio.to_thread(self._is_summarised, session.id, reply.id):
            return
        question, answer = masked(user.content[:LOOKED_AT]), masked(reply.content[:LOOKED_AT])
        summary = ""
        if reply.metadata.get(TAINTED):
            question, answer = masked(typed_text(user)) or question, ""
        else:
            summary = await self._ask("summary", lambda model: summarise(model, question, answer)) or ""
        text = summary or await asyncio.to_thread(gist, question, answer)

        def write() -> int:
            row = self._store.add_short_term(
                session.id,
                text,
                source_count=2,
                confidence=0.8 if summary else 0.6,
                first_message_id=user.id,
                last_message_id=reply.id,
            )
            return row.id

        self._notify(MemoryChanged(session.id, "short_term", "add", (await asyncio.to_thread(write),)))

    def _is_summarised(self, session_id: str, reply_id: int) -> bool:
        return any(row.last_message_id == reply_id for row in self._store.short_term(session_id))

    async def _drop_old_summaries(self, session_id: str, waiting: Sequence[Message] = ()) -> None:
        """Keep the newest summaries, and older ones of turns that still wait for extraction."""
        keep, spare = self._settings.short_term_keep, {message.id for message in waiting}
        await asyncio.to_thread(self._store.keep_short_term, session_id, keep, spare=spare)

    async def _title(self, session_id: str) -> None:
        """Call a session that has just begun by what it is about, unless the user has named it.

        Without memory no model is asked. What is only small talk so far waits for the next turn.
        """
        session = await asyncio.to_thread(self._store.session, session_id)
        path = await asyncio.to_thread(self._store.path, session_id) if session.title_by == "words" else []
        path = [message for message in path if not message.metadata.get(AGENT_RUN)]  # an agent's words name nothing
        asked = [message for message in path if message.role == "user"]
        if len(asked) > TURNS or all(is_small_talk(message.content) for message in asked):
            return
        told = None
        if self._settings.enabled:
            told = await self._ask("title", lambda model: title_by_model(model, path))
        title = told or title_by_words(path)
        if title and title != session.title:
            by: TitleBy = "model" if told else "words"
            self._notify(SessionTitled(await asyncio.to_thread(self._store.suggest_title, session_id, title, by=by)))

    async def _end(self, session_id: str, by_rules: bool) -> None:
        session = await asyncio.to_thread(self._store.session, session_id)
        if not session.incognito:
            await self._propose(session)
            if waiting := await asyncio.to_thread(self._unextracted, session_id):
                await self._extract(session, waiting, by_rules=by_rules)
                await self._drop_old_summaries(session_id)

    async def _catch_up(self) -> None:
        for session in await asyncio.to_thread(self._store.sessions, limit=CATCH_UP):
            path = await asyncio.to_thread(self._store.path, session.id, limit=1)
            if not any(message.state == "streaming" for message in path):
                await self._end(session.id, by_rules=True)

    def _unextracted(self, session_id: str) -> list[Message]:
        """The user's messages of the path that extraction has not seen."""
        path = self._unseen(session_id)
        return [message for message in path if message.role == "user" and not message.metadata.get(FORGOTTEN)]

    def _unseen(self, session_id: str) -> list[Message]:
        """The path behind the last message by the user that extraction has seen; a long one is not read from its root.

        What tools said above that message was proposed before it was extracted.
        """
        limit = LOOK_BACK
        while True:
            path = self._store.path(session_id, limit=limit)
            seen = (at for at, message in enumerate(path, 1) if message.role == "user" and _is_seen(message))
            if (begin := max(seen, default=0)) or len(path) < limit:
                return path[begin:]
            limit *= 4

    async def _extract(self, session: Session, messages: Sequence[Message], *, by_rules: bool) -> None:
        ruled = [(message, finding) for message in messages for finding in find(typed_text(message))]
        told = None
        if not by_rules:
            drop = partial(self._count_dropped, "extraction")
            told = await self._ask("extraction", lambda model: extract(model, messages, dropped=drop))
        found = ruled if told is None else [item for item in told if not _is_ruled(item, ruled)] + ruled
        await self._write(session, found)
        await asyncio.to_thread(self._store.update_message, messages[-1].id, metadata={EXTRACTED: True})

    async def _write(self, session: Session, found: Sequence[tuple[Message, Finding]]) -> None:
        if not found:
            return
        written = await asyncio.to_thread(self._rememberer.write, session, found)
        if written.added:
            self._notify(MemoryChanged(session.id, "long_term", "add", tuple(written.added)))
        if written.updated:
            self._notify(MemoryChanged(session.id, "long_term", "update", tuple(written.updated)))

    async def _ask(self, what: str, request: Callable[[ChatModel], Coroutine[Any, Any, T]]) -> T | None:
        """What the chat model says; `None` when the rules must do it: no model, a tiny one, a live turn, a failure."""
        if self._live:
            return None
        task = asyncio.get_running_loop().create_task(self._request(what, request))
        self._asking = task
        try:
            await asyncio.wait({task}, timeout=MODEL_WAIT)
        finally:
            self._asking = None
            task.cancel()
        await asyncio.wait({task})
        return None if task.cancelled() else task.result()

    async def _request(self, what: str, request: Callable[[ChatModel], Coroutine[Any, Any, T]]) -> T | None:
        try:
            model = await self._chat()
            return None if model.tiny else await request(model)
        except (Refused, OrcaError) as error:
            log.info("the rules write the %s instead of the model: %s", what, error)
            reason = str(error) if isinstance(error, Refused) else f"the model failed: {error.title.lower()}"
            await asyncio.to_thread(self._count_dropped, what, reason)
            return None

    def _count_dropped(self, what: str, reason: str) -> None:
        if isinstance(self._store, Ledger):
            self._store.count_dropped(what, reason)


def _is_seen(message: Message) -> bool:
    return bool(message.metadata.get(EXTRACTED)) and not message.metadata.get(FORGOTTEN)


def _is_ruled(told: tuple[Message, Finding], ruled: Sequence[tuple[Message, Finding]]) -> bool:
    """Whether the model only says in other words what a rule has already kept from the same message."""
    message, finding = told
    return any(message.id == m.id and is_grounded(f.content, finding.content) for m, f in ruled)
