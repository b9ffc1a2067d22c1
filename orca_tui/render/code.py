"""Fenced and indented code: rows on their own ground, highlighted once the fence is closed.

A row is cut where it is full; it copies exactly as it was written.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from rich.cells import cell_len

from memory.text import label
from orca_tui.render.line import Line, Span, decoration
from orca_tui.render.wrap import chop, slice_rows

MAX_LINES = 2_000
MAX_CHARACTERS = 200_000
"""More code than this stays plain: highlighting would be felt."""
TAB = 4
GROUND = "code-block"
"""Style of every cell of a block."""
FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$")

_KEYS = {
    "Comment": "syntax-comment",
    "Keyword": "syntax-keyword",
    "Operator.Word": "syntax-keyword",
    "Name.Function": "syntax-function",
    "Name.Decorator": "syntax-function",
    "Name.Tag": "syntax-keyword",
    "Name.Attribute": "syntax-function",
    "Name.Builtin": "syntax-type",
    "Name.Class": "syntax-type",
    "Name.Exception": "syntax-type",
    "Name.Namespace": "syntax-type",
    "Keyword.Type": "syntax-type",
    "Literal.String": "syntax-string",
    "Literal.Number": "syntax-number",
    "Keyword.Constant": "syntax-number",
    "Generic.Inserted": "syntax-string",
    "Generic.Deleted": "syntax-removed",
    "Generic.Heading": "syntax-keyword",
    "Generic.Subheading": "syntax-keyword",
    "Generic.Prompt": "syntax-comment",
}


def closes(line: str, marker: str) -> bool:
    """Whether a line ends the block that `marker` opened."""
    text = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent <= 3 and len(text) >= len(marker) and not text.strip(marker[0])


def code_block(code: str, info: str, width: int, *, closed: bool = True) -> list[Line]:
    """A whole block: its label and its rows. `code` ends without a line break."""
    lines = code.split("\n") if code else []
    language = language_of(info)
    spans = highlight(code, language) if closed else None
    rows = [row for index, line in enumerate(lines) for row in code_rows(spans[index] if spans else line, width)]
    return [*code_head(info, width), *rows, *code_foot()]


def code_head(info: str, width: int) -> list[Line]:
    """The row above the code: what language it is in."""
    name = label(info, max(1, min(60, width - 2)))
    return [Line((decoration(f" {name}" if name else "", f"{GROUND} code-label"),), "", GROUND)]


def code_foot() -> list[Line]:
    """The row below the code."""
    return [Line((), "", GROUND)]


def code_rows(line: str | Sequence[Span], width: int) -> list[Line]:
    """One line of code as rows: plain text, or the spans of a highlighted line."""
    spans = [Span(line, GROUND)] if isinstance(line, str) else line
    spans = untabbed(spans)
    text = "".join([span.text for span in spans])
    rows = slice_rows(spans, text, chop(text, width - 2), fill=GROUND)
    margin = decoration(" ", GROUND)
    for row in rows:
        row.spans = (margin, *row.spans)
    return rows


def language_of(info: str) -> str:
    """The language that an info string names."""
    return info.split(maxsplit=1)[0].strip("{}.,").partition(":")[0].lower() if info.strip() else ""


def highlight(code: str, language: str) -> list[list[Span]] | None:
    """The spans of each line, or `None` when the language is not known or the code is too long."""
    if not language or len(code) > MAX_CHARACTERS or code.count("\n") >= MAX_LINES:
        return None
    lexer = _lexer(language)
    if lexer is None:
        return None
    lines: list[list[Span]] = [[]]
    for kind, text in lexer.get_tokens(code):
        style = _style(str(kind))
        first, *others = text.split("\n")
        if first:
            lines[-1].append(Span(first, style))
        lines.extend([Span(other, style)] if other else [] for other in others)
    same = "\n".join(["".join([span.text for span in line]) for line in lines]) == code
    return lines if same else None


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # slow to import, and only needed with the first closed fence
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return None if lexer.name == "Text only" else lexer


@lru_cache(maxsize=512)
def _style(kind: str) -> str:
    """`Token.Literal.String.Doc` → the style of its nearest named ancestor."""
    name = kind.removeprefix("Token").removeprefix(".")
    while name:
        if key := _KEYS.get(name):
            return f"{GROUND} {key}"
        name = name.rpartition(".")[0]
    return GROUND


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
