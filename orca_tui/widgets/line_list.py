"""A list of lines with a cursor: drawn lazily through Textual's line API, so that length costs nothing.

What subclasses give are rows; rows with the same key are one entry, which the cursor steps over as a whole. The cursor
stays on its entry when the rows are built anew.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `draw` is called when it is seen, and must not be wider than the width it was built for."""

    draw: Callable[[], Content]
    key: Hashable | None = None
    """The entry it belongs to; `None` for headings and blanks, which the cursor passes over."""


def text_row(text: str = "", style: str = "", key: Hashable | None = None) -> Row:
    """A row of one (clean) text in one style."""
    return Row(lambda: Content.styled(text, style), key)


def wrapped_rows(text: str, width: int, style: str) -> list[Row]:
    """Our own words as lines of at most `width` cells."""
    return [Row(lambda line=line: line) for line in Content.styled(text, style).wrap(max(2, width))]  # type: ignore[misc]


def split_line(left: Content, right: Content, width: int) -> Content:
    """`left` (cut when it must be) and `right` at the two ends of `width` cells."""
    room = width - right.cell_length - (1 if right else 0)
    if room < 4:
        return left.truncate(max(0, width), ellipsis=True)
    return left.truncate(room, ellipsis=True, pad=True) + (Content(" ") + right if right else Content(""))


class LineList(ScrollView, can_focus=True):
    """The base of the lists. Subclasses give `build` and `choose`."""

    DEFAULT_CSS = """
    LineList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        background: $surface;
        color: $foreground;
    }
    """

    ALLOW_SELECT = False

    BINDINGS = [
        Binding("down,j", "move(1)", "Down", id="list_down", show=False),
        Binding("up,k", "move(-1)", "Up", id="list_up", show=False),
        Binding("home,g", "first", "First", id="list_first", show=False),
        Binding("end,G", "last", "Last", id="list_last", show=False),
        Binding("pagedown,ctrl+d", "page(1)", "Page down", id="list_page_down", show=False),
        Binding("pageup,ctrl+u", "page(-1)", "Page up", id="list_page_up", show=False),
        Binding("enter", "choose", "Choose", id="list_choose", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._places: dict[Hashable, tuple[int, int]] = {}
        """First and last row of each entry."""
        self._keys: list[Hashable] = []
        self._cursor = 0
        self._strips: dict[tuple[int, bool], Strip] = {}

    def build(self, width: int) -> Sequence[Row]:
        """All rows for a width in cells."""
        raise NotImplementedError

    def choose(self, key: Hashable) -> None:
        """An entry was chosen by Enter or a click."""
        raise NotImplementedError

    @property
    def cursor_key(self) -> Hashable | None:
        """The entry under the cursor; `None` when there is none."""
        return self._keys[self._cursor] if self._keys else None

    def cursor_moved(self) -> None:
        """The cursor is on another entry, or its entry was built anew. For subclasses."""

    def lights_cursor(self) -> bool:
        """Whether the cursor is seen while another widget has the keys. For subclasses."""
        return False

    def rebuild(self) -> None:
        """Take the rows anew; the cursor stays on its entry, or where it was when that is gone."""
        width = self.scrollable_content_region.width
        if width < 1:
            return
        before = self.cursor_key
        self._rows = self.build(width)
        self._places = {}
        for y, row in enumerate(self._rows):
            if row.key is not None:
                first = self._places.get(row.key)
                self._places[row.key] = (first[0] if first else y, y)
        self._keys = list(self._places)
        self._cursor = min(self._cursor, max(0, len(self._keys) - 1))
        if before in self._places:
            self._cursor = self._keys.index(before)
        self._strips.clear()
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()
        self.cursor_moved()

    def redraw(self) -> None:
        """Draw the same rows anew: what they show has changed, not how many they are."""
        self._strips.clear()
        self.refresh()

    def move_to(self, key: Hashable) -> None:
        """Put the cursor on an entry; nothing happens when there is no such entry."""
        if key in self._places:
            self._set_cursor(self._keys.index(key))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the window."""
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[place]
        lit = (self.has_focus or self.lights_cursor()) and row.key is not None and row.key == self.cursor_key
        strip = self._strips.get((place, lit))
        if strip is None:
            content = row.draw().truncate(width, pad=True)
            if lit:
                content = content.stylize("not dim $cursor-foreground on $cursor-background")
            strip = Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False, pad=True)[0]
            self._strips[place, lit] = strip
        return strip

    def notify_style_update(self) -> None:
        """Colours changed: what is cached is stale."""
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """Build for the new width."""
        self.rebuild()

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        place = event.get_content_offset_capture(self).y + self.scroll_offset.y
        key = self._rows[place].key if 0 <= place < len(self._rows) else None
        if key is not None:
            event.stop()
            self._set_cursor(self._keys.index(key))
            self.choose(key)

    def action_move(self, step: int) -> None:
        """Step over entries."""
        self._set_cursor(self._cursor + step)

    def action_page(self, direction: int) -> None:
        """Step as many entries as fill the window."""
        first, last = self._places.get(self.cursor_key, (0, 0))
        height = last - first + 1
        self._set_cursor(self._cursor + direction * max(1, self.scrollable_content_region.height // height))

    def action_first(self) -> None:
        """Go to the first entry and show what is above it."""
        self._set_cursor(0)
        self.scroll_home(animate=False, force=True, immediate=True)

    def action_last(self) -> None:
        """Go to the last entry."""
        self._set_cursor(len(self._keys) - 1)

    def action_choose(self) -> None:
        """Choose the entry under the cursor."""
        if self.cursor_key is not None:
            self.choose(self.cursor_key)

    def _set_cursor(self, place: int) -> None:
        if not self._keys:
            self.scroll_relative(y=place - self._cursor, animate=False)
            return
        before, offset = self._places[self._keys[self._cursor]], self.scroll_offset
        self._cursor = max(0, min(place, len(self._keys) - 1))
        first, last = now = self._places[self._keys[self._cursor]]
        if self._cursor == 0:
            first = 0
        region = Region(0, first, self.virtual_size.width, last - first + 1)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)
        if self.scroll_offset == offset:
            for begin, end in {before, now}:
                self.refresh_lines(begin, end - begin + 1)
        else:
            self.refresh()
        self.cursor_moved()
