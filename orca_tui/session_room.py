"""The app's part about the list of sessions: what its keys ask for."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from memory.errors import OrcaError

if TYPE_CHECKING:
    from orca_tui.conversation import Conversation
    from orca_tui.widgets.session_list import SessionList


class SessionRoom:
    """Mixed into the app. Handlers run as workers, since they may ask the user."""

    conversation: "Conversation | None"

    def spawn(self, name: str, work: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Run `work(*args)` as a worker of the app."""
        raise NotImplementedError

    def tell_error(self, error: OrcaError) -> None:
        """Show an error that the user can act on."""
        raise NotImplementedError

    def on_session_list_view_changed(self, _event: "SessionList.ViewChanged") -> None:
        """Another list of sessions."""
        if self.conversation is not None:
            self.spawn("refresh", self.conversation.refresh_sessions)

    def on_session_list_deed_asked(self, event: "SessionList.DeedAsked") -> None:
        """A key of the list."""
        self.spawn("command", self._do_session_deed, event.deed, event.session_id, event.title)

    async def _do_session_deed(self, deed: str, session_id: str | None, title: str) -> None:
        from orca_tui.actions import Actions

        try:
            await Actions(self).session_deed(deed, session_id, title)  # type: ignore[arg-type] # it is mixed into the app
        except OrcaError as error:
            self.tell_error(error)
