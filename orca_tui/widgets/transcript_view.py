"""The scrolling view of a ledger of entries: what is at the top, what is drawn, what is selected.

Scrolling is counted in real rows where it matters: what lies between two places is laid out when it is scrolled past,
and heights above the view that turn out other than estimated do not move what is read.
"""

from collections.abc import Iterator

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from orca_tui.render.ledger import Ledger, Place
from orca_tui.render.line import Span
from orca_tui.render.palette import GUTTER, Palette, with_offsets, with_selection
from orca_tui.render.selected import ROWS, selected_text
from orca_tui.widgets.transcript_feed import Feed
from orca_tui.widgets.transcript_style import PREFIX

MARGIN = 1
"""Cells right of the text."""
MOST_WIDTH = 120
"""Cells of text beyond which rows are hard to read."""

KEPT_STRIPS = 1_000

Marks = dict[int, list[tuple[int, int, Style]]]
"""By selection coordinate of a row: first character, end, style."""


class TranscriptView(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows of entries, scrolled; follows the end when it is there."""

    class FollowChanged(Message, namespace="transcript"):
        """The view has left the end (`at_end` is false), or is there again and follows it."""

        def __init__(self, transcript: "TranscriptView", at_end: bool) -> None:
            super().__init__()
            self.transcript = transcript
            self.at_end = at_end

        @property
        def control(self) -> "TranscriptView":
            """The transcript that sent it."""
            return self.transcript

    class TextBelow(Message, namespace="transcript"):
        """A reply goes on below the view, for the first time since it left the end."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._ledger = Ledger()
        self._feed = Feed(self, self._ledger, self._grown)
        self._place = Place(0, 0)
        """What is at the top of the view."""
        self._following = True
        self._told_below = False
        self._quiet = False
        """True while the view scrolls by itself."""
        self._palette: Palette | None = None
        self._strips: dict[int, tuple[tuple[Span, ...], tuple[str, str], Strip]] = {}

    @property
    def at_end(self) -> bool:
        """Whether the end is in view and followed."""
        return self._following

    # place and size

    def on_mount(self) -> None:
        """Nothing is laid out before the size is known."""
        self._show()

    def on_resize(self, _event: events.Resize) -> None:
        """Lay the visible rows out at the new width, and stay where the reader is."""
        self._strips.clear()
        width = max(1, min(MOST_WIDTH, self.size.width - GUTTER - MARGIN))
        if width != self._ledger.width:
            self._place = self._ledger.rescaled(self._place, width)
            self._unselect()
            self._relaid()
        self._show()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody scrolled: find out where to."""
        super().watch_scroll_y(old_value, new_value)
        if self._quiet or not self._ledger.width or not self._ledger.items:
            return
        old, new = round(old_value), round(new_value)
        if old == new:  # selecting at the edge scrolls by fractions of a row
            return
        self._follow(new >= self.max_scroll_y)
        if not self._following and abs(new - old) <= 3 * self.size.height:
            self._place = self._ledger.moved(self._place, new - old)
        elif not self._following:
            self._place = self._ledger.place(new)
        self._show()

    def _follow(self, at_end: bool) -> None:
        if at_end != self._following:
            self._following = at_end
            self._told_below = False
            self.post_message(self.FollowChanged(self, at_end))

    def _show(self, *, repaint: bool = True, grown: bool = False) -> None:
        """Lay out what is in view, and scroll to where the view is to be. `grown`: only since there is more below."""
        height = self.size.height
        if not self._ledger.width or not height:
            return
        if not self._following:
            self._place, filled = self._ledger.shown(self._place, height)
            self._follow(filled)
        if self._following:
            end = self._ledger.end_place(height)
            if grown and self._stays(end):
                self._follow(False)
                self._place, _filled = self._ledger.shown(self._place, height)
            else:
                self._place = end
        self._set_height(self._ledger.heights.total)
        self._quiet = True
        try:
            self.scroll_target_y = self.scroll_y = float(self._ledger.row_of(self._place))
        finally:
            self._quiet = False
        self._shown()
        if repaint:
            self.refresh()
        if self._ledger.growing:
            self._feed.wake()

    def _stays(self, _end: Place) -> bool:
        """Whether the view is not to go on to the end, which would begin there. For subclasses."""
        return False

    def _shown(self) -> None:
        """What is in view may be something else now. For subclasses."""

    def _relaid(self) -> None:
        """Rows are laid out anew. For subclasses."""

    def _seen(self) -> tuple[int, int]:
        """First and last entry of which something is in view."""
        last = self._ledger.place(self.scroll_offset.y + max(0, self.size.height - 1)).entry
        first, row = self._place
        if first < last and row + 1 >= self._ledger.heights[first]:
            first += 1
        return first, max(first, last)

    def _set_height(self, rows: int) -> None:
        """Change the scrollable height without a layout of the whole screen: the scrollbar is there anyway."""
        size = Size(self.size.width, rows)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = rows
            self.vertical_scrollbar.window_size = self.size.height

    def _grown(self, changed: int) -> None:
        """Rows from `changed` on are others: follow them, and repaint what is in view."""
        top = self.scroll_offset.y
        self._show(repaint=False, grown=True)
        if not self._following and not self._told_below:
            self._told_below = True
            self.post_message(self.TextBelow())
        if self.scroll_offset.y != top:
            return
        first = changed - top
        width, height = self.size
        if first < height:
            first = max(0, first)
            self.refresh(Region(0, first, width, height - first))

    # drawing

    def notify_style_update(self) -> None:
        """Colours changed: rows keep their layout and get other colours."""
        super().notify_style_update()
        self._palette = None
        self._strips.clear()
        self.refresh()

    @property
    def palette(self) -> Palette:
        """The colours of the theme on this widget."""
        if self._palette is None:
            self._palette = Palette(self.rich_style, self._component)
        return self._palette

    def _component(self, name: str) -> Style:
        return self.get_component_rich_style(PREFIX + name, partial=True, default=Style.null())

    def _painted(self, first: int, count: int) -> Iterator[tuple[int, Strip]]:
        """Rows of the view: selection coordinate and strip of each. Those of the last frames are kept."""
        width, text_width = self.size.width, self._ledger.width
        if len(self._strips) > KEPT_STRIPS:
            self._strips.clear()
        for index, at, line in self._ledger.rows(self.scroll_offset.y + first, count):
            coordinate, kind = index * ROWS + at, self._ledger.kind(index, at)
            look = kind, self._bar(index, at) if kind or line.spans else ""
            kept = self._strips.get(coordinate)
            if kept is None or kept[0] is not line.spans or kept[1] != look:
                strip = Strip(self.palette.segments(line, kind, text_width, width, bar=look[1]), width)
                kept = self._strips[coordinate] = (line.spans, look, strip)
            count -= 1
            yield coordinate, kept[2]
        below = Strip.blank(width, self.palette.base)
        for _row in range(count):
            yield len(self._ledger.items) * ROWS, below

    def render_line(self, y: int) -> Strip:
        """One row, with the offsets that mouse selection asks for."""
        coordinate, strip = next(self._painted(y, 1))
        return with_offsets(strip, coordinate)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region, as they are drawn."""
        selection = self.text_selection
        chosen = self._selection_style() if selection is not None else Style.null()
        filters = self.get_line_filters()
        background = self.background_colors[1]
        marks = self._marks(crop.y, crop.height)
        strips = []
        for coordinate, strip in self._painted(crop.y, crop.height):
            for start, end, style in marks.get(coordinate, ()):
                strip = with_selection(strip, start, end, style)
            if selection is not None and (span := selection.get_span(coordinate)) is not None:
                written = len(strip.text.rstrip())
                end = written if span[1] < 0 else min(span[1], written)
                strip = with_selection(strip, max(span[0], GUTTER), end, chosen)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip.crop(crop.x, crop.right))
        return strips

    def _bar(self, _index: int, _at: int) -> str:
        """What stands left of a row instead of the bar of its kind; empty: the bar. For subclasses."""
        return ""

    def _marks(self, _first: int, _count: int) -> Marks:
        """What is drawn on rows of the view beyond their text. For subclasses."""
        return {}

    # selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text of a selection, clean."""
        return selected_text(self._ledger, selection), "\n"

    def _selection_style(self) -> Style:
        style = self.screen.get_component_rich_style("screen--selection")
        return style + Style(reverse=True) if self.app.no_color else style

    def _unselect(self) -> None:
        """Rows have other coordinates now."""
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
