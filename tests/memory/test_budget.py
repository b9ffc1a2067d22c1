"""The shares of the window: pure arithmetic, held by properties."""

from hypothesis import given
from hypothesis import strategies as st

from memory.budget import Fit, TierBudgets, cut_point, fit, fitting, tier_budgets
from memory.config import MemorySettings

costs = st.lists(st.integers(1, 400), max_size=12)
paths = st.lists(st.integers(1, 400), min_size=1, max_size=60)
windows = st.integers(0, 20_000)


def fitted(
    window: int, working: list[int], short: list[int], long: list[int], fixed: int = 0
) -> tuple[TierBudgets, Fit]:
    budgets = tier_budgets(window, MemorySettings())
    starts = [at % 2 == (len(working) + 1) % 2 for at in range(len(working))]
    return budgets, fit(
        budgets, fixed=fixed, overhead=30, working=working, turn_starts=starts, short_term=short, long_term=long
    )


def used(result: Fit, working: list[int], short: list[int], long: list[int]) -> int:
    memory = sum(short[: result.short_term]) + sum(long[: result.long_term])
    return sum(working[result.start :]) + memory + (30 if memory else 0)


def test_shares_of_a_window() -> None:
    assert tier_budgets(8192, MemorySettings()) == TierBudgets(4915, 2457, 1474, 983)
    assert tier_budgets(0, MemorySettings()) == TierBudgets(0, 0, 0, 0)


@given(windows, paths, costs, costs, st.integers(0, 500))
def test_never_over_budget_unless_only_the_newest_is_left(
    window: int, working: list[int], short: list[int], long: list[int], fixed: int
) -> None:
    budgets, result = fitted(window, working, short, long, fixed)
    total = used(result, working, short, long) + fixed
    alone = result == Fit(len(working) - 1, 0, 0)
    assert total <= budgets.total or alone
    assert 0 <= result.start < len(working), "the newest message always goes"


@given(windows, paths, costs, costs)
def test_tiers_keep_their_shares(window: int, working: list[int], short: list[int], long: list[int]) -> None:
    budgets, result = fitted(window, working, short, long)
    assert sum(short[: result.short_term]) <= budgets.short_term
    assert sum(long[: result.long_term]) <= budgets.long_term


@given(paths, st.integers(0, 5000))
def test_what_stays_fits_the_room(working: list[int], room: int) -> None:
    kept = len(working) - cut_point(working, room, 1)
    assert sum(working[cut_point(working, room, 1) :]) <= room or kept == 1


@given(paths, st.lists(st.integers(1, 400), max_size=20), st.integers(50, 5000))
def test_the_cut_only_moves_forward_as_the_conversation_grows(before: list[int], more: list[int], room: int) -> None:
    cuts = [cut_point(before + more[:count], room, 10) for count in range(len(more) + 1)]
    assert cuts == sorted(cuts)


def test_the_cut_stays_for_many_turns() -> None:
    working = [50] * 400
    cuts = [cut_point(working[:count], 1000, 100) for count in range(1, 400)]
    assert len(set(cuts)) < 400 / 3, "a step is a fifth of the room: four messages here"
    first = next(at for at, cut in enumerate(cuts) if cut)
    assert sum(working[cuts[first] : first + 1]) == 850, "cut back to about 80 % in one step"


@given(costs, st.integers(0, 3000))
def test_fitting_is_a_prefix(items: list[int], budget: int) -> None:
    count = fitting(items, budget)
    assert sum(items[:count]) <= budget
    assert count == len(items) or sum(items[: count + 1]) > budget


def test_unused_shares_flow_to_working_memory() -> None:
    _, result = fitted(4096, [100] * 20, [], [])
    assert sum([100] * (20 - result.start)) > tier_budgets(4096, MemorySettings()).working


def test_long_term_is_cut_back_first_then_short_term_then_turns() -> None:
    # 600 tokens of budget: 300 / 180 / 120
    budgets, result = fitted(1000, [200, 100, 100], [60, 60, 60], [40, 40, 40])
    assert budgets.total == 600
    assert result == Fit(0, 2, 1), "the last turns fit when one long-term item and two summaries stay"
    only_newest = fitted(1000, [200, 100, 590], [60, 60, 60], [40, 40, 40])[1]
    assert only_newest == Fit(2, 0, 0)
    one_each = fitted(1000, [300, 100, 440], [60, 60, 60], [40, 40, 40])[1]
    assert one_each == Fit(2, 1, 1)


def test_working_memory_begins_with_a_question() -> None:
    working = [120] * 30 + [50]
    starts = [at % 2 == 0 for at in range(31)]
    budgets = tier_budgets(1000, MemorySettings())
    result = fit(budgets, fixed=0, overhead=0, working=working, turn_starts=starts, short_term=[], long_term=[])
    assert starts[result.start]
