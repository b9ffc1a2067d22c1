"""All messages of a session as a tree: who, the first words, when, and which are on the path that is shown."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content
from textual.message import Message

from memory.text import label
from memory.turns.forks import Node
from orca_tui.i18n import _
from orca_tui.render.frame import local_time
from orca_tui.widgets.filter_list import FilterList
from orca_tui.widgets.line_list import Row, split_line, text_row, wrapped_rows

STEP = 2
"""Cells for each fork that was taken."""
STATES = {"stopped": "■", "failed": "!", "streaming": "…"}
WHO = {"user": "$user-bar", "assistant": "$heading"}


class TreeList(FilterList):
    """One line a message."""

    @dataclass
    class Chosen(Message):
        """Go to this message."""

        message_id: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._tree: Sequence[Node] = ()
        self._said = _("reading…")

    def show(self, nodes: Sequence[Node], start: int | None) -> None:
        """Show these, with the cursor at `start`, else at the newest of the path."""
        self._tree, self._said = nodes, _("This session has no messages yet.")
        self.rebuild()
        newest = next((node.id for node in reversed(nodes) if node.on_path), None)
        self.move_to(newest if start is None else start)

    def build(self, width: int) -> Sequence[Row]:
        """All messages, or those that hold the words of the filter."""
        words = self.filter_words
        shown = [node for node in self._tree if not words or all(word in node.words.casefold() for word in words)]
        if not shown:
            nothing = _("Nothing matches") if self._tree else self._said
            return [*self.filter_rows(), *wrapped_rows(nothing, width, "$muted"), text_row()]
        return [*self.filter_rows(), *(Row(partial(_line, node, width), node.id) for node in shown)]

    def choose(self, key: Hashable) -> None:
        """Tell which."""
        if isinstance(key, int):
            self.post_message(self.Chosen(key))


def _line(node: Node, width: int) -> Content:
    indent = min(node.level * STEP, max(0, width // 3))
    mark = ("● ", "$accent") if node.on_path else ("│ ", "$faint")
    fork = f"{node.place}/{node.siblings} " if node.siblings > 1 else ""
    state = STATES.get(node.state, "")
    left = Content.assemble(
        " " * indent,
        mark,
        (fork, "bold $accent"),
        (f"{_(node.role)} ", WHO.get(node.role, "$muted")),
        (f"{state} " if state else "", "$warning"),
        (label(node.words, 200) or "—", "" if node.on_path else "$muted"),
    )
    return split_line(left, Content.styled(local_time(node.timestamp), "$muted"), width)
