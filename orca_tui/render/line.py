"""The row that everything is laid out into, and what it stands for when it is copied.

A row is theme-free: its spans name their styles ("strong link"), and the palette turns names into colours when the row
is painted. So a change of theme lays nothing out again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len


class Span(NamedTuple):
    """A piece of a row in one style."""

    text: str
    style: str = ""
    """Names of styles, separated by spaces; later ones win."""
    link: str = ""
    """Where a click leads; only ever an http or https address."""
    copy: str | None = None
    """What is copied instead of `text`; `None`: the text itself. Such a span is copied whole or not at all."""


@dataclass(slots=True, eq=True)
class Line:
    """One row of the screen, without gutter and padding."""

    spans: tuple[Span, ...]
    joint: str = "\n"
    """What stood between the row above and this one: a line break, or what soft wrapping swallowed (a blank)."""
    fill: str = ""
    """Style of the rest of the row, to its right edge; empty: none."""
    kind: str = ""
    """`fold` for the row that folds and unfolds reasoning; empty for text."""

    @property
    def text(self) -> str:
        """The row as it is shown."""
        return "".join([span.text for span in self.spans])

    @property
    def width(self) -> int:
        """Cells that the text takes."""
        return sum([cell_len(span.text) for span in self.spans])

    def copied(self, start: int = 0, end: int | None = None) -> str:
        """What is copied when the characters from `start` up to `end` (default: the whole row) are selected."""
        parts: list[str] = []
        at = 0
        for text, _style, _link, copy in self.spans:
            left, right = max(start - at, 0), len(text) if end is None else min(end - at, len(text))
            if copy is None:
                parts.append(text[left:right] if right > left else "")
            elif right > left or (not text and start <= at and (end is None or at < end)):
                parts.append(copy)
            at += len(text)
        return "".join(parts)

    def link_at(self, index: int) -> str:
        """The address under the character at `index`; empty when there is none."""
        for span in self.spans:
            if index < len(span.text):
                return span.link if index >= 0 else ""
            index -= len(span.text)
        return ""


def decoration(text: str, style: str = "") -> Span:
    """A span that is drawn but never copied."""
    return Span(text, style, "", "")


def copy_lines(lines: Iterable[Line]) -> str:
    """The text that whole rows stand for."""
    parts: list[str] = []
    for line in lines:
        if parts:
            parts.append(line.joint)
        parts.append(line.copied())
    return "".join(parts)


def prefixed(lines: Sequence[Line], first: Sequence[Span], rest: Sequence[Span]) -> list[Line]:
    """The rows with `first` before the first one and `rest` before the others; soft-wrapped ones do not copy it."""
    ready: list[Line] = []
    for index, line in enumerate(lines):
        lead = tuple(rest if index else first)
        if index and line.joint != "\n":
            lead = tuple([span._replace(copy="") for span in lead])
        elif not line.spans:
            lead = tuple([span._replace(copy=(span.copy or span.text).rstrip()) for span in lead])
        ready.append(Line(lead + line.spans, line.joint, line.fill, line.kind))
    return ready


def restyled(spans: Iterable[Span], style: str) -> list[Span]:
    """The spans with `style` beneath their own."""
    if not style:
        return list(spans)
    return [span._replace(style=f"{style} {span.style}" if span.style else style) for span in spans]
