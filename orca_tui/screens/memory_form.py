"""Edit a memory: its text in an editor that is safe for foreign text, its type and branch by arrow keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, get_args

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from memory.text import label
from memory.types import LongTermMemory, MemoryType
from orca_tui.i18n import _
from orca_tui.widgets.safe_editor import SafeEditor


@dataclass(frozen=True, slots=True)
class Filled:
    """What the form says."""

    content: str
    memory_type: MemoryType
    branch: str


class Dial(Widget, can_focus=True):
    """One of a few, turned by the arrow keys or a click."""

    class Changed(Message):
        """It was turned."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space,down", "turn(1)", show=False),
        Binding("left,h,up", "turn(-1)", show=False),
    ]

    def __init__(self, name: str, choices: Sequence[str], current: str, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._label = name
        self._choices = list(dict.fromkeys([*choices, current]))
        self.value = current

    def render(self) -> Content:
        """Name, and the value between arrows."""
        arrows = "bold $primary" if self.has_focus else "$muted"
        value = (
            f" {label(_(self.value), 60)} ",
            "bold $cursor-foreground on $cursor-background" if self.has_focus else "",
        )
        return Content.assemble((f"{self._label}  ", "$muted"), ("‹", arrows), value, ("›", arrows))

    def on_focus(self, _event: events.Focus) -> None:
        """The arrows light up."""
        self.refresh()

    def on_blur(self, _event: events.Blur) -> None:
        """They go out."""
        self.refresh()

    def on_click(self) -> None:
        """The next."""
        self.action_turn(1)

    def action_turn(self, step: int) -> None:
        """Step through the choices, round and round."""
        self.value = self._choices[(self._choices.index(self.value) + step) % len(self._choices)]
        self.refresh()
        self.post_message(self.Changed())


class MemoryForm(ModalScreen[Filled | None]):
    """Gives what was filled in, or `None` when the user left it. Changed text is not dropped at the first Esc."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True, id="memory_form.save"),
        Binding("escape", "leave", show=False, priority=True, id="memory_form.leave"),
    ]
    AUTO_FOCUS = "SafeEditor"

    def __init__(self, memory: LongTermMemory, branches: Sequence[str], *, others: Sequence[str] = ()) -> None:
        """`others`: texts of further memories that this one is to take in; then only the text is asked for."""
        super().__init__(classes="-dialog")
        self._memory = memory
        self._branches = branches
        self._others = others
        self._warned = False

    def compose(self) -> ComposeResult:
        """Title, the other texts, the editor, the dials, what the keys do."""
        title = _("Merge {n} memories", n=len(self._others) + 1) if self._others else _("Edit memory")
        with Vertical(classes="dialog"):
            yield Static(Content(title), classes="dialog-title", markup=False)
            if self._others:
                lines = [Content.styled(f"· {label(text[:400], 200)}", "$muted") for text in self._others]
                yield Static(Content("\n").join(lines), id="others", markup=False)
            editor = SafeEditor(id="text")
            editor.load_text(self._memory.content)
            yield editor
            if not self._others:
                yield Dial(_("type"), get_args(MemoryType), self._memory.memory_type, id="type")
                yield Dial(_("branch"), self._branches, self._memory.branch, id="branch")
            yield Static(Content(self._hint()), classes="dialog-hint", markup=False)

    def _hint(self) -> str:
        if self._others:
            return _("Ctrl+S merges into this text · Esc leaves it · undo takes it back")
        return _("Ctrl+S saves · Tab goes on · Esc leaves it as it is")

    def action_save(self) -> None:
        """Done; an empty text is not."""
        text = self.query_one(SafeEditor).value.strip()
        if not text:
            self._say(_("This cannot be empty."))
        elif self._others:
            self.dismiss(Filled(text, self._memory.memory_type, self._memory.branch))
        else:
            kind = next(one for one in get_args(MemoryType) if one == self.query_one("#type", Dial).value)
            self.dismiss(Filled(text, kind, self.query_one("#branch", Dial).value))

    def action_leave(self) -> None:
        """Leave; when the text was changed, at the second time."""
        if self.query_one(SafeEditor).value != self._memory.content and not self._warned:
            self._warned = True
            self._say(_("Esc again drops what you changed · Ctrl+S saves it"))
        else:
            self.dismiss(None)

    def on_text_area_changed(self) -> None:
        """The warning was for the text as it was."""
        if self._warned:
            self._warned = False
            self._say(self._hint())

    def _say(self, text: str) -> None:
        self.query_one(".dialog-hint", Static).update(Content(text))
