"""A longer text of the user's in an editor of its own, over the chat."""

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
from orca_tui.widgets.safe_editor import SafeEditor


class TextForm(ModalScreen[str | None]):
    """Gives the text, stripped, or `None` when the user left it. Changed text is not dropped at the first Esc."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    AUTO_FOCUS = "SafeEditor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True, id="text_form.save"),
        Binding("escape", "leave", show=False, priority=True, id="text_form.leave"),
    ]

    def __init__(self, title: str, text: str, *, about: str = "") -> None:
        super().__init__(classes="-dialog")
        self._title, self._text, self._about = title, text, about
        self._warned = False

    def compose(self) -> ComposeResult:
        """Title, what it is for, editor, keys."""
        with Vertical(classes="dialog"):
            yield Static(Content(label(self._title)), classes="dialog-title", markup=False)
            yield Static(Content(self._about), classes="dialog-intro", markup=False)
            editor = SafeEditor(id="text")
            editor.load_text(self._text)
            yield editor
            yield Static(Content(_("Ctrl+S saves · Esc leaves it as it is")), classes="dialog-hint", markup=False)

    def action_save(self) -> None:
        """Done."""
        self.dismiss(self.query_one(SafeEditor).value.strip())

    def action_leave(self) -> None:
        """Leave; when the text was changed, at the second time."""
        if self.query_one(SafeEditor).value == self._text or self._warned:
            self.dismiss(None)
            return
        self._warned = True
        told = _("Esc again drops what you changed · Ctrl+S saves it")
        self.query_one(".dialog-hint", Static).update(Content(told))
