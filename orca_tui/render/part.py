"""One text of an entry: what is laid out of it, and what waits. It is taken in slices, so that a megabyte in one piece
does not stop the screen.
"""

from time import thread_time
from typing import Protocol

from orca_tui.render.cleaning import Cleaner
from orca_tui.render.line import Line

SLICE = 3_000
SLICE_LINES = 100
"""Characters and lines that are laid out at a time, at most."""
LEAST = 8
"""Into how many parts a slice is divided when text is dense and slices turn out slow."""
SLOW, QUICK = 0.01, 0.003
"""Seconds of work for a slice from which the next is half as long, and below which it is twice as long."""


class Rows(Protocol):
    """A growing text as rows (`MarkdownStream`, `PlainStream`)."""

    changed: int

    @property
    def busy(self) -> bool:
        """Whether `work` has something to do."""
        ...

    def work(self) -> None:
        """Do some of what may be done later."""
        ...

    @property
    def height(self) -> int:
        """Rows in all."""
        ...

    def row(self, index: int) -> Line:
        """One row."""
        ...

    def update(self, text: str, provisional: str = "") -> None:
        """Take more text."""
        ...

    def close(self) -> None:
        """The text is whole."""
        ...


class Part:
    """A text that may grow."""

    def __init__(self, rows: Rows, text: str) -> None:
        self.rows = rows
        self.closed = False
        self._text, self._at = text, 0
        """What waits, from `_at` on; more of it is in `_more`."""
        self._more: list[str] = []
        self._ended = False
        self._cleaner = Cleaner()
        self._divided = 1
        """How many times shorter slices are than they may be."""

    @property
    def incomplete(self) -> bool:
        """Whether text waits to be laid out."""
        return self._waits or (self._ended and not self.closed)

    @property
    def busy(self) -> bool:
        """Whether `advance` has something to do."""
        return self.incomplete or self.rows.busy

    @property
    def _waits(self) -> bool:
        return self._at < len(self._text) or bool(self._more)

    def add(self, text: str) -> None:
        """More of it."""
        self._more.append(text)

    def end(self) -> None:
        """No more comes."""
        self._ended = True

    def advance(self) -> None:
        """Lay out the next slice."""
        if not self.incomplete:
            self.rows.work()
            return
        started = thread_time()
        settled, provisional = self._cleaner.add(self._slice())
        if self._ended and not self._waits:
            self.rows.update(settled + self._cleaner.end())
            first = self.rows.changed
            self.rows.close()
            self.rows.changed = min(first, self.rows.changed)
            self.closed = True
        else:
            self.rows.update(settled, provisional)
        spent = thread_time() - started
        if spent > SLOW:
            self._divided = min(LEAST, 2 * self._divided)
        elif spent < QUICK:
            self._divided = max(1, self._divided // 2)

    def _slice(self) -> str:
        """The next text to lay out."""
        if self._more and len(self._text) - self._at < SLICE:
            self._text, self._at, self._more = "".join([self._text[self._at :], *self._more]), 0, []
        start = self._at
        most = min(start + SLICE // self._divided, len(self._text))
        for _line in range(SLICE_LINES // self._divided):
            stop = self._text.find("\n", self._at, most)
            self._at = most if stop < 0 else stop + 1
            if self._at == most:
                break
        return self._text[start : self._at]
