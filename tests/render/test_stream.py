"""A growing text: what is finished is not laid out again, and what is unfinished does not flicker."""

import pytest

from orca_tui.render.plain import PlainStream
from orca_tui.render.stream import MarkdownStream


def texts(stream: MarkdownStream | PlainStream) -> list[str]:
    return [stream.row(index).text.rstrip() for index in range(stream.height)]


UNITS = {
    "fence": ("```python\n", "x = 1  # a line of code\n"),
    "list": ("", "- an item with **bold** text\n"),
    "ordered": ("", "1. an item\n   of two lines\n"),
    "table": ("| a | b |\n|---|---|\n", "| cell | 单元格 |\n"),
    "paragraph": ("", "Words of one long paragraph, 没有换行的一段话。"),
    "lines": ("", "A line of a paragraph without an end\n"),
    "blocks": ("", "A short paragraph.\n\n"),
    "one long line of code": ("```\n", "abcdefghij" * 5),
}


@pytest.mark.parametrize("name", UNITS)
def test_only_the_end_of_a_growing_text_is_laid_out_again(name: str) -> None:
    start, unit = UNITS[name]
    stream = MarkdownStream(60)
    stream.update(start)
    for _turn in range(400):
        stream.update(unit)
        assert stream.height - stream.changed <= 75
    before = texts(stream)
    stream.close()
    assert texts(stream)[: len(before) - 1] == before[:-1]


def test_an_open_fence_is_plain_and_gets_colours_when_it_closes() -> None:
    stream = MarkdownStream(60)
    stream.update("Text\n\n```python\ndef f(): pass\n")
    plain = {span.style for line in stream.settled for span in line.spans if "def" in span.text}
    stream.update("```\n")
    assert plain == {"code-block"}
    assert "syntax-keyword" in next(s.style for line in stream.settled for s in line.spans if s.text == "def")
    assert stream.changed <= 3


def test_a_long_fence_is_coloured_in_steps_that_move_no_row() -> None:
    stream = MarkdownStream(40)
    stream.update("```python\n" + "value = 12345  # " + "long " * 10 + "\n")
    stream.update("value = 1\n" * 400 + "```\nafter\n\nmore")
    rows = texts(stream)
    steps = 0
    while stream.busy:
        stream.work()
        steps += 1
    assert steps > 2
    assert texts(stream) == rows
    assert any("syntax-number" in span.style for line in stream.settled[-12:] for span in line.spans)


def test_a_closing_fence_does_not_flash_as_code() -> None:
    stream = MarkdownStream(60)
    for piece in ("```py\nx\n", "`", "`", "`"):
        stream.update(piece)
        assert not any("`" in row for row in texts(stream))


@pytest.mark.parametrize(
    ("pieces", "never"),
    [
        (["Some **bo", "ld** text"], "*"),
        (["Some `co", "de` text"], "`"),
        (["Para\n", "-", " item\n"], "-"),
        (["Para\n\n", "#", " Head\n"], "#"),
        (["Para\n\n", "1", ".", " one\n"], "§"),
    ],
)
def test_half_written_marks_do_not_flicker(pieces: list[str], never: str) -> None:
    stream = MarkdownStream(60)
    for piece in pieces:
        stream.update(piece)
        assert never not in "".join(texts(stream))
    stream.close()


def test_what_was_held_back_is_shown_at_the_end() -> None:
    stream = MarkdownStream(60)
    stream.update("The answer:\n42")
    stream.close()
    assert texts(stream) == ["The answer:", "42"]


def test_provisional_text_is_shown_but_not_kept() -> None:
    for stream in (MarkdownStream(60), PlainStream(60)):
        stream.update("a ", "b")
        assert texts(stream) == ["a b"]
        stream.update("c")
        assert texts(stream) == ["a c"]


def test_plain_text_keeps_its_blanks_and_knows_fences() -> None:
    stream = PlainStream(40, style="user", fences=True)
    text = "  two blanks **not bold**\n# no heading\n\n```py\n\tx = 1\n```\nhttps://a.example/b end\n"
    for piece in (text[:7], text[7:50], text[50:]):
        stream.update(piece)
    stream.close()
    rows = ["  two blanks **not bold**", "# no heading", "", " py", "     x = 1", "", "https://a.example/b end"]
    assert texts(stream) == rows
    assert stream.row(6).link_at(3) == "https://a.example/b"


def test_a_megabyte_on_one_line_is_laid_out_piece_by_piece() -> None:
    stream = PlainStream(80)
    stream.update("word " * 20_000)
    assert len(stream.tail) < 80
    assert stream.height == 1_250


@pytest.mark.parametrize("text", ["  ```\n\ta\n```\nend", "```py\n```\nend", "  ```\n\t> ", "~~~ a\n~~~ a\n"])
def test_a_fence_is_the_same_however_it_arrives(text: str) -> None:
    whole, pieces = MarkdownStream(20), MarkdownStream(20)
    whole.update(text)
    whole.close()
    for character in text:
        pieces.update(character)
    pieces.close()
    assert pieces.settled == whole.settled


def test_a_long_text_below_a_heading_settles_before_its_line_ends() -> None:
    stream = MarkdownStream(60)
    stream.update("# Head\n")
    for _turn in range(60):
        stream.update("words of one line " * 10)
    assert len(stream.tail) < 60
    assert stream.height > 150
