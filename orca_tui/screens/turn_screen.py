"""The chat as what a turn is drawn on (`orca_tui.bridge.TurnView`): its messages, its text as it streams, its end."""

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.timer import Timer

from memory.errors import OrcaError
from memory.text import label
from orca_tui.core_words import core_said
from orca_tui.entries import (
    ALONE,
    Places,
    call_entry,
    entries_of,
    entries_of_one,
    error_entry,
    key_of,
    note_of,
    run_entry,
    run_key,
    running_entry,
)
from orca_tui.i18n import _
from orca_tui.messages import ContextShown, PathChanged, TurnEnded
from orca_tui.render.entry import Entry
from orca_tui.screens.columns import SideColumns
from orca_tui.target import Target
from orca_tui.widgets.composer import Composer
from orca_tui.widgets.status_bar import StatusBar

if TYPE_CHECKING:
    from memory.events import ToolFinished, ToolStarted
    from memory.types import ContextReport, Message, SubagentRun
    from orca_tui.widgets.transcript import Transcript


class TurnScreen(SideColumns):
    """Draws the turns of the open session."""

    transcript: "Transcript"
    composer: Composer
    status: StatusBar

    def __init__(self, *, panel: bool, sidebar: bool) -> None:
        """`panel` and `sidebar`: whether the columns are shown where there is room for them."""
        super().__init__(panel=panel, sidebar=sidebar)
        self.target = Target()
        """What is open: where a message that is sent now goes."""
        self.messages: list[Message] = []
        """The path on the screen, oldest first."""
        self.places: Places = {}
        """Where the open session forks."""
        self._run_calls: dict[int, str] = {}
        """By run: the key of the call that it answers; empty when it answers none."""
        self._is_streaming = False
        self._countdown: Timer | None = None

    def set_busy(self, busy: bool) -> None:
        """Whether a reply is being written in the open session."""
        raise NotImplementedError

    def add_error(self, error: OrcaError) -> None:
        """An error that belongs to no stored message."""
        raise NotImplementedError

    def leave_greeting(self) -> None:
        """There is something to show in the transcript."""
        raise NotImplementedError

    def set_activity(self, text: str) -> None:
        """What is going on, in the status bar; ends a countdown."""
        self._is_streaming = bool(text) and self._is_streaming
        if self._countdown is not None:
            self._countdown.stop()
            self._countdown = None
        self.status.update_status(activity=text)

    def shows(self, session_id: str) -> bool:
        """Whether this session is open."""
        return self.is_attached and self.target.session_id == session_id

    def message_stored(self, message: "Message") -> None:
        """The user's message, or the reply: still empty, or gone on with."""
        self.leave_greeting()
        self._follow_fork(message)
        known = self._remember(message)
        if message.role == "user":
            self.transcript.add(self._entry(message))
            return
        if known:  # what ended it before goes
            self.transcript.set_entries(entries_of(self.messages[:-1], self.places))
        shown = replace(self._entry(message), model=self.status.status.answering, state="streaming")
        self._take_run_away(message, shown)
        self.transcript.begin(shown)
        self.set_activity(_("waiting for the model"))

    def _follow_fork(self, message: "Message") -> None:
        """A new message that does not stand below the newest one: what is on its path stays."""
        if not self.messages or any(one.id == message.id for one in self.messages):
            return
        ids = [None, *(one.id for one in self.messages)]
        if message.parent_id in ids and message.parent_id != ids[-1]:
            self.cut_to(ids.index(message.parent_id))

    def cut_to(self, length: int) -> None:
        """Keep the first `length` messages of the path on the screen."""
        del self.messages[length:]
        self.transcript.set_entries(entries_of(self.messages, self.places))
        self.post_message(PathChanged())

    def show_places(self, places: Places) -> None:
        """Where the session forks."""
        self.places = places
        self.transcript.show_forks({str(message_id): fork for message_id, fork in places.items()})

    def _entry(self, message: "Message") -> Entry:
        return entries_of_one(message, fork=self.places.get(message.id, ALONE))[0]

    def context_built(self, report: "ContextReport") -> None:
        """The prompt is ready."""
        self.status.update_status(window=report.window, used=report.prompt_tokens)
        self.post_message(ContextShown())

    def reply_text(self, reply: "Message", text: str) -> None:
        """More of the reply."""
        self._streaming()
        self.transcript.feed(key_of(reply), text)

    def reply_reasoning(self, reply: "Message", text: str) -> None:
        """More of the reasoning."""
        self._streaming()
        self.transcript.feed_reasoning(key_of(reply), text)

    def tools_asked(self, message: "Message") -> None:
        """The reply is whole; what it asked for follows as entries of its own."""
        self._remember(message)
        note = note_of(message) or None
        self.transcript.finish(key_of(message), state=message.state, note=note, text=message.content)

    def tool_started(self, call: "ToolStarted") -> None:
        """A tool runs."""
        self.set_activity(_("runs {tool}", tool=label(call.name, 40)))
        self.transcript.add(running_entry(self._call_key(call.call_id), call.name, call.arguments))

    def tool_finished(self, call: "ToolFinished") -> None:
        """Its result, in the place of the call."""
        self._remember(call.message)
        key = self._call_key(call.call_id)
        running = self.transcript.entry(key)
        asked = running.call.arguments if running is not None and running.call is not None else ""
        self.transcript.replace(key, call_entry(call.message, asked))
        self.set_activity(_("waiting for the model"))

    def run_changed(self, run: "SubagentRun", step: str, tokens: int) -> None:
        """A subagent of the open session began, goes on or is done. It is told at the call that it answers; one that
        the user has called by hand has an entry until its reply is there. Those of other agents are in the panel."""
        from orca_tui.trace_words import step_word

        if run.parent_run_id is not None:
            return
        key = self._run_entry(run)
        entry = self.transcript.entry(key)
        if entry is None and run.state == "running" and key == run_key(run.id):
            self.transcript.add(run_entry(run))
        elif entry is not None and entry.call is not None and entry.call.outcome == "running":
            if run.state != "running":
                step = ""
            call = replace(entry.call, step=step_word(step), tokens=tokens)
            if key == run_key(run.id) and run.state != "running":
                call = replace(call, outcome=run_entry(run).call.outcome)  # type: ignore[union-attr] # it has one
            self.transcript.replace(key, replace(entry, call=call))

    def _run_entry(self, run: "SubagentRun") -> str:
        """The transcript key of the call that a run answers, else its own."""
        from orca_tui.trace_lookup import calling

        if run.id not in self._run_calls:
            taken = set(self._run_calls.values())
            call_id = calling(run.agent_name, run.task, self.messages, lambda one: self._call_key(one) not in taken)
            self._run_calls[run.id] = self._call_key(call_id) if call_id is not None else ""
        return self._run_calls[run.id] or run_key(run.id)

    def _take_run_away(self, reply: "Message", entry: Entry) -> None:
        """Show a reply in the place of the run that it comes from, if that is shown."""
        from memory.store.run_store import AGENT_RUN

        run_id = reply.metadata.get(AGENT_RUN)
        if isinstance(run_id, int):
            self.transcript.replace(run_key(run_id), entry)

    def _call_key(self, call_id: str) -> str:
        """The transcript key of a call without a result. Servers number calls anew in each reply."""
        asked = next((one for one in reversed(self.messages) if one.role == "assistant"), None)
        return f"call-{asked.id if asked is not None else ''}-{call_id}"

    def waiting(self, seconds: float, reason: str) -> None:
        """Count down to the next try."""
        self.set_activity("")
        left = max(1, round(seconds))

        def tick() -> None:
            nonlocal left
            self.status.update_status(activity=_("trying again in {n} s · {reason}", n=left, reason=core_said(reason)))
            left = max(0, left - 1)

        tick()
        self._countdown = self.set_interval(1.0, tick)

    def noticed(self, text: str, name: str) -> None:
        """Say it for a moment: the turn goes on."""
        self.app.notify(_(text, name=label(name, 80)), markup=False)

    def reply_finished(self, message: "Message", finish_reason: str) -> None:
        """The reply is stored, whole or stopped."""
        known = self._remember(message)
        if known:
            note = note_of(message, finish_reason) or None
            self.transcript.finish(key_of(message), state=message.state, note=note, text=message.content)
        else:
            self.transcript.add(self._entry(message))

    def reply_failed(self, message: "Message", error: OrcaError) -> None:
        """Keep what had arrived, and say what happened and what to do."""
        if message.role == "user":
            self.turn_refused(error)
            return
        known = self._remember(message)
        block = error_entry(key_of(message), error, message.timestamp)
        self._take_run_away(message, block)
        if known and message.content:
            note = note_of(message) or None
            self.transcript.finish(key_of(message), state="failed", note=note, text=message.content)
            self.transcript.add(block)
        elif known:
            self.transcript.replace(key_of(message), block)
        else:
            self.transcript.add(block)

    def turn_refused(self, error: OrcaError) -> None:
        """Nothing was sent; the text is still in the composer."""
        self.add_error(error)

    def turn_ended(self) -> None:
        """Back to rest."""
        self.set_busy(False)
        self.post_message(TurnEnded())

    def resume_reply(self, reply: "Message", text: str, reasoning: str) -> None:
        """Draw a reply that went on while another session was open; its entry is not in the transcript."""
        entry = replace(self._entry(reply), text="", reasoning="")
        self.transcript.begin(replace(entry, model=self.status.status.answering))
        self.reply_reasoning(reply, reasoning)
        self.reply_text(reply, text)

    def question(self, message_id: int | None = None) -> "Message | None":
        """The user's message that a message answers, or is; without one, the newest."""
        path = self.messages
        if message_id is not None:
            at = next((place for place, one in enumerate(path) if one.id == message_id), -1)
            path = path[: at + 1]
        return next((one for one in reversed(path) if one.role == "user"), None)

    def back_to(self, question: "Message") -> None:
        """Take what follows a message off the screen: it is about to be answered again."""
        self.cut_to(next(place for place, one in enumerate(self.messages, 1) if one.id == question.id))

    def _remember(self, message: "Message") -> bool:
        """Put a message on the path, or its newer version in its place; tells whether it was there."""
        for index, known in enumerate(self.messages):
            if known.id == message.id:
                self.messages[index] = message
                return True
        self.messages.append(message)
        return False

    def _streaming(self) -> None:
        if not self._is_streaming:
            self._is_streaming = True
            self.set_activity(_("streaming"))
