"""orca's memory core: it streams a model's replies, stores every word at once, and recalls the right memories.

    from memory import Core, Home, Settings

    core = Core.open(Home.find(), Settings())
    await core.start()
    session = core.store.create_session()
    async for event in core.engine.start(session.id, "Hello"):
        ...
    await core.close()

The names below are the public interface. They load on first use: importing `memory` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.branches import route_branch
    from memory.clock import Clock, SystemClock
    from memory.config import Home, Secret, Settings
    from memory.core import Core, CoreEvent
    from memory.curation.curator import Curator
    from memory.engine import Engine, Turn
    from memory.errors import OrcaError, ProviderError, StoreError
    from memory.events import (
        ContextBuilt,
        Event,
        MemoryChanged,
        MessageStored,
        Noticed,
        QueueChanged,
        ReasoningDelta,
        SavingChanged,
        SubagentDelta,
        SubagentFinished,
        SubagentStarted,
        TextDelta,
        ToolFinished,
        ToolsAsked,
        ToolStarted,
        TurnEvent,
        TurnFailed,
        TurnFinished,
        UpkeepChanged,
        Waiting,
    )
    from memory.manager import MemoryManager
    from memory.options import SessionOptions
    from memory.provider.base import ChatMessage, ChatModel, Embedder, ToolCall, ToolSpec
    from memory.settings import load_settings
    from memory.store import open_store
    from memory.store.base import Store
    from memory.tools.base import Approver, Decision, PermissionRequest, Tool, ToolContext, ToolResult
    from memory.turns.attachments import Attachment, load_attachment
    from memory.types import (
        ContextReport,
        ContextWindow,
        Hit,
        Injection,
        LongTermMemory,
        Message,
        NewMemory,
        Scope,
        Session,
        ShortTermMemory,
        SubagentRun,
        Usage,
    )

_PLACES = {
    "branches": ("route_branch",),
    "clock": ("Clock", "SystemClock"),
    "config": ("Home", "Secret", "Settings"),
    "core": ("Core", "CoreEvent"),
    "curation.curator": ("Curator",),
    "engine": ("Engine", "Turn"),
    "errors": ("OrcaError", "ProviderError", "StoreError"),
    "events": (
        "ContextBuilt",
        "Event",
        "MemoryChanged",
        "MessageStored",
        "Noticed",
        "QueueChanged",
        "ReasoningDelta",
        "SavingChanged",
        "SubagentDelta",
        "SubagentFinished",
        "SubagentStarted",
        "TextDelta",
        "ToolFinished",
        "ToolsAsked",
        "ToolStarted",
        "TurnEvent",
        "TurnFailed",
        "TurnFinished",
        "UpkeepChanged",
        "Waiting",
    ),
    "manager": ("MemoryManager",),
    "options": ("SessionOptions",),
    "provider.base": ("ChatMessage", "ChatModel", "Embedder", "ToolCall", "ToolSpec"),
    "settings": ("load_settings",),
    "store": ("open_store",),
    "store.base": ("Store",),
    "tools.base": ("Approver", "Decision", "PermissionRequest", "Tool", "ToolContext", "ToolResult"),
    "turns.attachments": ("Attachment", "load_attachment"),
    "types": (
        "ContextReport",
        "ContextWindow",
        "Hit",
        "Injection",
        "LongTermMemory",
        "Message",
        "NewMemory",
        "Scope",
        "Session",
        "ShortTermMemory",
        "SubagentRun",
        "Usage",
    ),
}
_MODULE_OF = {name: f"memory.{module}" for module, names in _PLACES.items() for name in names}

__all__ = [
    "Approver",
    "Attachment",
    "ChatMessage",
    "ChatModel",
    "Clock",
    "ContextBuilt",
    "ContextReport",
    "ContextWindow",
    "Core",
    "CoreEvent",
    "Curator",
    "Decision",
    "Embedder",
    "Engine",
    "Event",
    "Hit",
    "Home",
    "Injection",
    "LongTermMemory",
    "MemoryChanged",
    "MemoryManager",
    "Message",
    "MessageStored",
    "NewMemory",
    "Noticed",
    "OrcaError",
    "PermissionRequest",
    "ProviderError",
    "QueueChanged",
    "ReasoningDelta",
    "SavingChanged",
    "Scope",
    "Secret",
    "Session",
    "SessionOptions",
    "Settings",
    "ShortTermMemory",
    "Store",
    "StoreError",
    "SubagentDelta",
    "SubagentFinished",
    "SubagentRun",
    "SubagentStarted",
    "SystemClock",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolFinished",
    "ToolResult",
    "ToolSpec",
    "ToolStarted",
    "ToolsAsked",
    "Turn",
    "TurnEvent",
    "TurnFailed",
    "TurnFinished",
    "UpkeepChanged",
    "Usage",
    "Waiting",
    "load_attachment",
    "load_settings",
    "open_store",
    "route_branch",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
