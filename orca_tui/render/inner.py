"""A long block with a text of its own (a quotation, an item of a list, indented code), while it grows.

Its lines are taken out of the block one by one and given to a stream, whose rows are dressed with the block's bar or
sign.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from orca_tui.render.blocks import task_marked
from orca_tui.render.colouring import Job
from orca_tui.render.lazy import BEGINNING, flows
from orca_tui.render.line import Line, Span, prefixed

LONG_BLOCK = 2_000
"""Characters of a block from which it is laid out line by line; each line counts for `A_LINE` more."""
A_LINE = 20
CODE_INDENT = 4
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"([ \t]*(?:[-+*]|\d{1,9}[.)]))([ \t]*)")


class Rows(Protocol):
    """A growing text as rows."""

    settled: list[Line]
    tail: list[Line]
    changed: int

    @property
    def busy(self) -> bool:
        """Whether `work` has something to do."""
        ...

    def work(self) -> None:
        """Do some of what may be done later."""
        ...

    def update(self, text: str, provisional: str = "") -> None:
        """Take more text."""
        ...

    def close(self) -> None:
        """The text is whole."""
        ...


class Mark(Protocol):
    """How the lines of a block are told from others."""

    @property
    def lazy(self) -> bool:
        """Whether its text may go on in lines without the mark."""
        ...

    def owns(self, line: str, *, whole: bool) -> bool | None:
        """Whether a line, whole or the beginning of one, is the block's; `None`: that depends on what follows."""
        ...

    def cut(self, line: str) -> str:
        """What a line of the block says."""
        ...


class Quoted:
    """The lines of a quotation."""

    lazy = True

    def owns(self, line: str, *, whole: bool) -> bool | None:
        """Whether a line has the mark."""
        match = _QUOTE.match(line)
        if match is None:
            return None if not whole and len(line) < CODE_INDENT and not line.strip(" ") else False
        return True if whole or match.end() < len(line) else None

    def cut(self, line: str) -> str:
        """The line without the mark and one blank."""
        match = _QUOTE.match(line)
        text = line[match.end() :] if match else line
        return f"  {text[1:]}" if text.startswith("\t") else text.removeprefix(" ")


@dataclass(frozen=True, slots=True)
class Indented:
    """The lines of an item, or of code."""

    columns: int
    lazy: bool = True

    def owns(self, line: str, *, whole: bool) -> bool | None:  # noqa: ARG002
        """Whether a line is indented; an empty one is the block's when what follows is."""
        return None if not line.strip(" \t") else _columns(line) >= self.columns

    def cut(self, line: str) -> str:
        """The line without the indentation."""
        return " " * (_columns(line) - self.columns) + line.lstrip(" \t")


CODE = Indented(CODE_INDENT, lazy=False)
"""The lines of indented code."""


def item_mark(line: str) -> tuple[Indented, str]:
    """How the lines of an item are told, and its first line with blanks in the place of its sign."""
    match = _ITEM.match(line)
    if match is None:
        return Indented(_columns(line)), line
    sign, indent = _width(match[1]), _width(match[0])
    text = line[match.end() :]
    return Indented(indent if text and indent - sign <= CODE_INDENT else sign + 1), " " * indent + text


def _columns(line: str) -> int:
    return _width(line[: len(line) - len(line.lstrip(" \t"))])


def _width(text: str) -> int:
    return len(text.expandtabs(CODE_INDENT))


def reach(lines: Sequence[str], first: int, mark: Mark, line: str) -> int:
    """How long a block is, as far as that matters. `line` is its first one, number `first`,
    as `mark` wants it."""
    length, before = 0, ""
    for at in range(first, len(lines)):
        line = lines[at] if at > first else line
        if owned(mark, before, line, whole=at + 1 < len(lines)) is False or length >= LONG_BLOCK:
            break
        length, before = length + len(line) + A_LINE, line
    return length


def owned(mark: Mark, before: str, line: str, *, whole: bool) -> bool | None:
    """Whether a line is the block's: by its mark, or since it goes on in the line before."""
    own = mark.owns(line, whole=whole)
    return flows(before, line, whole=whole) if own is False and mark.lazy else own


@dataclass(slots=True)
class Inner:
    """The block, among the settled rows of the text that it is in."""

    kind: str
    mark: Mark
    rows: Rows
    settled: list[Line]
    top: int
    """Index of its first row."""
    lead: tuple[Span, ...] = ()
    indent: tuple[Span, ...] = ()
    """What stands left of its first row, and of the others."""
    opening: tuple[str, str] = ("", "")
    """What tells its list from another."""
    number: int = 0
    """What the next item is counted."""
    blanks: int = 0
    """Empty lines below what was taken, which may or may not belong to the block."""
    changed: int = 0
    """First row of the whole text that `take` has changed."""
    _before: str = ""
    """The line that was taken last, or its beginning."""
    _inside: bool = False
    """Whether the line that was taken last goes on."""
    _count: int = 0
    _listed: bool = False

    def take(self, source: str, provisional: str, jobs: list[Job], *, closed: bool) -> tuple[str, bool]:
        """Settle the lines of the block. Returns what is left of the source, and whether the block has ended."""
        taken: list[str] = []
        at, ended = self._lines(source, taken, closed=closed)
        ended = ended or closed
        more = provisional
        if not self._inside:
            line = source[at:] + provisional
            more = self.mark.cut(line) if not ended and self._owns(line, whole=False) else ""
        self.rows.update("".join(taken), more)
        changed = self.rows.changed
        if ended:
            self.rows.close()
            changed = min(changed, self.rows.changed)
        self._dress(changed)
        if ended and not self._count:
            self.settled += self._dressed([Line(())], 0)
        if self.rows.busy and not self._listed:
            self._listed = True
            jobs.append(self)
        return source[at:], ended

    def tail(self) -> list[Line]:
        """The rows that are not settled."""
        return self._dressed(self.rows.tail, self._count)

    @property
    def first(self) -> int:
        """First row that a step may change."""
        return self.top

    def step(self) -> bool:
        """Colour more of the code in the block."""
        self.rows.work()
        self._dress(self.rows.changed)
        self._listed = self.rows.busy
        return self._listed

    def _lines(self, source: str, taken: list[str], *, closed: bool) -> tuple[int, bool]:
        """Take lines as long as they are the block's. Returns where the next begins, and whether it is another's."""
        at = 0
        while at < len(source):
            stop = source.find("\n", at)
            end = stop + 1 if stop >= 0 else len(source)
            line = source[at : stop if stop >= 0 else end]
            own = self._inside or self._owns(line, whole=stop >= 0 or closed)
            if own is False:
                return at, True
            if own is None:
                if stop < 0 and not closed:
                    break
                self.blanks, self._before = self.blanks + 1, ""
            else:
                text = line if self._inside else "\n" * self.blanks + self.mark.cut(line)
                taken.append(text if stop < 0 else f"{text}\n")
                self._before = (self._before + line if self._inside else line)[:BEGINNING]
                self._inside, self.blanks = stop < 0, 0
            at = end
        return at, False

    def _owns(self, line: str, *, whole: bool) -> bool | None:
        return owned(self.mark, self._before, line, whole=whole)

    def _dress(self, changed: int) -> None:
        """Bring the rows of the whole text up to date from a row of the block on."""
        changed = min(changed, self._count)
        rows = self.rows.settled
        self.settled[self.top + changed : self.top + self._count] = self._dressed(rows[changed:], changed)
        self._count, self.changed = len(rows), self.top + changed

    def _dressed(self, rows: Sequence[Line], at: int) -> list[Line]:
        """Rows of the block, of which the first is number `at`, as rows of the whole."""
        if at:
            return prefixed([Line(()), *rows], self.indent, self.indent)[1:]
        if rows and self.kind == "list":
            rows = [task_marked(rows[0]), *rows[1:]]
        return prefixed(rows, self.lead, self.indent)
