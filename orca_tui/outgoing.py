"""What is to be sent, whole: the text, what of it was pasted, the files with it, and where it goes in the tree."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orca_tui import commands

if TYPE_CHECKING:
    from memory.turns.attachments import Attachment


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that goes with a message."""

    attachment: "Attachment"
    path: Path | None = None
    """Where it was read; `None`: it comes from an earlier message."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message that is not stored yet."""

    text: str
    pasted: tuple[str, ...] = ()
    files: tuple[Attached, ...] = ()
    parent_id: int | None = None
    """Which message it goes below, as a fork; `None`: the newest."""

    @property
    def as_written(self) -> "Outgoing":
        """With its text as it stands in the composer."""
        return replace(self, text=commands.escape(self.text))

    @property
    def paths(self) -> tuple[str, ...]:
        """Where its files can be read again."""
        return tuple(str(file.path) for file in self.files if file.path is not None)
