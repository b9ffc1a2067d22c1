"""Runs of subagents as a tree: who, how it goes, for how long, with how many tokens, and what it does just now.

Figures move by themselves once a second, and only while something runs and the list is seen.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from memory.text import label
from memory.types import SubagentRun
from orca_tui.i18n import _
from orca_tui.trace_words import SIGNS, STYLES, elapsed, one_line, state_word, step_word, tokens_word
from orca_tui.traces import Traces
from orca_tui.widgets.line_list import LineList, Row, split_line, wrapped_rows

TICK = 1.0
"""Seconds between two redraws of what takes its time."""
INDENT = 2
DEEPEST = 4
"""Steps of indentation; deeper runs stand there too."""


class TraceList(LineList):
    """The runs of one session."""

    class Moved(Message):
        """Another run is under the cursor."""

        def __init__(self, run_id: int | None) -> None:
            super().__init__()
            self.run_id = run_id

    class Chosen(Message):
        """A run is to be looked at."""

        def __init__(self, run_id: int) -> None:
            super().__init__()
            self.run_id = run_id

    class Ticked(Message):
        """A second has gone by."""

    def __init__(self, traces: Traces, now: Callable[[], str], *, id: str | None = None) -> None:  # noqa: A002
        """`now`: what times are reckoned to."""
        super().__init__(id=id)
        self._traces = traces
        self._now = now
        self._session_id: str | None = None
        self._timer: Timer | None = None
        self._told: int | None = None

    @property
    def run_id(self) -> int | None:
        """The run under the cursor."""
        key = self.cursor_key
        return key if isinstance(key, int) else None

    def runs(self) -> list[tuple[int, SubagentRun]]:
        """What is listed, with depths."""
        return self._traces.of(self._session_id)

    def show(self, session_id: str | None) -> None:
        """The runs of this session, or what is new of them."""
        self._session_id = session_id
        self.rebuild()
        self._arm()

    def build(self, width: int) -> Sequence[Row]:
        """Two rows a run."""
        rows: list[Row] = []
        for depth, run in self.runs():
            rows += self._run_rows(depth, run, width)
        none = _("No agent has worked in this session. /agent NAME TASK lets one.")
        return rows or wrapped_rows(none, width, "$muted")

    def choose(self, key: Hashable) -> None:
        """Enter or a click."""
        if isinstance(key, int):
            self.post_message(self.Chosen(key))

    def cursor_moved(self) -> None:
        """Told once for each."""
        if self.run_id != self._told:
            self._told = self.run_id
            self.post_message(self.Moved(self.run_id))

    def on_show(self) -> None:
        """Figures move again."""
        self._arm()

    def _run_rows(self, depth: int, run: SubagentRun, width: int) -> list[Row]:
        indent = INDENT * min(depth, DEEPEST)
        rows = [Row(partial(self._head, run, indent, width), run.id)]
        below = self._step if run.state == "running" else _ending
        return [*rows, Row(partial(below, run, indent), run.id)]

    def _head(self, run: SubagentRun, indent: int, width: int) -> Content:
        style = STYLES[run.state]
        left = Content.assemble(
            (" " * indent, ""), (f"{SIGNS[run.state]} ", style), (label(run.agent_name, 40), "bold")
        )
        facts = [elapsed(run, self._now()), tokens_word(*self._traces.tokens(run))]
        return split_line(left, Content.styled("  ".join(filter(None, facts)), "$muted"), width)

    def _step(self, run: SubagentRun, indent: int) -> Content:
        told = step_word(self._traces.step(run)) or _("at work")
        return Content.styled(f"{' ' * (indent + 2)}{told}", "$muted")

    # time

    def _arm(self) -> None:
        if self._timer is None and self._is_moving():
            self._timer = self.set_timer(TICK, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._is_moving():
            self.redraw()
            self.post_message(self.Ticked())
            self._arm()

    def _is_moving(self) -> bool:
        """Whether there is a clock to be seen that goes on."""
        seen = self.is_attached and self.app.screen is self.screen and self.size.area > 0 and self.is_on_screen
        return seen and bool(self._traces.running(self._session_id))


def _ending(run: SubagentRun, indent: int) -> Content:
    """How it ended, and its first words."""
    left = Content.styled(f"{' ' * (indent + 2)}{state_word(run)}", STYLES[run.state])
    told = one_line(run)
    return left + Content.styled(f" · {told}", "$muted") if told else left
