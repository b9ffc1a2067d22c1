"""`memory_save`: puts something into the inbox, where it waits for the user. It never becomes memory by itself."""

import asyncio
from collections.abc import Mapping
from typing import Any, get_args

from memory.curation.curator import Curator
from memory.errors import ToolRefused
from memory.provider.base import ToolSpec
from memory.tools.base import PermissionRequest, ToolContext, ToolResult
from memory.tools.gate import shown
from memory.types import MemoryType

REASON = "It would put this into the inbox of memories; it is remembered only after you accept it there."
_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)


class MemorySave:
    """Implements `memory.tools.base.Tool`."""

    name = "memory_save"
    reaches_outside = False

    def __init__(self, curator: Curator) -> None:
        self._curator = curator

    @property
    def spec(self) -> ToolSpec:
        """How it is offered."""
        return ToolSpec(
            self.name,
            "Propose one thing about the user to be remembered for later conversations. The user reviews it before it "
            "counts. Only for what the user said and what will still matter; one plain sentence, in the user's words.",
            {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "The exact sentence to remember"},
                    "type": {"type": "string", "enum": list(_TYPES), "description": "fact by default"},
                },
                "required": ["text"],
                "additionalProperties": False,
            },
        )

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest | None:
        """The exact text is shown. Never in an incognito session."""
        if context.session.incognito:
            raise ToolRefused("Nothing is remembered of an incognito session.", hint="Go on without it.")
        return PermissionRequest(self.name, "", shown(arguments), REASON, ("once", "session", "always", "deny"))

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Store it as `pending`. Raises `OrcaError` when the text is empty or too long."""
        memory_type: MemoryType = arguments.get("type") or "fact"
        row = await asyncio.to_thread(
            self._curator.propose,
            str(arguments["text"]),
            memory_type,
            source="agent",
            scope=context.scope,
            source_session=context.session.id,
            source_message_id=context.message.id,
            actor="tool",
            reason="proposed by the model",
        )
        return ToolResult(f"It waits in the user's inbox for review (memory {row.id}).", is_foreign=False)
