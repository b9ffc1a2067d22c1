"""Search in the transcript: what is found is marked in every row, one place at a time is gone to, folded or not."""

from collections.abc import Sequence

from textual.message import Message

from orca_tui.render.ledger import Place
from orca_tui.render.line import Line
from orca_tui.render.palette import GUTTER
from orca_tui.render.search import Search
from orca_tui.render.selected import ROWS
from orca_tui.widgets.transcript_deeds import TranscriptDeeds
from orca_tui.widgets.transcript_view import Marks


class TranscriptSearch(TranscriptDeeds):
    """A transcript that can be searched."""

    class Searched(Message, namespace="transcript"):
        """The search is at another place, or at none."""

        def __init__(self, position: int, total: int) -> None:
            super().__init__()
            self.position = position
            """From 1 on; 0 when it is at none."""
            self.total = total

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._search = Search(self._ledger)

    @property
    def searching(self) -> bool:
        """Whether something is searched for."""
        return bool(self._search.terms)

    @property
    def found(self) -> tuple[int, int]:
        """Which place the search is at, from 1 on (0: none), and how many there are."""
        return self._search.position, self._search.total

    def highlight(self, terms: Sequence[str]) -> int:
        """Mark all places of any of the terms, upper and lower case alike; go nowhere. No terms: no marks.

        Tells how many places there are, folded ones too.
        """
        self._search.look_for(terms)
        self.refresh()
        self._tell()
        return self._search.total

    @property
    def sought(self) -> str:
        """What is searched for, on one line."""
        return " ".join(self._search.terms.words)

    def search(self, text: str, *, start: int | None = None) -> bool:
        """Mark `text`, and go to the first place at or below the cursor, or entry number `start`. Tells whether there
        is one."""
        self.highlight([text])
        if start is not None and start >= 0:
            self._cursor = min(start, len(self._ledger.items) - 1)
        return self.next_hit(1)

    def next_hit(self, direction: int) -> bool:
        """Go to the next (1) or previous (-1) place, around the end. Tells whether there is one."""
        first, last = self._seen()
        found = self._search.step(direction, self._cursor if first <= self._cursor <= last else first)
        if found:
            self._show_hit()
        self.refresh()
        self._tell()
        return found

    def jump_to(self, message_id: int | str, terms: Sequence[str] = ()) -> bool:
        """Go to a message: to the first place of the terms in it, which are marked, else to its beginning.

        The cursor is on it. Tells whether the message is here.
        """
        index = self._ledger.find(str(message_id))
        if index is None:
            return False
        self.highlight(terms)
        if terms and self._search.enter(index):
            self._show_hit()
        else:
            self._cursor, self._target = index, None
            self._follow(False)
            self._place = Place(index, 0)
            self._show()
        self._tell()
        self.post_message(self.CursorMoved())
        return True

    def end_search(self) -> bool:
        """No marks any more; the view stays. Tells whether there was a search."""
        had = self.searching
        if had:
            self.highlight(())
        return had

    def action_deed(self, name: str) -> None:
        """Keys of the search; the others are the entry's."""
        if name in ("next_hit", "previous_hit") and self.searching:
            self.next_hit(1 if name == "next_hit" else -1)
        elif name in ("next_hit", "previous_hit"):
            super().action_deed("search")
        elif name == "leave_search":
            self.end_search()
        else:
            super().action_deed(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a search the key that ends it is free for others."""
        if action == "deed" and parameters[0] == "leave_search":
            return self.searching
        return super().check_action(action, parameters)

    def possible(self) -> list[str]:
        """Keys of the search come first while there is one."""
        found = super().possible()
        return ["next_hit", "previous_hit", "leave_search", *found] if self.searching and found else found

    def _tell(self) -> None:
        self.post_message(self.Searched(*self.found) if self.searching else self.Searched(0, 0))

    def _show_hit(self) -> None:
        """Bring the place into view, about a third from the top when it is not, and the cursor with it."""
        spot, hit = self._search.spot, self._search.hit
        if spot is None or not hit:
            return
        self._unselect()
        self._cursor, self._target = spot.entry, None
        at = self._ledger.row_of(Place(spot.entry, hit[0].row)) - self.scroll_offset.y
        if not 0 <= at < self.size.height - 1:
            self._follow(False)
            self._place = self._ledger.moved(Place(spot.entry, hit[0].row), -(self.size.height // 3))
        self._show()
        self.post_message(self.CursorMoved())

    def _entries_changed(self) -> None:
        """Other entries, or more of them."""
        self._search.changed()
        if self.searching:
            self._tell()

    def _relaid(self) -> None:
        """Places are in other rows."""
        self._search.locate()

    def _marks(self, first: int, count: int) -> Marks:
        """All places in view; the one that the search is at stands out."""
        marks = super()._marks(first, count)
        if not self.searching:
            return marks
        plain, current = self._component("hit"), self._component("hit-current")
        for index, rows in self._rows_around(first, count):
            for hit in self._search.terms.find([line for _at, line in rows], rows[0][0]):
                for piece in hit:
                    spot = (piece.start + GUTTER, piece.end + GUTTER, plain)
                    marks.setdefault(index * ROWS + piece.row, []).append(spot)
        if self._search.spot is not None:
            for piece in self._search.hit:
                spot = (piece.start + GUTTER, piece.end + GUTTER, current)
                marks.setdefault(self._search.spot.entry * ROWS + piece.row, []).append(spot)
        return marks

    def _rows_around(self, first: int, count: int) -> list[tuple[int, list[tuple[int, Line]]]]:
        """Rows of the view by entry, without names, and one more on either side: a place may be in two rows."""
        found: dict[int, list[tuple[int, Line]]] = {}
        top = self.scroll_offset.y + first
        for index, at, line in self._ledger.rows(max(0, top - 1), count + 1 + min(top, 1)):
            if at >= self._ledger.lay(index).head_height:
                found.setdefault(index, []).append((at, line))
        return list(found.items())
