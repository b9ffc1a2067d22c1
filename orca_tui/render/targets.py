"""What can be gone to inside of an entry: its links, and its blocks of code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memory.text import clean
from orca_tui.render.colouring import GROUND
from orca_tui.render.hits import Piece
from orca_tui.render.layout import EntryLayout
from orca_tui.render.line import Line
from orca_tui.render.parser import parse_blocks

LABEL = "code-label"


@dataclass(slots=True)
class Target:
    """A link or a block of code."""

    kind: Literal["link", "code"]
    text: str
    """The address, which is http or https; or the code as it was written."""
    pieces: list[Piece] = field(default_factory=list)
    """Where it is drawn: of code all its rows."""
    language: str = ""


def targets_of(layout: EntryLayout) -> list[Target]:
    """The targets of an entry from top to bottom, as far as it is laid out."""
    rows = [layout.row(at) for at in range(layout.height)]
    found = [*_links(rows), *_code(rows)]
    return sorted(found, key=lambda target: target.pieces[0])


def code_in(text: str) -> list[str]:
    """All code of a Markdown text as it was written, cleaned; nothing is laid out for it."""
    blocks = [token.content for token in parse_blocks(clean(text)) if token.type in ("fence", "code_block")]
    return [block.removesuffix("\n") for block in blocks if block.strip()]


def _links(rows: Sequence[Line]) -> Iterator[Target]:
    """A link with the address behind its label, over all rows that it takes, is one."""
    open_link: Target | None = None
    for row, line in enumerate(rows):
        at = 0
        for span in line.spans:
            end = at + len(span.text)
            if span.link and span.text:
                piece = Piece(row, at, end)
                if open_link is not None and open_link.text == span.link and _goes_on(open_link.pieces[-1], piece):
                    open_link.pieces.append(piece)
                else:
                    if open_link is not None:
                        yield open_link
                    open_link = Target("link", span.link, [piece])
            at = end
    if open_link is not None:
        yield open_link


def _goes_on(before: Piece, piece: Piece) -> bool:
    if before.row == piece.row:
        return before.end == piece.start
    return before.row + 1 == piece.row


def _code(rows: Sequence[Line]) -> Iterator[Target]:
    block: Target | None = None
    parts: list[str] = []
    for row, line in enumerate(rows):
        if line.fill != GROUND:
            continue
        piece = Piece(row, 0, len(line.text))
        label = "".join([span.text for span in line.spans if LABEL in span.style.split()])
        is_label = any(LABEL in span.style.split() for span in line.spans)
        is_code = any(span.style.startswith(GROUND) for span in line.spans) and not is_label
        if is_label and (block is None or parts):
            if block is not None:
                yield _closed(block, parts)
            block, parts = Target("code", "", [piece], label.strip()), []
        elif block is not None:
            block.pieces.append(piece)
            if is_code:
                parts.append((line.joint if parts else "") + _copied(line))
            elif not is_label:
                yield _closed(block, parts)
                block, parts = None, []
    if block is not None:
        yield _closed(block, parts)


def _closed(block: Target, parts: Sequence[str]) -> Target:
    block.text = "".join(parts)
    return block


def _copied(line: Line) -> str:
    """The code of a row, without the marks of the quotation or list that it is in."""
    own = [span for span in line.spans if span.style.startswith(GROUND)]
    return "".join([span.text if span.copy is None else span.copy for span in own])
