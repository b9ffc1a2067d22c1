"""One run in full: its task, what it did, what it says as it says it, its reply. Drawn like the conversation."""

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from memory.types import SubagentRun
from orca_tui.i18n import _
from orca_tui.render.entry import Call, CallOutcome, Entry, EntryState
from orca_tui.trace_words import is_interrupted, step_word
from orca_tui.traces import MAX_KEPT, Traces
from orca_tui.widgets.transcript import Transcript

TASK, STEPS, REPLY = "task", "steps", "reply"
DEEDS = ("open", "fold", "copy", "copy_code", "next_target", "raw")
"""Of `orca_tui.message_keys`, what makes sense here."""
OUTCOMES: dict[str, CallOutcome] = {
    "running": "running",
    "complete": "done",
    "stopped": "cancelled",
    "failed": "failed",
}


class TraceText(Transcript):
    """Shows one run at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "screen.cancel_run", show=False),
        Binding("escape", "screen.back", show=False),
    ]

    def __init__(self, traces: Traces, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._traces = traces
        self._run: SubagentRun | None = None
        self._fed = {"text": 0, "reasoning": 0}
        self._steps = 0

    def possible(self) -> list[str]:
        """Looking and copying."""
        return [name for name in super().possible() if name in DEEDS]

    def show(self, run: SubagentRun | None) -> None:
        """This run, from its end, or what is new of it."""
        before, self._run = self._run, run
        if run is None:
            self.set_entries([])
        elif before is None or before.id != run.id:
            self._begin(run)
        elif before.state == "running":
            self._go_on(run)

    def follow(self) -> None:
        """To the end, and stay there."""
        self.action_last()
        self.scroll_end(animate=False, immediate=True)

    def _begin(self, run: SubagentRun) -> None:
        stream = self._traces.stream(run.id)
        self._fed = {"text": 0, "reasoning": 0}
        self._steps = len(stream.steps) if stream else 0
        entries = [Entry(TASK, "system", run.task, title=_("Task")), *self._step_entries(run)]
        reasoning = stream.since("reasoning", 0)[0] if stream else ""
        if run.state == "running":
            self.set_entries(entries)
            self.begin(Entry(REPLY, "assistant", "", model=run.agent_name))
            self._feed_new(run)
        else:
            self.set_entries([*entries, _reply(run, reasoning)])
            self.go_to(TASK)

    def _go_on(self, run: SubagentRun) -> None:
        stream = self._traces.stream(run.id)
        if self._fed["text"] + self._fed["reasoning"] > 4 * MAX_KEPT:
            self._begin(run)  # what is too old goes
            return
        steps = len(stream.steps) if stream else 0
        if steps != self._steps or run.state != "running":
            self._steps = steps
            self._show_steps(run)
        self._feed_new(run)
        if run.state != "running":
            reply = _reply(run, "")
            if reply.kind == "error":
                self.replace(REPLY, reply)
            else:
                self.finish(REPLY, state=reply.state, note=reply.note, text=reply.text)

    def _feed_new(self, run: SubagentRun) -> None:
        stream = self._traces.stream(run.id)
        if stream is not None:
            reasoning, self._fed["reasoning"] = stream.since("reasoning", self._fed["reasoning"])
            text, self._fed["text"] = stream.since("text", self._fed["text"])
            if reasoning:
                self.feed_reasoning(REPLY, reasoning)
            if text:
                self.feed(REPLY, text)

    def _step_entries(self, run: SubagentRun) -> list[Entry]:
        """What it did, as one entry that unfolds: the tools that it called."""
        stream = self._traces.stream(run.id)
        if stream is None or not stream.steps:
            return []
        steps = [step_word(step) for step in stream.steps]
        call = Call("", OUTCOMES[run.state], step=steps[-1])
        return [Entry(STEPS, "tool", "\n".join(steps), title=_("Steps"), call=call)]

    def _show_steps(self, run: SubagentRun) -> None:
        for entry in self._step_entries(run):
            if self.entry(STEPS) is not None:
                self.replace(STEPS, entry)
            elif (reply := self.entry(REPLY)) is not None:
                task = self.entry(TASK)
                self.set_entries([*filter(None, (task,)), entry])
                self.begin(replace(reply, text="", reasoning=""))
                self._fed = {"text": 0, "reasoning": 0}


def _reply(run: SubagentRun, reasoning: str) -> Entry:
    """The stored reply; what is said of a run that has none."""
    if run.state == "failed":
        return Entry(REPLY, "error", run.content, title=_("The agent failed"), note="")
    if is_interrupted(run):
        return Entry(REPLY, "error", _(run.content), title=_("Interrupted"))
    note = {True: _("cut: it was longer than is kept"), False: ""}[run.truncated]
    state: EntryState = "stopped" if run.state == "stopped" else "complete"
    if run.state == "stopped" and not run.content:
        note = _("stopped before it had said anything")
    return Entry(
        REPLY, "assistant", run.content, state=state, timestamp=run.ended_at or "", reasoning=reasoning, note=note,
        model=run.agent_name,
    )  # fmt: skip
