"""The commands about what goes into a message beside typing: files, and the user's own editor."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from orca_tui.action_base import ActionBase
from orca_tui.attaching import paths_in, read
from orca_tui.i18n import _

if TYPE_CHECKING:
    pass

MOST_FILES = 20


class AttachActions(ActionBase):
    """One method a command, named like it."""

    async def attach(self, argument: str) -> None:
        """Let files go along with the next message: those that are named, or the one whose path was pasted."""
        writing = self._app.writing
        offered = None if argument else writing.take_offer()
        paths: list[Path] = [offered] if offered is not None else await asyncio.to_thread(paths_in, argument)
        if not argument and offered is None:
            self._prompt("/attach ")
            return
        if len(paths) + len(writing.files) > MOST_FILES:
            raise OrcaError(_("At most {n} files go with one message.", n=MOST_FILES))
        writing.attach(await asyncio.to_thread(read, paths))
        self._app.chat.composer.focus()

    async def editor(self, _argument: str) -> None:
        """Write the text in the user's own editor."""
        from orca_tui.external_editor import edit_text

        composer = self._app.chat.composer
        before = composer.value
        text = await edit_text(self._app, before)
        if text != before:
            composer.restore(text, composer.pasted_in(before))
        composer.focus()
