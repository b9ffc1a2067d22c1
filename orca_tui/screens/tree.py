"""The whole session as a tree; Enter or a click goes to a message, on its own path."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memory.errors import OrcaError
from orca_tui.core_words import core_said
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.tree_list import TreeList
from orca_tui.work import start as start_work

if TYPE_CHECKING:
    from memory.turns.forks import Node


class TreeScreen(Screen[int | None]):
    """Gives the message that was chosen, or `None`."""

    CSS_PATH = Path(__file__).with_name("tree.tcss")
    AUTO_FOCUS = "#tree-list"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", show=False, id="tree.leave")]

    def __init__(self, read: "Callable[[], Sequence[Node]]", *, start: int | None = None) -> None:
        """`read` blocks; `start`: the message that the cursor begins at."""
        super().__init__()
        self._read = read
        self._start = start

    def compose(self) -> ComposeResult:
        """Title, tree, keys."""
        yield Static(Content(_("All forks of this session")), id="tree-title", markup=False)
        yield TreeList(id="tree-list")
        yield HintLine(id="tree-keys")

    def on_mount(self) -> None:
        """Read in a thread: a session may be long."""
        keys = (("Enter", _("go there")), ("j k", _("move")), ("/", _("filter")), ("Esc", _("back")))
        self.query_one(HintLine).show([*keys, ("●", _("on the path"))])
        start_work(self, "tree", self._fill)

    async def _fill(self) -> None:
        try:
            nodes = await asyncio.to_thread(self._read)
        except OrcaError as error:
            self.query_one(HintLine).say(core_said(str(error)))
            return
        forks = sum(1 for node in nodes if node.siblings > 1 and node.place > 1)
        told = _("All forks of this session · messages: {n} · forks: {forks}", n=count(len(nodes)), forks=count(forks))
        self.query_one("#tree-title", Static).update(Content(told))
        self.query_one(TreeList).show(nodes, self._start)

    def on_tree_list_chosen(self, event: TreeList.Chosen) -> None:
        """Done."""
        self.dismiss(event.message_id)

    def action_leave(self) -> None:
        """Back to the chat; a filter goes first."""
        if not self.query_one(TreeList).clear_filter():
            self.dismiss(None)
