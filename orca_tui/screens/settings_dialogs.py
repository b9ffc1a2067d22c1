"""The small dialogs of the settings screen: a long text, and the name of something new."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memory.text import label
from orca_tui.i18n import _
from orca_tui.widgets.safe_editor import SafeEditor


class LongText(ModalScreen[str | None]):
    """Gives the text, or `None` when the user left. Changed text is not dropped at the first Esc."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    AUTO_FOCUS = "SafeEditor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True, id="long_text.save"),
        Binding("escape", "leave", show=False, priority=True, id="long_text.leave"),
    ]

    def __init__(self, title: str, text: str, *, blink: bool = False) -> None:
        super().__init__(classes="-dialog")
        self._title = title
        self._text = text
        self._blink = blink
        self._warned = False

    def compose(self) -> ComposeResult:
        """Title, editor, keys."""
        with Vertical(classes="dialog"):
            yield Static(Content(label(self._title, 80)), classes="dialog-title", markup=False)
            editor = SafeEditor(id="text")
            editor.cursor_blink = self._blink
            editor.load_text(self._text)
            yield editor
            yield Static(Content(_("Ctrl+S saves · Esc leaves it as it is")), classes="dialog-hint", markup=False)

    def action_save(self) -> None:
        """Done."""
        self.dismiss(self.query_one(SafeEditor).value)

    def action_leave(self) -> None:
        """Leave; when the text was changed, at the second time."""
        if self.query_one(SafeEditor).value != self._text and not self._warned:
            self._warned = True
            told = _("Esc again drops what you changed · Ctrl+S saves it")
            self.query_one(".dialog-hint", Static).update(Content(told))
        else:
            self.dismiss(None)


class NewName(ModalScreen[str | None]):
    """Gives a name that `check` had nothing against, or `None` when the user left."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False, id="new_name.leave")]

    def __init__(self, title: str, check: Callable[[str], str], *, blink: bool = False) -> None:
        """`check` tells what is wrong with a name; empty when nothing is."""
        super().__init__(classes="-dialog")
        self._title = title
        self._check = check
        self._blink = blink

    def compose(self) -> ComposeResult:
        """Title, the name, what is wrong with it."""
        with Vertical(classes="dialog -small"):
            yield Static(Content(self._title), classes="dialog-title", markup=False)
            found = Input(id="name")
            found.cursor_blink = self._blink
            yield found
            yield Static(Content(_("Enter goes on · Esc leaves it")), classes="dialog-hint", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Done, when it is one."""
        name = event.value.strip()
        problem = self._check(name)
        if problem:
            self.query_one(".dialog-hint", Static).update(Content.styled(problem, "$text-error"))
        else:
            self.dismiss(name)

    def action_leave(self) -> None:
        """Nothing new."""
        self.dismiss(None)
