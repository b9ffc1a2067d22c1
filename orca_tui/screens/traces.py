"""All agents of a session: the tree of their runs, and the one under the cursor in full, live while it works."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memory.errors import NotFoundError
from memory.text import label
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.safe import SafeStatic
from orca_tui.trace_words import STYLES, elapsed, state_word
from orca_tui.traces import Traces
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.trace_list import TraceList
from orca_tui.widgets.trace_text import TraceText

if TYPE_CHECKING:
    from memory.types import SubagentRun
    from orca_tui.widgets.transcript import Transcript

SIDE_BY_SIDE, BROAD = 64, 110
"""Cells from which tree and run stand side by side, and from which the tree is broader."""
DEEDS: tuple[tuple[str, str, str], ...] = (
    ("f", "follow", "Follow the run at its end"),
    ("c", "cancel_run", "Cancel the agent under the cursor"),
    ("C", "cancel_all", "Cancel all agents of the session"),
    ("b", "to_reply", "Go to the message that called it"),
)
"""Key, action and what it does."""


class TracesScreen(Screen[None]):
    """Looks and cancels. `go_to` shows a message of the chat; `copy` and `open_url` are the app's."""

    CSS_PATH = Path(__file__).with_name("traces.tcss")
    AUTO_FOCUS = "#traces-tree"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "Back", show=False, id="traces.back"),
        *(Binding(key, action, told, show=False, id=f"traces.{action}") for key, action, told in DEEDS),
    ]

    def __init__(
        self,
        traces: Traces,
        session_id: str | None,
        *,
        now: Callable[[], str],
        cancel: Callable[[int], None],
        cancel_all: Callable[[str], int],
        go_to: Callable[[int], None],
        run_id: int | None = None,
    ) -> None:
        """`run_id`: the run to show; default: the newest that works, else the newest."""
        super().__init__()
        self._traces = traces
        self._session_id = session_id
        self._now = now
        self._cancel = cancel
        self._cancel_all = cancel_all
        self._go_to = go_to
        self._first = run_id
        self._leave: Callable[[], None] | None = None

    def compose(self) -> ComposeResult:
        """Title; tree and run; what was said; keys."""
        yield Static(id="traces-title", markup=False)
        with Horizontal(id="traces-body"):
            yield TraceList(self._traces, self._now, id="traces-tree")
            with Vertical(id="traces-run"):
                yield SafeStatic(id="traces-head")
                yield TraceText(self._traces, id="traces-text")
        yield HintLine(id="traces-keys")

    def on_mount(self) -> None:
        """The tree, with the cursor where it is wanted."""
        self.runs, self.reader = self.query_one(TraceList), self.query_one(TraceText)
        self._leave = self._traces.watch(self._changed)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.runs.show(self._session_id)
        working = self._traces.running(self._session_id)
        runs = [run.id for _depth, run in self._traces.of(self._session_id)]
        wanted = self._first if self._first in runs else None
        newest = max((run.id for run in working), default=max(runs, default=None))
        self.runs.move_to(wanted if wanted is not None else newest)
        if wanted is not None and self.has_class("-single"):
            self.action_open()
        self._show_run()

    def on_unmount(self) -> None:
        """Nothing is told any more."""
        if self._leave is not None:
            self._leave()

    def on_resize(self) -> None:
        """Side by side where there is room."""
        self.set_class(self.size.width < SIDE_BY_SIDE, "-single")
        self.set_class(self.size.width >= BROAD, "-broad")
        self._show_keys()

    # what happens

    def _changed(self, run_ids: set[int]) -> None:
        self.runs.show(self._session_id)
        if self.runs.run_id in run_ids:
            self._show_run()
        self._show_title()

    def on_trace_list_moved(self) -> None:
        """Another run."""
        self._say("")
        self._show_run()

    def on_trace_list_ticked(self) -> None:
        """A second has gone by."""
        self._show_head()

    def on_trace_list_chosen(self, event: TraceList.Chosen) -> None:
        """Enter: into the run."""
        event.stop()
        self.action_open()

    def on_descendant_focus(self) -> None:
        """Other keys make sense."""
        self._show_keys()

    def on_transcript_asked(self, event: "Transcript.Asked") -> None:
        """A key of the run's text."""
        event.stop()
        keys = self.query_one(HintLine)
        if event.deed in ("copy", "copy_code"):
            self.app.copy_to_clipboard(event.text)
            keys.say(_("Copied {n} characters", n=count(len(event.text))))
        else:
            keys.say(_("That key does nothing here"))

    def on_transcript_link_clicked(self, event: "Transcript.LinkClicked") -> None:
        """The target is said before the browser has it."""
        event.stop()
        self.query_one(HintLine).say(event.url)
        self.app.open_url(event.url)

    def on_transcript_cursor_moved(self, event: "Transcript.CursorMoved") -> None:
        """The chat has a cursor of its own."""
        event.stop()

    def on_transcript_follow_changed(self, event: "Transcript.FollowChanged") -> None:
        """Neither is the chat's end concerned."""
        event.stop()
        self._show_head()

    def on_transcript_text_below(self, event: "Transcript.TextBelow") -> None:
        """Nor what is below it."""
        event.stop()

    def on_transcript_searched(self, event: "Transcript.Searched") -> None:
        """Nor its search."""
        event.stop()

    # keys

    def action_open(self) -> None:
        """To the text of the run."""
        if self.runs.run_id is not None:
            self.add_class("-reading")
            self.reader.focus()

    def action_back(self) -> None:
        """From the run to the tree, from the tree to the chat."""
        if self.reader.has_focus:
            self.remove_class("-reading")
            self.runs.focus()
        else:
            self.dismiss(None)

    def action_follow(self) -> None:
        """To the end of the run, and stay there."""
        self.reader.follow()
        self.query_one(HintLine).say(_("Follows the run"))

    def action_cancel_run(self) -> None:
        """End the run under the cursor, and those that it called."""
        run = self._run()
        try:
            if run is None or run.state != "running":
                raise NotFoundError(_("This agent is not at work any more."))
            self._cancel(run.id)
        except NotFoundError:
            self._say(_("This agent is not at work any more."))
        else:
            self._say(_("{name} is being cancelled; what it has is kept", name=label(run.agent_name, 40)))

    def action_cancel_all(self) -> None:
        """End all runs of the session."""
        ended = self._cancel_all(self._session_id) if self._session_id is not None else 0
        self._say(
            _("{n} agents are being cancelled; what they have is kept", n=ended)
            if ended
            else _("No agent is at work in this session")
        )

    def action_to_reply(self) -> None:
        """Back to the message that called for the run."""
        run = self._run()
        if run is not None:
            self.dismiss(None)
            self._go_to(run.parent_msg_id)

    # what is shown

    def _run(self) -> "SubagentRun | None":
        run_id = self.runs.run_id
        return self._traces.run(run_id) if run_id is not None else None

    def _show_run(self) -> None:
        self.reader.show(self._run())
        self._show_head()
        self._show_title()

    def _show_head(self) -> None:
        run = self._run()
        head = self.query_one("#traces-head", SafeStatic)
        if run is None:
            head.update("")
            return
        own, subtree = self._traces.tokens(run)
        facts = [state_word(run), elapsed(run, self._now()), _("{n} tokens", n=count(own))]
        if subtree > own:
            facts.append(_("{n} with those that it called", n=count(subtree)))
        if run.state == "running" and not self.reader.at_end:
            facts.append(_("f follows"))
        caller = self._traces.run(run.parent_run_id) if run.parent_run_id is not None else None
        if caller is not None:
            facts.append(_("called by {name}", name=label(caller.agent_name, 40)))
        told = " · ".join(filter(None, facts))
        head.update(Content.assemble((f"{label(run.agent_name, 60)}  ", f"bold {STYLES[run.state]}"), (told, "$muted")))

    def _show_title(self) -> None:
        runs = self._traces.of(self._session_id)
        working = len(self._traces.running(self._session_id))
        facts = [_("{n} runs", n=count(len(runs)))]
        if working:
            facts.append(_("{n} at work", n=working))
        if runs:
            tokens = sum(self._traces.tokens(run)[1] for depth, run in runs if depth == 0)
            facts.append(_("{n} tokens", n=count(tokens)))
        told = Content.styled(_("Agents"), "bold") + Content("  " + " · ".join(facts))
        self.query_one("#traces-title", Static).update(told)

    def _show_keys(self) -> None:
        if self.text_has_focus:
            pairs = [("f", _("follow")), ("c", _("cancel it")), ("z", _("fold")), ("y", _("copy"))]
        else:
            pairs = [("Enter", _("open")), ("c", _("cancel it")), ("C", _("cancel all")), ("f", _("follow"))]
        self.query_one(HintLine).show([*pairs, ("b", _("its message")), ("Esc", _("back"))])

    @property
    def text_has_focus(self) -> bool:
        """Whether one is in the text of a run."""
        return isinstance(self.focused, TraceText)

    def _say(self, text: str) -> None:
        self.query_one(HintLine).say(text)
