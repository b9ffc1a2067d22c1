"""The app's own Textual messages."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memory.events import BackgroundEvent
    from memory.types import ItemKind


@dataclass
class CommandChosen(Message):
    """A command was picked in the palette, typed or clicked."""

    name: str
    argument: str = ""


@dataclass
class ContextShown(Message):
    """The request of the open session's turn is known."""


@dataclass
class TurnEnded(Message):
    """The turn of the open session is over, however it ended."""


@dataclass
class SessionShown(Message):
    """Another session is open, or the same one anew."""


@dataclass
class PathChanged(Message):
    """Messages have left the screen: the session goes on in a fork."""


@dataclass
class SessionNamed(Message):
    """Another session is open, or the open one has another title; empty: it has none yet."""

    title: str


@dataclass
class CoreChanged(Message):
    """Something moved in the background: memory was written, or the embedding queue went on. Safe from any thread."""

    event: "BackgroundEvent"


@dataclass
class DeedAsked(Message):
    """Something is to be done (`orca_tui.memory_keys`) to an item of memory: the one under a list's cursor."""

    deed: str
    kind: "ItemKind | None"
    """Which table `id` belongs to; `None` when no item is under the cursor."""
    id: int
