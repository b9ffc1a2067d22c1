"""From the first frame to a chat that answers: the store, the session to show, the model, the first-run choices."""

import asyncio
import gc
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from orca_tui.i18n import _
from orca_tui.messages import CoreChanged
from orca_tui.provider_setup import DEMO, nothing_chosen, notice_about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.clock import Clock
    from memory.core import Core
    from memory.events import BackgroundEvent
    from memory.provider.base import ChatModel, Embedder
    from memory.types import Message
    from orca_tui.app import OrcaApp
    from orca_tui.conversation import Conversation


class Startup:
    """Opens the core in a thread, so that typing works from the first frame on. Failures go to the transcript."""

    def __init__(
        self,
        app: "OrcaApp",
        *,
        session_id: str | None,
        chat: "ChatModel | None",
        embedder: "Embedder | None",
        clock: "Clock | None",
    ) -> None:
        """`session_id`: the session to show (the start of its id will do); models replace what the settings choose."""
        self._app = app
        self._first = app.chat.target
        self._session_id = session_id
        self._chat, self._embedder, self._clock = chat, embedder, clock

    async def run(self) -> None:
        """Open the store and a session, send what was typed meanwhile, then build the model."""
        app = self._app
        app.warn(app.keymap.unknown(await app.chat.furnish()))
        from orca_tui.bridge import Bridge
        from orca_tui.conversation import Conversation

        try:
            core = await asyncio.to_thread(self._open_core)
            app.core = core
            await core.start(quiet=app.quiet)
        except OrcaError as error:
            app.chat.add_error(error)
            app.chat.set_model("", "")
            app.sending.refuse(error)
            return
        queue = core.queue
        app.chat.show_queue(queue.waiting, queue.status, queue.problem)
        core.subscribe(self._changed)
        app.bridge = Bridge(app.chat, ended=app.turn_over, runs=app.traces.take)
        app.watch_agents(core)
        if not app.is_headless:
            gc.freeze()  # modules stay for good; a full collection would stop the screen for 0.1 s or more over them
        conversation = Conversation(core, app.chat, app.bridge, app.spawn)
        await self._open_first(conversation, core)
        app.conversation = conversation
        self._tell_of_store(core)
        app.sending.send_waiting()
        await self.check_model()
        await self._tell_of_vectors(core)

    async def check_model(self) -> None:
        """Build the model and say who answers; when nobody was chosen, offer the choices."""
        app = self._app
        if app.core is None or app.conversation is None:
            return
        app.conversation.window = None
        try:
            model = await app.core.chat_model()
        except OrcaError as error:
            app.chat.set_model("", "")
            if self._may_greet():
                app.choose_model(first_run=True)
            else:
                app.chat.add_error(error)
            return
        self._name(model)
        await app.conversation.refresh_memory()
        self._name(model)  # a server may have told its name meanwhile
        if model.name == DEMO and self._may_greet():
            app.choose_model(first_run=True)

    def _name(self, model: "ChatModel") -> None:
        """Say who answers. The demo is no model, so no tiny one either."""
        self._app.chat.set_model(model.name, notice_about(model), tiny=model.tiny and model.name != DEMO)

    def _tell_of_store(self, core: "Core") -> None:
        """Where the conversations are kept, when that is not the database, and what the database still lacks."""
        for problem in core.problems:
            self._app.chat.add_error(problem)
        if count := core.waiting_files:
            text = _("{n} files from when the database could not be opened are not in it yet.", n=count)
            command = _("To bring them in, run: orca-tui migrate")
            self._app.notify(f"{text} {command}", title=_("Sessions"), timeout=15, markup=False)

    async def _tell_of_vectors(self, core: "Core") -> None:
        """Search goes on without sqlite-vec, and is slower."""
        from orca_tui.doctor_vectors import missing_extension

        found = await asyncio.to_thread(core.store.capabilities)
        if found["backend"] == "sqlite" and missing_extension(found):
            text = _("sqlite-vec cannot be used here: vectors are compared without it, more slowly. More: /doctor")
            self._app.notify(text, title=_("Memory"), severity="warning", timeout=15, markup=False)

    def _may_greet(self) -> bool:
        """Whether to put the choices over the chat: nobody was chosen, and nobody is being interrupted."""
        chat = self._app.chat
        busy = chat.composer.text or chat.messages or self._app.screen is not chat
        return nothing_chosen(self._app.settings) and not busy

    def _changed(self, event: "BackgroundEvent") -> None:
        self._app.post_message(CoreChanged(event))

    def _open_core(self) -> "Core":
        from memory.core import Core

        app = self._app
        return Core.open(
            app.home, app.settings, clock=self._clock, chat=self._chat, embedder=self._embedder, env=app.env
        )

    async def _open_first(self, conversation: "Conversation", core: "Core") -> None:
        """The session that was asked for, else one whose reply was interrupted, else what the user has begun by now.

        What was sent without a look at an interrupted session begins a new one, and so does an incognito draft.
        """
        begun = self._app.sending.waits or self._app.chat.target is not self._first or self._first.incognito
        try:
            if self._session_id:
                asked = await asyncio.to_thread(core.store.find_session, self._session_id)
                await conversation.open(asked.id, first=self._first)
            elif (interrupted := _newest(core.interrupted)) and not begun:
                await conversation.open(interrupted.session_id)
            else:
                await conversation.refresh()
        except OrcaError as error:
            self._app.tell_error(error)
            await conversation.refresh()


def _newest(messages: "Sequence[Message]") -> "Message | None":
    return max(messages, key=lambda message: message.id, default=None)
