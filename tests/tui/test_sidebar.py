"""The memory sidebar and the budget bars: numbers, items with their reasons, a cursor that stays, hostile text."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hosts import HOSTILE, Host, drawn, unsafe_in

from memory.types import ContextItem, ContextReport, ContextWindow, ScoreParts, Tier, TierUse
from orca_tui.figures import age, short_count
from orca_tui.i18n import set_language
from orca_tui.recalled import Picture
from orca_tui.widgets.budget_bar import BudgetBar, budget_line, stacked_bar
from orca_tui.widgets.memory_sidebar import MemorySidebar

NOW = "2026-03-10T12:00:00.000000+00:00"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    set_language("en")
    yield
    set_language("en")


def message(number: int, text: str = "words") -> ContextItem:
    role = "user" if number % 2 else "assistant"
    return ContextItem("working", "message", number, f"{text} {number}", 10 + number, NOW, role=role)


def memory(number: int, text: str = "likes tea", **parts: float) -> ContextItem:
    scores = ScoreParts(**(parts or {"vector": 0.6, "total": 0.7}))
    when = "2026-03-07T12:00:00.000000+00:00"
    return ContextItem("long_term", "long_term", number, text, 12, when, branch="user_preference", parts=scores)


def report(
    working: Sequence[ContextItem] = (),
    long_term: Sequence[ContextItem] = (),
    *,
    used: int = 820,
    left_out: int = 0,
    **facts: Any,
) -> Picture:
    return Picture(
        ContextReport(
            ContextWindow(8192, "served"),
            4915,
            210,
            1840,
            (
                TierUse("working", used, 2457, tuple(working), 0),
                TierUse("short_term", 60, 1474, (), 0),
                TierUse("long_term", 100, 983, tuple(long_term), left_out),
            ),
        ),
        **facts,
    )


def host() -> tuple[Host, MemorySidebar]:
    sidebar = MemorySidebar(now=lambda: NOW)
    return Host(sidebar), sidebar


async def test_shows_budgets_items_and_why() -> None:
    app, sidebar = host()
    async with app.run_test(size=(54, 30)):
        sidebar.show(report([message(1), message(2)], [memory(7)], left_out=3))
        screen = drawn(app)
        assert "980 / 4,915" in screen
        assert "820 / 2,457" in screen
        assert "prompt 1.8k of 8,192" in screen
        assert "estimated" not in screen
        assert "you  words 1" in screen
        assert "orca words 2" in screen
        assert "likes tea" in screen
        assert "3 d · meaning · user_preference" in screen
        assert "For the next reply" in screen
        assert "3 left out" in screen
        assert "Each turn is summed up" in screen


async def test_what_a_reply_was_given_is_told_as_such_with_its_origin() -> None:
    app, sidebar = host()
    async with app.run_test(size=(70, 30)):
        said = ContextItem(
            "long_term", "message", 3, "my door is blue", 9, NOW, role="user", parts=ScoreParts(text=0.4)
        )
        sidebar.show(report([message(1)], [said], of_reply=True, origins={3: "Doors [/b]\x1b[2J"}))
        screen = drawn(app)
        assert "Given to the newest reply" in screen
        assert "▏ you  my door is blue" in screen
        assert "now · words · from “Doors [/b]␛[2J”" in screen


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, "Each turn is summed up"),
        ({"summaries": 1, "all_above": True}, "1 summary; its turn is above"),
        ({"summaries": 7, "all_above": True}, "7 summaries; their turns are above"),
        ({"summaries": 7}, "7 summaries; none was needed"),
    ],
)
async def test_says_why_no_summary_is_there(facts: dict[str, Any], told: str) -> None:
    app, sidebar = host()
    async with app.run_test(size=(70, 30)):
        sidebar.show(report([message(1)], **facts))
        assert told in drawn(app)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (ScoreParts(recency=-0.25, total=-0.2), "3 d"),
        (ScoreParts(vector=-0.1, importance=0.01, total=0.01), "3 d · important"),
        (ScoreParts(form=0.5, text=0.1, total=0.6), "3 d · words"),
        (ScoreParts(heat=0.2, recency=0.1, total=0.3), "3 d · often used"),
    ],
)
async def test_a_reason_is_a_word_that_a_person_knows(parts: ScoreParts, told: str) -> None:
    app, sidebar = host()
    async with app.run_test(size=(70, 30)):
        sidebar.show(report([], [replace(memory(7), parts=parts, branch=None)]))
        line = next(line for line in drawn(app).splitlines() if "3 d" in line)
        assert line.split("  ")[1].strip() == told or line.strip().startswith(told + "  ")


async def test_a_branch_is_named_whole_or_not_at_all() -> None:
    app, sidebar = host()
    async with app.run_test(size=(28, 30)):
        sidebar.show(report([], [replace(memory(7), branch="project_context_of_long_names")]))
        assert "project" not in drawn(app)
        assert "3 d · meaning" in drawn(app)


async def test_says_when_the_window_is_a_guess() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 30)):
        guessed = replace(report().report, window=ContextWindow(4096, "estimated"))
        sidebar.show(Picture(guessed))
        assert "estimated" in drawn(app)


async def test_teaches_when_empty() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 30)):
        sidebar.show(None)
        assert "…" in drawn(app)
        assert "Nothing yet" not in drawn(app)
        sidebar.show(report())
        assert "Facts you tell orca will" in drawn(app)


async def test_too_much_is_told_by_a_sign() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 30)):
        sidebar.show(report([message(1)], used=3000))
        assert "! 3,000 / 2,457" in drawn(app)


async def test_keys_move_and_choose() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 30)) as pilot:
        sidebar.show(report([message(1), message(2)], [memory(7), memory(8)]))
        await pilot.press("j", "enter", "G", "enter", "k", "enter", "g", "enter", "down", "up", "enter")
        chosen = [(m.kind, m.id) for m in app.posted if isinstance(m, MemorySidebar.ItemChosen)]
        assert chosen == [("message", 2), ("long_term", 8), ("long_term", 7), ("message", 1), ("message", 1)]


async def test_a_click_chooses() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 30)) as pilot:
        sidebar.show(report([message(1), message(2)]))
        await pilot.click(sidebar, offset=(5, 6))
        assert [m.id for m in app.posted if isinstance(m, MemorySidebar.ItemChosen)] == [2]
        await pilot.click(sidebar, offset=(5, 0))
        assert len(app.posted) == 1


async def test_an_update_keeps_the_cursor_on_its_item() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 30)) as pilot:
        sidebar.show(report([message(1), message(2)], [memory(7), memory(8)]))
        await pilot.press("G")
        sidebar.show(report([message(1), message(2), message(3)], [memory(8), memory(9)]))
        assert sidebar.cursor_key == ("long_term", "long_term", 8)
        sidebar.show(report([message(1)]))
        assert sidebar.cursor_key == ("working", "message", 1)
        sidebar.show(None)
        assert sidebar.cursor_key is None
        await pilot.press("j", "k", "g", "G", "pagedown", "enter")


async def test_many_messages_fold_and_unfold() -> None:
    app, sidebar = host()
    async with app.run_test(size=(44, 60)) as pilot:
        sidebar.show(report([message(n) for n in range(1, 21)]))
        assert "… 14 earlier" in drawn(app)
        assert "words 14" not in drawn(app)
        assert "words 20" in drawn(app)
        await pilot.press("g", "enter")
        assert "words 1 " in drawn(app)
        assert "show fewer" in drawn(app)


async def test_the_cursor_is_scrolled_into_view() -> None:
    app, sidebar = host()
    async with app.run_test(size=(30, 8)) as pilot:
        sidebar.show(report([message(n) for n in range(6)], [memory(n, f"fact {n}") for n in range(9)]))
        await pilot.press("G")
        await pilot.pause()
        assert "fact 8" in drawn(app)
        await pilot.press("g")
        await pilot.pause()
        assert "Memory" in drawn(app)


@pytest.mark.parametrize("text", HOSTILE)
async def test_foreign_text_does_no_harm(text: str) -> None:
    app, sidebar = host()
    async with app.run_test(size=(40, 24)):
        odd = replace(memory(1, text), branch=text, timestamp=text)
        sidebar.show(report([message(1, text)], [odd]))
        assert not list(unsafe_in(drawn(app)))
        assert "\x1b" not in app.export_screenshot()


@pytest.mark.parametrize("width", [1, 2, 5, 12, 20, 33, 80])
async def test_any_width_is_drawn(width: int) -> None:
    app, sidebar = host()
    async with app.run_test(size=(width, 20)):
        sidebar.show(report([message(1, "你好👩‍👩‍👧")], [memory(1, "多" * 90)]))
        drawn(app)


async def test_chinese_words() -> None:
    set_language("zh")
    app, sidebar = host()
    async with app.run_test(size=(44, 30)):
        sidebar.show(report([message(1)], [memory(7)]))
        assert "工作记忆" in drawn(app)
        assert "3 天" in drawn(app)


# bars


@pytest.mark.parametrize("width", range(61))
def test_a_budget_line_never_grows_too_wide(width: int) -> None:
    tiers: tuple[Tier, ...] = ("working", "short_term", "long_term")
    for tier in tiers:
        for used, budget in ((0, 0), (1, 0), (5, 10), (1234, 4915), (123_456, 4915), (10**9, 10**10)):
            assert budget_line(width, tier, used, budget).cell_length <= width


def test_a_budget_line_of_twenty_cells_has_name_bar_and_numbers() -> None:
    line = budget_line(20, "working", 1234, 4915).plain
    assert line.startswith("● Wo")
    assert "█" in line
    assert line.endswith("1.2k/4.9k")


def test_bars_are_exact_to_an_eighth() -> None:
    assert stacked_bar(4, [(0.5, "red")]).plain == "██  "
    assert stacked_bar(4, [(5 / 32, "red")]).plain == "▋   "
    assert stacked_bar(4, [(0.0001, "red")]).plain == "▏   "
    assert stacked_bar(4, [(0, "red")]).plain == "    "
    assert stacked_bar(4, [(0.75, "red"), (0.9, "blue")]).plain == "████"
    assert stacked_bar(0, [(1, "red")]).plain == ""


async def test_the_widget_shows_its_numbers() -> None:
    bar = BudgetBar("long_term")
    app = Host(bar)
    async with app.run_test(size=(40, 3)) as pilot:
        bar.show(1234, 4915)
        await pilot.pause()
        assert "Long-term" in drawn(app)
        assert "1,234 / 4,915" in drawn(app)


# figures


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (12_345, "12.3k"),
        (128_000, "128k"),
        (999_950, "1.0M"),
        (2_500_000, "2.5M"),
    ],
)
def test_short_counts(number: int, shown: str) -> None:
    assert short_count(number) == shown


@pytest.mark.parametrize(
    ("then", "shown"),
    [
        ("2026-03-10T11:59:30+00:00", "now"),
        ("2026-03-10T13:00:00+00:00", "now"),
        ("2026-03-10T11:55:00+00:00", "5 min"),
        ("2026-03-10T09:00:00+00:00", "3 h"),
        ("2026-03-07T12:00:00+00:00", "3 d"),
        ("2025-12-10T12:00:00+00:00", "3 mo"),
        ("2023-03-10T12:00:00+00:00", "3 y"),
        ("yesterday", ""),
    ],
)
def test_ages(then: str, shown: str) -> None:
    assert age(then, NOW) == shown
