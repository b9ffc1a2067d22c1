"""What models may call, what is allowed without a question (and taking it back), and how the MCP servers do."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memory.errors import OrcaError
from memory.text import label
from orca_tui.core_words import error_said
from orca_tui.i18n import _
from orca_tui.tool_desk import ToolDesk
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.tool_list import ToolList
from orca_tui.work import start


class ToolsScreen(Screen[None]):
    """Over the chat."""

    CSS_PATH = Path(__file__).with_name("tools.tcss")
    AUTO_FOCUS = "#tools-list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Back", show=False, id="tools.close"),
        Binding("d,delete", "revoke", "Ask for it again", show=False, id="tools.revoke"),
        Binding("t", "start", "Start the server and see what it offers", show=False, id="tools.start"),
        Binding("a", "agree", "Offer all tools of the server to models", show=False, id="tools.agree"),
    ]

    def __init__(self, desk: ToolDesk) -> None:
        super().__init__()
        self._desk = desk

    def compose(self) -> ComposeResult:
        """Title, list, keys."""
        yield Static(Content.styled(_("Tools and permissions"), "bold"), id="tools-title", markup=False)
        yield ToolList(id="tools-list")
        yield HintLine(id="tools-keys")

    def on_mount(self) -> None:
        """Look."""
        self.query_one(HintLine).show(
            [
                ("d", _("ask again for it")),
                ("t", _("start a server")),
                ("a", _("agree to its tools")),
                ("j k", _("move")),
                ("Esc", _("chat")),
            ]
        )
        start(self, "look", self._look)

    async def _look(self) -> None:
        self.query_one(ToolList).show(await self._desk.look())

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)

    def on_tool_list_chosen(self, event: ToolList.Chosen) -> None:
        """Enter: a server is started; the rest has nothing more to show."""
        if event.kind == "server":
            self.action_start()

    def action_revoke(self) -> None:
        """Take back what is allowed."""
        match self.query_one(ToolList).chosen:
            case ("always" | "session", entry):
                start(self, "deed", self._do, "revoke", entry)
            case _:
                self._say(_("There is nothing allowed under the cursor"))

    def action_start(self) -> None:
        """Start the server under the cursor."""
        self._serve("start")

    def action_agree(self) -> None:
        """Agree to what the server under the cursor offers."""
        self._serve("agree")

    def _serve(self, deed: str) -> None:
        match self.query_one(ToolList).chosen:
            case ("server", name):
                self._say(_("Asks {name} …", name=label(name, 60)))
                start(self, "deed", self._do, deed, name)
            case _:
                self._say(_("There is no MCP server under the cursor"))

    async def _do(self, deed: str, name: str) -> None:
        desk = self._desk
        try:
            if deed == "revoke":
                await desk.revoke(name)
                told = _("{what} is asked for again", what=label(name, 100))
            else:
                told = await (desk.start(name) if deed == "start" else desk.agree(name))
        except OrcaError as error:
            told = error_said(error)
        await self._look()
        self._say(told)

    def _say(self, text: str) -> None:
        self.query_one(HintLine).say(text)
