"""The app's own Textual messages."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memory.core import CoreEvent
    from memory.errors import OrcaError


@dataclass
class CommandChosen(Message):
    """A command was picked in the palette, typed or clicked."""

    name: str
    argument: str = ""


@dataclass
class TurnEnded(Message):
    """The turn of the open session is over, however it ended."""


@dataclass
class CoreReady(Message):
    """The store is open: messages can be sent and sessions listed."""


@dataclass
class CoreFailed(Message):
    """The store cannot be opened."""

    error: "OrcaError"


@dataclass
class CoreChanged(Message):
    """Something moved in the background: memory was written, or the embedding queue went on. Safe from any thread."""

    event: "CoreEvent"
