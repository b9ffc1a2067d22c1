"""The line that a search in the transcript is typed into, with how many places there are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from memory.text import label
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.widgets.passing_on import passed_on


class SearchInput(Input):
    """Where it is typed. What is pasted becomes one clean line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "End the search", show=False, id="search_leave"),
        Binding("down", "go(1)", "Next place", show=False, id="search_next"),
        Binding("up", "go(-1)", "Place before", show=False, id="search_previous"),
    ]

    taker: Callable[[], None] | None = None
    """Called at once when Enter is pressed; it moves the focus."""

    def insert_text_at_cursor(self, text: str) -> None:
        """Typed and pasted text alike."""
        super().insert_text_at_cursor(text if text == " " else label(text))

    async def _on_key(self, event: events.Key) -> None:
        if passed_on(self, event):
            return
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if self.taker is not None:
                self.taker()
        else:
            await super()._on_key(event)

    def action_leave(self) -> None:
        """Esc."""
        self.post_message(SearchLine.Left())

    def action_go(self, direction: int) -> None:
        """The arrows."""
        self.post_message(SearchLine.Stepped(direction))


class SearchLine(Horizontal):
    """One row; hidden while nothing is searched for."""

    DEFAULT_CSS = """
    SearchLine {
        display: none;
        height: 1;
        padding: 0 1;
        background: $bar-background;
        color: $bar-foreground;
        & > Static { width: auto; }
        & > .search-sign { color: $accent; text-style: bold; }
        & > SearchInput {
            width: 1fr; height: 1; border: none; padding: 0; background: $bar-background; color: $bar-foreground;
        }
    }
    """

    @dataclass
    class Typed(Message):
        """Something else is searched for."""

        text: str

    class Left(Message):
        """The search is to end."""

    @dataclass
    class Stepped(Message):
        """Go to the next (1) or previous (-1) place."""

        direction: int

    def compose(self) -> ComposeResult:
        """A sign, what is typed, how many there are."""
        yield Static("/", classes="search-sign", markup=False)
        yield SearchInput(compact=True, select_on_focus=False)
        yield Static("", classes="search-count", markup=False)

    @property
    def field(self) -> SearchInput:
        """Where it is typed."""
        return self.query_one(SearchInput)

    def open(self) -> None:
        """Show it, to be typed into."""
        self.display = True
        self.screen.set_focus(self.field)

    def close(self) -> None:
        """Hide it; the next search begins empty."""
        self.display = False
        self._fill("")

    def tell(self, text: str, position: int, total: int) -> None:
        """What is searched for, how many places there are, and at which one the search is."""
        self.display = True
        if not self.field.has_focus:
            self._fill(text)
        told = f" {count(position)}/{count(total)}" if total else f" {_('not found')}"
        self.query_one(".search-count", Static).update(Content(told))

    def _fill(self, text: str) -> None:
        with self.field.prevent(Input.Changed):
            self.field.value = label(text)
        self.query_one(".search-count", Static).update(Content(""))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Every letter."""
        event.stop()
        if not event.value.strip():
            self.query_one(".search-count", Static).update(Content(""))
        self.post_message(self.Typed(event.value))
