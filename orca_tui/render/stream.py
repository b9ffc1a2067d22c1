"""A Markdown text that may still grow, as rows: what can no longer change is laid out once and kept.

`settled` rows are final; `tail` rows belong to the block that is being written and are made anew with each update. At
the top, a block is final when the next one begins. What may become long settles earlier: the lines of a fence, the
items of a list, the rows of a table, the pieces of a long paragraph; a long quotation or item has a stream of its own
(`inner`). So the work of an update depends on what is new, not on what is there, and a text gives the same rows
whether it came at once or in pieces.
"""

from itertools import islice

from orca_tui.render.blocks import Block, Blocks, is_blank, split_blocks
from orca_tui.render.code import code_block, code_head, code_lines
from orca_tui.render.colouring import LINES_AT_ONCE, Job
from orca_tui.render.fence import OpenCode, OpenFence, colouring
from orca_tui.render.inline import inline_spans
from orca_tui.render.inner import CODE, LONG_BLOCK, Inner, Quoted, Rows, item_mark, reach
from orca_tui.render.line import Line, Span, restyled
from orca_tui.render.opened import Laid, OpenList, OpenParagraph, OpenTable
from orca_tui.render.parser import References, parse_blocks
from orca_tui.render.pieces import GUARD, LONG, held_back, mended, piece_end
from orca_tui.render.plain import PlainStream
from orca_tui.render.source import Source, opening
from orca_tui.render.table import plan_table, read_table, table_head, table_row
from orca_tui.render.wrap import slice_rows, wrap, wrap_spans

MAX_LEVEL = 5
"""Long blocks in long blocks that are laid out as Markdown; deeper ones are plain."""


class MarkdownStream:
    """One text at one width. `depth`, `style` and `level` are for what is in another block: how many lists are around,
    how its text is shown, how many blocks are around."""

    def __init__(
        self, width: int, references: References | None = None, *, depth: int = 0, style: str = "", level: int = 0
    ) -> None:
        self.width = width
        self.depth, self.style, self.level = depth, style, level
        self.references = references or {}
        self.settled: list[Line] = []
        self.tail: list[Line] = []
        self.changed = 0
        """First row that the last update may have changed."""
        self._jobs: list[Job] = []
        self._rest = ""
        """Source from the first line that is not settled."""
        self._above = ""
        """Kind of the block above the rest."""
        self._blank = False
        """Whether an empty source line stands above the rest."""
        self._open: OpenFence | Inner | OpenParagraph | OpenTable | OpenList | None = None

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
            opened = self._open
            if isinstance(opened, Inner):
                self._rest, done = opened.take(self._rest, provisional, self._jobs, closed=closed)
                self.changed = min(self.changed, opened.changed)
                if not done:
                    self.tail = opened.tail()
                    return
                self._open = OpenList(opened.opening, opened.number + 1) if opened.kind == "list" else None
                self._above, self._blank = opened.kind, opened.blanks > 0
            elif isinstance(opened, OpenFence):
                self._rest, done = opened.take(self._rest, self.settled, self._jobs, closed=closed)
                if not done:
                    self.tail = opened.tail(self._rest + provisional)
                    return
                self.changed = min(self.changed, opened.first)
                self._open, self._above, self._blank = None, "fence", False
            if not self._blocks(provisional, closed=closed):
                return

    def _blocks(self, provisional: str, *, closed: bool) -> bool:
        """Lay out the rest as blocks; true when it is inside of a fence now."""
        shown = self._rest if closed else mended(held_back(self._rest + provisional))
        source = Source(self._lead(), shown)
        renderer = self._renderer(source)
        blocks = split_blocks(parse_blocks(source.text))
        firm = len(blocks) if closed else source.firm(blocks)
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
            if index <= firm and self._enters(block, renderer, source, gap):
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

    def _renderer(self, source: Source | None = None) -> Blocks:
        return Blocks(source.lines if source else [], self.width, self.references, self.depth, self.style)

    def _lead(self) -> str:
        """What the rest is parsed behind."""
        if isinstance(self._open, OpenTable):
            return self._open.head
        return GUARD if isinstance(self._open, OpenParagraph) else ""

    def _enters(self, block: Block, renderer: Blocks, source: Source, gap: list[Line]) -> bool:
        """Lay out a long block with a text of its own line by line from here on."""
        first = source.lines[block.start]
        if block.kind == "quote" and reach(source.lines, block.start, Quoted(), first) >= LONG_BLOCK:
            bars, inside = renderer.quoted()
            self._enter(Inner("quote", Quoted(), self._inside(inside), self.settled, 0, bars, bars), gap)
        elif block.kind == "code" and reach(source.lines, block.start, CODE, first) >= LONG_BLOCK:
            self._enter(Inner("code", CODE, OpenCode(self.width), self.settled, 0), gap)
        elif block.kind == "list":
            return self._enters_item(block, renderer, source, gap)
        else:
            return False
        self._rest = self._rest[source.offset(block.start) :]
        return True

    def _enters_item(self, block: Block, renderer: Blocks, source: Source, gap: list[Line]) -> bool:
        """The same for the first long item of a list."""
        opened = self._open if isinstance(self._open, OpenList) and self._goes_on(block) else None
        number, parted = (None, False) if opened is None else (opened.number, self._blank)
        for index, sign in enumerate(renderer.signs(block, number)):
            first = sign.item.start
            mark, line = item_mark(source.lines[first])
            told = line.strip() or first + 1 < len(source.lines)
            if not told or reach(source.lines, first, mark, line) < LONG_BLOCK:
                continue
            above = [row for item in islice(renderer.items(block, number, parted=parted), index) for row in item.rows]
            if is_blank(source.lines[first - 1]) if index else parted:
                above.append(Line(()))
            lead, indent, inside = renderer.signed(sign.shown, sign.copied)
            above += [] if indent else wrap_spans((lead._replace(text=sign.shown),), self.width)
            line, newline, below = self._rest[source.offset(first) :].partition("\n")
            mark, line = item_mark(line)
            self._rest = line + newline + below
            rows, leads = self._inside(inside), (lead,) if indent else ()
            item = Inner("list", mark, rows, self.settled, 0, leads, indent, opening(block), sign.number)
            self._enter(item, [*gap, *above])
            return True
        return False

    def _inside(self, blocks: Blocks) -> Rows:
        if self.level >= MAX_LEVEL:
            return PlainStream(blocks.width, style=blocks.style)
        references, level = self.references, self.level + 1
        return MarkdownStream(blocks.width, references, depth=blocks.depth, style=blocks.style, level=level)

    def _enter(self, inner: Inner, above: list[Line]) -> None:
        self.settled += above
        inner.top = len(self.settled)
        self._open = inner
        self.tail = []

    def _settle(self, gap: list[Line], laid: Laid, block: Block, *, final: bool) -> None:
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
        apart = self._blank or self._renderer().is_apart(above, block.kind)
        return [Line(())] if apart else []

    def _goes_on(self, block: Block) -> bool:
        """Whether a block is the rest of the one that is partly settled."""
        if block.start:
            return False
        if isinstance(self._open, OpenList):
            return self._open.opening == opening(block)
        return isinstance(self._open, OpenParagraph | OpenTable)

    def _laid(self, block: Block, renderer: Blocks, source: Source, *, final: bool) -> Laid:
        """The rows of a block: those that are final, and those that are not."""
        if block.kind == "list":
            return self._list(block, renderer, source, final=final)
        if block.kind == "table":
            return self._table(block, source, final=final)
        if block.kind == "paragraph":
            text = block.tokens[1].content
            if self._goes_on(block):
                return self._paragraph(text[len(GUARD) :], 0, source, final=final)
            at = source.between(block.start, block.end).find(text) if len(text) >= LONG else -1
            if at >= 0:
                return self._paragraph(text, source.offset(block.start) + at, source, final=final)
        if block.kind == "fence" and block.end - block.start > LINES_AT_ONCE + 2:
            return self._long_fence(block, source, final=final)
        rows = renderer.block(block)
        return Laid(rows, [], len(source.text)) if final else Laid([], rows, source.offset(block.start))

    def _long_fence(self, block: Block, source: Source, *, final: bool) -> Laid:
        """A closed fence that is too long to be coloured at once."""
        token = block.tokens[0]
        rows = code_block(token.content, token.info, self.width, closed=False)
        if not final:
            return Laid([], rows, source.offset(block.start))
        head = len(code_head(token.info, self.width))
        first = len(self.settled) + len(self._gap(self._above, block)) + head
        job = colouring(code_lines(token.content), token.info, rows[head:-1], first, self.width)
        self._jobs += [job] if job is not None else []
        return Laid(rows, [], len(source.text))

    def _paragraph(self, text: str, start: int, source: Source, *, final: bool) -> Laid:
        """A long paragraph, piece by piece. `start` is where `text` begins in the rest."""
        opened = self._open if isinstance(self._open, OpenParagraph) and not start else OpenParagraph([], "\n")
        carry, joint = opened.carry, opened.joint
        settled: list[Line] = []
        while end := piece_end(text):
            spans = [*carry, *self._spans(text[:end].rstrip("\n"))]
            if text[end - 1] == "\n":
                spans.append(Span("\n"))
            whole = "".join([span.text for span in spans])
            rows = wrap(whole, self.width)
            last = rows[-1][0]
            settled.extend(slice_rows(spans, whole, rows[:-1], joint))
            joint = whole[rows[-2][1] : last] if len(rows) > 1 else joint
            carry = list(slice_rows(spans, whole, [(last, len(whole))])[0].spans)
            text, start = text[end:], start + end
        rows_left = wrap_spans([*carry, *self._spans(text)], self.width, joint)
        if final:
            return Laid([*settled, *rows_left], [], len(source.text))
        return Laid(settled, rows_left, start, OpenParagraph(carry, joint))

    def _spans(self, text: str) -> list[Span]:
        return restyled(inline_spans(text, self.references), self.style)

    def _list(self, block: Block, renderer: Blocks, source: Source, *, final: bool) -> Laid:
        """A list: all items but the last one are final."""
        opened = self._open if isinstance(self._open, OpenList) and self._goes_on(block) else None
        number = None if opened is None else opened.number
        items = list(renderer.items(block, number, parted=opened is not None and self._blank))
        last = items[-1]
        if final:
            return Laid([row for item in items for row in item.rows], [], len(source.text))
        settled = [row for item in items[:-1] for row in item.rows]
        blank = is_blank(source.lines[last.start - 1]) if last.start else self._blank
        return Laid(settled, last.rows, source.offset(last.start), OpenList(opening(block), last.number), blank)

    def _table(self, block: Block, source: Source, *, final: bool) -> Laid:
        """A table: when its columns are known, all rows but the last one are final."""
        table = read_table(block.tokens, source.lines, self.references)
        opened = self._open if isinstance(self._open, OpenTable) and self._goes_on(block) else None
        plan = plan_table(table, self.width) if opened is None else opened.plan
        rows = [table_row(plan, cells, opened is None and not at) for at, cells in enumerate(table.rows)]
        lines = table_head(plan, empty=not rows) if opened is None else []
        if final or (opened is None and len(rows) <= table.sample):
            lines.extend(line for row in rows for line in row)
            return Laid(lines, [], len(source.text)) if final else Laid([], lines, source.offset(block.start))
        lines.extend(line for row in rows[:-1] for line in row)
        head = source.between(block.start, block.start + 2)
        last = table.starts[-1] if rows else block.start + 2
        return Laid(lines, rows[-1] if rows else [], source.offset(last), OpenTable(head, plan))
