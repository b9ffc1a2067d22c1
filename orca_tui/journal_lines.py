"""What a change in the journal did, for a person: on the memory screen and on the command line. Plain text, cleaned."""

from collections.abc import Mapping
from typing import Any

from memory.text import label
from memory.types import MemoryEvent

SNIPPET = 300
"""Characters of a text that are shown in a list."""
_NOT_TOLD = frozenset({"id", "updated_at", "created_at", "access_count", "last_accessed"})


def changed_fields(event: MemoryEvent) -> list[str]:
    """What a change did, a line a field."""
    before: Mapping[str, Any] = event.before or {}
    after: Mapping[str, Any] = event.after or {}
    if event.before is None:
        return [f"+ {label(str(after['content']), SNIPPET)}"] if "content" in after else []
    names = [name for name in {**before, **after} if name not in _NOT_TOLD and before.get(name) != after.get(name)]
    return [f"{name}: {label(str(before.get(name)), 120)} → {label(str(after.get(name)), 120)}" for name in names]
