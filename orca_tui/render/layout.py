"""One entry at one width, as rows: name, reasoning, text, note. It grows while its reply streams.

Text is taken in slices (`advance`), so that a megabyte in one piece does not stop the screen.
"""

from typing import Protocol

from orca_tui.render import frame
from orca_tui.render.cleaning import Cleaner
from orca_tui.render.entry import Entry
from orca_tui.render.line import Line, Span
from orca_tui.render.parser import References, find_references
from orca_tui.render.plain import PlainStream
from orca_tui.render.stream import MarkdownStream

SLICE = 3_000
SLICE_LINES = 100
"""Characters and lines that are laid out at a time."""


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


class _Part:
    """A text of the entry: what is laid out of it, and what waits."""

    def __init__(self, rows: Rows, text: str) -> None:
        self.rows = rows
        self.closed = False
        self._text, self._at = text, 0
        """What waits, from `_at` on; more of it is in `_more`."""
        self._more: list[str] = []
        self._ended = False
        self._cleaner = Cleaner()

    @property
    def incomplete(self) -> bool:
        return self._waits or (self._ended and not self.closed)

    @property
    def busy(self) -> bool:
        return self.incomplete or self.rows.busy

    @property
    def _waits(self) -> bool:
        return self._at < len(self._text) or bool(self._more)

    def add(self, text: str) -> None:
        self._more.append(text)

    def end(self) -> None:
        self._ended = True

    def advance(self) -> None:
        if not self.incomplete:
            self.rows.work()
            return
        settled, provisional = self._cleaner.add(self._slice())
        if self._ended and not self._waits:
            self.rows.update(settled + self._cleaner.end())
            first = self.rows.changed
            self.rows.close()
            self.rows.changed = min(first, self.rows.changed)
            self.closed = True
        else:
            self.rows.update(settled, provisional)

    def _slice(self) -> str:
        """The next text to lay out."""
        if self._more and len(self._text) - self._at < SLICE:
            self._text, self._at, self._more = "".join([self._text[self._at :], *self._more]), 0, []
        start = self._at
        most = min(start + SLICE, len(self._text))
        for _line in range(SLICE_LINES):
            stop = self._text.find("\n", self._at, most)
            self._at = most if stop < 0 else stop + 1
            if self._at == most:
                break
        return self._text[start : self._at]


class EntryLayout:
    """The rows of one entry."""

    def __init__(self, entry: Entry, width: int, *, unfolded: bool = False) -> None:
        self.entry = entry
        self.width = width
        self.unfolded = unfolded
        self.changed = 0
        """First row that the last call may have changed."""
        self._count = frame.WordCount()
        self._reasoning_text = [entry.reasoning] if entry.reasoning else []
        self._references: References = {}
        self._body: _Part | None = None
        self._thought: _Part | None = None
        self._gap: list[Line] = []
        """The empty row between unfolded reasoning and the text."""
        self._foot: list[Line] = []
        if entry.kind in ("notice", "error"):
            self._head, self._fold = frame.box(entry, width), []
            return
        self._head = frame.head(entry, width)
        self._count.add(entry.reasoning)
        self._fold = self._folded()
        self._unfold()
        self._body = _Part(self._rows(entry), entry.text)
        if entry.state != "streaming":
            self._end()
        self._reframe()

    @property
    def busy(self) -> bool:
        """Whether `advance` has something to do."""
        return any(part is not None and part.busy for part in (self._thought, self._body))

    @property
    def incomplete(self) -> bool:
        """Whether text waits to be laid out; what else `advance` does moves no row."""
        return any(part is not None and part.incomplete for part in (self._thought, self._body))

    @property
    def height(self) -> int:
        """Rows in all, with the empty one that ends the entry."""
        return self._body_top + (self._body.rows.height if self._body else 0) + len(self._foot)

    @property
    def _body_top(self) -> int:
        thought = self._thought.rows.height if self._thought else 0
        return len(self._head) + len(self._fold) + thought + len(self._gap)

    def row(self, index: int) -> Line:
        """One row; `index` is below `height`."""
        for lines in (self._head, self._fold):
            if index < len(lines):
                return lines[index]
            index -= len(lines)
        if self._thought is not None:
            if index < self._thought.rows.height:
                return self._thought.rows.row(index)
            index -= self._thought.rows.height + len(self._gap)
            if index < 0:
                return self._gap[0]
        if self._body is not None:
            if index < self._body.rows.height:
                return self._body.rows.row(index)
            index -= self._body.rows.height
        return self._foot[index]

    def advance(self) -> None:
        """Lay out the next slice of what waits."""
        first = self.height
        if self._thought is not None and self._thought.busy:
            self._thought.advance()
            first = len(self._head) + len(self._fold) + self._thought.rows.changed
        if self._body is not None and self._body.busy:
            top = self._body_top
            self._body.advance()
            first = min(first, top + self._body.rows.changed)
        if self._fold or self._reasoning_text:
            fold = self._folded()
            if fold != self._fold:
                self._fold, first = fold, len(self._head)
        self.changed = min(first, self.height - 1)
        self._reframe()

    def feed(self, text: str) -> None:
        """More of the reply."""
        if self._body is not None:
            self._body.add(text)

    def feed_reasoning(self, text: str) -> None:
        """More of the reasoning."""
        self._count.add(text)
        self._reasoning_text.append(text)
        if self._thought is not None:
            self._thought.add(text)

    def toggle(self) -> None:
        """Fold or unfold the reasoning."""
        self.unfolded = not self.unfolded
        self._unfold()
        self._fold = self._folded()
        self._reframe()
        self.changed = len(self._head)

    def finish(self, entry: Entry) -> bool:
        """The reply is over; `entry` has the same text. False when it must be laid out anew instead: it has reference
        definitions that its earlier parts could not know."""
        self.entry = entry
        if "]:" in entry.text and find_references(entry.text) != self._references:
            return False
        self._end()
        self._reframe()
        self.changed = max(0, self.height - len(self._foot))
        return True

    def _rows(self, entry: Entry) -> Rows:
        if entry.kind == "assistant":
            self._references = find_references(entry.text)
            return MarkdownStream(self.width, self._references)
        return PlainStream(self.width, style=entry.kind, fences=True)

    def _end(self) -> None:
        for part in (self._thought, self._body):
            if part is not None:
                part.end()

    def _folded(self) -> list[Line]:
        if not self._reasoning_text:
            return []
        return frame.fold_row(self._count.words, self.width, unfolded=self.unfolded)

    def _unfold(self) -> None:
        self._thought = None
        if self.unfolded and self._reasoning_text:
            lead = Span("│ ", "reasoning-bar")
            rows = PlainStream(self.width, style="reasoning", lead=lead)
            self._thought = _Part(rows, "".join(self._reasoning_text))
            if self.entry.state != "streaming":
                self._thought.end()

    def _reframe(self) -> None:
        written = self._body is not None and self._body.rows.height > 0
        self._gap = [Line(())] if written and self._thought is not None else []
        empty = not (written or self._fold)
        self._foot = frame.foot(self.entry, self.width, empty=empty)


def lay_out(entry: Entry, width: int, *, unfolded: bool = False) -> EntryLayout:
    """An entry with all its rows, however long it takes."""
    layout = EntryLayout(entry, width, unfolded=unfolded)
    while layout.busy:
        layout.advance()
    return layout


def estimated_height(entry: Entry, width: int) -> int:
    """About how many rows an entry takes; costs next to nothing."""
    width = max(width, 1)
    text = entry.text
    return 3 + text.count("\n") + len(text) // width + (1 if entry.reasoning else 0) + (2 if entry.note else 0)
