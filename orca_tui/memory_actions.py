"""The commands about memory: the memory screen, why a reply knew what it knew, rating, preview of a request."""

import asyncio
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.types import ItemKind, Message
from orca_tui.action_base import ActionBase
from orca_tui.figures import count
from orca_tui.i18n import _

if TYPE_CHECKING:
    from orca_tui.memory_rows import Tab


class MemoryActions(ActionBase):
    """One method a command, named like it."""

    async def memories(self, argument: str) -> None:
        """The memory screen over the chat; again: away with it. `/memories inbox` opens that list."""
        from orca_tui.memory_rows import TABS
        from orca_tui.screens.memories import MemoriesScreen

        if isinstance(self._app.screen, MemoriesScreen):
            self._app.screen.action_close()
        elif self._app.screen is self._app.chat:
            tab: Tab = next((one for one in TABS if one == argument.strip().lower()), "active")
            await self._look(MemoriesScreen(self._desk(), tab=tab, now=self._talk().core.clock.now))

    async def show_item(self, kind: ItemKind, item_id: int) -> None:
        """What is under the sidebar's cursor: a message of this session in its place, the rest in full."""
        try:
            if kind == "long_term":
                from orca_tui.screens.memories import MemoriesScreen

                now = self._talk().core.clock.now
                await self._look(MemoriesScreen(self._desk(), memory_id=item_id, now=now))
            elif kind != "message" or not self._go_to(item_id):
                await self._show_page(kind, item_id)
        except OrcaError as error:
            self._app.tell_error(error)

    async def deed(self, deed: str, kind: ItemKind | None, item_id: int) -> None:
        """Do something to an item of the sidebar, and say what was done."""
        chat = self._app.chat
        try:
            if kind is None and deed != "undo":
                raise OrcaError(_("There is no memory under the cursor"))
            said = await self._desk().run_on_item(deed, kind or "long_term", item_id)
            await self._talk().refresh_memory()
        except OrcaError as error:
            self._app.tell_error(error)
            return
        if said:
            chat.hint_line.say(said)

    async def why(self, argument: str) -> None:
        """What a reply was given, and why."""
        await self._why(self._reply(argument))

    async def good(self, argument: str) -> None:
        """A reply was good: what it was given is trusted more."""
        number = await self._rate(self._reply(argument), 1)
        self._app.chat.hint_line.say(
            _("Rated as good: {n} memories are trusted more", n=count(number)) if number else _("Rated as good")
        )

    async def bad(self, argument: str) -> None:
        """A reply was bad: what it was given is trusted less, and shown to be corrected."""
        reply = self._reply(argument)
        number = await self._rate(reply, -1)
        said = _("Rated as bad: {n} memories are trusted less", n=count(number)) if number else _("Rated as bad")
        await self._why(reply, said)

    async def preview(self, _argument: str) -> None:
        """The request as it would be sent with what is in the composer."""
        from memory.settings.answering import system_prompt_of
        from orca_tui.commands import unescape
        from orca_tui.screens.request import RequestScreen

        talk = self._talk()
        text = unescape(self._app.chat.composer.value)
        prompt = await talk.core.manager.preview_request(
            talk.session,
            text,
            window=await talk.measure(),
            system_prompt=system_prompt_of(talk.core.settings, talk.session),
        )
        self._app.push_screen(RequestScreen(prompt, talk.core.counter, unsent=bool(text.strip())))

    # behind them

    async def _why(self, reply: "Message | None", said: str = "") -> None:
        from orca_tui.screens.why import WhyScreen

        replies = [m for m in self._app.chat.messages if m.role == "assistant" and m.content]
        if not replies:
            raise OrcaError(_("There is no reply yet."))
        at = next((index for index, one in enumerate(replies) if reply is not None and one.id == reply.id), None)
        await self._look(WhyScreen(self._desk(), replies, at=at, said=said, now=self._talk().core.clock.now))

    async def _rate(self, reply: "Message | None", rating: int) -> int:
        if reply is None:
            raise OrcaError(_("There is no reply to rate yet."))
        return len(await asyncio.to_thread(self._talk().core.curator.rate, reply.id, rating))
