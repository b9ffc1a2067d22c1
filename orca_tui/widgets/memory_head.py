"""What stands above the list of memories: the five lists with their lengths, and how warm what is listed is."""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.memory_rows import TABS, MemoryRow, Tab

BARS = "▁▂▃▄▅▆▇█"
BUCKETS = 10


def tab_word(tab: Tab) -> str:
    """The list's name."""
    return {
        "active": _("Active"), "inbox": _("Inbox"), "cold": _("Cold"), "archived": _("Archived"), "trash": _("Trash"),
        "superseded": _("Superseded"), "duplicates": _("Duplicates"),
    }[tab]  # fmt: skip


class MemoryHead(Widget):
    """One line. A click on a name opens that list."""

    DEFAULT_CSS = """
    MemoryHead { height: 1; padding: 0 1; }
    """

    class Chosen(Message):
        """A list was clicked."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab: Tab = tab

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._tab: Tab = "active"
        self._counts: dict[Tab, int] = {}
        self._heats: tuple[float, ...] = ()
        self._spots: list[tuple[int, int, Tab]] = []

    def show(self, tab: Tab, counts: dict[Tab, int], rows: Sequence[MemoryRow]) -> None:
        """Show these."""
        self._tab, self._counts = tab, counts
        self._heats = tuple(row.heat for row in rows)
        self.refresh()

    def render(self) -> Content:
        """Names and numbers; the open one in brackets. To the right the heats as a picture."""
        width = self.content_size.width
        line = self._names(short=False)
        if line.cell_length > width:
            line = self._names(short=True)
        picture = Content.assemble((_("cold"), "$muted"), " ", (heat_picture(self._heats), "$tier-long-term"), " ")
        picture += Content.styled(_("warm"), "$muted")
        room = width - line.cell_length - picture.cell_length
        if self._heats and room >= 2:
            line += Content(" " * room) + picture
        return line.truncate(width, ellipsis=True)

    def _names(self, *, short: bool) -> Content:
        """All names; `short`: only the open one and those that hold something are named with their number."""
        line, self._spots = Content(""), []
        for tab in TABS:
            known = self._counts.get(tab)
            number, shown = known or 0, "" if known is None else count(known)
            name = tab_word(tab)
            start = line.cell_length
            if tab == self._tab:
                line += Content.assemble(
                    ("‹", "$primary"), (name, "bold $heading"), (f" {shown}" if shown else "", "bold")
                )
                line += Content.styled("›", "$primary")
            elif short:
                line += Content.assemble((f" {name}", "$muted"), (f" {number}" if number else "", "$muted"))
            else:
                style = "bold $warning" if tab == "inbox" and number else "$muted"
                line += Content.assemble((f" {name}", "$muted"), (f" {shown} ", style))
            self._spots.append((start, line.cell_length, tab))
            line += Content("" if short else " ")
        return line

    def on_click(self, event: events.Click) -> None:
        """Open what was clicked."""
        x = event.get_content_offset_capture(self).x
        for start, end, tab in self._spots:
            if start <= x < end:
                self.post_message(self.Chosen(tab))


def heat_picture(heats: Sequence[float]) -> str:
    """How many are how warm: ten bars from cold to warm."""
    numbers = [0] * BUCKETS
    for heat in heats:
        numbers[min(BUCKETS - 1, int(heat * BUCKETS))] += 1
    most = max(numbers)
    return "".join(BARS[-(-number * (len(BARS) - 1) // most)] if number else " " for number in numbers) if most else ""
