"""Containers that only hold others: what shows of them is their background, drawn as one strip for all rows.

Textual draws every row of every container that lies behind the others, and that is most of the first frame.
"""

from rich.style import Style
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


def background_lines(widget: Widget, crop: Region) -> list[Strip]:
    """What `Widget.render_lines` gives for a widget without border, padding and content."""
    background = widget.background_colors[1]
    strip = Strip.blank(crop.width, Style.from_color(bgcolor=background.rich_color))
    for line_filter in widget.get_line_filters():
        strip = strip.apply_filter(line_filter, background)
    return [strip] * crop.height


class BareScreen(Screen[object]):
    """A screen that its widgets cover."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The background."""
        return background_lines(self, crop)


class BareHorizontal(Horizontal):
    """Widgets side by side."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The background."""
        return background_lines(self, crop)


class BareVertical(Vertical):
    """Widgets one above the other."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The background, and the border if there is one just now."""
        return super().render_lines(crop) if any(self.gutter) else background_lines(self, crop)
