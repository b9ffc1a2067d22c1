"""What an empty session shows: the name, one line on what it is, the keys to begin with, and who answers."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from memory.text import label
from orca_tui.i18n import _


class Welcome(Widget):
    """A quiet greeting in the middle of the empty transcript."""

    DEFAULT_CSS = """
    Welcome { height: 1fr; width: 1fr; display: none; content-align: center middle; text-align: center; padding: 1 2; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._notice = ""
        self._keys: tuple[tuple[str, str], ...] = ()

    def show_keys(self, keys: Sequence[tuple[str, str]]) -> None:
        """Pairs of key and meaning."""
        self._keys = tuple(keys)
        self.refresh()

    def show_notice(self, notice: str) -> None:
        """A remark on the model; may be empty."""
        self._notice = notice
        self.refresh()

    def render(self) -> Content:
        """The greeting."""
        lines = [
            Content.styled("o r c a", "bold $text-primary"),
            Content.styled(_("Talk. It keeps every word, and remembers."), "$text-muted"),
            Content(""),
        ]
        lines += [
            Content.assemble((f"{key:>8}", "bold $text-accent"), f"  {meaning:<24}") for key, meaning in self._keys
        ]
        if self._notice:
            lines += [Content(""), Content.styled(label(self._notice), "$text-warning")]
        return Content("\n").join(lines)
