"""The app's part about what is being written: files, edits and messages that wait, shown above the composer."""

import asyncio
from typing import TYPE_CHECKING

from orca_tui.i18n import _
from orca_tui.messages import PathChanged, SessionShown, TurnEnded
from orca_tui.queueing import Queue
from orca_tui.terminal_room import TerminalRoom
from orca_tui.widgets.safe_editor import SafeEditor
from orca_tui.widgets.tray import Chip, Tray
from orca_tui.writing import Writing, edit_told

if TYPE_CHECKING:
    from orca_tui.bridge import LiveTurn


class TalkingRoom(TerminalRoom):
    """Joined in the app."""

    writing: Writing
    queue: Queue

    def run_talk(self) -> None:
        """Give the composer what it asks about its keys."""
        self.writing = Writing(self.whole)
        self.queue = Queue(self.whole)
        self.chat.writing = self.writing

    def show_tray(self) -> None:
        """Show what belongs to the message that is being written."""
        if not self.chat.is_furnished:
            return
        writing, remarks = self.writing, []
        if writing.editing is not None:
            remarks.append(("edit", f"✎ {edit_told()}"))
        if waiting := self.queue.told():
            remarks.append(("queue", f"◷ {waiting}"))
        if writing.offered is not None:
            from memory.text import label
            from orca_tui.keys import display

            key, name = display(self.keymap.first("attach")), label(writing.offered.name, 60)
            remarks.append(
                ("offer", f"📎 {_('{name} is a file: {key} sends it along', name=name, key=key or '/attach')}")
            )
        self.chat.tray.show(remarks, [Chip(file.attachment.name, file.attachment.size) for file in writing.files])

    def turn_over(self, live: "LiveTurn") -> None:
        """A turn has ended, in whatever session: what waits for it may go."""
        self.reply_over(live)
        self.queue.turn_over(live)

    def on_session_shown(self, _event: SessionShown) -> None:
        """Another session is open: other messages wait in it, and it has other forks."""
        self.writing.session_shown()
        self.queue.changed()

    def on_path_changed(self, _event: PathChanged) -> None:
        """The transcript was filled anew: what waits stands below it."""
        self.queue.changed()

    def on_turn_ended(self, _event: TurnEnded) -> None:
        """What is said of what waits may be another."""
        self.show_tray()

    def on_safe_editor_pasted(self, event: SafeEditor.Pasted) -> None:
        """The path of a file may be meant as the file."""
        self.spawn("pasted", self._look_at_paste, event.text)

    async def _look_at_paste(self, text: str) -> None:
        from orca_tui.attaching import MOST_PATH, pasted_path

        path = await asyncio.to_thread(pasted_path, text) if len(text) <= MOST_PATH else None
        if path is not None and self.chat.composer.value.endswith(text):
            self.writing.offer(path, text)

    def on_tray_removed(self, event: Tray.Removed) -> None:
        """A file was clicked away."""
        self.writing.detach(event.index)

    def on_tray_clicked(self, event: Tray.Clicked) -> None:
        """A remark was clicked: drop the edit, take back what waits, take the file."""
        if event.name == "edit":
            self.writing.drop_edit()
        elif event.name == "queue":
            self.queue.take_back()
        else:
            self.spawn("command", self._attach_offered)

    async def _attach_offered(self) -> None:

        await self.actions.run("attach")
