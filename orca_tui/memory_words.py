"""What the memory screen says: what will be in an empty list, which keys make sense, how memory has grown."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from textual.content import Content

from memory.clock import from_iso
from orca_tui.i18n import _
from orca_tui.memory_deeds import possible
from orca_tui.memory_keys import pairs
from orca_tui.memory_rows import PROPOSED, MemoryRow, Tab

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
        case "duplicates":
            return _("No two memories say the same. When they do, it is proposed here to make one of them.")
        case "archived":
            return _("Nothing is archived. What you archive is kept, but goes into no search and no prompt.")
        case "trash":
            return _("The trash is empty. What you throw away lies here until you erase it for good.")
        case "superseded":
            return _("Nothing is superseded. When something changes, what was before it is kept here.")


def list_hints(tab: Tab, chosen: Sequence[MemoryRow], keys: Mapping[str, str]) -> list[tuple[str, str]]:
    """Keys and words for the list, the most wanted first; `chosen` is what they are about."""
    deeds = _deeds(tab, chosen)
    found = _words(tab, [*(["mark"] if chosen else []), *deeds[:2]], keys)
    found += [("Enter", _("read"))] if chosen else []
    found += [("←→", _("lists")), ("/", _("filter"))]
    return found + _words(tab, [*deeds[2:], "undo", "sort", "turn", "rollback"], keys)


def detail_hints(
    tab: Tab, chosen: Sequence[MemoryRow], keys: Mapping[str, str], *, has_source: bool
) -> list[tuple[str, str]]:
    """The same while one memory is read."""
    deeds = [deed for deed in _deeds(tab, chosen) if deed != "merge" and not (deed == "reject" and tab in PROPOSED)]
    names = [*(["source"] if has_source else []), *deeds, "undo", "undo_this"]
    return [("Esc", _("list")), *_words(tab, names, keys)]


def _deeds(tab: Tab, chosen: Sequence[MemoryRow]) -> list[str]:
    deeds = possible([row.memory for row in chosen])
    match tab:
        case "cold" if chosen:
            first = ["archive", "reject"]
        case "duplicates" if chosen:
            first = ["merge", "reject", "archive"]
        case _:
            first = []
    return [*first, *(deed for deed in deeds if deed not in first)]


def _words(tab: Tab, names: Sequence[str], keys: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is rejected of a proposal is kept of a memory."""
    found: list[tuple[str, str]] = []
    for name in names:
        for key, word in pairs([name], keys):
            found.append((key, _("keep") if name == "reject" and tab in PROPOSED else _(word)))
    return found


def title(growth: str) -> Content:
    """The first line, with the picture of growth."""
    line = Content.styled(_("Long-term memory"), "bold")
    if not growth:
        return line
    return line + Content.assemble("   ", (_("written in 12 weeks"), "$muted"), " ", (growth, "$tier-long-term"))


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
