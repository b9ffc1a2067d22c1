"""Colours for code: at once for a short block, in steps for a long one, so that the screen never waits for a lexer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from rich.cells import cell_len

from orca_tui.render.line import Line, Span

MAX_LINES = 2_000
MAX_CHARACTERS = 200_000
"""More code than this stays plain."""
LINES_AT_ONCE = 120
"""Lines up to which a block is coloured when it closes."""
LINES_A_STEP = 60
GROUND = "code-block"
"""Style of every cell of a block."""

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


Cut = Callable[[Sequence[Span]], Iterable[tuple[Span, ...]]]
"""How a line of code becomes rows: their spans."""


class Job(Protocol):
    """Work that moves no row."""

    @property
    def first(self) -> int:
        """First row of the text that the next step may change."""
        ...

    def step(self) -> bool:
        """Do some of it; false when there is no more."""
        ...


class Colouring:
    """Colours the rows of one block, which are on the screen already; they keep their places."""

    def __init__(self, lines: Sequence[str], language: str, rows: Sequence[Line], first: int, cut: Cut) -> None:
        self.first = first
        """Row of the text that the block's code begins at."""
        self._lines = lines
        self._rows = iter(rows)
        self._cut = cut
        self._spans = coloured_lines("\n".join(lines), language)
        self._at = 0

    def step(self) -> bool:
        """Colour some more lines; false when all are done."""
        for spans in self._spans:
            if "".join([span.text for span in spans]) != self._lines[self._at]:
                return False
            for spans_of_row in self._cut(spans):
                row = next(self._rows, None)
                if row is None:
                    return False
                row.spans = spans_of_row
            self._at += 1
            if self._at % LINES_A_STEP == 0:
                return self._at < len(self._lines)
        return False


@lru_cache(maxsize=32)
def highlight(code: str, language: str) -> tuple[tuple[Span, ...], ...] | None:
    """The spans of each line, or `None` when the language is not known or the code is too long."""
    if not is_coloured(code, language):
        return None
    lines = tuple([tuple(line) for line in coloured_lines(code, language)])
    same = "\n".join(["".join([span.text for span in line]) for line in lines]) == code
    return lines if same else None


def is_coloured(code: str, language: str) -> bool:
    """Whether there are colours for this code."""
    if not language or len(code) > MAX_CHARACTERS or code.count("\n") >= MAX_LINES:
        return False
    return _lexer(language) is not None


def language_of(info: str) -> str:
    """The language that an info string names."""
    return info.split(maxsplit=1)[0].strip("{}.,").partition(":")[0].lower() if info.strip() else ""


def coloured_lines(code: str, language: str) -> Iterator[list[Span]]:
    """The spans of each line. Some lexers know a comment by the end of its line, so the last line has one, too."""
    line: list[Span] = []
    for kind, text in _lexer(language).get_tokens(code + "\n"):
        style = _style(str(kind))
        first, *others = text.split("\n")
        _add(line, first, style)
        for other in others:
            yield line
            line = []
            _add(line, other, style)
    if line:
        yield line


def _add(line: list[Span], text: str, style: str) -> None:
    """Add a token to its line. A grapheme that a lexer took apart becomes one again."""
    if not text:
        return
    if line and (line[-1].style == style or cell_len(text[0]) == 0 or line[-1].text[-1] == "\u200d"):
        line[-1] = line[-1]._replace(text=line[-1].text + text)
    else:
        line.append(Span(text, style))


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    # Slow to import, and only needed with the first closed fence.
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
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
