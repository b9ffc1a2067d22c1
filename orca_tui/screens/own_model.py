"""A model for this session only: by name, or one of those that the server tells."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memory.config import Home, Settings
from memory.errors import OrcaError
from memory.text import clean, label
from orca_tui.core_words import core_said
from orca_tui.i18n import _
from orca_tui.work import start

LISTED = 500


class OwnModel(ModalScreen[str | None]):
    """Gives a name, `default` for the usual model, or `None` when the user left it as it is."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    AUTO_FOCUS = "#name"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, id="own_model.leave"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, home: Home, settings: Settings, current: str, *, env: Mapping[str, str] | None = None) -> None:
        super().__init__(classes="-dialog")
        self._home, self._settings, self._current, self._env = home, settings, current, env
        self._known: list[str] = []
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        """Title, name, what the server has, keys."""
        with Vertical(classes="dialog"):
            yield Static(Content(_("Model of this session")), classes="dialog-title", markup=False)
            yield Input(self._current, placeholder=_("Name of a model; empty: the usual one"), id="name")
            yield OptionList(id="models", markup=False)
            hint = _("Enter takes it · ↓ to what the server has · Esc leaves it as it is")
            yield Static(Content(hint), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Ask the server what it has."""
        start(self, "models", self._look)

    async def _look(self) -> None:
        from memory.provider.factory import known_models

        try:
            found = await known_models(self._settings, self._home, self._env)
        except OrcaError as error:
            self.query_one(".dialog-hint", Static).update(Content(clean(core_said(str(error)))))
            return
        self._known = sorted(found)[:LISTED]
        self._fill()

    def on_input_changed(self) -> None:
        """Show those that hold what was typed."""
        self._fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Done."""
        self.dismiss(event.value.strip() or "default")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Done."""
        self.dismiss(self._shown[event.option_index])

    def action_to_list(self) -> None:
        """To what the server has."""
        if self._shown:
            self.query_one(OptionList).focus()

    def action_leave(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)

    def _fill(self) -> None:
        typed = self.query_one(Input).value.strip().casefold()
        self._shown = [name for name in self._known if typed in name.casefold()] or self._known
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(Content(label(name, 100))) for name in self._shown])
        options.highlighted = 0 if self._shown else None
