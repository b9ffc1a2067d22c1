"""Long-term memories as lines: in columns where there is room, else two lines each; with marks and a filter."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message

from memory.clock import SystemClock
from memory.text import label
from memory.types import LongTermMemory
from orca_tui.figures import age, count
from orca_tui.i18n import _
from orca_tui.memory_keys import memory_bindings
from orca_tui.memory_rows import MemoryRow, Order, in_order
from orca_tui.messages import DeedAsked
from orca_tui.widgets.budget_bar import stacked_bar
from orca_tui.widgets.filter_list import FilterList
from orca_tui.widgets.line_list import Row, split_line, wrapped_rows

COLUMNS_FROM = 100
"""Cells from which each memory is one line with columns."""
HEAT_CELLS = 5
SIGNS = {"active": " ", "expired": "⊘", "pending": "?", "archived": "▫", "trashed": "✕", "superseded": "↻"}
PINNED = "◆"
WIDTHS = (("branch", 20), ("type", 11), ("age", 9), ("use", 6), ("heat", HEAT_CELLS + 6), ("tokens", 8))
"""Cells of the columns after the text."""
LEFT = 4
"""Cells of mark and sign."""


class MemoryList(FilterList):
    """The list of one status. What is marked and hidden by the filter is not acted upon."""

    BINDINGS = memory_bindings(
        "mark", "mark_all", "trash", "archive", "pin", "edit", "promote", "demote", "merge", "accept", "reject",
        "restore", "erase", "undo", "undo_this", "rollback", "source", "sort", "turn", "next", "previous",
    )  # fmt: skip

    ENTER_KEEPS = True

    @dataclass
    class Chosen(Message):
        """A memory is to be looked at."""

        id: int

    class Changed(Message):
        """Cursor, marks, filter or order are others."""

    def __init__(self, *, id: str | None = None, now: Callable[[], str] | None = None) -> None:  # noqa: A002
        """`now` tells the time that ages are reckoned from (default: the system clock)."""
        super().__init__(id=id)
        self._now = now or SystemClock().now
        self._moment = ""
        self._items: Sequence[MemoryRow] = ()
        self._searched: dict[int, str] = {}
        """What a filter looks at, by id; filled at the first."""
        self._found: dict[int, MemoryRow] = {}
        self._marks: set[int] = set()
        self._empty = ""
        self.order: Order = "age"
        self.turned = False

    def show(self, rows: Sequence[MemoryRow], empty: str) -> None:
        """Show these; `empty` teaches when there is none. Marks on what is not there any more go."""
        self._items, self._empty = rows, empty
        self._searched.clear()
        self._marks &= {row.memory.id for row in rows}
        self._moment = self._now()
        self.rebuild()

    def sort_by(self, order: Order, *, turned: bool = False) -> None:
        """Put the same in another order."""
        self.order, self.turned = order, turned
        self.rebuild()

    def unmark(self) -> bool:
        """Take all marks away; tells whether there were any."""
        had = bool(self._marks)
        self._marks.clear()
        self.redraw()
        self.cursor_moved()
        return had

    @property
    def current(self) -> MemoryRow | None:
        """The memory under the cursor."""
        return self._found.get(self.cursor_key) if isinstance(self.cursor_key, int) else None

    @property
    def marked(self) -> list[MemoryRow]:
        """What is marked and seen, in the order of the list."""
        return [row for key, row in self._found.items() if key in self._marks] if self._marks else []

    @property
    def chosen(self) -> list[MemoryRow]:
        """What a key is about: the marked ones, else the one under the cursor."""
        current = self.current
        return self.marked or ([current] if current else [])

    def choose(self, key: Hashable) -> None:
        """Tell which one."""
        if isinstance(key, int):
            self.post_message(self.Chosen(key))

    def cursor_moved(self) -> None:
        """Tell that there is something else to show."""
        self.post_message(self.Changed())

    def action_deed(self, deed: str) -> None:
        """A key: marks and order are the list's own, the rest is told."""
        if deed == "mark":
            if self.current is not None:
                self._marks ^= {self.current.memory.id}
                self.redraw()
                self.action_move(1)
        elif deed == "mark_all":
            self._marks = set() if self.marked else set(self._found)
            self.redraw()
            self.cursor_moved()
        else:
            row = self.current
            self.post_message(DeedAsked(deed, "long_term" if row else None, row.memory.id if row else 0))

    # rows

    def build(self, width: int) -> Sequence[Row]:
        """Filter and memories."""
        words = self.filter_words
        if words and not self._searched:
            self._searched = {row.memory.id: _searched(row.memory) for row in self._items}
        found = [row for row in self._items if all(word in self._searched[row.memory.id] for word in words)]
        self._found = {row.memory.id: row for row in in_order(found, self.order, turned=self.turned)}
        rows = self.filter_rows()
        if not self._found:
            text = _("No memory matches. Esc clears the filter.") if words else self._empty
            return [*rows, *wrapped_rows(text, width - 2, "$muted")]
        for key, row in self._found.items():
            if width >= COLUMNS_FROM:
                rows.append(Row(partial(self._columns, row, width), key))
            else:
                rows += [Row(partial(self._first, row, width), key), Row(partial(self._second, row, width), key)]
        return rows

    def _left(self, row: MemoryRow) -> Content:
        mark = ("✓ ", "bold $success") if row.memory.id in self._marks else ("  ", "")
        sign = state_sign(row.memory) if row.like is None else Content.styled("≈", "$warning")
        return Content.assemble(mark) + sign + Content(" ")

    def _text(self, row: MemoryRow) -> Content:
        style = "bold" if row.memory.id in self._marks else ""
        return Content.styled(label(row.memory.content[:600], 300), style)

    def _columns(self, row: MemoryRow, width: int) -> Content:
        memory = row.memory
        cells = {
            "branch": Content.styled(label(memory.branch, 40), "$muted"),
            "type": Content.styled(type_word(memory), "$muted"),
            "age": _right(age(memory.updated_at, self._moment), 8),
            "use": _right(f"{memory.access_count}×", 5),
            "heat": heat_bar(row.heat),
            "tokens": _right(count(row.tokens), 7),
        }
        room = width - LEFT - sum(cells_of for _name, cells_of in WIDTHS) - 1
        line = self._left(row) + self._text(row).truncate(room, ellipsis=True, pad=True) + Content(" ")
        for name, cells_of in WIDTHS:
            line += cells[name].truncate(cells_of - 1, ellipsis=True, pad=True) + Content(" ")
        return line.truncate(width)

    def _first(self, row: MemoryRow, width: int) -> Content:
        return (self._left(row) + self._text(row)).truncate(width, ellipsis=True)

    def _second(self, row: MemoryRow, width: int) -> Content:
        memory = row.memory
        facts = [
            state_word(memory),
            age(memory.updated_at, self._moment),
            f"{memory.access_count}×",
            type_word(memory),
            label(memory.branch, 40),
        ]
        left = Content(" " * LEFT) + Content.styled(" · ".join(filter(None, facts)), "$muted")
        right = heat_bar(row.heat) + Content.styled(count(row.tokens).rjust(6), "$muted")
        return split_line(left, right, width)

    def headings(self, width: int) -> Content:
        """The line above the columns for a list of `width` cells; an arrow tells the order."""
        arrow = "▴" if self.turned else "▾"
        names = {
            "branch": _("branch"), "type": _("type"), "age": _("age"), "use": _("used"), "heat": _("heat"),
            "tokens": _("tokens"),
        }  # fmt: skip
        if width < COLUMNS_FROM:
            return Content.styled(f"{arrow} {names[self.order]}", "$muted")
        room = width - LEFT - sum(cells_of for _name, cells_of in WIDTHS) - 1
        line = Content(" " * LEFT) + Content(_("memory")).truncate(room, pad=True) + Content(" ")
        for name, cells_of in WIDTHS:
            text = f"{names[name]}{arrow}" if name == self.order else names[name]
            if name in ("age", "use", "tokens"):
                text = " " * max(0, cells_of - 1 - cell_len(text)) + text
            style = "bold" if name == self.order else ""
            line += Content.styled(text, style).truncate(cells_of - 1, pad=True) + Content(" ")
        return line.stylize_before("$muted")


def state_sign(memory: LongTermMemory) -> Content:
    """One cell: pinned, or what is not simply active about it."""
    if memory.pinned and memory.status == "active":
        return Content.styled(PINNED, "bold $tier-long-term")
    return Content.styled(SIGNS[memory.status], "$warning")


def state_word(memory: LongTermMemory) -> str:
    """The same as a word; empty when it is simply active."""
    if memory.pinned:
        return _("pinned")
    return {
        "active": "", "expired": _("expired"), "pending": _("to review"), "archived": _("archived"),
        "trashed": _("in the trash"), "superseded": _("superseded"),
    }[memory.status]  # fmt: skip


def type_word(memory: LongTermMemory) -> str:
    """The kind of memory."""
    return _(memory.memory_type)


def heat_bar(heat: float) -> Content:
    """Heat (0–1) as a bar and a number, in ten cells."""
    bar = stacked_bar(HEAT_CELLS, [(heat, "$tier-long-term")])
    return bar + Content.styled(f" {heat:.2f}", "$muted")


def _right(text: str, width: int) -> Content:
    return Content.styled(" " * max(0, width - cell_len(text)) + text, "$muted")


def _searched(memory: LongTermMemory) -> str:
    facts = (memory.content, memory.branch, memory.memory_type, type_word(memory), memory.topic_key, memory.project)
    return "\n".join(filter(None, (*facts, state_word(memory)))).casefold()
