"""What the open session has of its own: its forks, and what it is answered with."""

import asyncio
from typing import TYPE_CHECKING

from memory.errors import OrcaError, StoreError
from memory.options import SessionOptions
from memory.turns import forks
from orca_tui.core_words import core_said
from orca_tui.i18n import _
from orca_tui.screens.chat import ChatScreen

if TYPE_CHECKING:
    from memory.core import Core
    from memory.types import ContextWindow
    from orca_tui.target import Target


class Forking:
    """A part of `orca_tui.conversation.Conversation`."""

    core: "Core"
    window: "ContextWindow | None"
    _view: ChatScreen

    @property
    def session_id(self) -> str | None:
        """Id of the open session."""
        raise NotImplementedError

    @property
    def busy(self) -> bool:
        """Whether a message is being sent or answered in the open session."""
        raise NotImplementedError

    async def open(self, session_id: str, *, first: "Target | None" = None) -> None:
        """Show a stored session."""
        raise NotImplementedError

    async def refresh_memory(self) -> None:
        """Show what the next reply would be given."""
        raise NotImplementedError

    async def show_forks(self) -> None:
        """Tell at the messages on the screen which forks there are. A busy store is told in the last line."""
        session_id, path = self.session_id, self._view.target
        try:
            found = await asyncio.to_thread(forks.places, self.core.store, session_id) if session_id else {}
        except StoreError as error:
            self._view.hint_line.say(core_said(str(error)))
            return
        if path is self._view.target:
            self._view.show_places(found)

    async def switch(self, message_id: int) -> None:
        """Go on with the fork that leads through a message. Raises `OrcaError` while a reply is being written."""
        session_id = self.session_id
        if self.busy:
            raise OrcaError(_("The reply is still being written; Esc stops it"))
        if session_id is not None:
            await asyncio.to_thread(forks.switch, self.core.store, session_id, message_id)
            await self.open(session_id)

    async def choose(self, options: SessionOptions) -> None:
        """Answer the open session with these from its next message on. Raises `StoreError`."""
        target = self._view.target
        if target.session is None:
            target.begun_with = options
        else:
            update = self.core.store.update_session
            target.session = await asyncio.to_thread(update, target.session.id, options=options)
        self.window = None
        self._view.show_options()
        await self.refresh_memory()
