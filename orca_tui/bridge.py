"""The core's events → what is on the screen.

The app owns the workers that run `Bridge.run`, never a widget that can be pruned. Each running turn is kept whole
(`LiveTurn`), so that another session can be looked at meanwhile and the reply is all there on coming back.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from memory.errors import OrcaError
from memory.events import (
    ContextBuilt,
    MessageStored,
    Noticed,
    ReasoningDelta,
    SubagentDelta,
    SubagentFinished,
    SubagentStarted,
    TextDelta,
    ToolFinished,
    ToolsAsked,
    ToolStarted,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    Waiting,
)
from memory.types import ContextReport, Message
from orca_tui.target import Target

if TYPE_CHECKING:
    from memory.engine import Turn


CUT = ("length", "content_filter")
"""How a reply ends that is not whole."""


RunEvent = SubagentStarted | SubagentDelta | SubagentFinished


class TurnView(Protocol):
    """What a turn is drawn on. `shows` tells whether that session is the one on the screen."""

    def shows(self, session_id: str) -> bool:
        """Whether this session is open."""
        ...

    def message_stored(self, message: Message) -> None:
        """The user's message, or the still empty reply, is on disk."""
        ...

    def context_built(self, report: ContextReport) -> None:
        """The prompt is ready."""
        ...

    def reply_text(self, reply: Message, text: str) -> None:
        """More of the reply."""
        ...

    def reply_reasoning(self, reply: Message, text: str) -> None:
        """More of the reasoning."""
        ...

    def tools_asked(self, message: Message) -> None:
        """The reply is whole, and asks for tools."""
        ...

    def tool_started(self, call: ToolStarted) -> None:
        """A tool runs."""
        ...

    def tool_finished(self, call: ToolFinished) -> None:
        """A tool is done, its result is stored."""
        ...

    def waiting(self, seconds: float, reason: str) -> None:
        """The request is tried again after `seconds`."""
        ...

    def noticed(self, text: str, name: str) -> None:
        """Something that the user should know about the turn, which goes on; `name` is foreign text."""
        ...

    def reply_finished(self, message: Message, finish_reason: str) -> None:
        """The reply is stored, whole or stopped."""
        ...

    def reply_failed(self, message: Message, error: OrcaError) -> None:
        """The turn ended in an error; what had arrived is stored."""
        ...

    def turn_refused(self, error: OrcaError) -> None:
        """The turn could not begin: nothing was sent, and the text is still in the composer."""
        ...

    def set_busy(self, busy: bool) -> None:
        """Whether a turn is running in the open session."""
        ...

    def turn_ended(self) -> None:
        """No turn is running in this session any more."""
        ...


@dataclass(slots=True)
class LiveTurn:
    """A running turn and everything that it has yielded."""

    turn: "Turn"
    session_id: str
    target: Target
    reply: Message | None = None
    report: ContextReport | None = None
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[str, ToolStarted] = field(default_factory=dict)
    """Tools that run, by call."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    began: float = field(default_factory=monotonic)
    failed: bool = False
    ended_well: bool = False
    """Whether the reply is there, whole: not stopped, not cut."""
    stored: Callable[[], None] = lambda: None
    """Called when the user's message is on disk."""


class Bridge:
    """Runs turns and draws those of the open session."""

    def __init__(
        self,
        view: TurnView,
        *,
        ended: "Callable[[LiveTurn], None]" = lambda live: None,  # noqa: ARG005
        runs: Callable[[RunEvent], None] = lambda event: None,  # noqa: ARG005
    ) -> None:
        """`ended` gets every turn that is over, `runs` what happens to subagents, of whatever session."""
        self._view = view
        self._ended = ended
        self._runs = runs
        self._live: dict[str, LiveTurn] = {}

    def live(self, session_id: str | None) -> LiveTurn | None:
        """The running turn of a session."""
        return self._live.get(session_id) if session_id is not None else None

    def claim(
        self, session_id: str, turn: "Turn", target: Target, stored: Callable[[], None] = lambda: None
    ) -> LiveTurn:
        """Take charge of a turn that is about to run; the session counts as busy from here on. `stored` is called when
        its message is on disk."""
        live = self._live[session_id] = LiveTurn(turn, session_id, target, stored=stored)
        if self._view.shows(session_id):
            self._view.set_busy(True)
        return live

    def stop_all(self) -> None:
        """Ask every running turn to end; what arrived is kept."""
        for live in list(self._live.values()):
            live.turn.stop()

    async def idle(self) -> None:
        """Wait until no turn is running."""
        for live in list(self._live.values()):
            await live.done.wait()

    async def run(self, live: LiveTurn) -> None:
        """Run a claimed turn to its end. Events that carry another turn's id are dropped."""
        try:
            async for event in live.turn:
                if event.turn_id == live.turn.id:
                    self._keep(live, event)
                    if isinstance(event, RunEvent):
                        self._runs(event)
                    elif self._view.shows(live.session_id):
                        self._draw(live, event)
        except OrcaError as error:
            self._view.turn_refused(error)
        finally:
            live.target.is_sending = False
            self._live.pop(live.session_id, None)
            live.done.set()
            self._ended(live)
            if self._view.shows(live.session_id):
                self._view.turn_ended()

    def _keep(self, live: LiveTurn, event: TurnEvent) -> None:
        match event:
            case MessageStored(message=message) if message.role == "assistant":
                if live.reply is not None and live.reply.id != message.id:  # the one before it asked for tools
                    live.text.clear()
                    live.reasoning.clear()
                if live.reply is None or live.reply.id != message.id:  # one that is gone on with has text
                    live.text[:] = [message.content]
                    live.reasoning[:] = [str(message.metadata.get("reasoning") or "")]
                live.reply = message
            case MessageStored(message=message) if message.role == "user":
                live.target.is_sending = False
                live.stored()
            case ContextBuilt(report=report):
                live.report = report
            case TurnFailed():
                live.failed = True
            case TurnFinished(message=message, finish_reason=reason):
                live.ended_well = message.state == "complete" and reason not in CUT
            case ReasoningDelta(text=text):
                live.reasoning.append(text)
            case TextDelta(text=text):
                live.text.append(text)
            case ToolsAsked():
                live.reply = None
                live.text.clear()
                live.reasoning.clear()
            case ToolStarted(call_id=call_id):
                live.calls[call_id] = event
            case ToolFinished(call_id=call_id):
                live.calls.pop(call_id, None)

    def _draw(self, live: LiveTurn, event: TurnEvent) -> None:
        view = self._view
        match event:
            case MessageStored(message=message):
                view.message_stored(message)
            case ContextBuilt(report=report):
                view.context_built(report)
            case ReasoningDelta(text=text) if live.reply is not None:
                view.reply_reasoning(live.reply, text)
            case TextDelta(text=text) if live.reply is not None:
                view.reply_text(live.reply, text)
            case ToolsAsked(message=message):
                view.tools_asked(message)
            case ToolStarted():
                view.tool_started(event)
            case ToolFinished():
                view.tool_finished(event)
            case Noticed(text=text, name=name):
                view.noticed(text, name)
            case Waiting(seconds=seconds, reason=reason):
                view.waiting(seconds, reason)
            case TurnFinished(message=message, finish_reason=finish_reason):
                view.reply_finished(message, finish_reason)
            case TurnFailed(message=message, error=error):
                view.reply_failed(message, error)
