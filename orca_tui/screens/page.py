"""A page of text over the chat: help, search results, doctor. Scrolls; Esc closes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memory.text import label
from orca_tui.i18n import _

Lines = Sequence[Content] | Callable[[int], Sequence[Content]]
"""Lines that may be wrapped anywhere, or what makes them for a width in cells."""


class PageBody(VerticalScroll):
    """The scrolling part."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G,shift+g", "scroll_end", show=False),
    ]


class PageText(PageBody):
    """Lines that are laid out for its width."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(classes="dialog-body")
        self._lines = lines

    def compose(self) -> ComposeResult:
        """The text."""
        yield Static(markup=False)

    def on_resize(self) -> None:
        """Lay it out."""
        lines = self._lines(self.scrollable_content_region.width) if callable(self._lines) else self._lines
        self.query_one(Static).update(Content("\n").join(lines))


class Page(ModalScreen[None]):
    """A title and lines that were made from plain text (`Content`, never markup)."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False, id="page.close"),
    ]

    def __init__(self, title: str, lines: Lines, *, note: str = "") -> None:
        super().__init__(classes="-dialog")
        self._title = title
        self._lines = lines
        self._note = note

    def compose(self) -> ComposeResult:
        """Title, scrolling text, closing hint."""
        with Vertical(classes="dialog"):
            yield Static(Content(label(self._title)), classes="dialog-title", markup=False)
            yield PageText(self._lines)
            yield Static(Content(self._note or _("Esc closes")), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Scrolling keys work at once."""
        self.query_one(PageBody).focus()

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
