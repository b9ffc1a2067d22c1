"""Splits inline reasoning from the reply: `<think>…</think>`, and only at the very start of a reply."""

from typing import Literal

OPEN, CLOSE = "<think>", "</think>"
MAX_LEAD = 64
"""Blank characters held back at the start while it is open whether a tag follows."""

Piece = tuple[Literal["text", "reasoning"], str]


class ThinkSplitter:
    """Feeds on text in pieces of any size and tells reasoning from reply.

    Anywhere but at the start, a tag is plain text. Nothing but the two tags themselves is taken away: blanks around
    them go to the reasoning, and what follows an opening tag that is never closed is reasoning to the end.
    """

    def __init__(self) -> None:
        self._state: Literal["start", "inside", "after", "text"] = "start"
        self._held = ""

    def feed(self, text: str) -> list[Piece]:
        """What can be told now; a tail that may turn out to be a tag is held back."""
        if self._state == "text":
            return [("text", text)] if text else []
        pieces: list[Piece] = []
        self._held += text
        if self._state == "start":
            self._start(pieces)
        if self._state == "inside":
            self._inside(pieces)
        if self._state == "after":
            self._after(pieces)
        return pieces

    def finish(self) -> list[Piece]:
        """What was held back, at the end of the stream."""
        held, self._held = self._held, ""
        kind: Literal["text", "reasoning"] = "reasoning" if self._state in ("inside", "after") else "text"
        self._state = "text"
        return [(kind, held)] if held else []

    def _start(self, pieces: list[Piece]) -> None:
        body = self._held.lstrip()
        lead = len(self._held) - len(body)
        if body.startswith(OPEN) and lead <= MAX_LEAD:
            self._state = "inside"
            self._held = self._held[:lead] + body[len(OPEN) :]
        elif lead > MAX_LEAD or not OPEN.startswith(body):
            self._state = "text"
            self._emit(pieces, "text", len(self._held))

    def _inside(self, pieces: list[Piece]) -> None:
        end = self._held.find(CLOSE)
        if end < 0:
            self._emit(pieces, "reasoning", len(self._held) - _overlap(self._held, CLOSE))
            return
        self._emit(pieces, "reasoning", end)
        self._held = self._held[len(CLOSE) :]
        self._state = "after"

    def _after(self, pieces: list[Piece]) -> None:
        body = self._held.lstrip()
        self._emit(pieces, "reasoning", len(self._held) - len(body))
        if body:
            self._state = "text"
            self._emit(pieces, "text", len(body))

    def _emit(self, pieces: list[Piece], kind: Literal["text", "reasoning"], length: int) -> None:
        if length > 0:
            pieces.append((kind, self._held[:length]))
            self._held = self._held[length:]


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of `text` that begins `tag`."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
