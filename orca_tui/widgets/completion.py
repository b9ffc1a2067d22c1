"""The list of slash commands, or of paths behind one, that opens over the transcript while one is being typed."""

from collections.abc import Callable, Mapping, Sequence

from textual.content import Content
from textual.events import Click
from textual.geometry import Offset
from textual.reactive import reactive
from textual.widget import Widget

from memory.text import label

MAX_ROWS = 8

Entry = tuple[str, str]
"""What is put into the text, and one line about it. Of a path without such a line only the last part is shown."""


def matching(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """Entries for what was typed after the slash: names that begin so, then names that hold it."""
    wanted = typed.lower()
    first = [entry for entry in entries if entry[0].lower().startswith(wanted)]
    return first + [entry for entry in entries if entry not in first and wanted in entry[0].lower()]


def following(choices: Mapping[str, Callable[[], Sequence[Entry]]], text: str) -> list[Entry]:
    """Whole lines for a command with one word begun behind it; `choices`: by command, which words there are."""
    command, blank, word = text.removeprefix("/").partition(" ")
    if not text.startswith("/") or not blank or command not in choices or any(map(str.isspace, word)):
        return []
    return [(f"/{command} {name}", about) for name, about in matching(choices[command](), word) if name != word]


class Completions(Widget, can_focus=False):
    """A small menu above the composer. It never takes the focus: the composer hands its keys on."""

    DEFAULT_CSS = """
    Completions {
        overlay: screen;
        constrain: inside;
        display: none;
        width: auto;
        height: auto;
        min-width: 24;
        max-width: 100%;
        background: $panel;
        color: $foreground;
        border: round $border;
        padding: 0 1;
    }
    """

    index: reactive[int] = reactive(0)
    """The entry under the cursor."""

    def __init__(self, on_choose: Callable[[str], None]) -> None:
        super().__init__()
        self._on_choose = on_choose
        self._entries: list[Entry] = []

    @property
    def is_open(self) -> bool:
        """Whether the menu is shown."""
        return self.display and bool(self._entries)

    @property
    def current(self) -> str:
        """The name under the cursor."""
        return self._entries[self.index][0]

    def open(self, entries: Sequence[Entry], above: Offset) -> None:
        """Show these entries with the lower left corner at the screen position `above`."""
        if list(entries) != self._entries:
            self._entries = list(entries)
            self.index = 0
        self.absolute_offset = Offset(above.x, max(0, above.y - min(MAX_ROWS, len(entries)) - 2))
        self.display = True
        self.refresh(layout=True)

    def close(self) -> None:
        """Hide the menu."""
        self.display = False

    def move(self, step: int) -> None:
        """Move the cursor; it goes round at the ends."""
        self.index = (self.index + step) % len(self._entries)

    def render(self) -> Content:
        """The rows around the cursor."""
        width = max((len(_shown(entry)) for entry in self._entries), default=0)
        top = self._top()
        rows = []
        for place, entry in enumerate(self._entries[top : top + MAX_ROWS], top):
            chosen = place == self.index
            style = "$cursor-foreground on $cursor-background" if chosen else ""
            row = Content.assemble(
                ("› " if chosen else "  ", style),
                (f"{_shown(entry):<{width}}", f"bold {style}" if chosen else "$primary"),
                (f"  {label(entry[1], 80)} ", style or "$muted"),
            )
            rows.append(row)
        return Content("\n").join(rows)

    def _top(self) -> int:
        """First entry that is drawn."""
        return max(0, min(self.index - MAX_ROWS + 1, len(self._entries) - MAX_ROWS))

    def on_click(self, event: Click) -> None:
        """Choose the row under the mouse."""
        event.stop()
        place = self._top() + event.get_content_offset_capture(self).y
        if 0 <= place < len(self._entries):
            self._on_choose(self._entries[place][0])


def _shown(entry: Entry) -> str:
    name, about = entry
    return label(name if about else name[name.rstrip("/").rfind("/") + 1 :], 60)
