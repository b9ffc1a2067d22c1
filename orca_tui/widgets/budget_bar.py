"""How much of a budget is used, in one line: name, bar and numbers."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from memory.types import Tier
from orca_tui.figures import count, short_count
from orca_tui.i18n import _
from orca_tui.widgets.line_list import split_line

FREE = "$tier-free"
BLOCKS = " ▏▎▍▌▋▊▉█"
TIERS: dict[Tier, tuple[str, str, str]] = {
    "working": ("●", "Working", "$tier-working"),
    "short_term": ("◆", "Short-term", "$tier-short-term"),
    "long_term": ("▲", "Long-term", "$tier-long-term"),
}
"""Sign, name (the English source of a translated string) and colour of each tier."""


def tier_name(tier: Tier) -> str:
    """The tier's name in the interface language."""
    return {"working": _("Working"), "short_term": _("Short-term"), "long_term": _("Long-term")}[tier]


def stacked_bar(width: int, parts: Sequence[tuple[float, str]]) -> Content:
    """A bar of `width` cells: shares (0–1 of the whole) side by side, each in its colour, exact to an eighth of a cell.

    A share above 0 is never invisible; what is over the whole is cut off.
    """
    edges, end = [], 0
    for share, color in parts:
        eighths = max(1, round(share * width * 8)) if share > 0 else 0
        end = min(width * 8, end + eighths)
        edges.append((end, color))

    def color_at(eighth: int) -> str:
        return next((color for edge, color in edges if eighth < edge), FREE)

    cells = []
    for left in range(0, width * 8, 8):
        color = color_at(left)
        edge = next((edge for edge, _color in edges if left < edge < left + 8), None)
        if color == FREE:
            cells.append((" ", f"on {FREE}"))
        elif edge is None:
            cells.append(("█", color))
        else:
            cells.append((BLOCKS[edge - left], f"{color} on {color_at(edge)}"))
    return Content.assemble(*cells)


def budget_line(width: int, tier: Tier, used: int, budget: int) -> Content:
    """Name, bar and `used / budget` in `width` cells; numbers and name get shorter when there is little room."""
    sign, _name, color = TIERS[tier]
    over = used > budget
    name = Content.assemble((f"{sign} ", color), (tier_name(tier), "bold"))
    mark = "! " if over else ""
    numbers = Content.styled(f"{mark}{count(used)} / {count(budget)}", "bold $tier-over" if over else "$muted")
    if name.cell_length + numbers.cell_length + 8 > width:
        short = f"{mark}{short_count(used)}/{short_count(budget)}"
        numbers = Content.styled(short, "bold $tier-over" if over else "$muted")
    room = width - numbers.cell_length - 1
    bar_width = min(max(4, room - name.cell_length - 1), 24)
    if room - bar_width - 1 < 3:
        return split_line(name, numbers, width)
    name_width = room - bar_width - 1
    share = min(1.0, used / budget) if budget > 0 else float(over)
    bar = stacked_bar(bar_width, [(share, "$tier-over" if over else color)])
    return name.truncate(name_width, ellipsis=True, pad=True) + Content(" ") + bar + Content(" ") + numbers


class BudgetBar(Widget):
    """One tier's budget line, at least 12 cells wide."""

    DEFAULT_CSS = """
    BudgetBar { height: 1; }
    """

    def __init__(self, tier: Tier, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._tier: Tier = tier
        self._used = self._budget = 0

    def show(self, used: int, budget: int) -> None:
        """Show these numbers, in tokens."""
        if (used, budget) != (self._used, self._budget):
            self._used, self._budget = used, budget
            self.refresh()

    def render(self) -> Content:
        """The line for the present width."""
        return budget_line(self.size.width, self._tier, self._used, self._budget)
