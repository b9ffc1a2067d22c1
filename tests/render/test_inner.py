"""Long quotations, items and indented code are laid out line by line: the same rows, however the text arrives."""

import re
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memory.text import clean
from orca_tui.render import inner, stream
from orca_tui.render.line import Line, copy_lines
from orca_tui.render.stream import MarkdownStream

LINES = [
    "> ",
    ">",
    "- ",
    "  ",
    "    ",
    "1. ",
    "\n",
    "\n\n",
    "word",
    "中文",
    "a\n",
    "> b\n",
    "- c\n",
    "  d\n",
    "> - e\n",
]
LINES += [
    "```\n",
    "  ```\n",
    "> ```py\n",
    "x = 1\n",
    "    code\n",
    "| a | b |\n|--|--|\n",
    "# h\n",
    "---\n",
    "**bold**",
]
LINES += ["[x] ", "\t", "3) ", "lazy line\n", "- > q\n", "  > r\n", ">> s\n", "===\n", "*", "`"]
MARKS = re.compile(r"[-*][ \t]+[-*_]")
"""May become a rule, which a line as long as a long block is never."""
SOURCES = st.lists(st.sampled_from(LINES), max_size=40).map("".join)


def lay(text: str, width: int = 60) -> list[Line]:
    whole = MarkdownStream(width)
    whole.update(clean(text))
    whole.close()
    while whole.busy:
        whole.work()
    return whole.settled


def shown(text: str, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in lay(text, width)]


def letters(text: str) -> Counter[str]:
    return Counter([letter for letter in text if letter.isalpha()])


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are long early."""
    set_long(monkeypatch, 10)


def set_long(patch: pytest.MonkeyPatch, characters: int) -> None:
    patch.setattr(inner, "LONG_BLOCK", characters)
    patch.setattr(stream, "LONG_BLOCK", characters)


@settings(max_examples=400, deadline=None)
@given(SOURCES, st.integers(2, 40), st.lists(st.integers(1, 9), min_size=1), st.sampled_from([1, 6, 20]))
def test_pieces_give_the_same_rows_as_the_whole(source: str, width: int, cuts: list[int], characters: int) -> None:
    source = clean(source)
    assume(not MARKS.search(source))
    with pytest.MonkeyPatch.context() as patch:
        set_long(patch, characters)
        pieces = MarkdownStream(width)
        at = turn = 0
        while at < len(source):
            pieces.update(source[at : at + cuts[turn % len(cuts)]])
            assert all(line.width <= width for line in pieces.tail)
            at, turn = at + cuts[turn % len(cuts)], turn + 1
        pieces.close()
        while pieces.busy:
            pieces.work()
        assert pieces.settled == lay(source, width)
        assert all(line.width <= width for line in pieces.settled)
        assert not letters(source) - letters("".join([line.text for line in pieces.settled]))


TEXTS = [
    "> one two three\n> four\n>\n> - a\n> - b\n>   - c\n\nafter",
    "- one two three\n  - four\n  - five\n\n    six\n- seven\n\n- eight\n9",
    "1. one two three\n   ```py\n   x = 1\n   y = 2\n   ```\n2. two\n9. nine\n1. ten",
    "    some code\n    more code\n\n    end\n\n\nafter",
    "> > deep and deeper\n> > lines\n> back\nlazy\n\nend",
    "- [x] done this\n  and that\n- [ ] open\n> quote",
    "> | a | b |\n> |---|---|\n> | c | d |\n> | e | f |\n",
    "text before\n> quoted text\n> more\n# head",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [2, 5, 8, 40])
def test_long_blocks_look_like_short_ones(text: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lay(text, width)
    set_long(monkeypatch, 10)
    assert lay(text, width) == before


def test_colours_reach_the_rows_of_a_block(short: None) -> None:
    code = "\n".join(["> ```python", *["> value = 12345"] * 200, "> ```", "> end", "", "after"])
    assert any("syntax-number" in span.style for line in lay(code)[150:201] for span in line.spans)
    assert copy_lines(lay(code)).count("> value = 12345") == 200


def test_blocks_that_are_too_deep_are_plain_and_nothing_is_lost() -> None:
    text = "- " * 30 + "start\n" + (" " * 60 + "word word\n") * 300
    assert " ".join(shown(text, 200)).count("word") == 600
    text = (">" * 60 + " word word\n") * 300
    assert " ".join(shown(text, 200)).count("word") == 600
