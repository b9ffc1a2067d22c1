"""All entries of a transcript: which are laid out, how high each is or about is, and places that survive changes.

A place (`Place`) is an entry and a row in it. Entries are laid out when somebody looks at them; only so many layouts
are kept, heights stay. No widget in here.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import thread_time
from typing import NamedTuple

from orca_tui.render.entry import Entry
from orca_tui.render.folding import USUAL, View
from orca_tui.render.heights import Heights
from orca_tui.render.layout import EntryLayout, estimated_height
from orca_tui.render.line import Line

KEPT_LAYOUTS = 300
AT_ONCE = 64_000
"""Characters of an entry that is laid out in one go when it comes into view; a longer one grows in slices."""
PATIENCE = 0.05
"""Seconds of work after which the rest of it grows in slices as well."""


class Place(NamedTuple):
    """A row of the transcript that does not move when rows above it come or go."""

    entry: int
    row: int


@dataclass(slots=True)
class Item:
    """One entry and what is known of it."""

    entry: Entry
    layout: EntryLayout | None = None
    view: View = USUAL
    more: list[str] | None = None
    """Text that has streamed in since the entry came. No list until then: thousands of them keep the collector busy."""
    more_reasoning: list[str] | None = None

    def whole(self) -> Entry:
        """The entry with all its text; what has streamed in becomes part of it."""
        if self.more or self.more_reasoning:
            text = "".join([self.entry.text, *(self.more or ())])
            reasoning = "".join([self.entry.reasoning, *(self.more_reasoning or ())])
            self.entry = replace(self.entry, text=text, reasoning=reasoning)
            self.more = self.more_reasoning = None
        return self.entry

    def grow(self, text: str, *, reasoning: bool) -> None:
        """Take more text."""
        if reasoning:
            self.more_reasoning = self.more_reasoning or []
            self.more_reasoning.append(text)
        else:
            self.more = self.more or []
            self.more.append(text)


class Ledger:
    """The entries, at one width."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.heights = Heights()
        self.width = 0
        """Cells for text; 0 until it is known."""
        self.growing: set[int] = set()
        """Entries that stream, or whose layout is not complete."""
        self._index: dict[str, int] = {}
        self._recent: OrderedDict[int, None] = OrderedDict()

    def reset(self, entries: Sequence[Entry]) -> None:
        """Take other entries. Of two with one key the later one is reached by it."""
        self.items = [Item(entry) for entry in entries]
        if entries and entries[-1].kind == "assistant":
            self.items[-1].view = View(text=True)
        self._index = {entry.key: index for index, entry in enumerate(entries)}
        self.growing = {index for index, entry in enumerate(entries) if entry.state == "streaming"}
        self.set_width(self.width)

    def set_width(self, width: int) -> None:
        """Forget all layouts; heights are estimated again."""
        self.width = width
        self._recent.clear()
        for item in self.items:
            item.layout = None
        self.heights.reset([estimated_height(item.whole(), width, item.view) for item in self.items])

    def find(self, key: str) -> int | None:
        """Index of the entry with a key."""
        return self._index.get(key)

    def append(self, entry: Entry) -> int:
        """Add an entry at the end; its index."""
        item = Item(entry, view=View(text=entry.state == "streaming"))
        self.items.append(item)
        self.heights.append(estimated_height(entry, self.width, item.view))
        index = self._index[entry.key] = len(self.items) - 1
        if entry.state == "streaming":
            self.growing.add(index)
        return index

    def cut(self, length: int) -> list[Item]:
        """Keep the first `length` entries; gives the others."""
        gone = self.items[length:]
        for index, item in enumerate(gone, length):
            if self._index.get(item.entry.key) == index:
                del self._index[item.entry.key]
            self._recent.pop(index, None)
            self.growing.discard(index)
        del self.items[length:]
        self.heights.cut(length)
        return gone

    def replace(self, index: int, entry: Entry) -> None:
        """Put another entry, which may have another key, in a place."""
        if self._index.get(self.items[index].entry.key) == index:
            del self._index[self.items[index].entry.key]
        self._index[entry.key] = index
        item = self.items[index] = Item(entry, view=self.items[index].view)
        self._recent.pop(index, None)
        self.heights.set(index, estimated_height(entry, self.width, item.view))
        if entry.state == "streaming":
            self.growing.add(index)

    def lay(self, index: int) -> EntryLayout:
        """The layout of an entry; made when there is none. A very long text may not be complete yet (`busy`)."""
        item = self.items[index]
        if item.layout is None:
            item.layout = EntryLayout(item.whole(), self.width, item.view)
            started = thread_time()
            while item.layout.incomplete:
                item.layout.advance()
                if len(item.entry.text) > AT_ONCE or thread_time() - started > PATIENCE:
                    break
            if item.layout.busy:
                self.growing.add(index)
            self._forget()
        self._recent[index] = None
        self._recent.move_to_end(index)
        self.heights.set(index, item.layout.height)
        return item.layout

    def advance(self) -> list[int]:
        """Lay out a slice of every growing entry that has text waiting; their indexes."""
        advanced: list[int] = []
        for index in list(self.growing):
            item = self.items[index]
            layout = item.layout
            if layout is not None and layout.busy:
                layout.advance()
                self.heights.set(index, layout.height)
                advanced.append(index)
            elif item.entry.state != "streaming":
                self.growing.discard(index)
        return advanced

    def grow(self, key: str, text: str, *, reasoning: bool = False) -> bool:
        """More text of a streaming entry. False when there is no such entry, or nothing to add."""
        index = self._index.get(key)
        if index is None or not text or self.items[index].entry.state != "streaming":
            return False
        item = self.items[index]
        item.grow(text, reasoning=reasoning)
        if item.layout is not None:
            (item.layout.feed_reasoning if reasoning else item.layout.feed)(text)
        self.growing.add(index)
        return True

    def finish(self, index: int, entry: Entry) -> None:
        """A streaming entry is over; `entry` is the whole of it. Its rows are complete when this returns, unless very
        much text still waits."""
        item = self.items[index]
        same, item.entry = item.whole().text == entry.text, entry
        item.view = item.view._replace(text=True)
        if item.layout is None:
            self.heights.set(index, estimated_height(entry, self.width, item.view))
        elif not same or not item.layout.finish(entry):
            item.layout = None
            self._recent.pop(index, None)
        else:
            item.layout.advance()
            self.heights.set(index, item.layout.height)

    def look(self, index: int, view: View) -> None:
        """Look at an entry in another way. A very long text may not be complete yet."""
        item = self.items[index]
        before, item.view = item.view, view
        if item.layout is not None and before == view._replace(thought=before.thought):
            if before != view:
                item.layout.toggle()
        else:
            item.layout = None
            self._recent.pop(index, None)
        layout = self.lay(index)
        started = thread_time()
        while layout.incomplete and thread_time() - started < PATIENCE:
            layout.advance()
        if layout.busy:
            self.growing.add(index)
        self.heights.set(index, layout.height)

    def whole_rows(self, index: int) -> EntryLayout:
        """The layout of an entry with all its rows, however long it takes."""
        layout = self.lay(index)
        while layout.incomplete:
            layout.advance()
        self.heights.set(index, layout.height)
        return layout

    def first_changed(self, index: int) -> int:
        """First row of the whole that the last `advance` of an entry may have changed."""
        layout = self.items[index].layout
        return self.heights.top(index) + (layout.changed if layout is not None else 0)

    def kind(self, index: int, row: int) -> str:
        """The kind of the entry that a row belongs to; empty for the empty row that ends it."""
        return self.items[index].entry.kind if row + 1 < self.heights[index] else ""

    def rescaled(self, place: Place, width: int) -> Place:
        """Change the width; the same place, as nearly as can be told."""
        if not self.items:
            self.set_width(width)
            return Place(0, 0)
        part = place.row / max(1, self.heights[place.entry])
        self.set_width(width)
        return Place(place.entry, int(part * self.lay(place.entry).height))

    def _forget(self) -> None:
        """Drop the layouts that were not looked at for longest; heights are exact and stay."""
        kept = len(self._recent)
        for index in list(self._recent):
            if kept < KEPT_LAYOUTS:
                return
            item = self.items[index]
            if item.layout is None or not item.layout.busy:
                item.layout = None
                del self._recent[index]
                kept -= 1

    # places

    def place(self, row: int) -> Place:
        """The place at a row of the whole."""
        return Place(*self.heights.find(row))

    def row_of(self, place: Place) -> int:
        """The row of the whole at a place."""
        return self.heights.top(place.entry) + place.row

    def moved(self, place: Place, rows: int) -> Place:
        """The place some rows further down (or up), counted in real heights: what lies between is laid out."""
        if not self.items:
            return Place(0, 0)
        index, row = place.entry, place.row + rows
        while row < 0 and index > 0:
            index -= 1
            row += self.lay(index).height
        while row >= (height := self.lay(index).height):
            if index + 1 >= len(self.items):
                return Place(index, height - 1)
            row -= height
            index += 1
        return Place(index, max(0, row))

    def end_place(self, rows: int) -> Place:
        """The place from which `rows` rows reach to the end."""
        if not self.items:
            return Place(0, 0)
        last = len(self.items) - 1
        return self.moved(Place(last, self.lay(last).height - 1), 1 - rows)

    def shown(self, place: Place, rows: int) -> tuple[Place, bool]:
        """Lay out `rows` rows from a place on. The place, made valid, and whether those rows reach to the end."""
        if not self.items:
            return Place(0, 0), True
        place = self.moved(Place(min(place.entry, len(self.items) - 1), place.row), 0)
        end = self.moved(place, rows - 1)
        last = len(self.items) - 1
        return place, end == Place(last, self.heights[last] - 1)

    def rows(self, first: int, count: int) -> Iterator[tuple[int, int, Line]]:
        """Index, row in the entry and line of `count` rows of the whole from `first` on, as far as there are any."""
        if not self.items or first >= self.heights.total:
            return
        index, row = self.heights.find(first)
        while count > 0 and index < len(self.items):
            layout = self.lay(index)
            for at in range(row, min(layout.height, row + count)):
                yield index, at, layout.row(at)
            count -= max(0, layout.height - row)
            index, row = index + 1, 0
