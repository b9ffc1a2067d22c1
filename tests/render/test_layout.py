"""Entries as rows: what stands around the text, folding, and the ledger that knows where everything is."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orca_tui.render.entry import Entry, EntryState
from orca_tui.render.folding import View
from orca_tui.render.frame import WordCount, local_time
from orca_tui.render.heights import Heights
from orca_tui.render.layout import EntryLayout, lay_out
from orca_tui.render.ledger import KEPT_LAYOUTS, Ledger, Place


def rows(layout: EntryLayout) -> list[str]:
    return [layout.row(index).text.rstrip() for index in range(layout.height)]


def ledger_of(entries: list[Entry], width: int = 40) -> Ledger:
    ledger = Ledger()
    ledger.set_width(width)
    ledger.reset(entries)
    return ledger


def test_a_message_has_its_name_and_time() -> None:
    entry = Entry("1", "user", "Hi", timestamp="2026-01-05T10:00:00+00:00")
    assert rows(lay_out(entry, 40)) == ["You  2026-01-05 10:00", "Hi", ""]
    assert rows(lay_out(Entry("2", "assistant", "Yo", model="tiny\x1b[2J"), 40))[0] == "tiny␛[2J"


def test_time_of_today_is_without_the_date() -> None:
    now = datetime.now(UTC)
    assert local_time(now.isoformat()) in {now.astimezone().strftime("%H:%M"), now.strftime("%H:%M")}
    assert local_time("yesterday-ish") == ""


@pytest.mark.parametrize("state", ["stopped", "failed", "interrupted"])
def test_a_reply_that_is_not_whole_says_so(state: EntryState) -> None:
    assert rows(lay_out(Entry("1", "assistant", "Half", state=state), 40))[1:] == ["Half", "", f"■ {state}", ""]
    told = Entry("1", "assistant", "Half", state=state, note="cut by the server")
    assert rows(lay_out(told, 40))[3] == "■ cut by the server"


def test_reasoning_is_one_row_until_it_is_unfolded() -> None:
    entry = Entry("1", "assistant", "Yes.", reasoning="Let me think, 想一想.")
    layout = lay_out(entry, 40)
    assert rows(layout)[1:3] == ["▸ reasoning, 6 words", "Yes."]
    layout.toggle()
    while layout.busy:
        layout.advance()
    assert rows(layout)[1:5] == ["▾ reasoning, 6 words", "│ Let me think, 想一想.", "", "Yes."]
    layout.toggle()
    assert rows(layout)[1:3] == ["▸ reasoning, 6 words", "Yes."]


def test_an_error_is_a_box_with_title_text_and_hint() -> None:
    entry = Entry("1", "error", "The key was refused.", title="Model", note="Check the key.")
    assert rows(lay_out(entry, 40)) == [
        "╭ ! Model ─────────────╮",
        "│ The key was refused. │",
        "│                      │",
        "│ Check the key.       │",
        "╰──────────────────────╯",
        "",
    ]


@pytest.mark.parametrize("width", [1, 2, 5, 9, 10, 11])
def test_a_box_fits_in_any_width(width: int) -> None:
    entry = Entry("1", "error", "A text that is long 中文", title="A long title", note="hint")
    layout = lay_out(entry, width)
    assert all(layout.row(index).width <= max(width, 2) for index in range(layout.height))


def test_a_streaming_reply_without_text_shows_that_it_waits() -> None:
    layout = lay_out(Entry("1", "assistant", "", state="streaming"), 40)
    assert rows(layout)[1:] == ["…", ""]
    layout.feed("Hello")
    layout.advance()
    assert rows(layout)[1:] == ["Hello", ""]


def test_late_definitions_ask_for_another_layout() -> None:
    entry = Entry("1", "assistant", "[a][r]\n\n", state="streaming")
    layout = lay_out(entry, 60)
    layout.feed("[r]: https://r.example")
    layout.advance()
    whole = replace(entry, text="[a][r]\n\n[r]: https://r.example", state="complete")
    assert not layout.finish(whole)
    assert rows(lay_out(whole, 60))[1] == "a (https://r.example)"


@given(st.lists(st.sampled_from(["word", " ", "中", "wo", "é", ", ", "文字", "\n"])))
def test_words_are_counted_as_if_they_had_come_at_once(pieces: list[str]) -> None:
    whole, parts = WordCount(), WordCount()
    whole.add("".join(pieces))
    for piece in pieces:
        parts.add(piece)
    assert parts.words == whole.words


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1), st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9))))
def test_heights_know_every_row(heights: list[int], changes: list[tuple[int, int]]) -> None:
    known = Heights()
    known.reset(heights[:1])
    for height in heights[1:]:
        known.append(height)
    now = list(heights)
    for index, height in changes:
        known.set(index % len(now), height)
        now[index % len(now)] = height
        assert known.total == sum(now)
    places = [(entry, row) for entry, height in enumerate(now) for row in range(height)]
    assert [known.find(row) for row in range(sum(now))] == places
    assert known.find(-5) == (0, 0)
    assert known.find(10**6) == places[-1]


def test_only_what_is_looked_at_is_laid_out() -> None:
    ledger = ledger_of([Entry(str(n), "user", f"Message {n}") for n in range(5_000)])
    place = ledger.end_place(30)
    assert list(ledger.rows(ledger.row_of(place), 30))[-2][2].text == "Message 4999"
    assert sum(item.layout is not None for item in ledger.items) < 15


def test_layouts_that_nobody_looks_at_are_dropped_and_heights_stay() -> None:
    ledger = ledger_of([Entry(str(n), "user", "word " * 30) for n in range(KEPT_LAYOUTS * 2)])
    for index in range(len(ledger.items)):
        ledger.lay(index)
    total = ledger.heights.total
    assert sum(item.layout is not None for item in ledger.items) <= KEPT_LAYOUTS
    ledger.lay(0)
    assert ledger.heights.total == total


def test_moving_counts_real_rows() -> None:
    ledger = ledger_of([Entry(str(n), "user", "word " * (7 * n)) for n in range(20)])
    end = ledger.end_place(10)
    assert ledger.moved(ledger.moved(end, -25), 25) == end
    assert ledger.moved(end, -10_000) == Place(0, 0)
    assert ledger.moved(Place(0, 0), 10_000) == Place(19, ledger.heights[19] - 1)
    assert ledger.heights.total == sum(ledger.lay(index).height for index in range(20))


def test_a_very_long_entry_is_completed_in_slices() -> None:
    ledger = ledger_of([Entry("1", "user", "word " * 40_000)], 80)
    ledger.items[0].view = View(text=True)
    ledger.lay(0)
    turns = 0
    while ledger.advance():
        turns += 1
    assert turns > 5
    assert ledger.heights[0] == 2_503
    assert not ledger.growing
