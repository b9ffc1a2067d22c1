"""The answers to a question, one a row with its key; the cursor begins on the last, the safest."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content

from orca_tui.widgets.line_list import LineList, Row


class AnswerList(LineList):
    """`chosen` gets the place of the answer. The screen may take a key or click before it (`hears`, `take_early`), and
    has keys that scroll (`call`)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup,ctrl+u", "screen.call('page', -1)", show=False),
        Binding("pagedown,ctrl+d", "screen.call('page', 1)", show=False),
        Binding("home", "screen.call('first')", show=False),
        Binding("end", "screen.call('last')", show=False),
    ]

    def __init__(self, answers: Sequence[tuple[str, str]], chosen: Callable[[int], None], *, id: str) -> None:  # noqa: A002
        """`answers`: the key and what it means."""
        super().__init__(id=id)
        self._answers = answers
        self._chosen = chosen
        self._cursor = len(answers) - 1

    def build(self, width: int) -> Sequence[Row]:  # noqa: ARG002
        """One row each."""
        return [Row(partial(_line, key, told), at) for at, (key, told) in enumerate(self._answers)]

    def get_content_height(self, *_sizes: object) -> int:
        """One row each."""
        return len(self._answers)

    def rebuild(self) -> None:
        """The cursor begins on the last answer."""
        before, cursor = self._keys, self._cursor
        super().rebuild()
        if not before and self._keys:
            self._cursor = min(cursor, len(self._keys) - 1)
            self.refresh()

    def choose(self, key: Hashable) -> None:
        """Enter or a click."""
        if isinstance(key, int):
            self._chosen(key)

    def lights_cursor(self) -> bool:
        """It is the one thing to be chosen."""
        return True

    def on_key(self, event: events.Key) -> None:
        """What was typed before the question was seen is no answer."""
        take_early = getattr(self.screen, "take_early", None)
        if take_early is not None:
            take_early(event)

    def on_click(self, event: events.Click) -> None:
        """Neither is a click; one that counts is the list's own affair."""
        hears = getattr(self.screen, "hears", None)
        if hears is not None and not hears(event):
            event.stop()
            event.prevent_default()


def _line(key: str, told: str) -> Content:
    return Content.assemble((f" {key} ", "bold $accent"), f" {told}")
