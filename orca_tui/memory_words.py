"""What the memory screen says: what will be in an empty list, and how memory has grown."""

from collections.abc import Sequence
from datetime import timedelta

from memory.clock import from_iso
from orca_tui.i18n import _
from orca_tui.memory_rows import MemoryRow, Tab

BARS = "▁▂▃▄▅▆▇█"
WEEKS = 12
"""How far back the picture of growth goes."""


def teach(tab: Tab) -> str:
    """What will be in an empty list, and how it gets there."""
    match tab:
        case "active":
            return _("Nothing is remembered yet. Facts, preferences and decisions that you tell orca will be here.")
        case "inbox":
            return _("Nothing waits. What tools, files and pasted text would have remembered comes here first.")
        case "cold":
            return _(
                "Nothing has cooled. What was not used for long and matters little is proposed here for archiving."
            )
        case "archived":
            return _("Nothing is archived. What you archive is kept, but goes into no search and no prompt.")
        case "trash":
            return _("The trash is empty. What you throw away lies here until you erase it for good.")
        case "superseded":
            return _("Nothing is superseded. When something changes, what was before it is kept here.")


def growth_picture(rows: Sequence[MemoryRow], now: str) -> str:
    """How many were written in each of the last weeks, the oldest first; empty when none was."""
    numbers = [0] * WEEKS
    begin = from_iso(now) - timedelta(weeks=WEEKS)
    for row in rows:
        week = (from_iso(row.memory.created_at) - begin) // timedelta(weeks=1)
        if 0 <= week <= WEEKS:
            numbers[min(WEEKS - 1, week)] += 1
    most = max(numbers)
    return "".join(BARS[-(-number * (len(BARS) - 1) // most)] for number in numbers) if most else ""
