"""What the registry's commands do: one method a command, named like it. The argument is what was typed after it."""

from collections.abc import Awaitable, Callable
from functools import partial
from keyword import iskeyword
from typing import get_args

from memory.config import Language
from memory.errors import OrcaError
from memory.text import label
from orca_tui import pages
from orca_tui.agent_actions import AgentActions
from orca_tui.commands import BY_NAME
from orca_tui.i18n import _, set_language
from orca_tui.safety_actions import SafetyActions
from orca_tui.scope_actions import ScopeActions
from orca_tui.screens.choose import Choice, Choose
from orca_tui.screens.page import Page
from orca_tui.search_actions import SearchActions
from orca_tui.settings_actions import SettingsActions
from orca_tui.talking_actions import TalkingActions
from orca_tui.transcript_actions import TranscriptActions
from orca_tui.transfer_actions import TransferActions


class Actions(
    SettingsActions,
    TranscriptActions,
    TalkingActions,
    TransferActions,
    SearchActions,
    ScopeActions,
    SafetyActions,
    AgentActions,
):
    """Runs commands for one app. Errors that the user can act on are shown, not raised."""

    async def run(self, name: str, argument: str = "") -> None:
        """Run the command `name` (or an alias)."""
        handler: Callable[[str], Awaitable[None]] = getattr(self, _method(BY_NAME[name].name))
        try:
            await handler(argument)
        except OrcaError as error:
            self._app.tell_error(error)

    # orca

    async def help(self, _argument: str) -> None:
        """All keys and commands."""
        if not isinstance(self._app.screen, Page):
            self._app.push_screen(Page(_("Keys and commands"), partial(pages.help_lines, self._app.keymap)))

    async def palette(self, _argument: str) -> None:
        """The command palette."""
        self._app.action_command_palette()

    async def theme(self, argument: str) -> None:
        """Change the theme, by name or from a list that previews."""
        names = sorted(self._app.themes.names())
        if argument:
            if argument not in names:
                raise OrcaError(_("There is no theme “{name}”.", name=argument), hint=", ".join(names))
            await self._set_theme(argument)
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._app.spawn("theme", self._set_theme, name)

        choices = [Choice(name, name) for name in names]
        screen = Choose(_("Theme"), choices, current=self._app.theme, preview=self._app.preview_theme)
        self._app.push_screen(screen, chosen)

    async def language(self, argument: str) -> None:
        """Change the language of the screen; what is already drawn follows at the next start."""
        allowed = get_args(Language)
        if argument:
            if argument not in allowed:
                raise OrcaError(_("There is no language “{name}”.", name=argument), hint=", ".join(allowed))
            await self._set_language(argument)
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._app.spawn("language", self._set_language, name)

        choices = [Choice("auto", _("as the system")), Choice("en", "English"), Choice("zh", "中文")]
        self._app.push_screen(Choose(_("Language"), choices, current=self._app.settings.ui.language), chosen)

    async def doctor(self, _argument: str) -> None:
        """What works here."""
        self._app.chat.hint_line.say(_("Looking…"))
        lines = await pages.doctor_lines(self._app.home, self._app.settings)
        self._app.chat.hint_line.say("")
        self._app.push_screen(Page(_("What works here"), lines))

    async def quit(self, _argument: str) -> None:
        """Save and leave."""
        await self._app.leave(0)

    # reply

    async def latest(self, _argument: str) -> None:
        """Show the end of the transcript, and follow it."""
        self._app.chat.transcript.action_scroll_end()

    # sessions

    async def new(self, _argument: str) -> None:
        """An empty session."""
        await self._begun()

    async def incognito(self, _argument: str) -> None:
        """An empty session that is not remembered."""
        await self._begun()

    async def sessions(self, _argument: str) -> None:
        """Move to the list."""
        self._app.chat.go_to_sessions()

    async def panel(self, _argument: str) -> None:
        """Show or hide the list."""
        self._app.chat.toggle_panel()

    async def resume(self, argument: str) -> None:
        """Open by id or words, or go to the list."""
        if argument:
            await self._talk().find(argument)
        else:
            self._app.chat.go_to_sessions()

    async def rename(self, argument: str) -> None:
        """Give the open session a title."""
        if argument:
            await self._talk().rename(label(argument, 120))
        else:
            self._prompt("/rename ")

    # memory

    async def sidebar(self, _argument: str) -> None:
        """Show or hide it."""
        self._app.chat.toggle_sidebar()

    async def _begun(self) -> None:
        """What is around a session that `Sending` has begun when it was asked for."""
        self._app.chat.composer.focus()
        if self._app.conversation is not None:
            await self._app.conversation.refresh()

    async def _set_theme(self, name: str) -> None:
        self._app.theme = name
        await self._save("ui.theme", name)

    async def _set_language(self, name: str) -> None:
        await self._save("ui.language", name)
        set_language("en" if name == "en" else "zh" if name == "zh" else "auto")
        self._app.language_changed()


def _method(name: str) -> str:
    """The method of a command."""
    return f"{name}_" if iskeyword(name) else name
