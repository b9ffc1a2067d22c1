"""The text of a call, however long: both its ends at once, with how much is left out between them, or all of it."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from textual.content import Content

from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.render.wrap import chop
from orca_tui.widgets.line_list import LineList, Row

TAB = 4
LEAST = 4
"""Rows below which there is no showing both ends."""


class CallView(LineList):
    """Clean text. What is scrolled is unfolded first."""

    def __init__(self, text: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = text.expandtabs(TAB)
        self._is_whole = False
        self._laid: tuple[int, list[str]] = (0, [])
        self._most = LEAST

    def fit(self, most: int) -> None:
        """Take no more rows than `most`, and no more than there are."""
        self._most = max(LEAST, most)
        self.rebuild()

    def rebuild(self) -> None:
        """As high as its rows, when there is room."""
        super().rebuild()
        self.styles.height = max(1, min(self._most, len(self._rows)))

    @property
    def is_cut(self) -> bool:
        """Whether something is left out of what is shown."""
        return not self._is_whole and any(row.key is not None for row in self._rows)

    def build(self, width: int) -> Sequence[Row]:
        """All rows, or as many of both ends as fit."""
        height = self._most
        if self._is_whole:
            return [_row(line) for line in self._lines(width)]
        head, head_end = _ends(self._text, width, height + 1)
        if len(head) <= height and head_end >= len(self._text):
            return [_row(line) for line in head]
        shown = height - 1
        tail, tail_end = _ends(self._text, width, (shown + 1) // 2, backwards=True)
        head, head_end = _ends(self._text, width, shown - len(tail))
        left_out = max(0, len(self._text) - head_end - tail_end)
        told = f"⋯ {_('{n} characters left out · Space shows all', n=count(left_out))}"
        gap = Row(lambda: Content.styled(told, "$warning"), "gap")
        return [*map(_row, head), gap, *map(_row, tail)]

    def choose(self, key: Hashable) -> None:  # noqa: ARG002
        """The gap was clicked."""
        self.unfold()

    def unfold(self) -> None:
        """Show all of it."""
        if not self._is_whole:
            self._is_whole = True
            self.rebuild()

    def on_mouse_scroll_down(self) -> None:
        """Who scrolls wants to read."""
        self.unfold()

    def action_move(self, step: int) -> None:
        """Scroll by a row."""
        self._scroll(lambda: self.scroll_relative(y=step, animate=False, immediate=True))

    def action_page(self, direction: int) -> None:
        """Scroll by a page."""
        height = max(1, self.scrollable_content_region.height - 1)
        self._scroll(lambda: self.scroll_relative(y=direction * height, animate=False, immediate=True))

    def action_first(self) -> None:
        """To the beginning."""
        self._scroll(lambda: self.scroll_home(animate=False, immediate=True))

    def action_last(self) -> None:
        """To the end."""
        self._scroll(lambda: self.scroll_end(animate=False, immediate=True))

    def action_choose(self) -> None:
        """Show all."""
        self.unfold()

    def _scroll(self, move: Callable[[], object]) -> None:
        self.unfold()
        move()

    def _lines(self, width: int) -> list[str]:
        """All rows, laid out once for a width."""
        if self._laid[0] != width:
            rows = [line[start:end] for line in self._text.split("\n") for start, end in chop(line, width)]
            self._laid = (width, rows)
        return self._laid[1]


def _row(line: str) -> Row:
    return Row(partial(Content, line))


def _ends(text: str, width: int, rows: int, *, backwards: bool = False) -> tuple[list[str], int]:
    """At most `rows` rows of one end of a text, and how many of its characters they hold. Does not look at the rest."""
    room = rows * width
    near = text[-room:] if backwards else text[:room]
    if rows <= 0 or not near:
        return [], 0
    laid = [line[start:end] for line in near.split("\n") for start, end in chop(line, width)]
    kept = laid[-rows:] if backwards else laid[:rows]
    if len(near) == len(text) and len(kept) == len(laid):
        return kept, len(text)
    return kept, sum(len(line) for line in kept)
