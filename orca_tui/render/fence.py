"""A fence that is still open: its lines become rows as they are completed, and colours come when it closes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from orca_tui.render.code import FENCE, TAB, closes, code_foot, code_head, code_rows
from orca_tui.render.colouring import LINES_AT_ONCE, Colouring, Job, highlight, is_coloured, language_of
from orca_tui.render.line import Line

_NEVER = "\0"
"""Marker of code that no line closes."""
MANY_ROWS = 50
"""Rows of one unfinished line from which its beginning settles."""


@dataclass(slots=True)
class OpenFence:
    """An open fence at the top of a text, at one width."""

    marker: str
    indent: int
    info: str
    width: int
    first: int
    """Index of its first row of code among the settled rows of the text."""
    lines: list[str] = field(default_factory=list)
    started: str = ""
    """The part of an unfinished line whose rows are settled."""

    @classmethod
    def opened(cls, line: str, width: int, settled: list[Line]) -> "OpenFence":
        """Open the fence that `line` begins, and settle its head."""
        match = FENCE.match(line)
        indent, marker, info = match.groups() if match else ("", "```", "")
        settled.extend(code_head(info.strip(), width))
        return cls(marker, len(indent), info.strip(), width, len(settled))

    def take(self, source: str, settled: list[Line], jobs: list[Job], *, closed: bool) -> tuple[str, bool]:
        """Settle the lines of `source` that are whole. Returns what is left of it, and whether the fence is closed.

        `closed` says that no more source will come: the fence ends with it. A long fence that closes puts the work
        that is left into `jobs`.
        """
        *whole, last = source.split("\n")
        for index, line in enumerate(whole):
            if not self.started and closes(line, self.marker):
                self._finish(settled, jobs)
                return "\n".join([*whole[index + 1 :], last]), True
            self._line(line, settled)
        if not closed:
            return self._start(last, settled), False
        if last.strip(" \t") and not (closes(last, self.marker) and not self.started):
            self._line(last, settled)
        self._finish(settled, jobs)
        return "", True

    def tail(self, source: str) -> list[Line]:
        """The rows of an unfinished line, and the foot of the block."""
        if source and not source.strip(f" {self.marker[0]}"):
            source = ""
        rows = [row for line in source.split("\n") for row in self._rows(self._cut(line))] if source else []
        return [*rows, *code_foot()]

    def _cut(self, line: str) -> str:
        if self.started:
            return line
        column = at = 0
        while column < self.indent and line[at : at + 1] in (" ", "\t"):
            column += TAB - column % TAB if line[at] == "\t" else 1
            at += 1
        return " " * (column - self.indent) + line[at:]

    def _line(self, line: str, settled: list[Line]) -> None:
        line = self._cut(line)
        settled.extend(self._rows(line))
        self.lines.append(self.started + line)
        self.started = ""

    def _rows(self, line: str) -> list[Line]:
        if self.started and not line:
            return []
        rows = code_rows(line, self.width)
        if self.started:
            rows[0].joint = ""
        return rows

    def _start(self, line: str, settled: list[Line]) -> str:
        """Settle all but the last row of a very long unfinished line; what is left of it."""
        if len(line) <= MANY_ROWS * self.width:
            return line
        line = self._cut(line)
        rows = self._rows(line)
        left = rows.pop().copied()
        settled.extend(rows)
        self.started += line[: len(line) - len(left)]
        return left

    def _finish(self, settled: list[Line], jobs: list[Job]) -> None:
        """Colour the rows, now or later. They are cut alike, so nothing moves."""
        if len(self.lines) > LINES_AT_ONCE:
            job = colouring(self.lines, self.info, settled[self.first :], self.first, self.width)
            jobs += [job] if job is not None else []
        elif self.lines:
            spans = highlight("\n".join(self.lines), language_of(self.info))
            if spans is not None:
                settled[self.first :] = [row for line in spans for row in code_rows(line, self.width)]
        settled.extend(code_foot())


class OpenCode:
    """Indented code that may still grow, without its indentation: a text of its own, as rows."""

    busy = False

    def __init__(self, width: int) -> None:
        self.settled = code_head("", width)
        self.tail: list[Line] = []
        self.changed = 0
        self._fence = OpenFence(_NEVER, 0, "", width, len(self.settled))
        self._rest = ""

    def work(self) -> None:
        """There are no colours."""

    def update(self, text: str, provisional: str = "") -> None:
        """Take more code."""
        self._take(text, closed=False)
        self.tail = self._fence.tail(self._rest + provisional)

    def close(self) -> None:
        """The code is whole."""
        self._rest = self._rest.removesuffix("\n")
        self._take("", closed=True)
        self.tail = []

    def _take(self, text: str, *, closed: bool) -> None:
        self.changed = len(self.settled)
        self._rest, _closed = self._fence.take(self._rest + text, self.settled, [], closed=closed)


def colouring(lines: Sequence[str], info: str, rows: Sequence[Line], first: int, width: int) -> Colouring | None:
    """The work of colouring a long block, whose rows of code begin at row `first` of its text; `None`: no colours."""
    language = language_of(info)
    if not is_coloured("\n".join(lines), language):
        return None
    return Colouring(lines, language, rows, first, lambda spans: [row.spans for row in code_rows(spans, width)])
