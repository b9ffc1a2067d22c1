import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import RateLimited
from memory.text import clean, repair
from orca_tui.plain import PlainWriter, complain, local_time, plain_print


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def streamed(pieces: list[str], target: io.StringIO) -> str:
    writer = PlainWriter(target)
    for piece in pieces:
        writer.write(piece)
    writer.close()
    return target.getvalue()


def test_a_terminal_gets_clean_text_and_a_pipe_what_was_stored() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for target in (terminal, pipe):
        plain_print("a\x1b[2J\0b", file=target)
    assert terminal.getvalue() == "a␛[2J␀b\n"
    assert pipe.getvalue() == "a\x1b[2J\ufffdb\n"


@pytest.mark.parametrize(
    "pieces",
    [
        ["\x1b", "[31", "mred", "\x1b[0m"],
        ["a\r", "\nb"],
        ["👩", "\u200d", "👧", "❤", "\ufe0f"],
        ["\ud83d", "\ude00"],
        ["क", "\u094d", "\u200d", "ष"],
        ["x\x1b"],
        ["x\r"],
        ["", "\x07", ""],
    ],
)
def test_pieces_are_shown_as_the_whole_would_be(pieces: list[str]) -> None:
    assert streamed(pieces, Terminal()) == clean("".join(pieces))
    assert streamed(pieces, io.StringIO()) == repair("".join(pieces))[0]


@given(
    st.lists(st.text(st.sampled_from("ab 你\x1b[31m;\r\n\x07\u200b\u200d\ufe0f👩\u202e\ud83d\ude00\u0301"), max_size=6))
)
def test_no_split_of_a_stream_lets_anything_through(pieces: list[str]) -> None:
    shown = streamed(pieces, Terminal())
    assert not set(shown) & set("\x1b\x07\r\u200b\u202e\ud83d\ude00")
    streamed(pieces, io.StringIO()).encode()


def test_complaints_are_one_clean_line_and_one_of_advice(capsys: pytest.CaptureFixture[str]) -> None:
    complain(RateLimited("Too\nmany \x1b[2J", hint=""))
    complain("Plain", "Do\tthis")
    assert capsys.readouterr().err == "orca-tui: Too many ␛[2J\norca-tui: Plain\nDo this\n"


def test_times_are_shown_to_the_minute() -> None:
    assert local_time("2026-12-01T10:53:49.398188+00:00") == "2026-12-01 10:53"
    assert local_time("never\x1b") == "never␛"
