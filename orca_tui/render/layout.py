"""One entry at one width, as rows: name, reasoning, text, note. It grows while its reply streams.

Text is taken in slices (`advance`), so that a megabyte in one piece does not stop the screen.
"""

from orca_tui.render import folding, frame
from orca_tui.render.call import call_row
from orca_tui.render.entry import Entry
from orca_tui.render.folding import USUAL, View
from orca_tui.render.line import Line, Span
from orca_tui.render.parser import References, find_references
from orca_tui.render.part import Part, Rows
from orca_tui.render.plain import PlainStream
from orca_tui.render.stream import MarkdownStream

MAY_FOLD = min(longest for longest, _kept in folding.LIMITS.values())
"""Characters that a text has at least which is folded."""


class EntryLayout:
    """The rows of one entry."""

    def __init__(self, entry: Entry, width: int, view: View = USUAL) -> None:
        self.entry = entry
        self.width = width
        self.view = view
        self.changed = 0
        """First row that the last call may have changed."""
        self._count = frame.WordCount()
        self._reasoning_text = [entry.reasoning] if entry.reasoning else []
        self._references: References = {}
        self._body: Part | None = None
        self._thought: Part | None = None
        self._gap: list[Line] = []
        """The empty row between unfolded reasoning and the text."""
        self._foot: list[Line] = []
        self._text = folding.Body("", "", False)
        if entry.kind in ("notice", "error"):
            self._head, self._fold = frame.box(entry, width), []
            return
        self._text = folding.body_of(entry, view)
        self._head = self._heading()
        self._count.add(entry.reasoning)
        self._fold = self._folded()
        self._unfold()
        self._body = Part(self._rows(entry), self._text.shown)
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
    def head_height(self) -> int:
        """Rows that tell who speaks; 0 for a remark or a call, which are all text."""
        return 0 if self._body is None or self.entry.kind == "tool" else len(self._head)

    @property
    def foldable(self) -> bool:
        """Whether there is something to fold or unfold."""
        return bool(self._fold) or self._text.is_long

    @property
    def all_open(self) -> bool:
        """Whether nothing is folded."""
        return (self.view.thought or not self._fold) and (self.view.text or not self._text.is_long)

    @property
    def hidden(self) -> str:
        """Text that is folded away."""
        thought = "" if self.view.thought else "".join(self._reasoning_text)
        return "\n".join(filter(None, (thought, self._text.hidden)))

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
        self.view = self.view._replace(thought=not self.view.thought)
        self._unfold()
        self._fold = self._folded()
        self._reframe()
        self.changed = len(self._head)

    def finish(self, entry: Entry) -> bool:
        """The reply is over; `entry` has the same text. False when it must be laid out anew instead: it has reference
        definitions that its earlier parts could not know."""
        self.entry = entry
        markdown = isinstance(self._body and self._body.rows, MarkdownStream)
        if markdown and "]:" in entry.text and find_references(entry.text) != self._references:
            return False
        self.view = self.view._replace(text=True)
        self._text = folding.body_of(entry, self.view)
        self._end()
        self._reframe()
        self.changed = max(0, self.height - len(self._foot))
        return True

    def _heading(self) -> list[Line]:
        if self.entry.kind != "tool":
            return frame.head(self.entry, self.width, raw=self.view.raw)
        sign = "" if not self._text.is_long else folding.UNFOLDED if self.view.text else folding.FOLDED
        return call_row(self.entry, self.width, sign)

    def _rows(self, entry: Entry) -> Rows:
        if self.view.raw:
            return PlainStream(self.width, style=entry.kind)
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
        return folding.reasoning_row(self._count.words, self.width, unfolded=self.view.thought)

    def _unfold(self) -> None:
        self._thought = None
        if self.view.thought and self._reasoning_text:
            lead = Span("│ ", "reasoning-bar")
            rows = PlainStream(self.width, style="reasoning", lead=lead)
            self._thought = Part(rows, "".join(self._reasoning_text))
            if self.entry.state != "streaming":
                self._thought.end()

    def _reframe(self) -> None:
        written = self._body is not None and self._body.rows.height > 0
        self._gap = [Line(())] if written and self._thought is not None else []
        empty = not (written or self._fold)
        more = folding.more_row(self._text, self.width) if self.entry.kind != "tool" else []
        self._foot = [*more, *frame.foot(self.entry, self.width, empty=empty)]


def lay_out(entry: Entry, width: int, view: View = USUAL) -> EntryLayout:
    """An entry with all its rows, however long it takes."""
    layout = EntryLayout(entry, width, view)
    while layout.busy:
        layout.advance()
    return layout


def estimated_height(entry: Entry, width: int, view: View = USUAL) -> int:
    """About how many rows an entry takes; costs next to nothing."""
    width = max(width, 1)
    text, end = entry.text, len(entry.text)
    if entry.kind == "tool" and not view.text:
        return 2
    if not view.text and end > MAY_FOLD:
        end = folding.fold_end(entry) or end
    rows = text.count("\n", 0, end) + end // width
    return 3 + rows + (1 if entry.reasoning else 0) + (2 if entry.note else 0)
