"""The app's part about memory: what the sidebar and its keys ask for."""

import asyncio
from typing import TYPE_CHECKING

from orca_tui.room import Room
from orca_tui.work import start

if TYPE_CHECKING:
    from memory.types import ItemKind
    from orca_tui.actions import Actions
    from orca_tui.messages import DeedAsked
    from orca_tui.widgets.memory_sidebar import MemorySidebar


REST = 0.12
"""Seconds that the transcript's cursor must rest on a reply."""


class MemoryRoom(Room):
    """Joined in the app. Handlers run as workers, since they may ask the user."""

    def on_memory_sidebar_item_chosen(self, event: "MemorySidebar.ItemChosen") -> None:
        """Show what was chosen: a message in its place, the rest in full."""
        self.spawn("command", self._show_item, event.kind, event.id)

    def on_transcript_cursor_moved(self) -> None:
        """The sidebar follows the reply under the transcript's cursor, when it rests."""
        start(self, "follow", self._follow_cursor, exclusive=True)

    async def _follow_cursor(self) -> None:
        await asyncio.sleep(REST)
        talk = self.conversation
        if talk is not None:
            picked = self.chat.picked_reply()
            newest = next((m for m in reversed(self.chat.messages) if m.role == "assistant"), None)
            wanted = picked or newest
            if wanted is not None and wanted.id != talk.shown_reply:
                await talk.refresh_memory(moved=True)

    def on_deed_asked(self, event: "DeedAsked") -> None:
        """A key of the sidebar."""
        self.spawn("command", self._do_deed, event.deed, event.kind, event.id)

    async def _show_item(self, kind: "ItemKind", item_id: int) -> None:
        await self._actions().show_item(kind, item_id)

    async def _do_deed(self, deed: str, kind: "ItemKind | None", item_id: int) -> None:
        await self._actions().deed(deed, kind, item_id)

    def _actions(self) -> "Actions":

        return self.actions
