"""The box that a search is typed into, and its filters as chips."""

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from memory.recalling.search_query import FilterName, SearchQuery
from memory.text import label
from orca_tui.i18n import _
from orca_tui.search_filters import FILTER_KEYS

LONGEST = 2000
"""Characters of a search."""


class SearchBox(Input):
    """One line. What is pasted becomes one clean line; the arrows move in the list below."""

    DEFAULT_CSS = """
    SearchBox { border: none; height: 1; padding: 0 1; background: $surface; }
    SearchBox:focus { border: none; background: $surface; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "step(1)", show=False, id="search_down"),
        Binding("up,ctrl+p", "step(-1)", show=False, id="search_up"),
        Binding("pagedown", "step(10)", show=False, id="search_page_down"),
        Binding("pageup", "step(-10)", show=False, id="search_page_up"),
    ]

    @dataclass
    class Stepped(Message):
        """Move in the list by so many."""

        step: int

    def insert_text_at_cursor(self, text: str) -> None:
        """Typed and pasted text alike."""
        kept = text if text == " " else label(text, LONGEST)
        super().insert_text_at_cursor(kept[: max(0, LONGEST - len(self.value))])

    def action_step(self, step: int) -> None:
        """An arrow."""
        self.post_message(self.Stepped(step))


class FilterChips(Widget):
    """One line: the filters in force, and those that could be, each to be clicked."""

    DEFAULT_CSS = """
    FilterChips { height: 1; padding: 0 1; }
    """

    @dataclass
    class Clicked(Message):
        """Turn a filter on, or `off`."""

        name: FilterName
        off: bool

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._query = SearchQuery()
        self._spots: list[tuple[int, int, FilterName, bool]] = []

    def show(self, query: SearchQuery) -> None:
        """Show these."""
        self._query = query
        self.refresh()

    def render(self) -> Content:
        """Set ones with their values first, then the names of the others."""
        line, self._spots = Content(""), []
        for chip in self._query.chips:
            text = f" {chip.name}:{label(chip.value, 30)} × "
            self._spots.append((line.cell_length, line.cell_length + cell_len(text), chip.name, True))
            line += Content.styled(text, "$cursor-foreground on $cursor-background") + Content(" ")
        set_ones = {chip.name for chip in self._query.chips}
        for key in FILTER_KEYS:
            if key.name in set_ones:
                continue
            name = Content(f"+{_(key.word)}")
            self._spots.append((line.cell_length, line.cell_length + name.cell_length, key.name, False))
            line += name.stylize("$muted") + Content("  ")
        return line.truncate(max(1, self.content_size.width), ellipsis=True)

    def on_click(self, event: events.Click) -> None:
        """A click on a chip takes it away, one on a name brings it."""
        x = event.get_content_offset_capture(self).x
        for start, end, name, is_set in self._spots:
            if start <= x < end:
                self.post_message(self.Clicked(name, is_set))
