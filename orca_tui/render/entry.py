"""What the transcript shows: one frozen value a block."""

from dataclasses import dataclass
from typing import Literal

EntryKind = Literal["user", "assistant", "system", "tool", "notice", "error"]
EntryState = Literal["complete", "streaming", "stopped", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One block of the transcript: a message, a remark by the program, or an error.

    All text is foreign and taken as it came; it is cleaned when it is laid out.
    """

    key: str
    """Names the entry in its transcript; unique there."""
    kind: EntryKind
    text: str
    """Markdown for `assistant`, else plain text (fences are recognised in `user`, `system` and `tool`)."""
    state: EntryState = "complete"
    timestamp: str = ""
    """UTC ISO-8601 or empty; shown in local time."""
    reasoning: str = ""
    title: str = ""
    """Heading of a `notice`, `error` or `tool` block; empty for the usual one."""
    note: str = ""
    """Told below the text: why a reply is not whole, or what to do about an error."""
    model: str = ""
    """Name over an `assistant` message; empty for the usual one."""
