"""The command that searches everything, and the way to what it found."""

import asyncio
from typing import TYPE_CHECKING

from memory.errors import NotFoundError, OrcaError
from orca_tui.action_base import ActionBase
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.searching import Results
    from orca_tui.screens.search import Place


class SearchActions(ActionBase):
    """Mixed into the actions."""

    async def search(self, argument: str) -> None:
        """Search messages, summaries and memories; again: away with it."""
        from orca_tui.screens.search import SearchScreen

        app, talk = self._app, self._talk()
        if isinstance(app.screen, SearchScreen):
            app.screen.action_back()
            return

        async def find(text: str) -> "Results":
            return await talk.core.searcher.find(text, here=talk.session_id)

        if app.screen is app.chat:
            screen = SearchScreen(
                find,
                talk.core.clock.now,
                text=argument,
                branches=list(talk.core.settings.memory.branches),
                keys=dict(app.keymap.others),
            )
            place = await app.push_screen_wait(screen)
            if place is not None:
                await self._go_there(place)

    async def _go_there(self, place: "Place") -> None:
        """A memory on the memory screen, a message in its place, a summary at the first message that it covers."""
        hit = place.found.hit
        try:
            if hit.kind == "long_term":
                from orca_tui.screens.memories import MemoriesScreen

                await self._look(MemoriesScreen(self._desk(), memory_id=hit.id, now=self._talk().core.clock.now))
                return
            message_id: int | None = hit.id
            if hit.kind == "short_term":
                summary = await asyncio.to_thread(self._talk().core.store.short_term_memory, hit.id)
                message_id = summary.first_message_id
            if message_id is None:
                await self._show_page(hit.kind, hit.id)
            else:
                await self.show_message(message_id, place.terms)
        except OrcaError as error:
            self._app.tell_error(error)

    async def show_message(self, message_id: int, terms: tuple[str, ...] = ()) -> None:
        """Open the session of a message at the message, on whatever fork it is, and mark the terms in it.

        Raises `NotFoundError` when it is gone, and leaves of `StoreError`.
        """
        from memory.turns.forks import switch

        talk, chat = self._talk(), self._app.chat
        store = talk.core.store
        message = await asyncio.to_thread(store.message, message_id)
        if message.session_id != talk.session_id:
            await talk.open(message.session_id)
        if not chat.transcript.jump_to(message_id, terms):
            path = await asyncio.to_thread(store.path, message.session_id)
            if message_id in {one.id for one in path} or talk.is_answered(message.session_id):
                await self._show_page("message", message_id)
                return
            await asyncio.to_thread(switch, store, message.session_id, message_id)
            await talk.open(message.session_id)
            if not chat.transcript.jump_to(message_id, terms):
                raise NotFoundError(_("That message is not shown in its session."))
            self._app.notify(_("It is on another fork of this session, which is open now"), markup=False)
        chat.close_overlay()
        chat.transcript.focus()
