"""Asks the user before a tool runs: one dialog at a time, gone when its turn is stopped, heard of when nobody looks."""

import asyncio
from typing import TYPE_CHECKING

from textual import events

from memory.errors import StoreError
from memory.tools.base import Decision, PermissionRequest
from orca_tui.allowing import remember_for
from orca_tui.call_words import call_text
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.core import Core
    from orca_tui.app import OrcaApp
    from orca_tui.screens.permission import PermissionScreen


class Approval:
    """The `approver` of a core's gate. For the event loop's thread."""

    def __init__(self, app: "OrcaApp", core: "Core") -> None:
        self._app = app
        self._core = core
        self._open: PermissionScreen | None = None
        gate = core.equipment.gate
        gate.approver = self.ask
        gate.remember = self._remember
        gate.waiting_changed = self._show_waiting

    async def ask(self, request: PermissionRequest) -> Decision:
        """What the user answers. Cancelling takes the question away."""
        from orca_tui.screens.permission import PermissionScreen

        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

        def answered(decision: Decision) -> None:
            if not answer.done():
                answer.set_result(decision)

        screen = PermissionScreen(
            request,
            await asyncio.to_thread(call_text, request),
            session=await self._elsewhere(request.session_id),
            answered=answered,
            stop=lambda: self._stop(request.session_id),
            typed=self._typed,
        )
        if not self._app.call_later(self._show, screen, answer):
            return "deny"
        try:
            return await answer
        finally:
            self._open = None
            screen.close()

    def _show(self, screen: "PermissionScreen", answer: "asyncio.Future[Decision]") -> None:
        """On the app's own loop: unless it was settled meanwhile."""
        if answer.done():
            return
        self._open = screen
        screen.show_waiting(self._core.equipment.gate.waiting)
        self._app.push_screen(screen)
        self._app.ring(_("orca asks: {tool}", tool=screen.request.tool))

    def _show_waiting(self) -> None:
        if self._open is not None:
            self._open.show_waiting(self._core.equipment.gate.waiting)

    async def _elsewhere(self, session_id: str) -> str:
        """The title of a session that is not the open one; empty for that one."""
        if not session_id or self._app.chat.target.session_id == session_id:
            return ""
        try:
            session = await asyncio.to_thread(self._core.store.session, session_id)
        except StoreError:
            return _("Untitled")
        return session.title or _("Untitled")

    def _stop(self, session_id: str) -> None:
        """End the reply that asked; of a question that belongs to none, the open session's."""
        bridge = self._app.bridge
        live = bridge.live(session_id or self._app.chat.target.session_id) if bridge is not None else None
        if live is not None:
            live.turn.stop()

    def _typed(self, key: events.Key) -> None:
        """What was meant for the message goes there."""
        composer = self._app.chat.composer
        composer.post_message(events.Key(key.key, key.character))

    async def _remember(self, entry: str) -> None:
        """Into the settings, and into those of the running app. Raises `ConfigError`."""
        await remember_for(self._app.home)(entry)
        self._app.reload_settings()
