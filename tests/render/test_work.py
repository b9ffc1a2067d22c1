"""What an update costs grows with what is new, whatever a model writes. Work is counted in calls, not in time."""

import sys
from types import FrameType
from typing import Any

import pytest

from orca_tui.render.inline import inline_spans, plain_spans

BRACKETS = [
    "[",
    "![",
    "![[",
    "![a][",
    "[[a]",
    "[a](",
    "[][",
    "[ ",
    "[a\n",
    '[a](b "',
    "[a\\]",
    "[a`]` ",
    "[a](b(",
    "][",
]
MARKS = [
    "*a ",
    "_a ",
    "a**b",
    "*a_ ",
    "a_*b ",
    "*_",
    "**a *b ",
    "中**重",
    "~~a ",
    "~",
    "`a ",
    "``a` ",
    "<",
    "<a ",
    "<a:b",
]
MARKS += ["&", "&amp", "\\", "\\*", "a  \n", "http://a) ", "word ", "[a](http://b) ", "*a* **b** `c` "]


def work(act: Any) -> int:
    """How many functions are called."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return calls


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


@pytest.mark.parametrize("unit", BRACKETS + MARKS)
def test_what_a_text_costs_grows_with_its_length(unit: str) -> None:
    inline_spans("[a](b) " + "[" * 500, {})
    short = work(lambda: inline_spans(repeated(unit, 2_500), {}))
    long = work(lambda: inline_spans(repeated(unit, 7_500), {}))
    assert long < 4 * short + 500
    assert short < 200_000


def test_a_text_with_very_many_brackets_is_shown_as_it_is_and_keeps_its_emphasis() -> None:
    text = "**bold** " + "[" * 500
    spans = inline_spans(text, {})
    assert "".join([span.text for span in spans]) == text.replace("**", "")
    assert spans[0].style == "strong"


def test_images_in_images_are_read_once() -> None:
    text = "![" * 30 + "a" + "](b)" * 30
    once = work(lambda: inline_spans(text, {}))
    twice = work(lambda: inline_spans("![" * 15 + "b" + "](b)" * 15, {}))
    assert once < 5 * twice
    assert "".join([span.text for span in inline_spans(text, {})]).count("(b)") == 30


def test_an_address_with_many_brackets_at_its_end_is_cut_in_one_go() -> None:
    short = work(lambda: plain_spans("http://a" + ")" * 1_000))
    assert work(lambda: plain_spans("http://a" + ")" * 2_000)) <= short
    assert plain_spans("http://a/(b)). x")[0].text == "http://a/(b)"
