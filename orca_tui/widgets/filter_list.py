"""A list with a filter that is typed after `/`: all of its words must be in an entry's text."""

from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Offset

from memory.text import label
from orca_tui.widgets.line_list import LineList, Row


class FilterList(LineList):
    """The base of such lists. Subclasses put `filter_rows` among their rows, and obey `filter_words`."""

    BINDINGS = [Binding("slash", "filter", "Filter", id="list_filter", show=False)]

    FILTER_ROW: ClassVar[int] = 0
    """Where the line of the filter is."""
    ENTER_KEEPS: ClassVar[bool] = False
    """Enter ends the typing and keeps the filter, so that keys mean what they mean; else it chooses an entry."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._filter: str | None = None
        self._typing = False

    @property
    def filter_words(self) -> list[str]:
        """What entries must hold, folded; empty without a filter."""
        return (self._filter or "").casefold().split()

    @property
    def typing(self) -> bool:
        """Whether keys go to the filter."""
        return self._typing

    def filter_rows(self) -> list[Row]:
        """The line with the filter, if there is one."""
        if self._filter is None:
            return []
        caret = ("▏", "$primary") if self._typing else ("", "")
        line = Content.assemble(("/", "bold $primary"), label(self._filter), caret)
        return [Row(lambda: line)]

    def action_filter(self) -> None:
        """Begin to type a filter, or go on with it."""
        self._set_filter(self._filter or "")

    def clear_filter(self) -> bool:
        """Show all again; tells whether there was a filter."""
        had = self._filter is not None
        if had:
            self._set_filter(None)
        return had

    async def _on_key(self, event: events.Key) -> None:
        if not self._typing or self._filter is None:
            return
        if event.key == "escape":
            self._set_filter(None)
        elif event.key == "enter" and self.ENTER_KEEPS:
            self._typing = False
            self._set_filter(self._filter or None, typing=False)
        elif event.key == "backspace":
            self._set_filter(self._filter[:-1] if self._filter else None)
        elif event.is_printable and event.character:
            self._set_filter(self._filter + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted words go to the filter."""
        if self._typing and self._filter is not None:
            event.stop()
            self._set_filter(label(self._filter + event.text))

    def _set_filter(self, text: str | None, *, typing: bool = True) -> None:
        self._filter = text
        self._typing = typing and text is not None
        self.rebuild()
        if self._typing and text is not None:
            self.scroll_home(animate=False, force=True, immediate=True)
            # An input method opens its window at the terminal's cursor.
            spot = Offset(1 + cell_len(label(text)), self.FILTER_ROW)
            self.app.cursor_position = self.content_region.offset + spot
