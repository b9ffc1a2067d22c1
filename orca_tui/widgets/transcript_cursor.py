"""The cursor of the transcript: which entry one is at, and which link or code in it; keys and mouse that move it.

The cursor is drawn while the transcript has the focus, by a mark left of its entry. It stays on its entry when entries
come or grow, and in view when one scrolls.
"""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from orca_tui.message_keys import message_bindings
from orca_tui.render.entry import Entry
from orca_tui.render.layout import EntryLayout
from orca_tui.render.ledger import Place
from orca_tui.render.palette import GUTTER
from orca_tui.render.selected import ROWS
from orca_tui.render.targets import Target, targets_of
from orca_tui.widgets.transcript_view import Marks, TranscriptView

FIRST, REST, CHOSEN = "❯ ", "┃ ", "█ "
"""Marks of the entry under the cursor: its first row, the others, rows of code that is chosen."""
STEP = 3
"""Rows by which a message that is higher than the view is scrolled through."""


class TranscriptCursor(TranscriptView):
    """A transcript with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="transcript.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="transcript.down"),
        Binding("pageup", "page_up", "Page up", show=False, id="transcript.page_up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="transcript.page_down"),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", show=False, id="transcript.half_up"),
        Binding("ctrl+d", "half_page(1)", "Half a page down", show=False, id="transcript.half_down"),
        Binding("home,g", "first", "To the beginning", show=False, id="transcript.home"),
        Binding("end,G", "last", "To the end", show=False, id="transcript.end"),
        Binding("tab", "tab(1)", "Next link or part of the screen", show=False, id="transcript.tab"),
        Binding("shift+tab", "tab(-1)", "Link or part before", show=False, id="transcript.back_tab"),
        *message_bindings(),
    ]

    class CursorMoved(Message, namespace="transcript"):
        """Another entry, link or code is under the cursor, or other keys make sense on it."""

    class LinkClicked(Message, namespace="transcript"):
        """A link was clicked or chosen. `url` is http or https; nothing is opened here."""

        def __init__(self, transcript: "TranscriptCursor", url: str) -> None:
            super().__init__()
            self.transcript = transcript
            self.url = url

        @property
        def control(self) -> "TranscriptCursor":
            """The transcript that sent it."""
            return self.transcript

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._cursor = -1
        """Index of the entry; -1 before the transcript was ever entered."""
        self._target: int | None = None
        """Which of the entry's targets is chosen."""
        self._found: tuple[EntryLayout, int, list[Target]] | None = None
        """The targets of one entry at one height."""

    @property
    def current(self) -> Entry | None:
        """The entry under the cursor, while the transcript has the focus."""
        items = self._ledger.items
        return items[self._cursor].whole() if self.has_focus and 0 <= self._cursor < len(items) else None

    @property
    def cursor(self) -> int:
        """Number of the entry that the cursor is on; -1 before there was one."""
        return self._cursor

    @property
    def target(self) -> Target | None:
        """The link or code of it that is chosen."""
        targets = self._targets() if self._target is not None and self.current is not None else []
        return targets[min(self._target or 0, len(targets) - 1)] if targets else None

    def target_count(self) -> tuple[int, int]:
        """Which target is chosen, from 1 on (0: none), and of how many."""
        targets = self._targets() if self.current is not None else []
        return (0 if self._target is None else min(self._target, len(targets) - 1) + 1), len(targets)

    # where it is

    def on_focus(self) -> None:
        """The cursor is where one looks."""
        first, last = self._seen()
        if not first <= self._cursor <= last:
            self._set_cursor(last)
        self.refresh()
        self.post_message(self.CursorMoved())

    def on_blur(self) -> None:
        """No cursor, no target."""
        self._target = None
        self.refresh()
        self.post_message(self.CursorMoved())

    def _set_cursor(self, index: int) -> None:
        index = max(0, min(index, len(self._ledger.items) - 1))
        if index != self._cursor or self._target is not None:
            self._cursor, self._target = index, None
            self.refresh()
            self.post_message(self.CursorMoved())

    def _stays(self, end: Place) -> bool:
        """What one is at is not pushed out of view, unless it is the newest."""
        return self.has_focus and 0 <= self._cursor < min(end.entry, len(self._ledger.items) - 1)

    def _shown(self) -> None:
        """Keep the cursor in view."""
        if self._cursor < 0 or not self.has_focus:
            return
        first, last = self._seen()
        if not first <= self._cursor <= last:
            self._set_cursor(min(max(self._cursor, first), last))

    def _reveal(self, index: int, *, end: bool = False) -> None:
        """Bring an entry into view with as little scrolling as will do; one that is too high by its beginning, or by
        its `end`."""
        rows = self._rows(index)
        above = self._ledger.row_of(Place(index, 0)) - self.scroll_offset.y
        below = above + rows - self.size.height
        if above < 0 or below > 0:
            by = above if above < 0 else min(above, below)
            if rows > self.size.height:
                by = below if end else above
            self._go(by)

    def _rows(self, index: int) -> int:
        """Rows that an entry needs; the empty one at its end is only needed by the last."""
        return self._ledger.lay(index).height - (index + 1 < len(self._ledger.items))

    def _go(self, rows: int) -> None:
        """Scroll by rows, real ones; the end is followed when it is reached."""
        if not rows or (rows > 0 and self._following):
            return
        self._follow(False)
        self._place = self._ledger.moved(self._place, rows)
        self._show()

    # keys

    def action_move(self, direction: int) -> None:
        """To the entry below (1) or above (-1), through one that is higher than the view by some rows at a time."""
        if not self._ledger.items:
            return
        height, rows = self.size.height, self._rows(self._cursor)
        above = self._ledger.row_of(Place(self._cursor, 0)) - self.scroll_offset.y
        hidden = above + rows - height if direction > 0 else -above
        if hidden > 0 and rows > height:
            self._go(direction * min(STEP, hidden))
            return
        index = self._cursor + direction
        if 0 <= index < len(self._ledger.items):
            self._set_cursor(index)
            self._reveal(index, end=direction < 0)

    def action_first(self) -> None:
        """To the first entry."""
        self.scroll_to(y=0, animate=False)
        self._set_cursor(0)

    def action_last(self) -> None:
        """To the last entry and the end, and follow it."""
        self._set_cursor(len(self._ledger.items) - 1)
        self.action_scroll_end()

    def action_page_up(self) -> None:
        """One page up; a row stays in view."""
        self._by(1 - self.size.height)

    def action_page_down(self) -> None:
        """One page down; a row stays in view."""
        self._by(self.size.height - 1)

    def action_half_page(self, direction: int) -> None:
        """Half a page up (-1) or down (1)."""
        self._by(direction * max(1, self.size.height // 2))

    def action_scroll_end(self) -> None:
        """To the end, and follow it."""
        if self.has_focus:
            self._set_cursor(len(self._ledger.items) - 1)
        self._follow(True)
        self._show()

    def _by(self, rows: int) -> None:
        """Scroll; the cursor goes along, and to the very end where there is no more to scroll."""
        before = self.scroll_offset.y
        self.scroll_to(y=before + rows, animate=False)
        first, last = self._seen()
        if self.scroll_offset.y == before:
            self._set_cursor(first if rows < 0 else last)

    # targets

    def _targets(self) -> list[Target]:
        layout = self._ledger.lay(self._cursor)
        kept = self._found
        if kept is None or kept[0] is not layout or kept[1] != layout.height:
            kept = self._found = (layout, layout.height, targets_of(layout))
        return kept[2]

    def step_target(self, direction: int, *, around: bool) -> bool:
        """Choose the next (1) or previous (-1) target. Tells whether there is one; `around`: the last leads to the
        first again."""
        size = len(self._targets()) if self.current is not None else 0
        at = self._target
        following = (0 if direction > 0 else size - 1) if at is None else min(at, size - 1) + direction
        if around and size:
            following %= size
        if not 0 <= following < size:
            return False
        self._target = following
        self._reveal_row(self._targets()[following].pieces[0].row)
        self.refresh()
        self.post_message(self.CursorMoved())
        return True

    def _reveal_row(self, row: int) -> None:
        """Bring a row of the entry under the cursor into view, with some around it."""
        at = self._ledger.row_of(Place(self._cursor, row)) - self.scroll_offset.y
        margin = min(3, self.size.height // 4)
        if at < margin:
            self._go(at - margin)
        elif at >= self.size.height - margin:
            self._go(at - self.size.height + margin + 1)

    # drawing

    def _marks(self, _first: int, _count: int) -> Marks:
        """What is chosen of the entry under the cursor."""
        if self.current is None:
            return {}
        marks: Marks = {}
        chosen, target = self._component("chosen"), self.target
        for piece in target.pieces if target is not None else ():
            if target is not None and (target.kind == "link" or piece == target.pieces[0]):
                spot = (piece.start + GUTTER, max(piece.end, piece.start + 1) + GUTTER, chosen)
                marks.setdefault(self._cursor * ROWS + piece.row, []).append(spot)
        return marks

    def _bar(self, index: int, at: int) -> str:
        """The mark left of the entry under the cursor, and the rows of code that is chosen."""
        if index != self._cursor or not self.has_focus:
            return ""
        target = self.target if self._target is not None else None
        if target is not None and target.kind == "code":
            pieces = target.pieces
            return CHOSEN if pieces[0].row <= at <= pieces[-1].row else REST
        return REST if at else FIRST
