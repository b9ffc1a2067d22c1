"""The chat as what a turn is drawn on (`orca_tui.bridge.TurnView`): its messages, its text as it streams, its end."""

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.timer import Timer

from memory.errors import OrcaError
from memory.text import label
from orca_tui.entries import (
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
from orca_tui.messages import ContextShown, TurnEnded
from orca_tui.screens.columns import SideColumns
from orca_tui.target import Target
from orca_tui.widgets.composer import Composer
from orca_tui.widgets.status_bar import StatusBar

if TYPE_CHECKING:
    from memory.events import SubagentDelta, ToolFinished, ToolStarted
    from memory.types import ContextReport, Message, SubagentRun
    from orca_tui.widgets.transcript import Transcript

TOKENS_TOLD = 100
"""Tokens after which the growing figure of a run is drawn again."""


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

    def message_sent(self) -> None:
        """The user's message is on disk, in whatever session it was sent to."""
        self.composer.clear_sent()

    def message_stored(self, message: "Message") -> None:
        """The user's message, or the still empty reply."""
        self.leave_greeting()
        self._remember(message)
        if message.role == "user":
            self.transcript.add(entries_of_one(message)[0])
        else:
            self.transcript.begin(replace(entries_of_one(message)[0], model=self.status.status.model))
            self.set_activity(_("waiting for the model"))

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

    def run_changed(self, run: "SubagentRun") -> None:
        """A subagent began, or is done."""
        self.transcript.add(run_entry(run))

    def run_went_on(self, delta: "SubagentDelta") -> None:
        """What a subagent does now; its words are not drawn piece by piece."""
        entry = self.transcript.entry(run_key(delta.run_id))
        if entry is None or entry.call is None:
            return
        step = delta.text if delta.kind == "step" else entry.call.step
        if step != entry.call.step or delta.tokens >= entry.call.tokens + TOKENS_TOLD:
            call = replace(entry.call, step=step, tokens=delta.tokens)
            self.transcript.replace(entry.key, replace(entry, call=call))

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
            self.status.update_status(activity=_("trying again in {n} s · {reason}", n=left, reason=reason))
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
            self.transcript.add(entries_of_one(message)[0])

    def reply_failed(self, message: "Message", error: OrcaError) -> None:
        """Keep what had arrived, and say what happened and what to do."""
        if message.role == "user":
            self.turn_refused(error)
            return
        known = self._remember(message)
        block = error_entry(key_of(message), error, message.timestamp)
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
        entry = entries_of_one(reply)[0]
        self.transcript.begin(replace(entry, text="", reasoning="", model=self.status.status.model))
        self.reply_reasoning(reply, reasoning)
        self.reply_text(reply, text)

    def back_to_question(self) -> None:
        """Take what follows the newest user message off the screen: it is about to be answered again."""
        while self.messages and self.messages[-1].role != "user":
            self.messages.pop()
        self.transcript.set_entries(entries_of(self.messages))

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
