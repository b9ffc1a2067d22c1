"""The last guard between foreign text and the terminal: a filter on every drawn line, plain widgets, allowed links.

Text is cleaned where it enters a widget (`memory.text.clean`). The guard is for what got past: it runs after layout,
so it never changes the width of a line.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.content import Content
from textual.filter import LineFilter
from textual.widgets import Label, Static

from memory.text import clean, strip_unsafe

if TYPE_CHECKING:
    from textual.color import Color

MAX_LINK = 4096
"""Longest address that is opened, in characters."""


class RenderGuard(LineFilter):
    """Takes from every line what may never reach a terminal: live characters, control segments, odd link schemes.

    It runs after the `inner` filters, as one with them: Textual makes and keeps a strip for every filter and line.
    """

    def __init__(self, inner: Sequence[LineFilter] = ()) -> None:
        super().__init__()
        self.inner = inner

    def apply(self, segments: list[Segment], background: "Color") -> list[Segment]:
        """The same list when there is nothing to take, which is the usual case."""
        for line_filter in self.inner:
            segments = line_filter.apply(segments, background)
        texts = []
        plain = True
        for text, style, control in segments:
            texts.append(text)
            if control or (style is not None and style.link):
                plain = False
        line = "".join(texts)
        if plain and "\n" not in line and "\t" not in line and strip_unsafe(line) == line:
            return segments
        return [_guarded(segment) for segment in segments if not segment.control]


def _guarded(segment: Segment) -> Segment:
    text, style, _control = segment
    kept = strip_unsafe(text.replace("\n", " ").replace("\t", " "))
    if kept != text:
        kept = set_cell_size(kept, cell_len(text))
    if style is not None and style.link and safe_link(style.link) is None:
        style = style.update_link(None)
    return Segment(kept, style)


class SafeStatic(Static):
    """A `Static` for foreign text: cleaned, and never read as markup. `Content` is taken as built."""

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(_safe(text), markup=False, id=id, classes=classes)

    def update(self, content: object = "", *, layout: bool = True) -> None:
        """Show another text."""
        super().update(_safe(content), layout=layout)


class SafeLabel(Label):
    """A `Label` for foreign text: cleaned, and never read as markup. `Content` is taken as built."""

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(_safe(text), markup=False, id=id, classes=classes)

    def update(self, content: object = "", *, layout: bool = True) -> None:
        """Show another text."""
        super().update(_safe(content), layout=layout)


def _safe(text: object) -> Content:
    return text if isinstance(text, Content) else Content(clean(str(text)))


def safe_link(url: str) -> str | None:
    """The address if it may be opened: http or https, a host, nothing that hides where it leads."""
    if len(url) > MAX_LINK or not url.isprintable() or strip_unsafe(url) != url or any(c in url for c in ' \\"<>`'):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return url
