"""The exact next request: every message with its role, text and tokens, before anything is sent."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memory.recalling.prompt import Prompt
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.request_list import RequestList

if TYPE_CHECKING:
    from memory.tokens import TokenCounter


class RequestScreen(Screen[None]):
    """Only looks; nothing is sent from here."""

    CSS_PATH = Path(__file__).with_name("memories.tcss")
    AUTO_FOCUS = "#request-list"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", show=False, id="request_close")]

    def __init__(self, prompt: Prompt, counter: "TokenCounter", *, unsent: bool) -> None:
        """`unsent`: whether there is a text in the composer."""
        super().__init__()
        self._prompt = prompt
        self._counter = counter
        self._unsent = unsent

    def compose(self) -> ComposeResult:
        """Sum, messages, keys."""
        prompt = self._prompt
        title = Content.styled(_("The next request"), "bold")
        facts = [
            _("{n} tokens", n=count(prompt.report.prompt_tokens)),
            _("1 message") if len(prompt.messages) == 1 else _("{n} messages", n=count(len(prompt.messages))),
            _("{n} from memory", n=count(len(prompt.recalled))),
        ]
        if not self._unsent:
            facts.append(_("the composer is empty"))
        yield Static(title + Content("  " + " · ".join(facts)), id="request-title", markup=False)
        counted = [(m, self._counter.count_message(m.role, m.content)) for m in prompt.messages]
        yield RequestList(counted, id="request-list")
        self.keys_line = HintLine(id="request-keys")
        yield self.keys_line

    def on_mount(self) -> None:
        """What the keys do."""
        self.keys_line.show([("Esc", _("chat")), ("Enter", _("unfold")), ("j k", _("move"))])

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)
