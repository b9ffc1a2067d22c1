"""The commands about keeping what was said: a backup now, and a copy elsewhere of what could not be saved."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from memory.text import label
from orca_tui.action_base import ActionBase
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.core import Core


class SafetyActions(ActionBase):
    """One method a command, named like it."""

    async def backup(self, argument: str) -> None:
        """A verified copy of the database, among the automatic ones or where it is said. Raises `StoreError`."""
        from memory.store.backup import back_up
        from memory.store.backups import new_name

        core = self._core()
        name = new_name(core.home.database, core.clock)
        target = await asyncio.to_thread(_placed, argument, name) if argument else name
        self._app.chat.hint_line.say(_("Backing up…"))
        try:
            made = await asyncio.to_thread(back_up, core.home.database, target)
        finally:
            self._app.chat.hint_line.say("")
        told = _("Backed up and verified: {path}", path=label(str(made.path), 300))
        self._app.notify(told, title=_("Backup"), markup=False)

    async def rescue(self, argument: str) -> None:
        """What is on the screen, and every reply that is not saved, into a new file. Raises `BackupError`."""
        from orca_tui.rescue import write_rescue

        if not argument:
            self._app.chat.composer.text = "/rescue "
            self._app.chat.composer.focus()
            return
        shown, unsaved = list(self._app.chat.messages), self._core().unsaved_replies
        count = await asyncio.to_thread(write_rescue, _full(argument), shown, unsaved)
        told = _("Written to {path}: {n} messages", path=label(argument, 300), n=count)
        self._app.notify(told, title=_("Storage"), markup=False)

    def _core(self) -> "Core":
        if self._app.core is None:
            raise self._app.sending.problem
        return self._app.core


def _full(given: str) -> Path:
    return Path(given).expanduser().absolute()


def _placed(given: str, name: Path) -> Path:
    """A path that is named, or a new file in a directory that is named."""
    path = _full(given)
    return path / name.name if path.is_dir() else path
