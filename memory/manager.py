"""The memory manager: what goes into a prompt, under the budget, and why. Callers: the engine, the screen, the CLI."""

import asyncio
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory.budget import LEVELS, Fit, TierBudgets, cut_point, fit, tier_budgets
from memory.clock import Clock
from memory.config import Settings
from memory.recalling.pick import Asked, Pick, Picker
from memory.recalling.prompt import Prompt, fence_text, is_sent, memory_block, request_messages
from memory.recalling.query_vector import QUERY_WAIT, GetEmbedder
from memory.recalling.recall import Filters, Recall
from memory.store.base import Store
from memory.tokens import TokenCounter
from memory.types import (
    ITEM_KINDS,
    ContextItem,
    ContextReport,
    ContextWindow,
    Hit,
    ItemKind,
    Message,
    Scope,
    Session,
    Tier,
    TierUse,
)

COLD_WAIT = 8.0
"""Seconds to wait for a query's vector in a process that has just begun, and in a search, which nothing waits for."""
WARM_UP_WAIT = 60.0
CUT_OFF_TOKENS = 12
"""What the mark behind a partial reply costs."""
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
class _Job:
    """What one prompt is built from."""

    session: Session | None
    scope: Scope
    path: list[Message]
    asked: Asked | None
    window: ContextWindow
    system_prompt: str
    remembers: bool

    @property
    def looks(self) -> bool:
        """Whether something is looked for that fits the question."""
        return self.remembers and self.asked is not None and not self.asked.small_talk


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
    ) -> None:
        """`query_wait`: seconds that a prompt waits for the vector of its question."""
        self._store = store
        self._counter = counter
        self._settings = settings
        self._recall = Recall(store, clock, embedder, settings.memory.branches)
        self._picker = Picker(store, self._recall, counter, settings.memory)
        self._query_wait = query_wait
        self._nonce = nonce

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
    ) -> Prompt:
        """The request that answers `newest` (stored, by the user), with what memory brings to it.

        Without memory only the system prompt and working memory go. Raises leaves of `StoreError`.
        """
        remembers = use_memory and self._settings.memory.enabled
        asked = await self._asked(newest.content, remembers)

        def work() -> Prompt:
            path = [m for m in self._store.path(session.id, tip=newest.id) if is_sent(m) or m.id == newest.id]
            job = _Job(session, session.scope, path, asked, window, system_prompt, remembers)
            prompt = self._assemble(job)
            touched = [item.id for item in prompt.recalled if item.kind == "long_term"]
            if touched and not session.incognito:
                self._store.touch_memories(touched)
            return prompt

        return await asyncio.to_thread(work)

    async def preview(self, session_id: str | None, *, window: ContextWindow) -> ContextReport:
        """What the next prompt would hold beside the message that it answers. Raises leaves of `StoreError`."""

        def work() -> ContextReport:
            session = self._store.session(session_id) if session_id else None
            path = [m for m in self._store.path(session.id) if is_sent(m)] if session else []
            scope = session.scope if session else self.default_scope
            newest = _unsent(session, "")
            system_prompt, remembers = self._settings.llm.system_prompt, self._settings.memory.enabled
            job = _Job(session, scope, [*path, newest], None, window, system_prompt, remembers)
            return _without_newest(self._assemble(job).report)

        return await asyncio.to_thread(work)

    async def preview_request(
        self, session: Session | None, text: str, *, window: ContextWindow, system_prompt: str, use_memory: bool = True
    ) -> Prompt:
        """The request as it would be if `text` were sent now; nothing is stored, and no use is counted.

        `session` is `None` when the message would begin one. The fence's nonce is another in every request. Raises
        leaves of `StoreError`.
        """
        remembers = use_memory and self._settings.memory.enabled
        asked = await self._asked(text, remembers)
        scope = session.scope if session else self.default_scope
        newest = _unsent(session, text)

        def work() -> Prompt:
            path = [m for m in self._store.path(session.id) if is_sent(m)] if session else []
            return self._assemble(_Job(session, scope, [*path, newest], asked, window, system_prompt, remembers))

        return await asyncio.to_thread(work)

    async def search(
        self, query: str, *, scope: Scope | None = None, kinds: Sequence[ItemKind] = ITEM_KINDS, limit: int = 10
    ) -> list[Hit]:
        """Messages, summaries and memories by text and meaning, best first; all branches, all scopes unless given."""
        return (await self.look_up(query, scope=scope, kinds=kinds, limit=limit)).hits

    async def look_up(
        self, query: str, *, scope: Scope | None = None, kinds: Sequence[ItemKind] = ITEM_KINDS, limit: int = 10
    ) -> Search:
        """As `search`, and whether the meaning could be looked at, too. Raises leaves of `StoreError`."""
        asked = Asked.of(query)
        vector = await self._recall.embed_query(asked.text, wait=COLD_WAIT) if query.strip() else None

        def work() -> list[Hit]:
            pool = max(50, 2 * limit)
            found = self._recall.find(asked.text, vector, kinds=kinds, filters=Filters(scope=scope), pool=pool)
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

    def _assemble(self, job: _Job) -> Prompt:
        budgets = tier_budgets(job.window.tokens, self._settings.memory)
        nonce = self._nonce()
        overhead = self._counter.count(fence_text(nonce))
        system = self._counter.count_message("system", job.system_prompt) if job.system_prompt.strip() else 0
        costs = [self._cost(message) for message in job.path]
        shown = self._surely_shown(job, budgets, costs, budgets.total - system - overhead)
        shorts, longs, fitted = self._chosen(job, budgets, costs, shown, fixed=system, overhead=overhead)
        shown = {message.id for message in job.path[fitted.start :]}
        if any(_repeats(pick, shown) for pick in (*shorts, *longs)):  # They took the place of what is not there.
            shorts, longs, fitted = self._chosen(job, budgets, costs, shown, fixed=system, overhead=overhead)
            shown = {message.id for message in job.path[fitted.start :]}
        working = job.path[fitted.start :]
        short = [pick for pick in shorts[: fitted.short_term] if not _repeats(pick, shown)]
        long = [pick for pick in longs[: fitted.long_term] if not _repeats(pick, shown)]
        in_order = [*_by_date(long), *_by_date(short)]
        block = memory_block([pick.entry for pick in in_order], nonce)
        messages = request_messages(job.system_prompt, working, block)
        recalled = (*[pick.item for pick in long], *[pick.item for pick in short])
        tokens = system + sum(costs[fitted.start :]) + sum(item.tokens for item in recalled)
        items = [_working_item(m, cost) for m, cost in zip(working, costs[fitted.start :], strict=True)]
        report = ContextReport(
            window=job.window,
            budget=budgets.total,
            system_tokens=system,
            prompt_tokens=tokens + (overhead if recalled else 0),
            tiers=(
                _use("working", budgets.working, items, fitted.start),
                _use("short_term", budgets.short_term, [pick.item for pick in short], len(shorts) - len(short)),
                _use("long_term", budgets.long_term, [pick.item for pick in long], len(longs) - len(long)),
            ),
            by_meaning=not job.looks or (job.asked is not None and job.asked.vector is not None),
        )
        return Prompt(messages, report, recalled)

    @staticmethod
    def _surely_shown(job: _Job, budgets: TierBudgets, costs: list[int], room: int) -> set[int]:
        """The messages that are in working memory even when recall takes its full share."""
        least = room - budgets.short_term - budgets.long_term
        return {m.id for m in job.path[cut_point(costs, least, max(1, budgets.total // LEVELS)) :]}

    def _chosen(
        self, job: _Job, budgets: TierBudgets, costs: list[int], shown: set[int], *, fixed: int, overhead: int
    ) -> tuple[list[Pick], list[Pick], Fit]:
        """What recall brings beside the messages in `shown`, summaries and memories, and what of all that goes."""
        shorts: list[Pick] = []
        longs: list[Pick] = []
        if job.remembers:
            if job.session:
                shorts = self._picker.short_term(job.session, job.asked, shown, budgets.short_term)
            longs = self._picker.long_term(job.session, job.scope, job.asked, shown, budgets.long_term)
        fitted = fit(
            budgets,
            fixed=fixed,
            overhead=overhead,
            working=costs,
            turn_starts=[message.role == "user" for message in job.path],
            short_term=[pick.item.tokens for pick in shorts],
            long_term=[pick.item.tokens for pick in longs],
        )
        return shorts, longs, fitted

    def _cost(self, message: Message) -> int:
        """A stored count is without the margin, which may have been learned since."""
        if message.token_count:
            cost = math.ceil(message.token_count * self._counter.margin)
        else:
            cost = self._counter.count_message(message.role, message.content)
        return cost + (CUT_OFF_TOKENS if message.role == "assistant" and message.state != "complete" else 0)


def _unsent(session: Session | None, text: str) -> Message:
    """A message of the user's that is not stored; its id is no message's."""
    tip = session.tip_message_id if session else None
    return Message(0, session.id if session else "", "user", text, "normal", 0, False, "", {}, tip, "complete")


def _without_newest(report: ContextReport) -> ContextReport:
    """The report without the newest message: it stood for one that is not written yet."""
    working, short, long = report.tiers
    newest = working.items[-1].tokens
    working = replace(working, used=working.used - newest, items=working.items[:-1])
    return replace(report, prompt_tokens=report.prompt_tokens - newest, tiers=(working, short, long))


def _use(tier: Tier, budget: int, items: Sequence[ContextItem], left_out: int) -> TierUse:
    return TierUse(tier, sum(item.tokens for item in items), budget, tuple(items), left_out)


def _repeats(pick: Pick, shown: set[int]) -> bool:
    return bool(pick.sources) and pick.sources <= shown


def _by_date(picks: Sequence[Pick]) -> list[Pick]:
    return sorted(picks, key=lambda pick: (pick.item.timestamp, pick.item.id))


def _working_item(message: Message, tokens: int) -> ContextItem:
    return ContextItem("working", "message", message.id, message.content, tokens, message.timestamp, message.role)
