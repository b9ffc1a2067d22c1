"""What a tool looks like to a turn, and what the user is asked before it runs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from memory.events import ToolEvent, ToolState
from memory.provider.base import ToolCall, ToolSpec
from memory.types import Message, Scope, Session

Decision = Literal["once", "session", "always", "deny"]
"""What the user answers: allow this call, such calls in this session, such calls from now on, or none."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What the user is shown before a tool runs. All of it is foreign text."""

    tool: str
    target: str
    """What it would reach: a path, a host, a server; empty when there is nothing but orca itself."""
    arguments: str
    """The whole call, as indented JSON."""
    reason: str
    """Why it is asked: what the tool does, or that the turn took in foreign text (English source of `_`)."""
    choices: tuple[Decision, ...]
    """What may be answered."""
    agent: str = ""
    """The subagent that asks; empty: the main conversation."""
    also: str = ""
    """A further reason; shown with the first (English source of `_`)."""
    session_id: str = ""
    """The session that it is about; empty: none in particular."""


Approver = Callable[[PermissionRequest], Awaitable[Decision]]
"""Asks the user; cancelled when the turn is stopped. Without one (library, pipes), what must be asked is denied."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back to the model: foreign text, unless it says otherwise."""

    text: str
    is_foreign: bool = True
    """False when every word is orca's own or the user's: it does not taint the turn."""
    state: ToolState = "done"
    """Another one when the text tells why there is no more, such as an agent that the user stopped."""


@dataclass(slots=True)
class ToolContext:
    """In what a call runs. One for a turn; a subagent's run has its own."""

    turn_id: str
    session: Session
    message: Message
    """The assistant's message that asks."""
    scope: Scope
    agent: str = ""
    """The subagent that calls; empty: the main conversation."""
    run_id: int | None = None
    depth: int = 0
    """0: the main conversation; a subagent's is one more than its caller's."""
    is_tainted: bool = False
    """The turn took in foreign text: what reaches outside is asked for, whatever was allowed before."""
    cancelled: asyncio.Event | None = None
    emit: Callable[[ToolEvent], None] = lambda event: None  # noqa: ARG005
    """Tells the turn's watcher what goes on inside a call: `Subagent…` events. From the event loop's thread only."""
    waits: Callable[[bool], None] = lambda waiting: None  # noqa: ARG005
    """Told when a call begins to wait for the user's answer, and when that is over: no limit of time runs meanwhile."""


class Tool(Protocol):
    """One tool. Implementations raise leaves of `ToolFailed`; the model is told their sentence."""

    @property
    def spec(self) -> ToolSpec:
        """How it is offered."""
        ...

    @property
    def reaches_outside(self) -> bool:
        """It sends something out or changes what is not orca's (the network, a process, a file): what a text that came
        from there must not be able to do unseen."""
        ...

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest | None:
        """What is to be asked before this call; `None`: it may run. Raises `ToolRefused` when it never may.

        Called in a thread: it may look at the disk.
        """
        ...

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Do it. Cancelling ends it at once and leaves nothing running."""
        ...


class Toolbox(Protocol):
    """All the tools of a core, as a turn sees them. For the event loop; never blocks it."""

    async def specs(self, session: Session) -> tuple[ToolSpec, ...]:
        """What the model may call in this session; empty: none. What is not there (a dead server) is left out."""
        ...

    async def run(self, call: ToolCall, context: ToolContext) -> tuple[ToolState, ToolResult]:
        """Do what the model asked for: check the call, ask for permission, run it, cut the result to its limit.

        Never raises for what a call may do wrong (an unknown tool, broken arguments, a failure, a refusal): the result
        then tells the model. Cancelling ends it at once and leaves nothing running; the turn stores the result.
        """
        ...
