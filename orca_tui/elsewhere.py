"""The app's part about other instances: what they change in the same home shows here while this window has focus."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from memory.errors import NotFoundError, StoreError
from orca_tui.i18n import _
from orca_tui.room import Room

if TYPE_CHECKING:
    from textual import events
    from textual.timer import Timer

    from memory.core import Core
    from orca_tui.conversation import Conversation

INTERVAL = 4.0
"""Seconds between two looks; each asks the database for one number."""


class Elsewhere(Room):
    """Joined in the app."""

    _elsewhere_timer: "Timer | None" = None
    _elsewhere_seen: int | None = None

    def watch_elsewhere(self, every: Callable[[float, Callable[[], None]], "Timer"]) -> None:
        """Begin to look; `every` is the app's `set_interval`."""
        self._elsewhere_timer = every(INTERVAL, self._look_elsewhere)

    def on_app_blur(self, _event: "events.AppBlur") -> None:
        """Nobody looks at this window: it rests."""
        if self._elsewhere_timer is not None:
            self._elsewhere_timer.pause()

    def on_app_focus(self, _event: "events.AppFocus") -> None:
        """Somebody does again: look at once."""
        if self._elsewhere_timer is not None:
            self._elsewhere_timer.resume()
            self._look_elsewhere()

    def _look_elsewhere(self) -> None:
        self.spawn("elsewhere", self.follow_elsewhere)

    async def follow_elsewhere(self) -> None:
        """When another process has changed the database: bring the lists up to date, and the open session too."""
        core, conversation = self.core, self.conversation
        changes = getattr(core.store, "foreign_changes", None) if core is not None else None
        if core is None or conversation is None or changes is None:
            return
        with suppress(StoreError):  # busy, or closed just now: the next look finds it
            seen, self._elsewhere_seen = self._elsewhere_seen, await asyncio.to_thread(changes)
            if seen is not None and seen != self._elsewhere_seen:
                core.queue.wake()
                await conversation.refresh()
                await self._follow_open_session(core, conversation)

    async def _follow_open_session(self, core: "Core", conversation: "Conversation") -> None:
        """Show what was said in it elsewhere, unless it is being read further up, or a reply is on its way here."""
        shown, session_id = self.chat.messages, conversation.session_id
        if session_id is None or conversation.busy:
            return
        with suppress(NotFoundError):
            tip = (await asyncio.to_thread(core.store.session, session_id)).tip_message_id
            if tip is None or (shown and shown[-1].id == tip) or conversation.session_id != session_id:
                return
            if self.chat.transcript.at_end:
                await conversation.open(session_id)
            else:
                self.chat.hint_line.say(_("This session went on in another window"))
