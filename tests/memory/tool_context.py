"""A context for tools that are run by themselves."""

from typing import Any

from memory.tools.base import ToolContext
from memory.types import Message, Scope, Session

NOW = "2026-03-01T12:00:00.000000Z"


def context(**given: Any) -> ToolContext:
    """Of a turn in session `s`, not tainted unless `given` says so."""
    session = Session("s", "", "default", None, None, None, None, "open", False, NOW, NOW)
    message = Message(1, "s", "assistant", "", "normal", 0, False, NOW, {}, None, "complete")
    return ToolContext("turn", session, message, Scope("default"), **given)
