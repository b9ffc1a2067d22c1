"""Which persona answers in this session: a list, with what the one under the cursor is like."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memory.config import PersonaSettings
from memory.text import clean, label
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.screens.page import PageBody

SHOWN = 2000
"""Characters of a prompt that are shown."""


class PersonaScreen(ModalScreen[str | None]):
    """Gives the name (empty: none), or `None` when the user left it as it is."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False, id="personas.leave"),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def __init__(self, personas: Mapping[str, PersonaSettings], current: str) -> None:
        super().__init__(classes="-dialog")
        self._personas = personas
        self._names = ["", *personas]
        self._current = current

    def compose(self) -> ComposeResult:
        """Title, list, what it is like, keys."""
        with Vertical(classes="dialog"):
            yield Static(Content(_("Persona of this session")), classes="dialog-title", markup=False)
            yield OptionList(*(Option(self._line(name)) for name in self._names), id="personas", markup=False)
            with PageBody(classes="dialog-body", id="persona-body"):
                yield Static(id="persona-about", markup=False)
            yield Static(Content(_("Enter chooses · Esc leaves it as it is")), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """The cursor starts on what is in force."""
        options = self.query_one(OptionList)
        options.highlighted = self._names.index(self._current) if self._current in self._names else 0
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what it is like."""
        name = self._names[event.option_index]
        about = Content(_("As the settings say.")) if not name else described(self._personas[name])
        self.query_one("#persona-about", Static).update(about)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Done."""
        self.dismiss(self._names[event.option_index])

    def action_leave(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        """Move the cursor by one."""
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def _line(self, name: str) -> Content:
        mark = "● " if name == self._current else "  "
        return Content.assemble((mark, "$text-accent"), label(name, 80) or _("none"))


def described(persona: PersonaSettings) -> Content:
    """Its facts, then its prompt."""
    facts = [
        label(persona.model, 60),
        f"temperature {persona.temperature:g}" if persona.temperature is not None else "",
        f"max_tokens {count(persona.max_tokens)}" if persona.max_tokens else "",
    ]
    told = " · ".join(filter(None, facts))
    head = Content.styled(f"{told}\n\n", "$muted") if told else Content("")
    return head + Content(clean(persona.prompt[:SHOWN]).strip() or _("It has no prompt."))
