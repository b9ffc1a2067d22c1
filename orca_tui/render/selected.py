"""The text that a selection of the transcript stands for: no borders, no times, no soft breaks.

A selection's row is `entry index × ROWS + row in the entry`, its column a character of the painted row.
"""

from collections.abc import Iterator

from textual.geometry import Offset
from textual.selection import Selection

from memory.text import clean
from orca_tui.render.frame import name_of
from orca_tui.render.ledger import Ledger, Place
from orca_tui.render.line import Line
from orca_tui.render.palette import GUTTER

ROWS = 1 << 20
"""More than any entry has."""


def selected_text(ledger: Ledger, selection: Selection) -> str:
    """What is copied. Entries in the middle that nobody has looked at yet give their source."""
    if not ledger.items:
        return ""
    last = len(ledger.items) - 1
    start, start_at = _decoded(selection.start, Place(0, 0), 0)
    end, end_at = _decoded(selection.end, Place(last, ROWS), None)
    if start.entry > last:
        return ""
    if end.entry > last:
        end, end_at = Place(last, ROWS), None
    parts: list[str] = []
    for index in range(start.entry, end.entry + 1):
        if ledger.items[index].layout is None and start.entry < index < end.entry:
            entry = ledger.items[index].whole()
            parts.append("\n" * bool(parts) + f"{name_of(entry)}\n{clean(entry.text)}\n")
            continue
        for row, line in _rows(ledger, index, start, end):
            left = start_at or 0 if Place(index, row) == start else 0
            right = end_at if Place(index, row) == end else None
            parts += [line.joint if parts else "", line.copied(left, right)]
    return "".join(parts)


def _rows(ledger: Ledger, index: int, start: Place, end: Place) -> Iterator[tuple[int, Line]]:
    layout = ledger.lay(index)
    first = start.row if index == start.entry else 0
    last = min(end.row if index == end.entry else layout.height - 1, layout.height - 1)
    for row in range(first, last + 1):
        yield row, layout.row(row)


def _decoded(offset: Offset | None, default: Place, column: int | None) -> tuple[Place, int | None]:
    if offset is None:
        return default, column
    return Place(*divmod(offset.y, ROWS)), max(0, offset.x - GUTTER)
