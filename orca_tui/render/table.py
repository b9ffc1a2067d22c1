"""Tables: columns as wide as their text, shrunk to fit, and records (“header: value”) where there is no room.

The plan is made from the header and the first rows alone (at most `SAMPLE`), so that a table that still streams does
not change above the row that is being written. Rows are copied as Markdown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token
from rich.cells import cell_len

from memory.text import clean
from orca_tui.render.inline import inline_spans
from orca_tui.render.line import Line, Span, decoration, restyled
from orca_tui.render.parser import References
from orca_tui.render.wrap import MIN_WIDTH, wrap_spans

SAMPLE = 60
SAMPLE_CELLS = 400
SAMPLE_LENGTH = 4_000
"""Characters of source from which no other row is looked at for the plan."""
LEAST = 5
"""Cells below which a column is not shrunk; a narrower one keeps its width."""
GAP = 3
RULE = "table-rule"

Cell = list[Span]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How every row of one table is laid out."""

    header: tuple[Cell, ...]
    aligns: tuple[str, ...]
    widths: tuple[int, ...] | None
    """Cells of each column; `None`: records."""
    ruled: bool
    """Whether rows are parted by a line, since some take more than one."""
    width: int


@dataclass(slots=True)
class TableSource:
    """The cells of a table as they were parsed."""

    header: list[Cell]
    aligns: list[str]
    rows: list[list[Cell]]
    starts: list[int]
    """Source line of each row."""
    sample: int = 0
    """How many rows the plan is made from, when there are that many. It depends on these rows alone."""


def read_table(tokens: Sequence[Token], lines: Sequence[str], references: References) -> TableSource:
    """Collect the cells of a table's tokens. `lines` is the source that they were parsed from."""
    table = TableSource([], [], [], [])
    in_body = False
    for token in tokens:
        if token.type == "tbody_open":
            in_body = True
        elif token.type == "tr_open" and in_body:
            table.rows.append([])
            table.starts.append(token.map[0] if token.map else 0)
        elif token.type == "th_open":
            table.aligns.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
        elif token.type == "tr_close" and in_body:
            _keep_excess(table, lines[table.starts[-1]])
        elif token.type == "inline":
            cell = [span for span in inline_spans(token.content, references) if span.text != "\n"]
            (table.rows[-1] if in_body else table.header).append(cell)
    table.sample = _sample(table, lines)
    return table


def _sample(table: TableSource, lines: Sequence[str]) -> int:
    most = min(SAMPLE, max(1, SAMPLE_CELLS // max(1, len(table.header))))
    length = 0
    for index, start in enumerate(table.starts[:most]):
        if length >= SAMPLE_LENGTH:
            return index
        length += len(lines[start])
    return most


def _keep_excess(table: TableSource, line: str) -> None:
    """Cells beyond the header's are not part of the table by the rules; they are shown in its last column."""
    cells = [cell.strip() for cell in escapedSplit(line.strip(" \t>"))]
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    for cell in cells[len(table.header) :]:
        table.rows[-1][-1].append(Span(f" | {clean(cell)}"))


def plan_table(table: TableSource, width: int) -> TablePlan:
    """Choose the widths of the columns, or records."""
    sample = [table.header, *table.rows[: table.sample]]
    count = len(table.header)
    room = width - GAP * (count - 1)
    header = tuple([restyled(cell, "table-header") for cell in table.header])
    if room < count * MIN_WIDTH:
        return TablePlan(header, tuple(table.aligns), None, False, width)
    natural = [max(_cells(row[at]) if at < len(row) else 0 for row in sample) or 1 for at in range(count)]
    least = [max(min(cells, LEAST), MIN_WIDTH) for cells in natural]
    if sum(natural) <= room:
        return TablePlan(header, tuple(table.aligns), tuple(max(1, cells) for cells in natural), False, width)
    if sum(least) > room:
        return TablePlan(header, tuple(table.aligns), None, False, width)
    return TablePlan(header, tuple(table.aligns), tuple(_shrunk(natural, least, room)), True, width)


def table_head(plan: TablePlan, *, empty: bool) -> list[Line]:
    """The header's rows and the line below it; for records only when the table is `empty`, else each has it."""
    if plan.widths is None:
        return [row for cell in plan.header for row in wrap_spans(cell, plan.width)] if empty else []
    rule = "─" * (GAP // 2) + "┼" + "─" * (GAP // 2)
    text = rule.join(["─" * cells for cells in plan.widths])
    dashes = {"left": ":--", "right": "--:", "center": ":-:"}
    copied = "| " + " | ".join([dashes.get(align, "---") for align in plan.aligns]) + " |"
    return [*_row(plan, list(plan.header)), Line((Span(text, RULE, "", copied),))]


def table_row(plan: TablePlan, cells: list[Cell], first: bool) -> list[Line]:
    """The rows of one row of the table; `first` when it is the first below the header."""
    if plan.widths is None:
        return _record(plan, cells, first)
    lines = _row(plan, cells)
    if plan.ruled and not first:
        crossing = "─┼─".join(["─" * width for width in plan.widths])
        lines[0].joint = ""
        lines.insert(0, Line((decoration(crossing, RULE),)))
    return lines


def _cells(cell: Cell) -> int:
    return sum([cell_len(span.text) for span in cell])


def _shrunk(natural: list[int], least: list[int], room: int) -> list[int]:
    """The widest columns give until all fit: a cap found by bisection, the rest to the widest."""
    low, high = min(least), max(natural)
    while low < high:
        cap = (low + high + 1) // 2
        if sum(max(small, min(cells, cap)) for cells, small in zip(natural, least, strict=True)) <= room:
            low = cap
        else:
            high = cap - 1
    widths = [max(small, min(cells, low)) for cells, small in zip(natural, least, strict=True)]
    spare = room - sum(widths)
    for at, cells in enumerate(natural):
        if spare > 0 and cells > widths[at]:
            widths[at] += 1
            spare -= 1
    return widths


def _row(plan: TablePlan, cells: list[Cell]) -> list[Line]:
    """A row with its cells side by side. When they take several rows, the first one copies all of it."""
    widths = plan.widths or ()
    columns = [wrap_spans(cells[at] if at < len(cells) else [], width) for at, width in enumerate(widths)]
    height = max(len(column) for column in columns)
    lines = [_side_by_side(plan, columns, at, exact=height == 1) for at in range(height)]
    if height > 1:
        whole = "| " + " | ".join(["".join([span.text for span in cell]) for cell in cells]) + " |"
        first, *others = lines[0].spans
        lines[0].spans = (first._replace(copy=whole), *others)
        for line in lines[1:]:
            line.joint = ""
    return lines


def _side_by_side(plan: TablePlan, columns: list[list[Line]], at: int, *, exact: bool) -> Line:
    spans: list[Span] = []
    last = len(columns) - 1
    for index, column in enumerate(columns):
        if index:
            spans.append(Span(" │ ", RULE, "", " | " if exact else ""))
        cell = column[at].spans if at < len(column) else ()
        width = (plan.widths or ())[index]
        blank = max(0, width - (column[at].width if at < len(column) else 0))
        align = plan.aligns[index] if index < len(plan.aligns) else ""
        left = blank if align == "right" else blank // 2 if align == "center" else 0
        opening = "| " if exact and not index else ""
        if left or opening:
            spans.append(Span(" " * left, "", "", opening))
        spans.extend(cell if exact else [span._replace(copy="") for span in cell])
        closing = " |" if exact and index == last else ""
        if blank > left or closing:
            spans.append(Span(" " * (blank - left), "", "", closing))
    return Line(tuple(spans))


def _record(plan: TablePlan, cells: list[Cell], first: bool) -> list[Line]:
    """One “header: value” a line, records parted by a short rule."""
    lines = [] if first else [Line((Span("─" * min(3, plan.width), RULE, "", ""),))]
    for at, cell in enumerate(cells):
        name = plan.header[at] if at < len(plan.header) else []
        lines.extend(wrap_spans([*name, Span(": ", "table-header"), *cell], plan.width))
    return lines
