"""How much of a budget is used, in one line: name, bar and numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from orca_tui.figures import count, short_count
from orca_tui.i18n import _
from orca_tui.widgets.line_list import split_line

if TYPE_CHECKING:
    from memory.types import Tier

FREE = "$tier-free"
BLOCKS = " ▏▎▍▌▋▊▉█"
TIERS: "dict[Tier, tuple[str, str]]" = {
    "working": ("●", "$tier-working"),
    "short_term": ("◆", "$tier-short-term"),
    "long_term": ("▲", "$tier-long-term"),
}
"""Sign and colour of each tier."""


def tier_name(tier: "Tier") -> str:
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


def budget_numbers(used: int, budget: int, *, short: bool = False) -> str:
    """`1,234 / 4,915`, or `1.2k/4.9k`; a leading `!` says that it is too much."""
    mark = "! " if used > budget else ""
    return f"{mark}{short_count(used)}/{short_count(budget)}" if short else f"{mark}{count(used)} / {count(budget)}"


def budget_line(width: int, tier: "Tier", used: int, budget: int, *, numbers_cells: int = 0) -> Content:
    """Name, bar and `used / budget` in `width` cells; numbers and name get shorter when there is little room.

    `numbers_cells` is the least width of the numbers, for lines that are to end in one column.
    """
    sign, color = TIERS[tier]
    over = used > budget
    name = Content.assemble((f"{sign} ", color), (tier_name(tier), "bold"))
    longest = 2 + max(cell_len(tier_name(each)) for each in TIERS)
    numbers = budget_numbers(used, budget).rjust(numbers_cells)
    if longest + len(numbers) + 8 > width:
        numbers, longest = budget_numbers(used, budget, short=True), name.cell_length
    right = Content.styled(numbers, "bold $tier-over" if over else "$muted")
    bar_cells = min(24, max(4, width - len(numbers) - longest - 2))
    name_cells = width - len(numbers) - bar_cells - 2
    if name_cells < 3:
        return split_line(name, right, width)
    share = min(1.0, used / budget) if budget > 0 else float(over)
    bar = stacked_bar(bar_cells, [(share, "$tier-over" if over else color)])
    return name.truncate(name_cells, ellipsis=True, pad=True) + Content(" ") + bar + Content(" ") + right


class BudgetBar(Widget):
    """One tier's budget line, at least 12 cells wide."""

    DEFAULT_CSS = """
    BudgetBar { height: 1; }
    """

    def __init__(self, tier: "Tier", *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
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
