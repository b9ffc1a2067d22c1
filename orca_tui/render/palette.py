"""Style names → colours, and rows → strips. The names are the transcript's component classes without their prefix."""

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from orca_tui.render.line import Line
from orca_tui.render.pieces import whole_end

GUTTER = 2
"""Cells left of the text: the bar, and a blank."""
BARS = {"user": "▌ ", "assistant": "▏ ", "tool": "▏ ", "system": "▏ "}


class Palette:
    """Colours of one theme on one widget."""

    def __init__(self, base: Style, style_of: Callable[[str], Style]) -> None:
        self.base = base
        self._style_of = style_of
        self._named: dict[str, Style] = {}

    def style(self, names: str) -> Style:
        """The style that several names make, one on top of the other, on the base."""
        found = self._named.get(names)
        if found is None:
            found = self.base
            for name in names.split():
                found += self._style_of(name)
            self._named[names] = found
        return found

    def segments(self, line: Line, kind: str, text_width: int, width: int, *, bar: str = "") -> list[Segment]:
        """A row of an entry of some kind, filled up to `width`; text, its ground and its fill are `text_width` wide.
        `bar`, `GUTTER` cells, is the cursor's mark in the place of the kind's own."""
        ground = kind if kind == "user" else ""
        if bar:
            ready = [Segment(bar, self.style(f"{ground} cursor"))]
        else:
            ready = [Segment(BARS.get(kind, "  "), self.style(f"{ground} {kind}-bar" if kind in BARS else ""))]
        used = 0
        for span in line.spans:
            if span.text:
                segment = Segment(span.text, self.style(f"{ground} {span.style}"))
                ready.append(segment)
                used += segment.cell_length
        if used < text_width:
            ready.append(Segment(" " * (text_width - used), self.style(f"{ground} {line.fill}")))
        beyond = width - GUTTER - max(used, text_width)
        if beyond > 0:
            ready.append(Segment(" " * beyond, self.base))
        return ready


def with_offsets(strip: Strip, y: int) -> Strip:
    """A strip that tells for each cell which character of which row it is, for selection by mouse."""
    ready = []
    at = 0
    for text, style, _control in strip:
        meta = Style.from_meta({"offset": (at, y)})
        ready.append(Segment(text, style + meta if style else meta))
        at += len(text)
    return Strip(ready, strip.cell_length)


def with_selection(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """A strip with the characters from `start` up to `end` in another style."""
    ready = []
    at = 0
    for text, own, _control in strip:
        left = whole_end(text, min(max(start - at, 0), len(text)))
        right = whole_end(text, min(max(end - at, 0), len(text)))
        for piece, chosen in ((text[:left], False), (text[left:right], True), (text[max(left, right) :], False)):
            if piece:
                ready.append(Segment(piece, (own or Style()) + style if chosen else own))
        at += len(text)
    return Strip(ready, strip.cell_length)
