import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.provider.sse import Event, SSEDecoder


def decode(raw: bytes, size: int) -> list[Event]:
    decoder = SSEDecoder()
    events = [event for start in range(0, len(raw), size) for event in decoder.feed(raw[start : start + size])]
    return events + decoder.finish()


SHAPES = {
    "plain": b"data: a\n\ndata: b\n\n",
    "crlf": b"data: a\r\n\r\ndata: b\r\n\r\n",
    "cr": b"data: a\r\rdata: b\r\r",
    "mixed": b"data: a\r\n\ndata: b\n\r\n",
    "no space": b"data:a\n\ndata:b\n\n",
    "comments": b": hi\n\ndata: a\n: keep-alive\n\n:\n\nid: 3\nretry: 5\ndata: b\n\n",
    "byte order mark": b"\xef\xbb\xbfdata: a\n\ndata: b\n\n",
    "no last blank line": b"data: a\n\ndata: b\n",
}


@pytest.mark.parametrize("raw", SHAPES.values(), ids=SHAPES.keys())
def test_every_legal_shape_gives_the_same_events_in_pieces_of_any_size(raw: bytes) -> None:
    for size in range(1, len(raw) + 1):
        assert decode(raw, size) == [Event("a"), Event("b")]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_of_one_event_are_joined_and_names_kept(size: int) -> None:
    assert decode(b"event: error\ndata: a\ndata: b\n\nerror: c\n\n", size) == [
        Event("a\nb", "error"),
        Event("c", "error"),
    ]


def test_an_event_cut_off_by_the_end_is_marked() -> None:
    assert decode(b"data: a\n\ndata: {", 3) == [Event("a"), Event("{", whole=False)]


def test_only_real_line_ends_end_a_line() -> None:
    odd = "a\u2028b\u2029c\x85d\x0be\x0cf"
    assert decode(f"data: {odd}\n\n".encode(), 1) == [Event(odd)]


def test_bytes_that_are_not_text_become_replacement_characters() -> None:
    assert decode(b"data: a\xff\x80b\n\n", 1) == [Event("a\ufffd\ufffdb")]


def test_a_bare_carriage_return_ends_an_event_without_waiting_for_more() -> None:
    assert SSEDecoder().feed(b"data: a\r\r") == [Event("a")]


@given(st.binary(max_size=200), st.integers(1, 20))
def test_any_bytes_decode_alike_in_pieces(raw: bytes, size: int) -> None:
    assert decode(raw, size) == decode(raw, max(len(raw), 1))
