"""What the transcript shows: one frozen value a block."""

from dataclasses import dataclass
from typing import Literal

EntryKind = Literal["user", "assistant", "system", "tool", "notice", "error"]
EntryState = Literal["complete", "streaming", "stopped", "failed", "interrupted", "queued"]
"""`queued`: a message of the user's that waits until the reply before it is over."""
CallOutcome = Literal["running", "done", "failed", "refused", "cancelled"]


@dataclass(frozen=True, slots=True)
class Call:
    """What a `tool` entry tells of a tool's call or a subagent's run. All text is foreign."""

    arguments: str = ""
    """JSON as the model wrote it."""
    outcome: CallOutcome | Literal[""] = ""
    """Empty: not known."""
    tokens: int = 0
    """Size of the result, or what a run has used."""
    step: str = ""
    """What it does just now."""


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
    call: Call | None = None
    """Of a `tool` entry: its call; `text` is the result."""
    fork: tuple[int, int] = (0, 0)
    """Its place among the messages that stand beside it, from 1, and how many they are; zeros when it stands alone."""
    files: tuple[tuple[str, int], ...] = ()
    """Name and bytes of what goes with a message."""
