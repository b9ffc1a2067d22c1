"""A Markdown text that may still grow, as rows: what can no longer change is laid out once and kept.

`settled` rows are final; `tail` rows belong to the block that is being written and are made anew with each update. At
the top, a block is final when the next one begins. What may become long settles earlier: the lines of a fence, the
items of a list, the rows of a table, the pieces of a long paragraph. So the work of an update depends on what is new,
not on what is there, and a text gives the same rows whether it came at once or in pieces.
"""

from dataclasses import dataclass
from itertools import accumulate

from orca_tui.render.blocks import Block, Blocks, is_blank, split_blocks
from orca_tui.render.code import code_block, code_head, code_lines
from orca_tui.render.colouring import LINES_AT_ONCE, Colouring
from orca_tui.render.fence import OpenFence, colouring
from orca_tui.render.inline import inline_spans
from orca_tui.render.line import Line, Span
from orca_tui.render.parser import References, parse_blocks
from orca_tui.render.pieces import LONG, held_back, mended, piece_end
from orca_tui.render.table import SAMPLE, TablePlan, plan_table, read_table, table_head, table_row
from orca_tui.render.wrap import slice_rows, wrap, wrap_spans

GUARD = "。"
"""Stands for the settled part of a paragraph when the rest of it is parsed."""


@dataclass(slots=True)
class _Paragraph:
    """A paragraph whose beginning is settled. `carry` is its last row so far: the next piece goes on in it."""

    carry: list[Span]
    joint: str


@dataclass(slots=True)
class _Table:
    """A table whose first rows are settled; `head` is the source of its header, to parse the others with."""

    head: str
    plan: TablePlan


@dataclass(slots=True)
class _List:
    """A list whose first items are settled; `number` is what the next one is counted."""

    opening: tuple[str, str]
    number: int


class MarkdownStream:
    """One text at one width."""

    def __init__(self, width: int, references: References | None = None) -> None:
        self.width = width
        self.references = references or {}
        self.settled: list[Line] = []
        self.tail: list[Line] = []
        self.changed = 0
        """First row that the last update may have changed."""
        self._jobs: list[Colouring] = []
        self._rest = ""
        """Source from the first line that is not settled."""
        self._above = ""
        """Kind of the block above the rest."""
        self._blank = False
        """Whether an empty source line stands above the rest."""
        self._open: OpenFence | _Paragraph | _Table | _List | None = None

    @property
    def busy(self) -> bool:
        """Whether `work` has something to do."""
        return bool(self._jobs)

    def work(self) -> None:
        """Colour more of the long code that is there already."""
        if self._jobs:
            job = self._jobs[0]
            self.changed = job.first
            if not job.step():
                self._jobs.pop(0)

    @property
    def height(self) -> int:
        """Rows in all."""
        return len(self.settled) + len(self.tail)

    def row(self, index: int) -> Line:
        """One row; `index` is below `height`."""
        settled = len(self.settled)
        return self.settled[index] if index < settled else self.tail[index - settled]

    def update(self, text: str, provisional: str = "") -> None:
        """Take more cleaned text. `provisional` follows it, but may come again in another form."""
        self._rest += text
        self._layout(provisional, closed=False)

    def close(self) -> None:
        """The text is whole: all rows become final."""
        self._layout("", closed=True)

    def _layout(self, provisional: str, *, closed: bool) -> None:
        self.changed = len(self.settled)
        self.tail = []
        while True:
            if isinstance(self._open, OpenFence):
                fence = self._open
                self._rest, done = fence.take(self._rest, self.settled, self._jobs, closed=closed)
                if not done:
                    self.tail = fence.tail(self._rest + provisional)
                    return
                self.changed = min(self.changed, fence.first)
                self._open, self._above, self._blank = None, "fence", False
            if not self._blocks(provisional, closed=closed):
                return

    def _blocks(self, provisional: str, *, closed: bool) -> bool:
        """Lay out the rest as blocks; true when it is inside of a fence now."""
        shown = self._rest if closed else mended(held_back(self._rest + provisional))
        source = _Source(self._lead(), shown)
        renderer = Blocks(source.lines, self.width, self.references)
        blocks = split_blocks(parse_blocks(source.text))
        firm = len(blocks) if closed else _firm(blocks, source.lines)
        above = self._above
        for index, block in enumerate(blocks):
            if block.start and index <= firm:
                self._blank = is_blank(source.lines[block.start - 1])
            gap = self._gap(above, block)
            if block.kind == "fence" and block.start + 1 < len(source.lines) and not renderer.is_closed(block):
                self.settled.extend(gap)
                self._open = OpenFence.opened(source.lines[block.start], self.width, self.settled)
                self._rest = self._rest[source.offset(block.start + 1) :]
                return True
            laid = self._laid(block, renderer, source, final=index < firm)
            above = block.kind
            if index <= firm:
                self._settle(gap, laid, block, final=index < firm)
                keep = laid.keep
            else:
                self.tail += [*gap, *laid.settled, *laid.tail]
        if blocks:
            self._rest = self._rest[keep:]
        elif "\n" in self._rest:
            self._rest, self._blank = self._rest[self._rest.rindex("\n") + 1 :], True
        return False

    def _lead(self) -> str:
        """What the rest is parsed behind."""
        if isinstance(self._open, _Table):
            return self._open.head
        return GUARD if isinstance(self._open, _Paragraph) else ""

    def _settle(self, gap: list[Line], laid: "_Laid", block: Block, *, final: bool) -> None:
        """Take the rows of a block over, and remember what of it is still open."""
        if laid.settled or final:
            self.settled += [*gap, *laid.settled]
            self.tail = laid.tail
            self._open, self._above = None if final else laid.open, block.kind
            self._blank = laid.blank
        else:
            self.tail = [*gap, *laid.tail]

    def _gap(self, above: str, block: Block) -> list[Line]:
        """The empty row that sets a block apart from the one above it."""
        if not above or self._goes_on(block):
            return []
        apart = self._blank or Blocks([], self.width, self.references).is_apart(above, block.kind)
        return [Line(())] if apart else []

    def _goes_on(self, block: Block) -> bool:
        """Whether a block is the rest of the one that is partly settled."""
        if block.start:
            return False
        if isinstance(self._open, _List):
            return self._open.opening == _opening(block)
        return isinstance(self._open, _Paragraph | _Table)

    def _laid(self, block: Block, renderer: Blocks, source: "_Source", *, final: bool) -> "_Laid":
        """The rows of a block: those that are final, and those that are not."""
        if block.kind == "list":
            return self._list(block, renderer, source, final=final)
        if block.kind == "table":
            return self._table(block, source, final=final)
        if block.kind == "paragraph":
            text = block.tokens[1].content
            if self._goes_on(block):
                return self._paragraph(text[len(GUARD) :], 0, source, final=final)
            raw = source.between(block.start, block.end)
            if len(text) >= LONG and raw.strip() == text:
                start = source.offset(block.start) + len(raw) - len(raw.lstrip())
                return self._paragraph(text, start, source, final=final)
        if block.kind == "fence" and block.end - block.start > LINES_AT_ONCE + 2:
            return self._long_fence(block, source, final=final)
        rows = renderer.block(block)
        return _Laid(rows, [], len(source.text)) if final else _Laid([], rows, source.offset(block.start))

    def _long_fence(self, block: Block, source: "_Source", *, final: bool) -> "_Laid":
        """A closed fence that is too long to be coloured at once."""
        token = block.tokens[0]
        rows = code_block(token.content, token.info, self.width, closed=False)
        if not final:
            return _Laid([], rows, source.offset(block.start))
        head = len(code_head(token.info, self.width))
        first = len(self.settled) + len(self._gap(self._above, block)) + head
        job = colouring(code_lines(token.content), token.info, rows[head:-1], first, self.width)
        self._jobs += [job] if job is not None else []
        return _Laid(rows, [], len(source.text))

    def _paragraph(self, text: str, start: int, source: "_Source", *, final: bool) -> "_Laid":
        """A long paragraph, piece by piece. `start` is where `text` begins in the rest."""
        opened = self._open if isinstance(self._open, _Paragraph) and not start else _Paragraph([], "\n")
        carry, joint = opened.carry, opened.joint
        settled: list[Line] = []
        while end := piece_end(text):
            spans = [*carry, *inline_spans(text[:end].rstrip("\n"), self.references)]
            if text[end - 1] == "\n":
                spans.append(Span("\n"))
            whole = "".join([span.text for span in spans])
            rows = wrap(whole, self.width)
            last = rows[-1][0]
            settled.extend(slice_rows(spans, whole, rows[:-1], joint))
            joint = whole[rows[-2][1] : last] if len(rows) > 1 else joint
            carry = list(slice_rows(spans, whole, [(last, len(whole))])[0].spans)
            text, start = text[end:], start + end
        rows_left = wrap_spans([*carry, *inline_spans(text, self.references)], self.width, joint)
        if final:
            return _Laid([*settled, *rows_left], [], len(source.text))
        return _Laid(settled, rows_left, start, _Paragraph(carry, joint))

    def _list(self, block: Block, renderer: Blocks, source: "_Source", *, final: bool) -> "_Laid":
        """A list: all items but the last one are final."""
        opened = self._open if isinstance(self._open, _List) and self._goes_on(block) else None
        number = None if opened is None else opened.number
        items = list(renderer.items(block, number, parted=opened is not None and self._blank))
        last = items[-1]
        if final:
            return _Laid([row for item in items for row in item.rows], [], len(source.text))
        settled = [row for item in items[:-1] for row in item.rows]
        blank = is_blank(source.lines[last.start - 1]) if last.start else self._blank
        return _Laid(settled, last.rows, source.offset(last.start), _List(_opening(block), last.number), blank)

    def _table(self, block: Block, source: "_Source", *, final: bool) -> "_Laid":
        """A table: when its columns are known, all rows but the last one are final."""
        table = read_table(block.tokens, source.lines, self.references)
        opened = self._open if isinstance(self._open, _Table) and self._goes_on(block) else None
        plan = plan_table(table, self.width) if opened is None else opened.plan
        rows = [table_row(plan, cells, opened is None and not at) for at, cells in enumerate(table.rows)]
        lines = table_head(plan, empty=not rows) if opened is None else []
        if final or (opened is None and len(rows) <= SAMPLE):
            lines.extend(line for row in rows for line in row)
            return _Laid(lines, [], len(source.text)) if final else _Laid([], lines, source.offset(block.start))
        lines.extend(line for row in rows[:-1] for line in row)
        head = source.between(block.start, block.start + 2)
        last = table.starts[-1] if rows else block.start + 2
        return _Laid(lines, rows[-1] if rows else [], source.offset(last), _Table(head, plan))


@dataclass(slots=True)
class _Laid:
    """What became of one block."""

    settled: list[Line]
    tail: list[Line]
    keep: int
    """Where the source that is not settled begins in the rest."""
    open: _Paragraph | _Table | _List | None = None
    blank: bool = False


class _Source:
    """The source of one parse, by lines: the rest, behind `lead`."""

    def __init__(self, lead: str, rest: str) -> None:
        self.text, self.lead = lead + rest, len(lead)
        self.lines = self.text.split("\n")
        self._starts = [0, *accumulate([len(line) + 1 for line in self.lines])]

    def offset(self, line: int) -> int:
        """Where a line begins in the rest."""
        return max(0, self._starts[line] - self.lead)

    def between(self, first: int, end: int) -> str:
        """The text of some lines."""
        return self.text[self._starts[first] : self._starts[end]]


def _firm(blocks: list[Block], lines: list[str]) -> int:
    """How many blocks can no longer change. The last one can; the one above it too, when what ends it is a line that is
    not complete: it may turn out to go on."""
    count = len(blocks) - 1
    start = blocks[-1].start if blocks else 0
    return count - 1 if count > 0 and start + 1 == len(lines) and not is_blank(lines[start - 1]) else count


def _opening(block: Block) -> tuple[str, str]:
    """What tells one list from the next."""
    return block.tokens[0].type, block.tokens[0].markup
