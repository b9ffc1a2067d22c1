"""The agents that are at work, below the memory sidebar: there while one is, and folded to its heading on demand."""

from collections.abc import Callable, Hashable, Sequence

from textual.content import Content

from memory.types import SubagentRun
from orca_tui.figures import short_count
from orca_tui.i18n import _
from orca_tui.traces import Traces
from orca_tui.widgets.line_list import Row, split_line
from orca_tui.widgets.trace_list import TraceList

HEAD = "head"
MOST = 12
"""Rows that the panel takes."""


class TracePanel(TraceList):
    """The runs of the turns that are on their way."""

    DEFAULT_CSS = """
    TracePanel { height: auto; padding: 0 0 0 1; border-top: solid $faint; }
    """

    def __init__(self, traces: Traces, now: Callable[[], str], key: Callable[[], str]) -> None:
        """`key` tells the key of the full screen, as a person reads it."""
        super().__init__(traces, now, id="trace-panel")
        self._key = key
        self._is_folded = False
        self.display = False

    def runs(self) -> list[tuple[int, SubagentRun]]:
        """Those below a message for which an agent is at work."""
        busy = {run.parent_msg_id for run in self._traces.running(self._session_id)}
        return [(depth, run) for depth, run in super().runs() if run.parent_msg_id in busy]

    def show(self, session_id: str | None) -> None:
        """Hidden when nothing runs."""
        self.display = bool(self._traces.running(session_id))
        super().show(session_id)

    def build(self, width: int) -> Sequence[Row]:
        """Heading, then the tree."""
        runs = self.runs()
        rows = [Row(lambda: self._heading(runs, width), HEAD)]
        for depth, run in () if self._is_folded else runs:
            rows += self._run_rows(depth, run, width)
        return rows

    def rebuild(self) -> None:
        """As high as it must be."""
        super().rebuild()
        self.styles.height = 1 + max(1, min(MOST, len(self._rows)))

    def choose(self, key: Hashable) -> None:
        """The heading folds."""
        if key == HEAD:
            self._is_folded = not self._is_folded
            self.rebuild()
        else:
            super().choose(key)

    def _heading(self, runs: Sequence[tuple[int, SubagentRun]], width: int) -> Content:
        working = sum(run.state == "running" for _depth, run in runs)
        tokens = sum(self._traces.tokens(run)[1] for depth, run in runs if depth == 0)
        sign = "▸" if self._is_folded else "▾"
        left = Content.assemble((f"{sign} ", "$muted"), (_("Agents at work: {n}", n=working), "bold $heading"))
        key = self._key()
        right = " · ".join(filter(None, (short_count(tokens), key)))
        return split_line(left, Content.styled(right, "$muted"), width)
