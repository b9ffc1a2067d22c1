"""The app's part about the transcript: what its keys ask for, and the clipboard."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from orca_tui import clipboard
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.trace_room import TraceRoom

if TYPE_CHECKING:
    from orca_tui.widgets.transcript import Transcript

MESSAGE_DEEDS = (
    *("why", "good", "bad", "details"),
    *("edit", "retry", "continue", "fork_before", "fork_after", "tree"),
)
"""Deeds that `orca_tui.transcript_actions` does."""


class TranscriptRoom(TraceRoom):
    """Joined in the app."""

    def on_transcript_link_clicked(self, event: "Transcript.LinkClicked") -> None:
        """The target is said before the browser has it."""
        self.chat.hint_line.say(event.url)
        self.open_url(event.url)

    def on_transcript_asked(self, event: "Transcript.Asked") -> None:
        """A key of a message."""
        if event.deed in MESSAGE_DEEDS:
            self.spawn("command", self._do_message_deed, event.deed, event.key)
        elif event.deed == "traces":
            self.spawn("command", self._open_runs, event.key)
        elif event.deed == "search":
            self.chat.open_search()
        elif event.deed == "nothing":
            self.chat.hint_line.say(_("That key does nothing with this message"))
        elif event.deed == "copy_code":
            self.spawn("copy", self._copy_code, event.text)
        else:
            self.copy_to_clipboard(event.text)

    async def _open_runs(self, key: str) -> None:
        runs = self.runs_at(key)
        await self.open_traces(runs[0] if runs else None)

    async def _copy_code(self, source: str) -> None:
        from orca_tui.render.targets import code_in

        self.copy_to_clipboard("\n\n".join(await asyncio.to_thread(code_in, source)))

    async def _do_message_deed(self, deed: str, key: str) -> None:

        try:
            await self.actions.message_deed(deed, key)
        except OrcaError as error:
            self.tell_error(error)

    # the clipboard

    def copy_to_clipboard(self, text: str) -> None:
        """Copy cleaned text, and say where to. A headless app (tests, the browser) keeps it to itself."""
        self._clipboard = text = clipboard.safe(text)
        if self._driver is None or self.is_headless:
            self._say_copied(text, "system")
        else:
            self.spawn("copy", self._copy, text, self._driver.write)

    async def _copy(self, text: str, write: Callable[[str], object]) -> None:
        env = os.environ if self.env is None else self.env
        self._say_copied(text, await clipboard.put(text, write, env))

    def _say_copied(self, text: str, way: clipboard.Way) -> None:
        said = _("Copied {n} characters", n=count(len(text)))
        if way == "terminal":
            said = _("{n} characters given to the terminal to copy (OSC 52)", n=count(len(text)))
            if clipboard.is_too_long(text):
                said += " · " + _("it may refuse that much")
        self.chat.hint_line.say(said)
