"""The app's part about the list of sessions: what its keys ask for."""

from typing import TYPE_CHECKING

from memory.errors import OrcaError
from orca_tui.room import Room

if TYPE_CHECKING:
    from orca_tui.widgets.session_list import SessionList


class SessionRoom(Room):
    """Joined in the app. Handlers run as workers, since they may ask the user."""

    def on_session_list_view_changed(self, _event: "SessionList.ViewChanged") -> None:
        """Another list of sessions."""
        if self.conversation is not None:
            self.spawn("refresh", self.conversation.refresh_sessions)

    def on_session_list_deed_asked(self, event: "SessionList.DeedAsked") -> None:
        """A key of the list."""
        self.spawn("command", self._do_session_deed, event.deed, event.session_id, event.title)

    async def _do_session_deed(self, deed: str, session_id: str | None, title: str) -> None:

        try:
            await self.actions.session_deed(deed, session_id, title)
        except OrcaError as error:
            self.tell_error(error)
