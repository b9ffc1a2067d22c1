"""Messages that wait until the reply before them is over. Each was sent by the user, who sees that it waits.

The next one goes when a reply has ended well. After a stop or an error all of the session wait for the user; nothing
is sent by itself then, nor at the next start, where they are in the composer again.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from orca_tui.i18n import _
from orca_tui.outgoing import Outgoing
from orca_tui.render.entry import Entry

if TYPE_CHECKING:
    from orca_tui.app import OrcaApp
    from orca_tui.bridge import LiveTurn
    from orca_tui.target import Target


@dataclass(eq=False, slots=True)
class Waiting:
    """One message in the queue."""

    key: str
    """In the transcript."""
    outgoing: Outgoing
    target: "Target"
    held: bool = False
    """Whether it waits for the user to say that it is to go."""
    is_under_way: bool = False

    def is_of(self, target: "Target") -> bool:
        """Whether it goes to the session of `target`."""
        return self.target is target or (target.session_id is not None and target.session_id == self.target.session_id)


class Queue:
    """Of one app, for all of its sessions."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app
        self._waiting: list[Waiting] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def mine(self) -> list[Waiting]:
        """Those of the open session, in the order in which they go."""
        return [one for one in self._waiting if one.is_of(self._app.chat.target)]

    @property
    def all(self) -> tuple[Waiting, ...]:
        """Those of all sessions."""
        return tuple(self._waiting)

    def add(self, outgoing: Outgoing) -> None:
        """Put a message of the open session behind the others."""
        target = self._app.chat.target
        self._count += 1
        held = any(one.held for one in self.mine)
        self._waiting.append(Waiting(f"queued-{self._count}", outgoing, target, held))
        self.changed()

    def take_back(self) -> bool:
        """Put the newest that waits in the open session into the composer; tells whether there was one."""
        back = [one for one in self.mine if not one.is_under_way][-1:]
        return self._return(back)

    def take_all_back(self) -> bool:
        """Put all that wait in the open session into the composer; tells whether there were any."""
        return self._return([one for one in self.mine if not one.is_under_way])

    def go_on(self) -> bool:
        """Send the first of the open session, and the others after it; tells whether there was one."""
        mine = self.mine
        talk = self._app.conversation
        if not mine or talk is None or talk.busy:
            return False
        for one in mine:
            one.held = False
        self._send(mine[0])
        return True

    def turn_over(self, live: "LiveTurn") -> None:
        """A reply has ended: the next message of its session goes, when the reply has ended well."""
        mine = [one for one in self._waiting if one.target is live.target or one.target.session_id == live.session_id]
        for one in mine:
            one.is_under_way = False
        if not mine:
            return
        if live.ended_well and not self._app.sending.is_closed:
            if not mine[0].held:
                self._send(mine[0])
        else:
            self._hold(mine)

    def told(self) -> str:
        """What is said of those of the open session; empty when none waits."""
        mine = self.mine
        if not mine:
            return ""
        if any(one.held for one in mine):
            why = _("waiting: {n} · the reply before did not end well, so nothing is sent by itself", n=len(mine))
            return f"{why} · {_('Enter in the empty line sends, ↑ takes back')}"
        return _("waiting: {n} · sent when the reply has ended well · ↑ takes back", n=len(mine))

    def changed(self) -> None:
        """Show it, and keep it."""
        app = self._app
        app.chat.show_waiting([entry_of(one) for one in self.mine], len(self._waiting))
        app.writing.changed()

    def _return(self, back: list[Waiting]) -> bool:
        if not back:
            return False
        self._waiting = [one for one in self._waiting if one not in back]
        self._app.writing.put_before([one.outgoing.as_written for one in back])
        self.changed()
        self._app.chat.composer.focus()
        return True

    def _send(self, one: Waiting) -> None:
        app = self._app
        one.is_under_way = True
        target = app.chat.target if one.is_of(app.chat.target) else one.target
        app.sending.send(one.outgoing, target, stored=partial(self._stored, one), failed=partial(self._hold, [one]))
        self.changed()

    def _stored(self, one: Waiting) -> None:
        if one in self._waiting:
            self._waiting.remove(one)
        self.changed()

    def _hold(self, ones: list[Waiting]) -> None:
        for one in ones:
            one.held, one.is_under_way = True, False
        self.changed()


def entry_of(one: Waiting) -> Entry:
    """How it stands below the transcript."""
    files = tuple((file.attachment.name, file.attachment.size) for file in one.outgoing.files)
    return Entry(one.key, "user", one.outgoing.text, state="queued", files=files)
