"""Press a key to give it to a binding; who has it already is told before it is taken."""

from collections.abc import Callable
from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memory.text import label
from orca_tui import keys
from orca_tui.i18n import _


class KeyCapture(ModalScreen[str | None], inherit_bindings=False):
    """Gives the key as Textual writes it, or `None` when the user left. No binding of any screen works meanwhile."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    CATCHES_ALL_KEYS = True
    """No key runs a command of the app meanwhile."""

    def __init__(self, action: str, clash: Callable[[str], str]) -> None:
        """`action`: what the key is for; `clash` tells who has a key already, empty when nobody has."""
        super().__init__(classes="-dialog")
        self._action = action
        self._clash = clash
        self._pressed = ""

    def compose(self) -> ComposeResult:
        """What it is for, what was pressed, what comes next."""
        with Vertical(classes="dialog -small"):
            yield Static(Content(label(self._action, 80)), classes="dialog-title", markup=False)
            yield Static(Content(_("Press the key, alone or with Ctrl, Alt or Shift.")), id="pressed", markup=False)
            yield Static(Content(_("Esc leaves it as it is")), classes="dialog-hint", markup=False)

    def on_key(self, event: events.Key) -> None:
        """The key; when there is one already, Enter takes it."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter" and self._pressed:
            self.dismiss(self._pressed)
        else:
            self._take(event.key)

    def _take(self, key: str) -> None:
        self._pressed = key
        owner = self._clash(key)
        line = Content.styled(keys.display(key), "bold $accent")
        if owner:
            told = _("It belongs to “{name}”, which would lose it.", name=label(owner, 80))
            line += Content.styled(f"\n{told}", "$warning")
        self.query_one("#pressed", Static).update(line)
        self.query_one(".dialog-hint", Static).update(
            Content(_("Enter takes it · another key changes it · Esc leaves it as it is"))
        )
