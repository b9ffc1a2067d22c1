"""Fenced and indented code: rows on their own ground, highlighted once the fence is closed.

A row is cut where it is full; it copies exactly as it was written.
"""

import re
from collections.abc import Sequence

from rich.cells import cell_len

from memory.text import label
from orca_tui.render.colouring import GROUND, highlight, language_of
from orca_tui.render.line import Line, Span, decoration
from orca_tui.render.wrap import MIN_WIDTH, chop, slice_rows, wrap

TAB = 4
MAX_INFO = 2_000
FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$")


def closes(line: str, marker: str) -> bool:
    """Whether a line ends the block that `marker` opened."""
    text = line.lstrip(" ")
    indent, text = len(line) - len(text), text.rstrip(" \t")
    return indent <= 3 and len(text) >= len(marker) and not text.strip(marker[0])


def code_block(code: str, info: str, width: int, *, closed: bool = True) -> list[Line]:
    """A whole block: its label and its rows. Each line of `code` ends with a line break."""
    lines = code_lines(code)
    language = language_of(info)
    spans = highlight("\n".join(lines), language) if closed else None
    rows = [row for index, line in enumerate(lines) for row in code_rows(spans[index] if spans else line, width)]
    return [*code_head(info, width), *rows, *code_foot()]


def code_lines(code: str) -> list[str]:
    """The lines of a block."""
    return code.removesuffix("\n").split("\n") if code else []


def code_head(info: str, width: int) -> list[Line]:
    """The row above the code: what language it is in."""
    style = f"{GROUND} code-label"
    name = label(info, MAX_INFO)
    margin = _margin(width)
    rows = [name[start:end] for start, end in wrap(name, width - 2 * len(margin))]
    return [Line((decoration(margin + row if row else "", style),), "", GROUND) for row in rows]


def code_foot() -> list[Line]:
    """The row below the code."""
    return [Line((), "", GROUND)]


def code_rows(line: str | Sequence[Span], width: int) -> list[Line]:
    """One line of code as rows: plain text, or the spans of a highlighted line."""
    spans = [Span(line, GROUND)] if isinstance(line, str) else line
    spans = untabbed(spans)
    text = "".join([span.text for span in spans])
    rows = slice_rows(spans, text, chop(text, width - 2 * len(_margin(width))), fill=GROUND)
    margin = decoration(_margin(width), GROUND)
    for row in rows:
        row.spans = (margin, *row.spans)
    return rows


def _margin(width: int) -> str:
    """What stands left (and is left free on the right) of code."""
    return " " if width >= MIN_WIDTH + 2 else ""


def untabbed(spans: Sequence[Span]) -> list[Span]:
    """Tabs as blanks up to the next stop, copied as tabs."""
    if not any("\t" in span.text for span in spans):
        return list(spans)
    ready: list[Span] = []
    column = 0
    for span in spans:
        for index, piece in enumerate(span.text.split("\t")):
            if index:
                blanks = TAB - column % TAB
                ready.append(Span(" " * blanks, span.style, "", "\t"))
                column += blanks
            if piece:
                ready.append(span._replace(text=piece))
                column += cell_len(piece)
    return ready
