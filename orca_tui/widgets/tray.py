"""What belongs to the message that is being written, above the composer: what it is an edit of, what waits before it,
and its files. It takes no room while there is nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from memory.text import label
from orca_tui.figures import size_words

FILE, REMOVE = "📎", "✕"
NAME_CELLS = 32


@dataclass(frozen=True, slots=True)
class Chip:
    """A file that goes with the message."""

    name: str
    size: int
    """Bytes."""


class Tray(Widget, can_focus=False):
    """A line for each remark, then the files."""

    DEFAULT_CSS = """
    Tray {
        display: none;
        height: auto;
        max-height: 6;
        margin: 0 2;
        color: $foreground;
        &.-full { display: block; }
    }
    """

    @dataclass
    class Removed(Message):
        """A file was clicked away."""

        index: int

    @dataclass
    class Clicked(Message):
        """A remark was clicked."""

        name: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._remarks: tuple[tuple[str, str], ...] = ()
        self._chips: tuple[Chip, ...] = ()

    def show(self, remarks: Sequence[tuple[str, str]], chips: Sequence[Chip]) -> None:
        """Show these: name and text of remarks, and files."""
        if (tuple(remarks), tuple(chips)) != (self._remarks, self._chips):
            self._remarks, self._chips = tuple(remarks), tuple(chips)
            self.set_class(bool(remarks or chips), "-full")
            self.refresh(layout=True)

    @property
    def said(self) -> str:
        """All of it as one text."""
        return "\n".join([*(text for _name, text in self._remarks), *(chip.name for chip in self._chips)])

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        """A row for each remark (two when it is long), and as many as the files need."""
        return sum(len(rows) for _name, rows in self._wrapped(width)) + len(self._rows(width))

    def render(self) -> Content:
        """Remarks, then files."""
        width = self.size.width
        lines = [row for _name, rows in self._wrapped(width) for row in rows]
        lines += [Content("  ").join(_drawn(chip) for _index, _start, chip in row) for row in self._rows(width)]
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        """Act on what is under the mouse."""
        event.stop()
        place = event.get_content_offset_capture(self)
        y, width = place.y, self.size.width
        for name, rows in self._wrapped(width):
            if 0 <= y < len(rows):
                self.post_message(self.Clicked(name))
                return
            y -= len(rows)
        for index, start, chip in self._rows(width)[y] if 0 <= y < len(self._rows(width)) else ():
            if start <= place.x < start + _drawn(chip).cell_length:
                self.post_message(self.Removed(index))

    def _wrapped(self, width: int) -> list[tuple[str, list[Content]]]:
        return [(name, Content.styled(text, "$text-warning").wrap(max(8, width))) for name, text in self._remarks]

    def _rows(self, width: int) -> list[list[tuple[int, int, Chip]]]:
        """The files in rows: number, first cell and file."""
        rows: list[list[tuple[int, int, Chip]]] = []
        at = 0
        for index, chip in enumerate(self._chips):
            wide = _drawn(chip).cell_length
            if not rows or at + wide > width:
                rows.append([])
                at = 0
            rows[-1].append((index, at, chip))
            at += wide + 2
        return rows


def _drawn(chip: Chip) -> Content:
    name = Content(label(chip.name, 120)).truncate(NAME_CELLS, ellipsis=True)
    size = Content.styled(f" {size_words(chip.size)} ", "$muted")
    return Content.styled(f"{FILE} ", "$accent") + name + size + Content.styled(REMOVE, "bold $error")
