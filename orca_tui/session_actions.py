"""The commands about stored sessions, and what the keys of their list do."""

import asyncio
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.store.ledger import Ledger
from memory.text import label
from memory.types import Session, SessionState
from orca_tui.action_base import ActionBase
from orca_tui.i18n import _
from orca_tui.session_keys import shown

if TYPE_CHECKING:
    pass

NAMED = 60
"""Characters of a title that a remark names."""


class SessionActions(ActionBase):
    """One method a command, named like it."""

    async def archive(self, _argument: str) -> None:
        """Archive the open session, or bring it back."""
        await self.session_deed("archive", self._open_session(), "")

    async def delete(self, _argument: str) -> None:
        """Throw the open session away; it can be restored."""
        await self.session_deed("trash", self._open_session(), "")

    async def session_deed(self, deed: str, session_id: str | None, title: str) -> None:
        """Do something to a session of the list, and say what was done."""
        talk = self._talk()
        if deed == "undo":
            said = await self._undo()
        elif session_id is None:
            raise OrcaError(_("There is no session under the cursor"))
        else:
            session = await asyncio.to_thread(talk.core.store.session, session_id)
            match deed:
                case "rename":
                    said = await self._rename(session, title)
                case "erase":
                    said = await self._erase(session)
                case "export":
                    said = await self._export_one(session)
                case _:
                    said = await self._move(session, _target(deed, session.state))
        await talk.refresh_sessions()
        if said:
            self._app.chat.hint_line.say(said)

    async def _export_one(self, session: Session) -> str:
        raise NotImplementedError

    def _open_session(self) -> str:
        session_id = self._talk().session_id
        if session_id is None:
            raise OrcaError(_("This session is empty; there is nothing to keep or to throw away yet."))
        return session_id

    async def _rename(self, session: Session, title: str) -> str:
        await self._talk().rename_session(session.id, label(title, 120))
        return _("Renamed")

    async def _move(self, session: Session, state: SessionState) -> str:
        """To the archive, to the trash or back, remembered for undo."""
        talk = self._talk()
        if session.state == state:
            return ""
        if state == "trashed":
            self._leave(session)
        await asyncio.to_thread(talk.core.store.update_session, session.id, state=state)
        talk.moved.append((session.id, session.state))
        key = shown("undo", self._app.keymap.others)
        way_back = f" · {_('{key} in the list takes it back', key=key)}" if key else ""
        return _told(state, session) + way_back

    async def _undo(self) -> str:
        talk = self._talk()
        if not talk.moved:
            return _("There is nothing to undo in this list")
        session_id, state = talk.moved.pop()
        session = await asyncio.to_thread(talk.core.store.update_session, session_id, state=state)
        return _("Taken back: {text}", text=label(session.title, NAMED) or _("Untitled"))

    async def _erase(self, session: Session) -> str:
        from orca_tui.screens.ask import Ask

        talk = self._talk()
        store = talk.core.store
        if not isinstance(store, Ledger):
            raise OrcaError(_("Without the database nothing can be erased for good."))
        asked = Ask(
            _("Erase this session for good? No undo brings it back. Memories that were made from it stay."),
            [session.title or _("Untitled")],
        )
        if not await self._app.push_screen_wait(asked):
            return ""
        await self._end(session.id)
        self._leave(session)
        copies = await asyncio.to_thread(store.erase_session, session.id, actor="user")
        await talk.core.drop_files()
        talk.moved[:] = [one for one in talk.moved if one[0] != session.id]
        said = _("Erased for good: {text}", text=label(session.title, NAMED) or _("Untitled"))
        if copies:
            said += " · " + _("older copies may still hold it: {files}", files=", ".join(label(c, 120) for c in copies))
        return said

    async def _end(self, session_id: str) -> None:
        """Stop the reply and the agents of a session, and wait until nothing is written for it any more."""
        self._talk().core.subagents.cancel_all(session_id)
        live = self._app.bridge.live(session_id) if self._app.bridge is not None else None
        if live is not None:
            live.turn.stop()
            await live.done.wait()

    def _leave(self, session: Session) -> None:
        """What is thrown away does not stay open. Raises `OrcaError` while it is being answered."""
        talk = self._talk()
        if talk.is_answered(session.id):
            raise OrcaError(_("The reply is still being written; Esc stops it"))
        if talk.session_id == session.id:
            focused = self._app.chat.focused
            self._app.chat.begin()
            if focused is not None:
                focused.focus()


def _target(deed: str, state: SessionState) -> SessionState:
    """Where a deed leads from a state."""
    if deed == "trash":
        return "trashed"
    return "archived" if deed == "archive" and state == "open" else "open"


def _told(state: SessionState, session: Session) -> str:
    title = label(session.title, NAMED) or _("Untitled")
    match state:
        case "trashed":
            return _("Deleted: {text}", text=title)
        case "archived":
            return _("Archived: {text}", text=title)
        case _:
            return _("Back in the list: {text}", text=title)
