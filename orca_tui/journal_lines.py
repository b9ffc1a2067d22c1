"""What a change in the journal did, for a person: on the memory screen and on the command line. Plain text, cleaned."""

from collections.abc import Mapping
from typing import Any

from memory.text import label
from memory.types import MemoryEvent

SNIPPET = 300
"""Characters of a text that are shown in a list."""
ACTIONS = ("add", "update", "undo", "rollback", "erase", "rate")
REASONS = (
    "added by hand", "edited by hand", "merged by hand", "kept by hand", "archived by hand", "thrown away", "pinned",
    "unpinned", "restored", "accepted", "rejected", "promoted", "demoted", "back to the inbox",
)  # fmt: skip
"""What the journal says of what the user did; translated where it is shown. Other reasons stay as they are."""
_NOT_TOLD = frozenset({"id", "updated_at", "created_at", "access_count", "last_accessed"})


def changed_fields(event: MemoryEvent) -> list[str]:
    """What a change did, a line a field."""
    before: Mapping[str, Any] = event.before or {}
    after: Mapping[str, Any] = event.after or {}
    if event.before is None:
        return [f"+ {label(str(after['content']), SNIPPET)}"] if "content" in after else []
    names = [name for name in {**before, **after} if name not in _NOT_TOLD and before.get(name) != after.get(name)]
    return [f"{name}: {label(str(before.get(name)), 120)} → {label(str(after.get(name)), 120)}" for name in names]
