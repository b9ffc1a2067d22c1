"""The app's part about settings: who answers, language and theme, and what is said about a file that cannot be read."""

from contextlib import suppress
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from orca_tui import commands
from orca_tui.i18n import _
from orca_tui.room import Room

if TYPE_CHECKING:
    from memory.provider.base import ChatModel
    from orca_tui.screens.model_picker import OnlyHere
    from orca_tui.startup import Startup


ONLY_HERE = "only here"
"""Argument of the command `model`: ask for the model of the open session."""


class SettingsRoom(Room):
    """Joined in the app."""

    _startup: "Startup"

    def choose_model(self, *, first_run: bool = False) -> None:
        """Open the choices; what was picked has already answered a test call and is saved."""
        from orca_tui.screens.model_picker import ModelPicker, Picked

        def picked(found: "Picked | OnlyHere | None") -> None:
            if isinstance(found, Picked):
                self.settings = found.settings
                self.spawn("model", self._use, found.model)
            elif found is not None:
                self.spawn("command", self.run_command, "model", ONLY_HERE)

        self.push_screen(ModelPicker(self.home, self.settings, env=self.env, first_run=first_run), picked)

    async def _use(self, model: "ChatModel") -> None:
        if self.core is not None:
            self.core.use_settings(self.settings)
            await self.core.use_chat_model(model)
            await self.tell_model()
            self.chat.composer.focus()

    async def tell_model(self) -> None:
        """Say who answers from now on."""
        await self._startup.check_model()

    def reload_settings(self) -> None:
        """After a setting was saved."""
        from memory.settings import load_settings

        with suppress(OrcaError):
            self.settings = load_settings(self.home, self.env)

    def language_changed(self) -> None:
        """Draw in the new language what is drawn by us."""
        self.chat.composer.set_commands([(c.name, _(c.summary)) for c in commands.COMMANDS])
        self.chat.speak_anew()
        if self.conversation is not None:
            self.spawn("refresh", self.conversation.refresh)

    def preview_theme(self, name: str) -> None:
        """Show a theme without saving it."""
        self.theme = name
