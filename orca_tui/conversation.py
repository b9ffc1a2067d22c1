"""The open session and what can be done with it: send, stop, ask again, open another.

Store calls run in threads; everything else on the app's loop. The composer keeps its text until the message is on
disk (`ChatScreen.message_stored`).
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from memory.errors import NotFoundError, OrcaError, ProviderError, StoreError
from memory.subagents.agents import find_agent
from memory.text import label
from memory.types import ContextReport, ContextWindow, Scope, Session, SessionState
from orca_tui.bridge import Bridge
from orca_tui.core_words import core_said
from orca_tui.entries import agent_task, read_path
from orca_tui.forking import Forking
from orca_tui.i18n import _
from orca_tui.memory_rows import waiting_for_review
from orca_tui.outgoing import Outgoing
from orca_tui.recalled import picture
from orca_tui.screens.chat import ChatScreen
from orca_tui.target import Target

if TYPE_CHECKING:
    from memory.core import Core

Spawn = Callable[..., None]
"""`OrcaApp.spawn`: runs a function with arguments as a worker of the app, under a name."""

TITLE_LENGTH = 60
"""Characters of the first message that become the session's title."""
LISTED, SEARCHED = 200, 5000
"""How many sessions, the newest first, the list shows and `/resume` looks through."""
ID_START = re.compile("[0-9a-f]{4,32}")
UNKNOWN_WINDOW = ContextWindow(4096, "estimated")
"""Stands in while no model could be built."""


class Conversation(Forking):
    """One at a time; several sessions may have a running turn."""

    def __init__(self, core: "Core", view: ChatScreen, bridge: Bridge, spawn: Spawn) -> None:
        self.core = core
        self.window: ContextWindow | None = None
        self._asked = 0
        self._looks = 0
        self._told: tuple[Target, ContextReport] | None = None
        """The session and the prompt that the sidebar tells about."""
        self.shown_reply: int | None = None
        """Id of the reply that the sidebar tells about."""
        self.moved: list[tuple[str, SessionState]] = []
        """Sessions that were archived, trashed or brought back, and the state that each had: what undo takes back."""
        self._creating = asyncio.Lock()
        self._view = view
        self._bridge = bridge
        self._spawn = spawn

    @property
    def session(self) -> Session | None:
        """The open session; `None`: a new one, created with its first message."""
        return self._view.target.session

    @property
    def session_id(self) -> str | None:
        """Id of the open session."""
        return self._view.target.session_id

    @property
    def busy(self) -> bool:
        """Whether a message is being sent or answered in the open session."""
        return self._view.target.is_sending or self._bridge.live(self.session_id) is not None

    # opening

    async def open(self, session_id: str, *, first: Target | None = None) -> None:
        """Show a stored session, with the reply that is being written to it, if any. Raises `StoreError`.

        When another one is asked for meanwhile, that one is shown. `first`: what was open until this session was there;
        what was sent to it goes to the session.
        """
        self._asked += 1
        asked, store = self._asked, self.core.store
        before = first or self._view.target
        target = first or Target()
        session = await asyncio.to_thread(store.session, session_id)
        target.session, target.incognito = session, session.incognito
        while True:
            live = self._bridge.live(session_id)
            messages, entries = await asyncio.to_thread(read_path, store, session_id)
            if live is self._bridge.live(session_id):
                break
        if asked != self._asked or self._view.target is not before:
            return
        reply = live.reply if live is not None else None
        self.window = None
        if reply is None:
            self._view.show_session(target, messages, entries)
        else:
            self._view.show_session(target, [m for m in messages if m.id != reply.id])
        self._view.set_busy(live is not None)
        if live is not None and reply is not None:
            self._view.resume_reply(reply, "".join(live.text), "".join(live.reasoning))
        for call in live.calls.values() if live is not None else ():
            self._view.tool_started(call)
        await self.refresh()

    async def find(self, words: str) -> None:
        """Open the session whose id begins with `words`, or the newest whose title holds them. Raises `StoreError`."""
        store = self.core.store
        if ID_START.fullmatch(words.lower()):
            with suppress(NotFoundError):
                session = await asyncio.to_thread(store.find_session, words.lower())
                await self.open(session.id)
                return
        sessions = await asyncio.to_thread(store.sessions, limit=SEARCHED)
        found = next((s for s in sessions if words.casefold() in s.title.casefold()), None)
        if found is None:
            raise NotFoundError(_("No session has “{words}” in its title or id.", words=words))
        await self.open(found.id)

    # turns

    async def send(
        self,
        outgoing: Outgoing,
        *,
        target: Target,
        use_memory: bool = True,
        stored: Callable[[], None] = lambda: None,
    ) -> None:
        """Store a message in the session of `target`, and have it answered. `stored` is called when it is on disk.

        Raises `OrcaError` before anything is sent.
        """
        target.is_sending, target.is_stopped = True, False
        try:
            session = await self._stored(target, outgoing.text or outgoing.files[0].attachment.name)
            turn = self.core.engine.start(
                session.id,
                outgoing.text,
                parent_id=outgoing.parent_id,
                use_memory=use_memory,
                pasted=outgoing.pasted,
                attachments=[file.attachment for file in outgoing.files],
            )
        except BaseException:
            target.is_sending = False
            raise
        if target.is_stopped:
            turn.stop()
        self._spawn("turn", self._bridge.run, self._bridge.claim(session.id, turn, target, stored))

    async def retry(self, message_id: int | None = None, *, use_memory: bool = True) -> None:
        """Answer a message by the user again (that one, or the one that a reply with this id answers; default: the
        newest); the earlier reply stays stored on its own path. An agent does its task again."""
        target, question = self._view.target, self._view.question(message_id)
        if target.session is None or question is None:
            raise NotFoundError(_("There is nothing to ask again yet."))
        engine, core = self.core.engine, self.core
        if (asked := agent_task(question)) is not None:
            turn = engine.run_agent(target.session.id, core.subagents, *asked, message_id=question.id)
        else:
            turn = engine.retry(target.session.id, question.id, use_memory=use_memory)
        self._view.back_to(question)
        self._spawn("turn", self._bridge.run, self._bridge.claim(target.session.id, turn, target))

    async def run_agent(self, name: str, task: str) -> None:
        """Let an agent do a task by hand. Raises `OrcaError` before anything is stored."""
        core, target = self.core, self._view.target
        find_agent(core.subagents.agents, name)
        target.is_sending, target.is_stopped = True, False
        try:
            session = await self._stored(target, task)
            turn = core.engine.run_agent(session.id, core.subagents, name, task)
        except BaseException:
            target.is_sending = False
            raise
        if target.is_stopped:
            turn.stop()
        self._spawn("turn", self._bridge.run, self._bridge.claim(session.id, turn, target))

    async def go_on(self) -> None:
        """Let the model go on with the newest reply. Raises `OrcaError` when it is whole."""
        target, path = self._view.target, self._view.messages
        if target.session is None or not path:
            raise NotFoundError(_("There is no reply to go on with yet."))
        newest = path[-1]
        whole = newest.state == "complete" and newest.metadata.get("finish_reason") != "length"
        if newest.role == "assistant" and whole and not newest.metadata.get("tool_calls"):
            raise OrcaError(
                _("The newest reply is whole; there is nothing to continue."),
                hint=_("Ask for more in a message, or let it be answered again with /retry."),
            )
        turn = self.core.engine.continue_reply(target.session.id)
        self._spawn("turn", self._bridge.run, self._bridge.claim(target.session.id, turn, target))

    def stop(self) -> bool:
        """End the open session's reply, keeping what arrived; tells whether there was one."""
        live = self._bridge.live(self.session_id)
        if live is not None:
            live.turn.stop()
        elif self._view.target.is_sending:
            self._view.target.is_stopped = True
        else:
            return False
        return True

    async def rename(self, title: str) -> None:
        """Give the open session a title. Raises `StoreError`."""
        session = await self._stored(self._view.target, title)
        await self.rename_session(session.id, title)

    async def rename_session(self, session_id: str, title: str) -> None:
        """Give a session a title. Raises `StoreError`."""
        await self.titled(await asyncio.to_thread(self.core.store.update_session, session_id, title=title))

    def is_answered(self, session_id: str) -> bool:
        """Whether a reply is being written in a session."""
        return self._bridge.live(session_id) is not None or (session_id == self.session_id and self.busy)

    async def titled(self, session: Session) -> None:
        """A session has got another title."""
        target = self._view.target
        if target.session is not None and target.session.id == session.id:
            target.session = session
        await self.refresh_sessions()

    # what is around the transcript

    async def refresh(self) -> None:
        """Bring the list of sessions and the memory sidebar up to date. A busy store is told in the last line."""
        await self.refresh_sessions()
        await self.show_forks()
        await self.refresh_memory()

    async def refresh_sessions(self) -> None:
        """Bring the list of sessions up to date: that of the state that it shows."""
        state = self._view.listed
        try:
            sessions = await asyncio.to_thread(self.core.store.sessions, state=state, limit=LISTED)
            if state == self._view.listed:
                self._view.show_sessions(sessions)
        except StoreError as error:
            self._view.hint_line.say(core_said(str(error)))

    async def refresh_memory(self, *, moved: bool = False) -> None:
        """Show what the reply under the cursor was given, else the newest; in an empty session the first would be.

        `moved`: only the cursor did, so the next prompt need not be put together again.
        """
        live, asked, session_id = self._bridge.live(self.session_id), self._view.target, self.session_id
        newest = next((message for message in reversed(self._view.messages) if message.role == "assistant"), None)
        reply = self._view.picked_reply() or newest
        is_earlier = newest is not None and reply is not None and reply.id != newest.id
        if is_earlier:
            live = None
        self._looks += 1
        look = self._looks
        of_live = live is not None and live.report is not None
        try:
            waiting = await asyncio.to_thread(waiting_for_review, self.core.curator)
            if live is not None and live.report is not None:
                report = live.report
            elif moved and self._told is not None and self._told[0] is asked:
                report = self._told[1]
            else:
                report = await self.core.manager.preview(session_id, window=await self.measure())
            shown = await asyncio.to_thread(picture, self.core.store, report, session_id, reply, of_live)
            shown = replace(shown, is_earlier=is_earlier)
        except OrcaError as error:
            self._view.hint_line.say(core_said(str(error)))
            return
        current = is_earlier or live is self._bridge.live(session_id)
        if look == self._looks and asked is self._view.target and current:
            session = self.session
            project = session.project if session is not None else self.core.settings.memory.project
            self._view.status.update_status(project=project or "")
            self._view.show_inbox(waiting)
            self._view.show_memory(shown)
            self.shown_reply = reply.id if reply is not None else None
            self._told = asked, report

    async def measure(self) -> ContextWindow:
        """The model's context window; asked once a model."""
        if self.window is None:
            try:
                session = self.session
                model = await (self.core.chat_model_for(session) if session else self.core.chat_model())
            except ProviderError:
                return UNKNOWN_WINDOW
            self.window = await model.context_window()
        return self.window

    async def _stored(self, target: Target, first_words: str) -> Session:
        """The session of `target`, stored from here on; a new one is called by its first words."""
        from memory.writing.secrets import masked

        memory = self.core.settings.memory
        async with self._creating:
            if target.session is None:
                target.session = await asyncio.to_thread(
                    self.core.store.create_session,
                    scope=Scope(memory.user_id, memory.project or None),
                    title=label(masked(first_words), TITLE_LENGTH),
                    incognito=target.incognito,
                )
                if target.begun_with.facts():
                    update = self.core.store.update_session
                    target.session = await asyncio.to_thread(update, target.session.id, options=target.begun_with)
                self._spawn("refresh", self.refresh_sessions)
            if target.session.state != "open":  # Going on with it brings it back from archive and trash.
                reopen = self.core.store.update_session
                target.session = await asyncio.to_thread(reopen, target.session.id, state="open")
            return target.session
