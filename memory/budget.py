"""How the three tiers share a context window. Pure: numbers in, numbers out; `memory.manager` is the caller.

All sizes are tokens. Nothing here ever goes over the budget, except when the newest message alone is larger.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory.config import MemorySettings

LEVELS = 10
"""Room for working memory is used in tenths of the budget, so that small changes of recall do not move the cut."""
STEPS = 5
"""Working memory that outgrows its room loses one of so many parts at once: it is cut back to 80 %."""


@dataclass(frozen=True, slots=True)
class TierBudgets:
    """The shares of one window. What short-term and long-term memory leave unused goes to working memory."""

    total: int
    working: int
    short_term: int
    long_term: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What goes into a prompt."""

    start: int
    """Index of the oldest working message that goes; everything after it goes too, the newest always."""
    short_term: int
    """How many short-term items go, from the front of their ranking."""
    long_term: int
    """How many long-term items go, from the front of their ranking."""


def tier_budgets(window_tokens: int, settings: MemorySettings) -> TierBudgets:
    """The budget of a window of `window_tokens` and its three shares, each rounded down."""
    total = max(0, int(window_tokens * settings.budget_share))
    return TierBudgets(
        total=total,
        working=int(total * settings.working_share),
        short_term=int(total * settings.short_term_share),
        long_term=int(total * settings.long_term_share),
    )


def fit(
    budgets: TierBudgets,
    *,
    fixed: int,
    overhead: int,
    working: Sequence[int],
    turn_starts: Sequence[bool],
    short_term: Sequence[int],
    long_term: Sequence[int],
) -> Fit:
    """Choose what goes.

    `fixed` is what goes in any case (the system prompt), `overhead` what the fence costs as soon as one memory goes.
    `working` holds the cost of every message of the path, oldest first, the newest user message last;
    `turn_starts` tells which of them begin a turn. `short_term` and `long_term` hold costs in order of rank.

    When the newest turn and the one before it do not fit beside the memories, long-term memory goes down to one
    item, then short-term to one, then working memory to the newest message, and at last the memories go too.
    """
    room = budgets.total - fixed
    shorts = fitting(short_term, budgets.short_term)
    longs = fitting(long_term, budgets.long_term)
    newest = working[-1] if working else 0
    essential = sum(working[-3:])

    def cost(n_short: int, n_long: int) -> int:
        return sum(short_term[:n_short]) + sum(long_term[:n_long]) + (overhead if n_short + n_long else 0)

    chosen = next((pair for pair in _cut_back(shorts, longs) if essential + cost(*pair) <= room), None)
    latest = len(working) - 3
    if chosen is None:
        latest = len(working) - 1
        least = (min(shorts, 1), min(longs, 1))
        chosen = next((pair for pair in (least, (least[0], 0)) if newest + cost(*pair) <= room), (0, 0))
    start = min(cut_point(working, room - cost(*chosen), max(1, budgets.total // LEVELS)), max(0, latest))
    while start < len(working) - 1 and start and not turn_starts[start]:
        start += 1
    return Fit(start, *chosen)


def _cut_back(shorts: int, longs: int) -> Iterator[tuple[int, int]]:
    """Counts to try, most memories first: long-term down to one, then short-term down to one."""
    for n_long in range(longs, 0, -1):
        yield shorts, n_long
    least = min(longs, 1)
    if not longs:
        yield shorts, 0
    for n_short in range(shorts - 1, 0, -1):
        yield n_short, least


def fitting(costs: Sequence[int], budget: int) -> int:
    """How many items from the front go into `budget` together."""
    used = 0
    for count, cost in enumerate(costs):
        used += cost
        if used > budget:
            return count
    return len(costs)


def cut_point(costs: Sequence[int], room: int, level: int) -> int:
    """Index of the oldest message that stays when those from it on must fit `room`; the last one always stays.

    The cut moves in steps of a fifth of the room, counted from the beginning of the conversation. So it follows from
    the messages alone, stays where it is for many turns (providers cache the front of a prompt), and never goes back
    while the room is the same. `room` is rounded down to whole `level`s for the same reason.
    """
    room = max(0, room)
    if room >= level:
        room -= room % level
    total = sum(costs)
    if total <= room:
        return 0
    step = max(1, room // STEPS)
    dropped = -(-(total - room) // step) * step
    seen = 0
    for index, cost in enumerate(costs):
        if seen >= dropped:
            return index
        seen += cost
    return max(0, len(costs) - 1)
