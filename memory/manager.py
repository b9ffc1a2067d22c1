"""The memory manager: what goes into a prompt, under the budget, and why. Callers: the engine, the screen, the CLI."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from memory.clock import Clock
from memory.config import Settings
from memory.errors import AttachmentError
from memory.provider.base import ToolSpec
from memory.recalling.assembly import Assembler, Job, without_newest
from memory.recalling.calls import repaired
from memory.recalling.pick import Asked, Here, Picker
from memory.recalling.pictures import LoadImage
from memory.recalling.prompt import Prompt, is_working
from memory.recalling.query_vector import QUERY_WAIT, GetEmbedder
from memory.recalling.recall import Filters, Recall
from memory.settings.answering import system_prompt_of
from memory.store.base import Store
from memory.tokens import TokenCounter
from memory.types import ITEM_KINDS, ContextReport, ContextWindow, Hit, ItemKind, Message, Scope, Session

COLD_WAIT = 8.0
"""Seconds to wait for a query's vector in a process that has just begun, and in a search, which nothing waits for."""
WARM_UP_WAIT = 60.0
SEARCH_MIN_Z = 0.0
"""A search shows what shares a term with the query, or stands out by so many deviations."""


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found."""

    hits: list[Hit]
    """Best first."""
    by_meaning: bool
    """False when the query had no vector (in time): what is here was found by its words."""


@dataclass(frozen=True, slots=True)
class Extras:
    """What one request of a turn holds beside the conversation up to the newest user message."""

    tip: int | None = None
    """The turn's newest message: it, and what lies between, goes behind the user's. `None`: nothing yet."""
    tools: tuple[ToolSpec, ...] = ()
    """What is offered; it costs tokens."""
    note: str = ""
    """Said to the model at the very end, in this request only."""
    with_calls: bool = True
    """False: the model knows no tools; calls and results of earlier turns are left out."""
    sees: bool = True
    """False: the model does not take pictures; only those of the newest message go, to be told so."""
    before: Prompt | None = None
    """The request before this one in the same turn: its question is not looked up again."""


def _no_image(sha256: str) -> bytes:
    raise AttachmentError(f"There is no file {sha256}.")


class MemoryManager:
    """Builds prompts and context reports, and searches. Public methods are for the event loop; they never block it."""

    def __init__(
        self,
        store: Store,
        counter: TokenCounter,
        clock: Clock,
        settings: Settings,
        embedder: GetEmbedder,
        *,
        query_wait: float = QUERY_WAIT,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
        load_image: LoadImage = _no_image,
    ) -> None:
        """`query_wait`: seconds that a prompt waits for the vector of its question."""
        self._store = store
        self._settings = settings
        self._recall = Recall(store, clock, embedder, settings.memory.branches)
        self._picker = Picker(store, self._recall, counter, settings.memory)
        self._assembler = Assembler(self._picker, counter, load_image)
        self._query_wait = query_wait
        self._nonce = nonce
        self.offered: Callable[[Session], Awaitable[tuple[ToolSpec, ...]]] = _no_tools
        """The tools that previews count; a turn says for itself what it offers."""

    def use_settings(self, settings: Settings) -> None:
        """Go by these from the next prompt on."""
        self._settings = settings
        self._recall.rules = settings.memory.branches
        self._picker.settings = settings.memory

    @property
    def default_scope(self) -> Scope:
        """Whose memory is meant when nobody says."""
        return Scope(self._settings.memory.user_id, self._settings.memory.project or None)

    async def build(
        self,
        session: Session,
        newest: Message,
        *,
        window: ContextWindow,
        system_prompt: str,
        use_memory: bool = True,
        extras: Extras | None = None,
    ) -> Prompt:
        """The request that answers `newest` (stored, by the user), with what memory brings to it.

        Without memory only the system prompt and working memory go. Raises leaves of `StoreError`.
        """
        extras = extras or Extras()
        remembers = use_memory and self._settings.memory.enabled
        before = extras.before
        asked = before.asked if before and before.asked else await self._asked(newest.content, remembers)
        nonce = before.nonce if before else self._nonce()

        def work() -> Prompt:
            here, whole = self._working(session, extras.tip or newest.id, newest.id)
            at = next(place for place, message in enumerate(whole) if message.id == newest.id) + 1
            job = Job(
                *(here, session.scope, whole[:at], asked, window, system_prompt, remembers, nonce),
                tail=whole[at:],
                tools=extras.tools,
                note=extras.note,
                with_calls=extras.with_calls,
                sees=extras.sees,
            )
            prompt = self._assembler.assemble(job, self._settings.memory)
            touched = [item.id for item in prompt.recalled if item.kind == "long_term"]
            if touched and not before and not session.incognito:
                self._store.touch_memories(touched)
            return prompt

        return await asyncio.to_thread(work)

    async def preview(self, session_id: str | None, *, window: ContextWindow) -> ContextReport:
        """What the next prompt would hold beside the message that it answers. Raises leaves of `StoreError`."""
        session = await asyncio.to_thread(self._store.session, session_id) if session_id else None
        system_prompt = system_prompt_of(self._settings, session)
        prompt = await self._next(session, "", None, window, system_prompt, self._settings.memory.enabled)
        return without_newest(prompt.report)

    async def preview_request(
        self, session: Session | None, text: str, *, window: ContextWindow, system_prompt: str, use_memory: bool = True
    ) -> Prompt:
        """The request as it would be if `text` were sent now; nothing is stored, and no use is counted.

        `session` is `None` when the message would begin one. The fence's nonce is another in every request. Raises
        leaves of `StoreError`.
        """
        remembers = use_memory and self._settings.memory.enabled
        asked = await self._asked(text, remembers)
        return await self._next(session, text, asked, window, system_prompt, remembers)

    async def _next(
        self,
        session: Session | None,
        text: str,
        asked: Asked | None,
        window: ContextWindow,
        system_prompt: str,
        remembers: bool,
    ) -> Prompt:
        scope = session.scope if session else self.default_scope
        tools = await self.offered(session or _unbegun(scope))

        def work() -> Prompt:
            here, path = self._working(session, session.tip_message_id) if session else (None, [])
            path = [*path, _unsent(session, text)]
            job = Job(here, scope, path, asked, window, system_prompt, remembers, self._nonce(), tools=tools)
            return self._assembler.assemble(job, self._settings.memory)

        return await asyncio.to_thread(work)

    def _working(
        self, session: Session, tip: int | None, newest: int | None = None
    ) -> tuple[Here | None, list[Message]]:
        """The path to `tip`, and its messages as they go into prompts; `newest` in any case."""
        path = self._store.path(session.id, tip=tip)
        here = Here(session, frozenset(message.id for message in path))
        return here, repaired(message for message in path if is_working(message) or message.id == newest)

    async def search(
        self, query: str, *, scope: Scope | None = None, kinds: Sequence[ItemKind] = ITEM_KINDS, limit: int = 10
    ) -> list[Hit]:
        """Messages, summaries and memories by text and meaning, best first; all branches, all scopes unless given."""
        return (await self.look_up(query, scope=scope, kinds=kinds, limit=limit)).hits

    async def look_up(
        self,
        query: str,
        *,
        scope: Scope | None = None,
        kinds: Sequence[ItemKind] = ITEM_KINDS,
        limit: int = 10,
        filters: Filters | None = None,
    ) -> Search:
        """As `search`, and whether the meaning could be looked at, too. Raises leaves of `StoreError`.

        `filters` take the place of `scope`; without a word everything that they let pass is given, the newest first.
        """
        asked, where = Asked.of(query), filters or Filters(scope=scope)
        vector = await self._recall.embed_query(asked.text, wait=COLD_WAIT) if query.strip() else None

        def work() -> list[Hit]:
            pool = max(50, 2 * limit)
            if filters is not None and not query.strip():
                return [found.hit for found in self._recall.newest(kinds=kinds, filters=where, limit=limit)]
            found = self._recall.find(asked.text, vector, kinds=kinds, filters=where, pool=pool)
            return [f.hit for f in found if f.hit.parts.coverage > 0 or f.hit.parts.vector >= SEARCH_MIN_Z][:limit]

        return Search(await asyncio.to_thread(work), by_meaning=vector is not None or not query.strip())

    async def warm_up(self) -> None:
        """Have the embedder loaded and measured, so that the first question need not wait for it."""
        await self._recall.embed_query("Hello", wait=WARM_UP_WAIT)

    async def _asked(self, text: str, remembers: bool) -> Asked:
        asked = Asked.of(text)
        if not remembers or asked.small_talk:
            return asked
        return replace(asked, vector=await self._recall.embed_query(asked.text, wait=self._query_wait))


async def _no_tools(session: Session) -> tuple[ToolSpec, ...]:  # noqa: ARG001
    return ()


def _unbegun(scope: Scope) -> Session:
    """A session that is not stored."""
    return Session("", "", scope.user_id, scope.project, scope.agent_id, None, None, "open", False, "", "")


def _unsent(session: Session | None, text: str) -> Message:
    """A message of the user's that is not stored; its id is no message's."""
    tip = session.tip_message_id if session else None
    return Message(0, session.id if session else "", "user", text, "normal", 0, False, "", {}, tip, "complete")
