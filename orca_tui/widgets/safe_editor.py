"""An editor that is safe to fill with foreign text: it draws nothing that a terminal would obey, and loses nothing.

Every text passes `veil` on its way in. Big pastes are folded into a token; the cursor treats it, and a glyph made of
several characters, as one piece. `value` is the text as it came.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import split_graphemes
from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea

from memory.text import repair
from orca_tui.widgets.pastes import MAX_BYTES, Pastes
from orca_tui.widgets.veil import unveil, veil, visible

GRAPHEME_REACH = 48
"""Characters looked at on each side of a place to find the edges of what is one glyph."""

PASTED_LENGTH = 40
"""Characters from which a paste on one line is told from typing; a name or a path is not."""

_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_PASTE_MARK = re.compile("\x1b?\\[20[01]~")


class SafeEditor(TextArea):
    """A `TextArea` for text from anywhere."""

    DEFAULT_CSS = """
    SafeEditor {
        & .safe-editor--paste { color: $cursor-foreground; background: $cursor-background; }
        & .text-area--placeholder { color: $muted; }
    }
    """

    COMPONENT_CLASSES = {"safe-editor--paste"}

    @dataclass
    class PasteRefused(Message):
        """A paste was larger than `limit` and left out. Both in bytes."""

        size: int
        limit: int

    @dataclass
    class Pasted(Message):
        """A text was pasted, and is in the editor."""

        text: str

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's name
        self._pastes = Pastes()
        self._pasted: list[str] = []
        super().__init__(
            id=id, soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False, placeholder=placeholder
        )
        self.match_cursor_bracket = False
        self._styled: object = None

    def notify_style_update(self) -> None:
        """Theme, focus or another rule changed."""
        self._styled = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """What is drawn. `TextArea` would work out its theme's styles anew for every key."""
        if self._styled is self._theme:
            return super(TextArea, self).render_lines(crop)
        self._styled = self._theme
        return super().render_lines(crop)

    @property
    def value(self) -> str:
        """The text as it will be sent."""
        return self._whole(self.text)

    def load_text(self, text: str) -> None:
        """Show `text` (a draft, a message to edit); a big one is folded."""
        super().load_text(self._pastes.fold(veil(_newlines(repair(text)[0]))))
        self.move_cursor(self.document.end)

    def restore(self, text: str, pasted: Iterable[str]) -> None:
        """Show a draft from before, of which these pieces were pasted."""
        self.load_text(text)
        self._pasted = list(pasted)

    def clear(self) -> EditResult:
        """Empty the editor for good: undo does not bring the text back."""
        result = super().clear()
        self.history.clear()
        self._pastes.clear()
        self._pasted.clear()
        return result

    def pasted_in(self, text: str) -> tuple[str, ...]:
        """What of a whole text was pasted, not typed: more than a few words, or more than a line."""
        return tuple(piece for piece in self._pasted if piece in text)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._insert_paste(event.text)

    def action_paste(self) -> None:
        """Paste from the app's own clipboard."""
        self._insert_paste(self.app.clipboard)

    def _insert_paste(self, pasted: str) -> None:
        text, _lost = repair(_newlines(_PASTE_MARK.sub("", pasted)).replace("\r", "\n"))
        size = len(text.encode())
        if size > MAX_BYTES:
            self.post_message(self.PasteRefused(size, MAX_BYTES))
            return
        if len(text) >= PASTED_LENGTH or "\n" in text:
            self._pasted.append(text.strip())
        self.history.checkpoint()
        self._replace_via_keyboard(self._pastes.fold(text), *self.selection)
        self.focus()
        self.post_message(self.Pasted(text))

    def action_copy(self) -> None:
        """Copy the selection as it would be sent."""
        if not self.selected_text:
            raise SkipAction
        self.app.copy_to_clipboard(self._whole(self.selected_text))

    def action_cut(self) -> None:
        """Cut the selection as it would be sent; without one, the line."""
        if self.selection.is_empty:
            self.action_select_line()
        if self.selected_text:
            self.action_copy()
        self._delete_via_keyboard(*self.selection)

    def edit(self, edit: Edit) -> EditResult:
        """The one way in for every change: nothing enters unveiled."""
        edit.text = veil(repair(edit.text)[0])
        return super().edit(edit)

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(insert, *self._whole_range(start, end))

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        return super()._delete_via_keyboard(*self._whole_range(start, end))

    def _whole(self, text: str) -> str:
        return self._pastes.expand(unveil(text))

    # what is one piece to the cursor: a folded paste, a glyph of several characters

    def clamp_visitable(self, location: Location) -> Location:
        """The nearest place where the cursor may stand: never inside a folded paste or a glyph."""
        row, column = super().clamp_visitable(location)
        start, end = self._piece(row, column)
        if start == column:
            return row, column
        old_row, old_column = self.selection.end
        forward = (row, column) > (old_row, old_column)
        return row, end if forward else start

    def _whole_range(self, start: Location, end: Location) -> tuple[Location, Location]:
        """The range, widened to whole pieces."""
        if start == end:
            return start, end
        (top_row, top), (bottom_row, bottom) = sorted((start, end))
        if bottom_row < self.document.line_count:
            first, last = self._piece(bottom_row, bottom)
            bottom = bottom if first == bottom else last
        return (top_row, self._piece(top_row, top)[0]), (bottom_row, bottom)

    def _piece(self, row: int, column: int) -> tuple[int, int]:
        """Start and end of what `column` is strictly inside of; both are `column` when it is at an edge."""
        line = self.document[row]
        for start, end in self._pastes.spans(line):
            if start < column < end:
                return start, end
        base = max(0, column - GRAPHEME_REACH)
        near = line[base : column + GRAPHEME_REACH]
        if not near.isascii():
            for start, end, _cells in split_graphemes(near)[0]:
                if start < column - base < end:
                    return base + start, base + end
            if _inside_flag(near, column - base):
                return column - 1, column + 1
        return column, column

    def render_line(self, y: int) -> Strip:
        """A row; where there is no room for one, none: the placeholder cannot be wrapped to nothing."""
        if self.content_size.width < 1:
            return Strip.blank(0)
        return super().render_line(y)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        line = self.document.get_line(line_index)
        text = Text(visible(line), end="", no_wrap=True)
        for start, end in self._pastes.spans(line):
            text.stylize(self.get_component_rich_style("safe-editor--paste"), start, end)
        return text


def _inside_flag(text: str, place: int) -> bool:
    """Whether `place` splits a flag: two regional indicators, counted from the start of their run."""
    before = text[:place]
    run = len(before) - len(before.rstrip(_INDICATORS))
    return run % 2 == 1 and text[place : place + 1] in tuple(_INDICATORS)


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n")
