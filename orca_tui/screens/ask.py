"""A question before something is done to much at once, or for good. What it is about is listed below."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memory.text import label
from orca_tui.i18n import _
from orca_tui.screens.page import PageBody


class Ask(ModalScreen[bool]):
    """Gives whether it is to be done."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", show=False, id="ask.yes"),
        Binding("n,q,escape", "answer(False)", show=False, id="ask.no"),
    ]

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        """`question` is ours; `texts` are foreign."""
        super().__init__(classes="-dialog")
        self._question = question
        self._texts = texts

    def compose(self) -> ComposeResult:
        """Question, what it is about, keys."""
        lines = [Content.styled("· ", "$muted") + Content(label(text[:400], 200)) for text in self._texts]
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="dialog-title", markup=False)
            with PageBody(classes="dialog-body"):
                yield Static(Content("\n").join(lines), markup=False)
            yield Static(Content(_("y or Enter does it · n or Esc leaves it")), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Scrolling keys work at once."""
        self.query_one(PageBody).focus()

    def action_answer(self, yes: bool) -> None:
        """Done."""
        self.dismiss(yes)
