"""Pick one of a few: themes, languages, sessions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memory.text import label
from orca_tui.i18n import _


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list."""

    value: str
    label: str
    detail: str = ""


class Choose(ModalScreen[str | None]):
    """Gives the value of the choice, or `None` when the user left."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False, id="choose.leave"),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        current: str = "",
        preview: Callable[[str], None] | None = None,
    ) -> None:
        """`preview` is called with the value under the cursor."""
        super().__init__(classes="-dialog")
        self._title = title
        self._choices = list(choices)
        self._current = current
        self._preview = preview

    def compose(self) -> ComposeResult:
        """Title, list, hint."""
        with Vertical(classes="dialog -small"):
            yield Static(Content(label(self._title)), classes="dialog-title", markup=False)
            yield OptionList(*(Option(self._line(choice)) for choice in self._choices), markup=False)
            yield Static(Content(_("Enter chooses · Esc leaves it as it is")), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """The cursor starts on what is in force."""
        options = self.query_one(OptionList)
        values = [choice.value for choice in self._choices]
        options.highlighted = values.index(self._current) if self._current in values else 0
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what it would be like."""
        if self._preview is not None:
            self._preview(self._choices[event.option_index].value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Done."""
        self.dismiss(self._choices[event.option_index].value)

    def action_leave(self) -> None:
        """Leave everything as it was."""
        if self._preview is not None:
            self._preview(self._current)
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        """Move the cursor by one."""
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def _line(self, choice: Choice) -> Content:
        mark = "● " if choice.value == self._current else "  "
        text = Content.assemble((mark, "$text-accent"), label(choice.label, 80))
        return text + Content.styled(f"  {label(choice.detail)}", "$text-muted") if choice.detail else text
