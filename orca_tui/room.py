"""What every part of the app works with. The parts (`orca_tui.*_room`) derive from it; `orca_tui.app` joins them."""

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from textual.app import App

from memory.config import Home, Settings
from memory.errors import OrcaError
from memory.text import clean
from orca_tui.core_words import error_said
from orca_tui.i18n import _
from orca_tui.safe import safe_link
from orca_tui.work import start

if TYPE_CHECKING:
    from memory.core import Core
    from orca_tui.actions import Actions
    from orca_tui.app import OrcaApp
    from orca_tui.conversation import Conversation
    from orca_tui.keys import Keymap
    from orca_tui.screens.chat import ChatScreen


class Room(App[object], inherit_bindings=False):
    """A part of the app. Textual calls the handlers of all of them."""

    home: Home
    settings: Settings
    env: Mapping[str, str] | None
    keymap: "Keymap"
    chat: "ChatScreen"
    core: "Core | None"
    conversation: "Conversation | None"

    @property
    def whole(self) -> "OrcaApp":
        """The app with all its parts."""
        from orca_tui.app import OrcaApp

        assert isinstance(self, OrcaApp)  # noqa: S101 - there is no other
        return self

    @property
    def actions(self) -> "Actions":
        """The commands of the registry."""
        from orca_tui.actions import Actions

        return Actions(self.whole)

    def spawn(self, name: str, work: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Run `work(*args)` as a worker of the app."""
        start(self, name, work, *args)

    def tell_error(self, error: OrcaError) -> None:
        """An error of a command: shown for a while, in the corner."""
        title = "" if type(error) is OrcaError else _(error.title)
        self.notify(clean(error_said(error, "\n")), title=title, severity="error", timeout=10, markup=False)

    async def run_command(self, name: str, argument: str = "") -> None:
        """Run a command of the registry."""
        await self.actions.run(name, argument)

    def open_url(self, url: str, *, new_tab: bool = True) -> None:
        """Only http and https, and only when somebody asked."""
        link = safe_link(url)
        if link is not None:
            super().open_url(link, new_tab=new_tab)
