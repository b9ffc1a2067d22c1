"""Putting one prompt together under the budget: working memory, what recall brings, and the turn so far.

Blocking; `memory.manager` runs it in a thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.budget import LEVELS, Fit, TierBudgets, cut_point, fit, tier_budgets
from memory.config import MemorySettings
from memory.provider.base import ToolSpec
from memory.recalling.calls import (
    LEAST_TOKENS,
    NEW_SHARE,
    OLD_SHARE,
    fitting_tail,
    shortened,
    tokens_at_most,
    tokens_of,
    tokens_of_tools,
    units,
)
from memory.recalling.pick import Asked, Here, Pick, Picker
from memory.recalling.pictures import IMAGE_TOKENS, MOST, LoadImage, images_of, shown_pictures
from memory.recalling.prompt import Prompt, fence_text, memory_block, request_messages
from memory.tokens import TokenCounter
from memory.types import ContextItem, ContextReport, ContextWindow, Message, Scope, Tier, TierUse
from memory.writing.trust import is_foreign

CUT_OFF_TOKENS = 12
"""What the mark behind a partial reply costs."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one prompt is built from."""

    here: Here | None
    """`None`: the session is not begun."""
    scope: Scope
    path: Sequence[Message]
    """Working memory, oldest first, up to the newest user message."""
    asked: Asked | None
    window: ContextWindow
    system_prompt: str
    remembers: bool
    nonce: str
    tail: Sequence[Message] = ()
    """What the turn has brought so far."""
    tools: tuple[ToolSpec, ...] = ()
    note: str = ""
    with_calls: bool = True
    sees: bool = True

    @property
    def looks(self) -> bool:
        """Whether something is looked for that fits the question."""
        return self.remembers and self.asked is not None and not self.asked.small_talk


@dataclass(frozen=True, slots=True)
class _Costs:
    """What is in any case in the prompt, and what working memory would cost, in tokens."""

    system: int
    tail: int
    overhead: int
    """Of the fence, as soon as one memory goes."""
    units: tuple[int, ...]

    @property
    def fixed(self) -> int:
        """The system prompt with the tools, and the turn so far."""
        return self.system + self.tail


class Assembler:
    """Builds prompts. Stateless but for what it is given."""

    def __init__(self, picker: Picker, counter: TokenCounter, load_image: LoadImage) -> None:
        self._picker = picker
        self._counter = counter
        self._load_image = load_image

    def assemble(self, job: Job, settings: MemorySettings) -> Prompt:
        """The prompt of a job. Raises leaves of `StoreError`."""
        budgets = tier_budgets(job.window.tokens, settings)
        old = max(LEAST_TOKENS, budgets.total // OLD_SHARE)
        path = units(job.path)
        costs, tail = self._costs(job, budgets, path, old)
        shown = self._surely_shown(path, budgets, costs)
        shorts, longs, fitted = self._chosen(job, budgets, path, costs, shown)
        shown = _ids(path[fitted.start :])
        if any(_repeats(pick, shown) for pick in (*shorts, *longs)):  # They took the place of what is not there.
            shorts, longs, fitted = self._chosen(job, budgets, path, costs, shown)
            shown = _ids(path[fitted.start :])
        short = [pick for pick in shorts[: fitted.short_term] if not _repeats(pick, shown)]
        long = [pick for pick in longs[: fitted.long_term] if not _repeats(pick, shown)]
        working = [shortened(message, old, self._counter) for unit in path[fitted.start :] for message in unit]
        recalled = (*[pick.item for pick in long], *[pick.item for pick in short])
        items = [_working_item(message, self._cost(message)) for message in (*working, *tail)]
        spent = costs.system + sum(item.tokens for item in (*items, *recalled))
        report = ContextReport(
            window=job.window,
            budget=budgets.total,
            system_tokens=costs.system,
            prompt_tokens=spent + (costs.overhead if recalled else 0),
            tiers=(
                _use("working", budgets.working, items, len(_ids(path[: fitted.start]))),
                _use("short_term", budgets.short_term, [pick.item for pick in short], len(shorts) - len(short)),
                _use("long_term", budgets.long_term, [pick.item for pick in long], len(longs) - len(long)),
            ),
            by_meaning=not job.looks or (job.asked is not None and job.asked.vector is not None),
        )
        block = memory_block([pick.entry for pick in (*_by_date(long), *_by_date(short))], job.nonce)
        tainted = any(pick.is_foreign for pick in (*long, *short)) or any(map(is_foreign, (*working, *tail)))
        return self._prompt(job, working, tail, block, report, recalled, tainted=tainted)

    def _prompt(
        self,
        job: Job,
        working: Sequence[Message],
        tail: Sequence[Message],
        block: str,
        report: ContextReport,
        recalled: tuple[ContextItem, ...],
        *,
        tainted: bool,
    ) -> Prompt:
        told, images = shown_pictures(working, self._load_image, only_newest=not job.sees)
        messages = request_messages(
            job.system_prompt, told, block, tail=tail, note=job.note, with_calls=job.with_calls, images=images
        )
        return Prompt(messages, report, recalled, tainted, bool(images), job.asked, job.nonce)

    def _costs(
        self, job: Job, budgets: TierBudgets, path: Sequence[Sequence[Message]], old: int
    ) -> tuple[_Costs, list[Message]]:
        """What all this costs, and the turn so far, cut to the room beside the newest user message.

        Results of earlier turns count as cut to `old` tokens; they are cut only when they go.
        """
        system = self._counter.count_message("system", job.system_prompt) if job.system_prompt.strip() else 0
        system += tokens_of_tools(job.tools, self._counter)
        if job.note:
            system += self._counter.count_message("user", job.note)
        each = tuple(sum(self._cost(message, old) for message in unit) for unit in path)
        newest = each[-1] if each else 0
        limit = max(LEAST_TOKENS, budgets.total // NEW_SHARE)
        tail = fitting_tail(job.tail, budgets.total - system - newest, limit, self._counter)
        overhead = self._counter.count(fence_text(job.nonce))
        return _Costs(system, sum(self._cost(message) for message in tail), overhead, each), tail

    @staticmethod
    def _surely_shown(path: Sequence[Sequence[Message]], budgets: TierBudgets, costs: _Costs) -> set[int]:
        """The messages that are in working memory even when recall takes its full share."""
        least = budgets.total - costs.fixed - costs.overhead - budgets.short_term - budgets.long_term
        return _ids(path[cut_point(costs.units, least, max(1, budgets.total // LEVELS)) :])

    def _chosen(
        self, job: Job, budgets: TierBudgets, path: Sequence[Sequence[Message]], costs: _Costs, shown: set[int]
    ) -> tuple[list[Pick], list[Pick], Fit]:
        """What recall brings beside the messages in `shown`, summaries and memories, and what of all that goes."""
        shorts: list[Pick] = []
        longs: list[Pick] = []
        if job.remembers:
            if job.here:
                shorts = self._picker.short_term(job.here, job.asked, shown, budgets.short_term)
            longs = self._picker.long_term(job.here, job.scope, job.asked, shown, budgets.long_term)
        fitted = fit(
            budgets,
            fixed=costs.fixed,
            overhead=costs.overhead,
            working=costs.units,
            turn_starts=[unit[0].role == "user" for unit in path],
            short_term=[pick.item.tokens for pick in shorts],
            long_term=[pick.item.tokens for pick in longs],
        )
        return shorts, longs, fitted

    def _cost(self, message: Message, limit: int | None = None) -> int:
        """`limit`: what a result is to be cut to."""
        partial = message.role == "assistant" and message.state != "complete"
        pictures = min(len(images_of(message)), MOST) * IMAGE_TOKENS
        counter = self._counter
        tokens = tokens_of(message, counter) if limit is None else tokens_at_most(message, limit, counter)
        return tokens + (CUT_OFF_TOKENS if partial else 0) + pictures


def without_newest(report: ContextReport) -> ContextReport:
    """The report without the newest message: it stood for one that is not written yet."""
    working, short, long = report.tiers
    newest = working.items[-1].tokens
    working = replace(working, used=working.used - newest, items=working.items[:-1])
    return replace(report, prompt_tokens=report.prompt_tokens - newest, tiers=(working, short, long))


def _ids(path: Sequence[Sequence[Message]]) -> set[int]:
    return {message.id for unit in path for message in unit}


def _use(tier: Tier, budget: int, items: Sequence[ContextItem], left_out: int) -> TierUse:
    return TierUse(tier, sum(item.tokens for item in items), budget, tuple(items), left_out)


def _repeats(pick: Pick, shown: set[int]) -> bool:
    return bool(pick.sources) and pick.sources <= shown


def _by_date(picks: Sequence[Pick]) -> list[Pick]:
    return sorted(picks, key=lambda pick: (pick.item.timestamp, pick.item.id))


def _working_item(message: Message, tokens: int) -> ContextItem:
    return ContextItem("working", "message", message.id, message.content, tokens, message.timestamp, message.role)
