"""What every turn works with, what one is to do, what it leaves, and what its parts share."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from memory.clock import Clock
from memory.config import Settings
from memory.manager import MemoryManager
from memory.provider.base import ChatModel
from memory.store.attachments import AttachmentFiles
from memory.store.base import Store
from memory.tokens import TokenCounter
from memory.tools.base import Toolbox
from memory.turns.attachments import Attachment
from memory.turns.outbox import Outbox
from memory.turns.unsaved import UnsavedReplies
from memory.types import Message, Session

T = TypeVar("T")


class Stopped(Exception):
    """The user stopped the turn while the model was not being read."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What every turn of a core works with."""

    store: Store
    counter: TokenCounter
    clock: Clock
    manager: MemoryManager
    settings: Settings
    chat: Callable[[Session], Awaitable[ChatModel]]
    """The model that answers in a session. Raises leaves of `ProviderError`."""
    unsaved: UnsavedReplies
    late: Callable[["Outcome"], None]
    """Gets what was stored only after its turn had ended."""
    files: AttachmentFiles
    toolbox: Callable[[], Toolbox | None] = lambda: None
    without_tools: set[str] = field(default_factory=lambda: {"demo"})
    """Names of models that turned out not to call tools; the demo, which is no model, from the start."""
    blind: set[str] = field(default_factory=set)
    """Names of models that turned out not to take pictures."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a turn is to do."""

    kind: Literal["send", "retry", "continue"]
    text: str = ""
    parent_id: int | None = None
    """Send: below which message; `None`: the newest, `ROOT`: none."""
    message_id: int | None = None
    """Retry: the reply, or the message to answer; `None`: the newest message by the user."""
    use_memory: bool = True
    pasted: Sequence[str] = ()
    attachments: Sequence[Attachment] = ()
    agent: str = ""
    """The agent that is to do it; empty: the model of the session answers."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn left in the store."""

    session: Session
    user: Message
    reply: Message


class Progress:
    """A turn's name, its events and the user's wish to stop; shared by all that work for it."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self.outbox = Outbox()
        self.stop = asyncio.Event()

    async def unless_stopped(self, work: Awaitable[T]) -> T:
        """The result of `work`, or `Stopped` as soon as the user stops."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not task.done():
                task.cancel()
        if self.stop.is_set():
            if task.done() and not task.cancelled():
                task.exception()  # what came too late is nobody's concern
            raise Stopped
        return task.result()
