"""The commands that write a session to a file, and bring in chats of other programs."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.text import label
from memory.types import Session
from orca_tui.i18n import _
from orca_tui.session_actions import SessionActions

if TYPE_CHECKING:
    from memory.migration.session_export import ExportFormat

FORMATS: "dict[str, ExportFormat]" = {"md": "md", "markdown": "md", "json": "json"}


class TransferActions(SessionActions):
    """One method a command, named like it; a name that Python keeps for itself has `_` behind it."""

    async def export(self, argument: str) -> None:
        """Write the open session to a file: `[md|json] [PATH]`."""
        session = await asyncio.to_thread(self._talk().core.store.session, self._open_session())
        said = await self._export_to(session, argument)
        if said:
            self._app.chat.hint_line.say(said)

    async def import_(self, argument: str) -> None:
        """Bring in an export of ChatGPT, Claude, Elia or orca; it is shown before it is done."""
        from orca_tui.screens.import_chats import ImportScreen

        if not argument.strip():
            self._prompt("/import ")
            return
        talk = self._talk()
        path = _path(argument)
        if await self._app.push_screen_wait(ImportScreen(talk.core, path)):
            await talk.refresh()
            talk.core.queue.wake()

    async def _export_one(self, session: Session) -> str:
        return await self._export_to(session, "")

    async def _export_to(self, session: Session, argument: str) -> str:
        from memory.migration import session_export
        from orca_tui.screens.ask import Ask

        core = self._talk().core
        kind, path = _wanted(session, argument)
        text = await asyncio.to_thread(session_export.text_of, core.store, session.id, kind, core.clock)
        exists = await asyncio.to_thread(path.exists)
        if exists and not await self._app.push_screen_wait(
            Ask(_("This file is there already. Replace it?"), [str(path)])
        ):
            return ""
        await asyncio.to_thread(session_export.write, path, text, replace=exists)
        return _("Written: {path}", path=label(str(path), 300))


def _wanted(session: Session, argument: str) -> "tuple[ExportFormat, Path]":
    """Format and file, out of `[md|json] [PATH]`. Raises `OrcaError`."""
    from memory.migration import session_export

    first, _blank, rest = argument.strip().partition(" ")
    given = FORMATS.get(first.lower())
    place = rest.strip() if given else argument.strip()
    path = _path(place) if place else _here()
    kind = given or session_export.SUFFIXES.get(path.suffix.lower(), "md")
    try:
        if path.is_dir():
            path /= session_export.file_name(session, kind)
        return kind, path.absolute()
    except (OSError, ValueError) as error:
        raise OrcaError(_("That is no path: {path}", path=label(place, 120))) from error


def _path(text: str) -> Path:
    return Path(text.strip().strip("\"'")).expanduser()


def _here() -> Path:
    """Where files go when nobody says: the directory that orca was started in, else the home directory."""
    import os

    here = Path.cwd()
    return here if os.access(here, os.W_OK) else Path.home()
