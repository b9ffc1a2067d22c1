"""Search in everything that is kept, by what was typed into one box (`memory.recalling.search_query`)."""

import asyncio
from dataclasses import dataclass

from memory.clock import Clock
from memory.errors import NotFoundError
from memory.manager import MemoryManager
from memory.recalling.recall import Filters
from memory.recalling.search_query import HERE, SearchQuery, parse
from memory.recalling.snippets import Snippet, snippet
from memory.store.base import Store
from memory.store.search import query_terms
from memory.types import Hit, Scope, Session

SNIPPET = 240
"""Characters of a text that are shown of a hit."""


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A hit with what is shown of it."""

    hit: Hit
    snippet: Snippet
    session: Session | None
    """Where it was said, or what a memory was taken from; `None` when that is gone."""


@dataclass(frozen=True, slots=True)
class Results:
    """What a search came to."""

    query: SearchQuery
    items: tuple[FoundItem, ...]
    """Best first; without words the newest."""
    by_meaning: bool
    """False when the words alone were looked for: the query had no vector (in time)."""


class Searcher:
    """One for a core. For the event loop; it never blocks it."""

    def __init__(self, store: Store, manager: MemoryManager, clock: Clock, user_id: str) -> None:
        self._store = store
        self._manager = manager
        self._clock = clock
        self._user_id = user_id

    async def find(self, text: str, *, here: str | None = None, limit: int = 50) -> Results:
        """Search; `here` is the session that `session:this` means.

        Raises `NotFoundError` when a filter names a session that is not there, and leaves of `StoreError`.
        """
        query = parse(text, self._clock.now())
        if query.is_empty or not query.kinds:
            return Results(query, (), by_meaning=True)
        filters = await asyncio.to_thread(self._filters, query, here)
        found = await self._manager.look_up(query.words, kinds=query.kinds, limit=limit, filters=filters)
        return await asyncio.to_thread(self._results, query, found.hits, found.by_meaning)

    def _filters(self, query: SearchQuery, here: str | None) -> Filters:
        session_id = None
        if query.session is not None:
            session_id = here if query.session == HERE else self._store.find_session(query.session).id
            if session_id is None:
                raise NotFoundError("No session is open that “this” could mean.", hint="Give the beginning of an id.")
        scope = None if query.project is None else Scope(self._user_id, query.project)
        return Filters(session_id=session_id, scope=scope, branches=query.branches, only=query.only)

    def _results(self, query: SearchQuery, hits: list[Hit], by_meaning: bool) -> Results:
        wanted = frozenset(query_terms(query.words))
        sessions: dict[str, Session | None] = {}
        items = []
        for hit in hits:
            session = self._session(hit.session_id, sessions) if hit.session_id else None
            items.append(FoundItem(hit, snippet(hit.text, wanted, SNIPPET), session))
        return Results(query, tuple(items), by_meaning)

    def _session(self, session_id: str, known: dict[str, Session | None]) -> Session | None:
        if session_id not in known:
            try:
                known[session_id] = self._store.session(session_id)
            except NotFoundError:
                known[session_id] = None
        return known[session_id]
