"""The core's events → what is on the screen.

The app owns the workers that run `Bridge.run`, never a widget that can be pruned. Each running turn is kept whole
(`LiveTurn`), so that another session can be looked at meanwhile and the reply is all there on coming back.
"""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from memory.errors import OrcaError
from memory.events import (
    ContextBuilt,
    MessageStored,
    ReasoningDelta,
    TextDelta,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    Waiting,
)
from memory.types import ContextReport, Message
from orca_tui.target import Target

if TYPE_CHECKING:
    from memory.engine import Turn


class TurnView(Protocol):
    """What a turn is drawn on. `shows` tells whether that session is the one on the screen."""

    def shows(self, session_id: str) -> bool:
        """Whether this session is open."""
        ...

    def message_sent(self) -> None:
        """The user's message is on disk, in whatever session it was sent to."""
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

    def waiting(self, seconds: float, reason: str) -> None:
        """The request is tried again after `seconds`."""
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
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Bridge:
    """Runs turns and draws those of the open session."""

    def __init__(self, view: TurnView) -> None:
        self._view = view
        self._live: dict[str, LiveTurn] = {}

    def live(self, session_id: str | None) -> LiveTurn | None:
        """The running turn of a session."""
        return self._live.get(session_id) if session_id is not None else None

    def claim(self, session_id: str, turn: "Turn", target: Target) -> LiveTurn:
        """Take charge of a turn that is about to run; the session counts as busy from here on."""
        live = self._live[session_id] = LiveTurn(turn, session_id, target)
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
                    if self._view.shows(live.session_id):
                        self._draw(live, event)
        except OrcaError as error:
            self._view.turn_refused(error)
        finally:
            live.target.is_sending = False
            self._live.pop(live.session_id, None)
            live.done.set()
            if self._view.shows(live.session_id):
                self._view.turn_ended()

    def _keep(self, live: LiveTurn, event: TurnEvent) -> None:
        match event:
            case MessageStored(message=message) if message.role == "assistant":
                if live.reply is not None and live.reply.id != message.id:  # the one before it asked for tools
                    live.text.clear()
                    live.reasoning.clear()
                live.reply = message
            case MessageStored(message=message) if message.role == "user":
                live.target.is_sending = False
                self._view.message_sent()
            case ContextBuilt(report=report):
                live.report = report
            case ReasoningDelta(text=text):
                live.reasoning.append(text)
            case TextDelta(text=text):
                live.text.append(text)

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
            case Waiting(seconds=seconds, reason=reason):
                view.waiting(seconds, reason)
            case TurnFinished(message=message, finish_reason=finish_reason):
                view.reply_finished(message, finish_reason)
            case TurnFailed(message=message, error=error):
                view.reply_failed(message, error)
