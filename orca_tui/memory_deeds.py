"""What is done to memories from the keyboard: which deed is possible, what it would free, doing it, and what was done.

Everything goes through `memory.curation.curator.Curator`, one act a deed, so that one undo takes it back. Blocking.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.store.ledger import Ledger
from memory.text import label
from memory.types import LongTermMemory, MemoryStatus
from orca_tui.figures import count
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.curation.curator import Curator
    from memory.curation.history import TakenBack
    from orca_tui.memory_rows import MemoryRow

POSSIBLE: dict[MemoryStatus, tuple[str, ...]] = {
    "active": ("trash", "archive", "pin", "edit", "promote", "demote", "merge", "erase"),
    "expired": ("trash", "archive", "pin", "edit", "promote", "demote", "merge", "restore", "erase"),
    "pending": ("accept", "reject", "edit", "trash", "erase"),
    "archived": ("restore", "trash", "edit", "erase"),
    "trashed": ("restore", "erase"),
    "superseded": ("restore", "trash", "erase"),
}
"""What can be done to a memory in each status, the most wanted first. Undo always can."""
ASKED = ("trash", "archive", "reject", "merge")
"""What is asked before it is done to more than one; erasing always is."""


def possible(rows: Sequence[LongTermMemory]) -> list[str]:
    """Deeds that can be done to all of these. Merging takes two or more, editing one."""
    if not rows:
        return []
    deeds = [deed for deed in POSSIBLE[rows[0].status] if all(deed in POSSIBLE[row.status] for row in rows)]
    left_out = "merge" if len(rows) < 2 else "edit"
    return [deed for deed in deeds if deed != left_out]


def why_not(deed: str, rows: Sequence[LongTermMemory]) -> str:
    """Why a deed cannot be done to these, for a person; empty when it can."""
    if not rows:
        return _("There is no memory under the cursor")
    if deed in possible(rows):
        return ""
    match deed:
        case "merge" if len(rows) < 2:
            return _("Mark two or more with Space, then merge")
        case "edit" if len(rows) > 1:
            return _("One memory at a time can be edited")
        case "accept" | "reject":
            return _("Only what waits in the inbox is accepted or rejected")
        case "restore":
            return _("It is active already")
    return _("That cannot be done to what is in this list")


def needs_asking(deed: str, number: int) -> bool:
    """Whether to ask first."""
    return deed == "erase" or (deed in ASKED and number > 1)


def question(deed: str, rows: "Sequence[MemoryRow]") -> str:
    """What is asked, with what it frees."""
    n, tokens = count(len(rows)), count(sum(row.tokens for row in rows))
    match deed:
        case "trash":
            return _("Throw away {n} memories? That frees {tokens} tokens.", n=n, tokens=tokens)
        case "archive":
            return _("Archive {n} memories? That frees {tokens} tokens.", n=n, tokens=tokens)
        case "reject":
            return _("Reject {n} that wait for review?", n=n)
        case _:
            return _("Erase {n} for good? Nothing of the text is left, and no undo brings it back.", n=n)


def do(curator: "Curator", deed: str, memories: Sequence[LongTermMemory]) -> list[LongTermMemory]:
    """Do it to all, as one act. Raises `OrcaError` when it cannot be done; then nothing is."""
    ids = [row.id for row in memories]
    if deed == "trash":
        return curator.trash(*ids)
    if deed == "archive":
        return curator.archive(*ids)
    if deed == "pin" and all(row.pinned for row in memories):
        return _each(curator, curator.unpin, ids)
    deeds: dict[str, Callable[[int], LongTermMemory]] = {
        "pin": curator.pin,
        "promote": curator.promote,
        "demote": curator.demote,
        "restore": curator.restore,
        "accept": curator.accept,
        "reject": curator.reject,
    }
    return _each(curator, deeds[deed], ids)


def _each(curator: "Curator", one: Callable[[int], LongTermMemory], ids: Sequence[int]) -> list[LongTermMemory]:
    with curator.store.act() if isinstance(curator.store, Ledger) else nullcontext():
        return [one(memory_id) for memory_id in ids]


def told(deed: str, rows: "Sequence[MemoryRow]", undo_key: str) -> str:
    """What was done, and how to take it back."""
    n, tokens = count(len(rows)), count(sum(row.tokens for row in rows))
    match deed:
        case "trash":
            said = _("{n} thrown away, {tokens} tokens freed", n=n, tokens=tokens)
        case "archive":
            said = _("{n} archived, {tokens} tokens freed", n=n, tokens=tokens)
        case "pin" if all(row.memory.pinned for row in rows):
            said = _("{n} unpinned", n=n)
        case "pin":
            said = _("{n} pinned: goes into every prompt that has room", n=n)
        case "promote":
            said = _("{n} held for more important", n=n)
        case "demote":
            said = _("{n} held for less important", n=n)
        case "merge":
            said = _("{n} merged into one", n=n)
        case "edit":
            said = _("changed; what was before is in its history")
        case "restore":
            said = _("{n} brought back", n=n)
        case "accept":
            said = _("{n} accepted: recalled from now on", n=n)
        case "reject":
            said = _("{n} rejected", n=n)
        case _:
            return _("{n} erased for good", n=n)
    return said + (f" · {_('{key} takes it back', key=undo_key)}" if undo_key else "")


def told_undo(taken: "Sequence[TakenBack]") -> str:
    """What an undo put back."""
    changed = [one for one in taken if one.changes]
    if len(changed) == 1:
        return _("Taken back: {text}", text=label(changed[0].text, 60))
    return _("Taken back: {n} changes", n=count(len(changed)))


def some(rows: "Sequence[MemoryRow]") -> None:
    """Raise `OrcaError` when there is none."""
    if not rows:
        raise OrcaError(_("There is no memory under the cursor"))


def require(deed: str, rows: Sequence[LongTermMemory]) -> None:
    """Raise `OrcaError` when the deed cannot be done to these."""
    if reason := why_not(deed, rows):
        raise OrcaError(reason)
