"""Block tokens → rows. Used by the stream for every block at the top, and by itself for what is inside of one."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from orca_tui.render.code import code_block
from orca_tui.render.inline import inline_spans, plain_spans
from orca_tui.render.lazy import SIGNS
from orca_tui.render.line import Line, Span, prefixed, restyled
from orca_tui.render.parser import References, is_definition
from orca_tui.render.table import plan_table, read_table, table_head, table_row
from orca_tui.render.wrap import MIN_WIDTH, wrap_spans

BULLETS = ("•", "◦", "▪")
_TASK = re.compile(r"\[([ xX])\](?=\s|$)")


@dataclass(slots=True)
class Block:
    """One block: its tokens from opening to closing, and where it is in the source."""

    tokens: Sequence[Token]
    start: int
    """First source line."""
    end: int
    """Source line after the last one."""

    @property
    def kind(self) -> str:
        """Type of the block: `paragraph`, `heading`, `list`, `quote`, `code`, `fence`, `table`, `rule`."""
        return _KINDS.get(self.tokens[0].type, "paragraph")


_KINDS = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "code_block": "code",
    "fence": "fence",
    "table_open": "table",
    "hr": "rule",
}


def split_blocks(tokens: Sequence[Token]) -> list[Block]:
    """The blocks at the outermost level of `tokens`."""
    blocks: list[Block] = []
    depth = start = 0
    for index, token in enumerate(tokens):
        if depth == 0:
            start = index
        depth += token.nesting
        if depth == 0:
            first, last = tokens[start].map or [0, 0]
            blocks.append(Block(tokens[start : index + 1], first, last))
    return blocks


@dataclass(slots=True)
class Blocks:
    """Renders the blocks of one source at one width."""

    lines: Sequence[str]
    """Source lines that the tokens' maps count."""
    width: int
    references: References
    depth: int = 0
    """How many lists are around."""
    style: str = ""

    def render(self, blocks: Sequence[Block]) -> list[Line]:
        """All rows of several blocks, with the gaps between them."""
        rows: list[Line] = []
        before = ""
        for block in blocks:
            blank = block.start > 0 and is_blank(self.lines[block.start - 1])
            if before and (blank or self.is_apart(before, block.kind)):
                rows.append(Line(()))
            rows.extend(self.block(block))
            before = block.kind
        return rows

    def is_apart(self, before: str, kind: str) -> bool:
        """Whether an empty row that nobody wrote stands between two kinds of blocks: at the top between most."""
        if self.depth or self.style:
            return "table" in (before, kind)
        return kind not in ("list", "paragraph") or before not in ("paragraph", "list")

    def block(self, block: Block) -> list[Line]:
        """The rows of one block."""
        kind, token = block.kind, block.tokens[0]
        if kind == "list":
            return [row for item in self.items(block) for row in item.rows]
        if kind == "quote":
            return self.quote(block)
        if kind in ("code", "fence"):
            return code_block(token.content, token.info, self.width, closed=kind == "code" or self.is_closed(block))
        if kind == "table":
            return self.table(block)
        if kind == "rule":
            return [Line((Span("─" * min(self.width, 40), "rule", "", token.markup),))]
        if kind == "heading":
            return self.heading(token, block.tokens[1].content)
        return self.paragraph(block.tokens[1].content if len(block.tokens) > 1 else token.content)

    def paragraph(self, text: str) -> list[Line]:
        """The rows of a text."""
        spans = plain_spans(text, "target") if is_definition(text) else inline_spans(text, self.references)
        return wrap_spans(restyled(spans, self.style), self.width)

    def heading(self, token: Token, text: str) -> list[Line]:
        """A heading; a text with dashes below it is a text and a rule."""
        if token.markup == "-":
            rule = Line((Span("─" * min(self.width, 40), "rule", "", "---"),))
            return [*self.paragraph(text), Line(()), rule]
        level = min(int(token.tag[1:]), 4)
        return wrap_spans(restyled(inline_spans(text, self.references), f"h{level}"), self.width)

    def quote(self, block: Block) -> list[Line]:
        """A quotation, with a bar on its left."""
        bars, inner = self.quoted()
        rows = inner.render(split_blocks(block.tokens[1:-1])) or inner.raw(block)
        return prefixed(rows, bars, bars) if bars else rows

    def quoted(self) -> "tuple[tuple[Span, ...], Blocks]":
        """The bar left of a quotation, if there is room, and what renders inside of it."""
        roomy = self.width > MIN_WIDTH + 2
        bars = (Span("▎ ", "quote-bar", "", "> "),) if roomy else ()
        return bars, self.inside(2 if roomy else 0, self.depth, "quote")

    def table(self, block: Block) -> list[Line]:
        """A whole table."""
        table = read_table(block.tokens, self.lines, self.references)
        plan = plan_table(table, self.width)
        rows = table_head(plan, empty=not table.rows)
        for index, cells in enumerate(table.rows):
            rows.extend(table_row(plan, cells, not index))
        return rows

    def signs(self, block: Block, number: int | None = None) -> "Iterator[Sign]":
        """The items of a list with their signs. `number` is what the first one is counted at least; by default it is
        the first of its list."""
        opening = block.tokens[0]
        ordered = opening.type == "ordered_list_open"
        start = opening.attrGet("start")
        counted = number if number is not None else 1 if start is None else int(start)
        for index, item in enumerate(split_blocks(block.tokens[1:-1])):
            token = item.tokens[0]
            counted = max(counted, int(token.info or 0)) if index or number is not None else counted
            shown = f"{counted}{token.markup}" if ordered else BULLETS[self.depth % len(BULLETS)]
            yield Sign(item, shown, f"{shown} " if ordered else f"{token.markup} ", counted)
            counted += 1

    def items(self, block: Block, number: int | None = None, *, parted: bool = False) -> "Iterator[Item]":
        """The items of a list one by one, laid out. `number` as for `signs`; `parted` tells whether an empty row stands
        above the first one."""
        for index, sign in enumerate(self.signs(block, number)):
            item = sign.item
            rows = self.item(item, sign.shown, sign.copied)
            if is_blank(self.lines[item.start - 1]) if index else parted:
                rows.insert(0, Line(()))
            yield Item(rows, sign.number, item.start)

    def item(self, item: Block, sign: str, copied: str) -> list[Line]:
        """One item: its sign, and its blocks beside it."""
        lead, indent, inner = self.signed(sign, copied)
        blocks = split_blocks(item.tokens[1:-1])
        rows = inner.render(blocks) or inner.raw(item)
        if blocks and blocks[0].kind == "paragraph":
            rows[0] = task_marked(rows[0])
        if not indent:
            return [*wrap_spans((lead._replace(text=sign),), self.width), *rows]
        return prefixed(rows, (lead,), indent)

    def signed(self, sign: str, copied: str) -> "tuple[Span, tuple[Span, ...], Blocks]":
        """The sign of an item, what stands below it (nothing when there is no room: then the sign has a row of its
        own), and what renders the item's blocks."""
        indent = len(sign) + 1
        roomy = self.width - indent >= MIN_WIDTH
        inner = self.inside(indent if roomy else 0, self.depth + 1, self.style)
        lead = Span(f"{sign} ", "list-sign", "", copied)
        return lead, (Span(" " * indent),) if roomy else (), inner

    def inside(self, indent: int, depth: int, style: str) -> "Blocks":
        """The same for what is in a block of this one."""
        return Blocks(self.lines, max(self.width - indent, MIN_WIDTH), self.references, depth, style)

    def raw(self, block: Block) -> list[Line]:
        """A container without blocks: empty, or nested deeper than the parser goes; then its source is shown."""
        lines = [SIGNS.sub("", line) for line in self.lines[block.start : block.end]]
        text = "\n".join(lines).strip()
        return wrap_spans(plain_spans(text), self.width) if text else [Line(())]

    def is_closed(self, block: Block) -> bool:
        """Whether a fence has its closing line."""
        token = block.tokens[0]
        last = self.lines[block.end - 1] if 0 < block.end <= len(self.lines) else ""
        less = block.end - block.start - 1 > token.content.count("\n")
        return less and last.strip(" \t>").startswith(token.markup)


@dataclass(frozen=True, slots=True)
class Sign:
    """What stands before an item."""

    item: Block
    shown: str
    copied: str
    number: int


@dataclass(slots=True)
class Item:
    """One item of a list, laid out."""

    rows: list[Line]
    number: int
    start: int
    """First source line."""


def is_blank(line: str) -> bool:
    """Whether a source line holds nothing but the marks of quotations around it."""
    return not line.strip(" \t>")


def task_marked(row: Line) -> Line:
    """The first row of an item; the box of a task is shown as one."""
    match = _TASK.match(row.text)
    if match is None or not row.spans or len(row.spans[0].text) < 3:
        return row
    first, *others = row.spans
    done = match[1] != " "
    box = Span(first.text[:3], "task-done" if done else "task-open")
    return replace(row, spans=(box, first._replace(text=first.text[3:]), *others))
