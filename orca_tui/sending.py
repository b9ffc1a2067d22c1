"""From Enter to the conversation: what a typed line means, and where it goes, is settled when Enter is pressed.

A message that comes before the store is open waits for it; one that cannot be sent stays in the composer.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.text import label
from orca_tui import commands
from orca_tui.i18n import _

if TYPE_CHECKING:
    from orca_tui.app import OrcaApp
    from orca_tui.outgoing import Outgoing
    from orca_tui.target import Target
    from orca_tui.widgets.composer import Composer

BEGINS = {"new": False, "incognito": True}
"""Commands that begin a session; whether it is incognito."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A message that the store is not open for yet."""

    outgoing: "Outgoing"
    target: "Target"


class Sending:
    """What one app sends."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app
        self._waiting: _Waiting | None = None
        self._under_way: Target | None = None
        self._delivered: asyncio.Event | None = None
        self._closed = False
        self._problem: OrcaError | None = None

    @property
    def waits(self) -> bool:
        """Whether a message waits for the store."""
        return self._waiting is not None

    @property
    def is_closed(self) -> bool:
        """Whether nothing is sent any more."""
        return self._closed

    @property
    def problem(self) -> OrcaError:
        """Why there is no conversation: still starting, or what kept the store from being opened."""
        return self._problem or OrcaError(_("orca is still starting; try again in a moment."))

    def take(self, sent: "Composer.Submitted") -> None:
        """Enter was pressed: a command runs, anything else is sent to what is open now.

        What cannot be done now stays in the composer, and the last line says why.
        """
        app = self._app
        slash = commands.parse(sent.text)
        if slash is None:
            self._take_message(sent)
        elif slash.command is None:
            name = label(slash.name, 40)
            app.chat.hint_line.say(
                _("There is no command /{name}; //{name} sends it as text, /help lists all", name=name)
            )
        else:
            app.chat.composer.clear()
            self.start(slash.name, slash.argument)

    def start(self, name: str, argument: str = "") -> None:
        """Start a command. A session that it begins is the one that is open from here on."""
        command = commands.BY_NAME[name.lower()]
        if command.name in BEGINS:
            self._app.chat.begin(incognito=BEGINS[command.name])
        self._app.spawn("command", self._app.run_command, command.name, argument)

    def send_waiting(self) -> None:
        """The store is open: send what waited for it."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._app.chat.hint_line.say("")
            self._send_written(waiting.outgoing, waiting.target)

    async def close(self, wait: float) -> None:
        """Nothing is sent any more: what waits stays in the composer, what is under way gets `wait` seconds."""
        self._closed = True
        self._waiting = None
        if self._delivered is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._delivered.wait(), wait)

    def refuse(self, problem: OrcaError) -> None:
        """The store cannot be opened: nothing is sent from here on, and what waits stays in the composer."""
        self._problem = problem
        if self._waiting is not None:
            self._waiting = None
            self._say_problem(problem)

    def _take_message(self, sent: "Composer.Submitted") -> None:
        app = self._app
        if self._closed:
            return
        outgoing = app.writing.outgoing(sent, commands.unescape(sent.text))
        if self._problem is not None:
            self._say_problem(self._problem)
        elif app.conversation is None:
            self._waiting = _Waiting(outgoing, app.chat.target)
            app.chat.hint_line.say(_("orca is still starting; this is sent as soon as it is there"))
        elif app.conversation.busy and outgoing.parent_id is not None:
            app.chat.hint_line.say(_("The reply is still being written: Esc stops it, then Enter sends this"))
        elif app.conversation.busy:
            app.queue.add(outgoing)
            self._taken(outgoing)
        elif self._under_way is not None and self._under_way.is_sending:
            app.chat.hint_line.say(_("The message before is still being stored; Enter sends this then"))
        else:
            self._send_written(outgoing, app.chat.target)

    def _send_written(self, outgoing: "Outgoing", target: "Target") -> None:
        """Send what stands in the composer until it is stored."""
        self.send(outgoing, target, stored=partial(self._taken, outgoing))

    def _taken(self, outgoing: "Outgoing") -> None:
        self._app.chat.composer.clear_sent()
        self._app.writing.sent(outgoing)

    def send(
        self,
        outgoing: "Outgoing",
        target: "Target",
        *,
        stored: Callable[[], None],
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """Send a message. `stored` is called when it is on disk, `failed` when it could not even be tried."""
        target.is_sending = True
        self._under_way = target
        self._delivered = asyncio.Event()
        self._app.spawn("submit", self._deliver, outgoing, target, self._delivered, stored, failed)

    async def _deliver(
        self,
        outgoing: "Outgoing",
        target: "Target",
        delivered: asyncio.Event,
        stored: Callable[[], None],
        failed: Callable[[], None],
    ) -> None:
        conversation = self._app.conversation
        assert conversation is not None  # noqa: S101 - nothing is sent without one
        try:
            await conversation.send(outgoing, target=target, stored=stored)
        except OrcaError as error:
            self._app.chat.add_error(error)
            failed()
        finally:
            delivered.set()

    def _say_problem(self, problem: OrcaError) -> None:
        self._app.chat.hint_line.say(_("Nothing can be sent, the text stays here: {why}", why=problem))
