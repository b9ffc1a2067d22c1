"""Where a message goes: fixed when Enter is pressed, whatever is opened afterwards."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.options import SessionOptions

if TYPE_CHECKING:
    from memory.types import Session


@dataclass(eq=False, slots=True)
class Target:
    """A session: one that is stored, or one that its first message begins."""

    session: "Session | None" = None
    incognito: bool = False
    """Whether what begins here is not to be remembered."""
    begun_with: SessionOptions = field(default_factory=SessionOptions)
    """What was chosen for a session that is not stored yet."""
    is_sending: bool = False
    """Whether a message is on its way to the store."""
    is_stopped: bool = False
    """Whether the user has stopped the turn of that message before it began."""

    @property
    def session_id(self) -> str | None:
        """Id of the stored session."""
        return self.session.id if self.session is not None else None

    @property
    def options(self) -> SessionOptions:
        """What the session has of its own."""
        return self.session.options if self.session is not None else self.begun_with
