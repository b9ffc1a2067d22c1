"""A tiny app around one widget, and text that breaks others."""

from collections.abc import Iterator

from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from orca_tui.themes import VARIABLES, load_themes

HOSTILE = [
    "al\x00pha",
    "ding\x07\x07\x07",
    "rm -rf build/\rls -la",
    "one\r\ntwo\r\n",
    "a\x0bb\x0cc",
    "\x1b]52;c;aGVsbG8=\x07after",
    "\x1b]0;pwned\x07title",
    "\x1b[2J\x1b[Hgone",
    "\x1b[31mred\x1b[0m",
    "\x9b31mC1",
    "\x1bPq#0;2;0;0;0#0!10~\x1b\\sixel",
    "abc\u202edef",
    "zero\u200bwidth\ufeffbom",
    "\U000e0041\U000e0042tags",
    "\ud83d lone",
    "[/]",
    "[red]x[/blue]",
    "[@click=app.quit]x[/]",
    "[link=file:///etc/hostname]doc[/link]",
    "List[int] -> Dict[str, Any]",
    "e" + "\u0301" * 40,
    "👨‍👩‍👧‍👦 🇯🇵 1️⃣ 你好",
    "x" * 5000,
    "多" * 3000,
]
FORBIDDEN = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))] + list("\u202e\u200b\ufeff\U000e0041")


class Host(App[None]):
    """Shows one widget and keeps what it posts."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, widget: Widget, *, theme: str = "orca-dark") -> None:
        super().__init__()
        self.widget = widget
        self.posted: list[Message] = []
        for each in load_themes(None)[0]:
            self.register_theme(each)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(VARIABLES)

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.widget.focus()

    async def _on_message(self, message: Message) -> None:
        if type(message).__module__.startswith("orca_tui"):
            self.posted.append(message)
        await super()._on_message(message)


def drawn(app: App[None]) -> str:
    """The whole screen as text, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    assert len(lines) == height
    for strip in lines:
        assert strip.cell_length == width
    return "\n".join(strip.text for strip in lines)


def unsafe_in(text: str) -> Iterator[str]:
    """What of the forbidden is in a drawn screen."""
    return (char for char in FORBIDDEN if char in text)
