"""What every group of commands works with: the app, the open conversation, the way to a message or a memory."""

import asyncio
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.text import label
from memory.types import ItemKind, Message
from orca_tui.i18n import _

if TYPE_CHECKING:
    from textual.screen import Screen

    from orca_tui.app import OrcaApp
    from orca_tui.conversation import Conversation
    from orca_tui.memory_desk import MemoryDesk


class ActionBase:
    """The groups of `orca_tui.actions.Actions` derive from it; one method a command, named like it."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app

    def _talk(self) -> "Conversation":
        if self._app.conversation is None:
            raise self._app.sending.problem
        return self._app.conversation

    def _desk(self) -> "MemoryDesk":
        from orca_tui.memory_desk import MemoryDesk

        return MemoryDesk(self._app, self._talk().core)

    def _reply(self, argument: str) -> "Message | None":
        """The reply with the number `argument`; without one the one under the transcript's cursor, else the newest."""
        chat = self._app.chat
        if not argument:
            return chat.chosen_reply()
        found = next((m for m in chat.messages if str(m.id) == argument and m.role == "assistant"), None)
        if found is None:
            raise OrcaError(_("There is no reply {number} in this session.", number=label(argument, 40)))
        return found

    async def _look(self, screen: "Screen[Message | None]") -> None:
        """Open a screen about memory; afterwards go to the message that it was left for."""
        source = await self._app.push_screen_wait(screen)
        if source is not None:
            talk = self._talk()
            if source.session_id != talk.session_id:
                await talk.open(source.session_id)
            if not self._go_to(source.id):
                await self._show_page("message", source.id)
        await self._talk().refresh_memory()

    def _go_to(self, message_id: int) -> bool:
        chat = self._app.chat
        found = chat.transcript.go_to(str(message_id))
        if found:
            chat.close_overlay()
            chat.transcript.focus()
        return found

    async def _show_page(self, kind: ItemKind, item_id: int) -> None:
        from orca_tui import pages
        from orca_tui.screens.page import Page

        title, lines = await asyncio.to_thread(pages.item, self._talk().core.store, kind, item_id)
        self._app.push_screen(Page(title, lines))

    def _prompt(self, command: str) -> None:
        """Begin a command in the composer for the user to complete; a draft stays as it is."""
        chat = self._app.chat
        if chat.composer.text:
            chat.hint_line.say(_("Type {command} and what you mean, on a line of its own", command=command.strip()))
        else:
            chat.composer.load_text(command)
        chat.composer.focus()

    async def _save(self, key: str, value: str) -> None:
        from orca_tui.settings_file import set_value

        await asyncio.to_thread(set_value, self._app.home, key, value)
        self._app.reload_settings()
