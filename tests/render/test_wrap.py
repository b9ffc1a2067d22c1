"""Rows are never wider than asked, never cut a grapheme, and break where a reader expects it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from orca_tui.render.line import Span, copy_lines
from orca_tui.render.wrap import MIN_WIDTH, chop, grapheme, wrap, wrap_spans

FAMILY, FLAG, KEYCAP, THUMB = "👩‍👩‍👧", "🇨🇳", "1️⃣", "👍🏽"
SIGNS = [*"abc def  中文，。（）「」『』！ー가나é\u0301\n", "word ", FAMILY, FLAG, KEYCAP, THUMB, "\u200d", "🎉"]
TEXTS = st.lists(st.sampled_from(SIGNS), max_size=80).map("".join)


def rows(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in wrap(text, width)]


@given(TEXTS, st.integers(0, 40))
def test_no_row_is_wider_than_the_width_and_only_blanks_go(text: str, width: int) -> None:
    found = wrap(text, width)
    assert all(cell_len(text[start:end]) <= max(width, MIN_WIDTH) for start, end in found)
    edges = [0, *[edge for row in found for edge in row], len(text)]
    assert edges == sorted(edges)
    gaps = [text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]
    assert all(not gap.strip(" \n") and gap.count("\n") <= 1 for gap in gaps)


@given(TEXTS, st.integers(1, 40))
def test_rows_join_to_the_text_again(text: str, width: int) -> None:
    lines = wrap_spans([Span(text[: len(text) // 2], "a"), Span(text[len(text) // 2 :], "b")], width)
    joined = "".join([line.joint * bool(at) + line.copied() for at, line in enumerate(lines)])
    assert [part.rstrip(" ") for part in joined.split("\n")] == [part.rstrip(" ") for part in text.split("\n")]
    assert joined == copy_lines(lines)


@given(TEXTS.map(lambda text: text.replace("\n", "")), st.integers(1, 20))
def test_code_is_cut_where_it_is_full(text: str, width: int) -> None:
    found = chop(text, width)
    assert "".join([text[start:end] for start, end in found]) == text
    assert all(cell_len(text[start:end]) <= max(width, MIN_WIDTH) for start, end in found)


def test_words_stay_whole() -> None:
    assert rows("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert rows("  indented words here", 10) == ["  indented", "words here"]


def test_a_word_longer_than_the_row_is_cut() -> None:
    assert rows("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_cjk_breaks_anywhere_but_before_closing_and_behind_opening_marks() -> None:
    assert rows("你好世界", 4) == ["你好", "世界"]
    assert rows("你好，世界", 4) == ["你", "好，", "世界"]
    assert rows("你好（世界）", 6) == ["你好", "（世", "界）"]
    assert rows("中文English混排", 8) == ["中文", "English", "混排"]


def test_hangul_keeps_its_words() -> None:
    assert rows("안녕 세계여", 8) == ["안녕", "세계여"]


@pytest.mark.parametrize("sign", [FAMILY, FLAG, KEYCAP, THUMB, "e\u0301\u0323"])
def test_a_grapheme_is_one(sign: str) -> None:
    assert grapheme(sign + "x", 0) == (len(sign), cell_len(sign))
    assert rows(sign * 3, 2) == ([sign] * 3 if cell_len(sign) == 2 else [sign * 2, sign])


def test_width_one_survives() -> None:
    assert rows("中a", 1) == ["中", "a"]
