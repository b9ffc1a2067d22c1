"""What an update costs grows with what is new, whatever a model writes. Work is counted in calls, not in time."""

import sys
from types import FrameType
from typing import Any

import pytest

from orca_tui.render import stream
from orca_tui.render.entry import Entry
from orca_tui.render.folding import View
from orca_tui.render.inline import inline_spans, plain_spans
from orca_tui.render.layout import EntryLayout
from orca_tui.render.parser import parse_blocks
from orca_tui.render.part import SLICE

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


def test_a_text_of_marks_is_shown_as_it_is() -> None:
    text = "*_" * 200
    assert [(span.text, span.style) for span in inline_spans(text, {})] == [(text, "")]


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


BLOCKS = {
    "a paragraph of one line": ("", "word "),
    "one below a heading": ("# Head\n", "word "),
    "one below a list": ("- item\n\n", "[a](b) "),
    "one that begins with a wide blank": ("\u3000\u3000", "中文，"),
    "lines": ("", "a\n"),
    "brackets": ("", "[[a]"),
    "a heading": ("# ", "*a* "),
    "a row of a table": ("|a|\n|-|\n|", "[ "),
    "a table": ("|a|b|\n|-|-|\n", "|c|d|\n"),
    "a wide table": ("|a" * 50 + "|\n" + "|-" * 50 + "|\n", "|b" * 50 + "|\n"),
    "pipes": ("", "a|"),
    "lines of pipes": ("", "|a\n"),
    "a quotation": ("", "> a line of it\n"),
    "one of one line": ("> ", "word "),
    "one of paragraphs": ("", "> a\n>\n"),
    "a deep one": ("", ">>>>>>>>>>>>>>>>>>>> a\n"),
    "one without marks": ("> a\n", "b\n"),
    "one with some marks": ("", "> |a\nb\n"),
    "quotations": ("", ">"),
    "code in a quotation": ("> ```\n", "> code\n"),
    "a list": ("", "- a\n"),
    "a list in an item": ("- a\n", "  - b\n"),
    "paragraphs in an item": ("- a\n\n", "  b\n\n"),
    "an item of one line": ("- ", "word "),
    "an item without indentation": ("- a\n", "b\n"),
    "lists in quotations": ("", "> - > - a\n"),
    "lists in lists": ("", "- "),
    "numbers in numbers": ("", "1) "),
    "code in an item": ("- ```\n", "  code\n"),
    "a table in an item": ("- |a|\n  |-|\n", "  |b|\n"),
    "indented code": ("", "    code\n"),
    "an open fence": ("", "~~~ a\n"),
    "fences": ("", "```\n"),
    "rules": ("", "-\n"),
    "a rule that is none": ("", "-"),
    "definitions": ("", "[a]: b\n"),
    "empty lines": ("a", "\n"),
    "blanks": ("a", " "),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_what_an_update_parses_again_does_not_grow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []

    def counted(source: str) -> Any:
        parsed.append(len(source))
        return parse_blocks(source)

    monkeypatch.setattr(stream, "parse_blocks", counted)
    start, unit = BLOCKS[name]
    layout = EntryLayout(Entry("1", "assistant", start, state="streaming"), 60)
    for _turn in range(25):
        layout.feed(repeated(unit, 400))
        parsed.clear()
        layout.advance()
        assert sum(parsed) < 14_000


def test_a_long_text_is_laid_out_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    update = stream.MarkdownStream.update

    def counted(self: stream.MarkdownStream, text: str, provisional: str = "") -> None:
        taken.append(len(text))
        update(self, text, provisional)

    monkeypatch.setattr(stream.MarkdownStream, "update", counted)
    for text in ("word " * 4_000, "a\n" * 4_000):
        taken.clear()
        layout = EntryLayout(Entry("1", "assistant", text), 60, View(text=True))
        while layout.incomplete:
            layout.advance()
        assert sum(taken) == len(text)
        assert max(taken) <= SLICE
        assert len(taken) > 5
