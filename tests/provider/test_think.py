from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.provider.think import MAX_LEAD, ThinkSplitter


def split(text: str, *cuts: int) -> tuple[str, str]:
    splitter = ThinkSplitter()
    pieces = []
    edges = [0, *sorted(cuts), len(text)]
    for start, end in pairwise(edges):
        pieces += splitter.feed(text[start:end])
    pieces += splitter.finish()
    assert all(piece for _, piece in pieces)
    return tuple("".join(piece for kind, piece in pieces if kind == wanted) for wanted in ("reasoning", "text"))


CASES = [
    ("<think>why</think>\n\nbecause", ("why\n\n", "because")),
    ("\n <think>why</think>because", ("\n why", "because")),
    ("<think></think>because", ("", "because")),
    ("<think>a < b </thin > </think>x", ("a < b </thin > ", "x")),
    ("<think>a</think>b<think>c</think>", ("a", "b<think>c</think>")),
    ("<think>never closed</thin", ("never closed</thin", "")),
    ("Use <think>x</think> tags", ("", "Use <think>x</think> tags")),
    ("<thinking>x</thinking>", ("", "<thinking>x</thinking>")),
    ("<Think>x</Think>", ("", "<Think>x</Think>")),
    ("<thin", ("", "<thin")),
    ("</think>x", ("", "</think>x")),
    ("  \n", ("", "  \n")),
    (" " * (MAX_LEAD + 1) + "<think>x</think>", ("", " " * (MAX_LEAD + 1) + "<think>x</think>")),
    ("", ("", "")),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_tags_count_only_at_the_start_wherever_the_text_is_split(text: str, expected: tuple[str, str]) -> None:
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1, 3):
            assert split(text, first, second) == expected
    assert split(text, *range(1, len(text))) == expected


@given(st.text(st.sampled_from("<>/think \nab"), max_size=40), st.lists(st.integers(0, 40), max_size=8))
def test_nothing_is_lost_but_the_two_tags(text: str, cuts: list[int]) -> None:
    reasoning, rest = split(text, *(cut for cut in cuts if cut <= len(text)))
    whole = split(text)
    assert (reasoning, rest) == whole
    assert len(text) - len(reasoning) - len(rest) in (0, len("<think>"), len("<think></think>"))
    if not text.lstrip().startswith("<think>"):
        assert rest == text


def test_plain_text_is_passed_on_at_once() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("Hello") == [("text", "Hello")]
    assert splitter.feed(" <think>") == [("text", " <think>")]
