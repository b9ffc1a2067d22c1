"""The last line: the few keys that make sense right now, or one remark until the next key."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from memory.text import label


class HintLine(Widget):
    """Keys and what they do, as many as fit; a remark takes the whole line."""

    DEFAULT_CSS = """
    HintLine { height: 1; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._hints: tuple[tuple[str, str], ...] = ()
        self._remark = ""

    @property
    def remark(self) -> str:
        """What is being said; empty while the keys are shown."""
        return self._remark

    def show(self, hints: Sequence[tuple[str, str]]) -> None:
        """Show these pairs of key and meaning, the most important first."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def say(self, text: str) -> None:
        """Show `text` instead of the keys; an empty one brings them back."""
        if text != self._remark:
            self._remark = text
            self.refresh()

    def render(self) -> Content:
        """The line, cut at whole hints."""
        if self._remark:
            return Content.styled(label(self._remark), "$text-warning")
        line = Content("")
        for key, meaning in self._hints:
            gap = Content("   ") if line else Content("")
            more = line + gap + Content.assemble((key, "bold $text-accent"), " ", (meaning, "$text-muted"))
            if more.cell_length > self.size.width:
                break
            line = more
        return line
