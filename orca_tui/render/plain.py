"""Text that is shown as it was written, as rows: what the user typed, reasoning, tool output.

The same contract as `MarkdownStream`. Blanks and line breaks stay; fences are code when asked for; web addresses are
links.
"""

from orca_tui.render.code import FENCE, untabbed
from orca_tui.render.colouring import Job
from orca_tui.render.fence import OpenFence
from orca_tui.render.inline import plain_spans
from orca_tui.render.line import Line, Span, prefixed
from orca_tui.render.wrap import MIN_WIDTH, slice_rows, wrap

PIECE = 4_000
"""Characters of one line that are laid out at a time."""


class PlainStream:
    """One text at one width; `lead` is drawn left of each row and never copied."""

    def __init__(self, width: int, *, style: str = "", fences: bool = False, lead: Span | None = None) -> None:
        self.settled: list[Line] = []
        self.tail: list[Line] = []
        self.changed = 0
        """First row that the last update may have changed."""
        self._lead = () if lead is None or width < MIN_WIDTH + 4 else (lead._replace(copy=""),)
        self._width = width - sum(len(span.text) for span in self._lead)
        self._style = style
        self._fences = fences
        self._jobs: list[Job] = []
        self._rest = ""
        self._joint = "\n"
        self._open: OpenFence | None = None

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
        self.changed = len(self.settled)
        self._rest += text
        self._whole_lines(closed=False)
        if self._open is not None:
            self.tail = self._open.tail(self._rest + provisional)
            return
        self._rest = self._pieces(self._rest)
        self.tail = self._rows(self._rest + provisional) if self._rest + provisional else []

    def close(self) -> None:
        """The text is whole: all rows become final. A line break at its end makes no empty row."""
        self.changed = len(self.settled)
        self.tail = []
        self._whole_lines(closed=True)
        if self._rest:
            self._line(self._rest)
            self._rest = ""

    def _whole_lines(self, *, closed: bool) -> None:
        while True:
            if self._open is not None:
                fence = self._open
                self._rest, done = fence.take(self._rest, self.settled, self._jobs, closed=closed)
                if not done:
                    return
                self.changed = min(self.changed, fence.first)
                self._open = None
            *whole, self._rest = self._rest.split("\n")
            for index, line in enumerate(whole):
                if self._fences and FENCE.match(line):
                    self._open = OpenFence.opened(line, self._width, self.settled)
                    self._rest = "\n".join([*whole[index + 1 :], self._rest])
                    break
                self._line(line)
            if self._open is None:
                return

    def _line(self, line: str) -> None:
        self.settled.extend(self._rows(self._pieces(line)))
        self._joint = "\n"

    def _pieces(self, line: str) -> str:
        """Settle the beginning of a very long line; what is left of it."""
        while len(line) > PIECE:
            end = len(line[:PIECE].rstrip(" ")) or PIECE
            rows = self._rows(line[:end])
            self.settled.extend(rows[:-1])
            self._joint = rows[-1].joint
            line = rows[-1].copied() + line[end:]
        return line

    def _rows(self, text: str) -> list[Line]:
        spans = untabbed(plain_spans(text, self._style, tabs=True))
        shown = "".join([span.text for span in spans])
        rows = slice_rows(spans, shown, wrap(shown, self._width), self._joint)
        return prefixed(rows, self._lead, self._lead) if self._lead else rows
