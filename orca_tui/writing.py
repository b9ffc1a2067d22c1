"""What belongs to the text that is being written: the files that go with it, and the earlier message that it is an
edit of. The composer holds the text itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orca_tui.i18n import _
from orca_tui.outgoing import Attached, Outgoing
from orca_tui.widgets.composer import Composer

if TYPE_CHECKING:
    from memory.types import Message
    from orca_tui.app import OrcaApp

APART = "\n\n"
"""Between texts that are put into one."""


@dataclass(frozen=True, slots=True)
class Editing:
    """An earlier message is being changed."""

    session_id: str
    parent_id: int
    """What it stands below."""
    original: Outgoing
    draft: Outgoing
    """What was being written before, which comes back."""


class Writing:
    """Of one app. It is what the composer asks about keys that mean something else while it is empty."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app
        self.files: tuple[Attached, ...] = ()
        self.editing: Editing | None = None
        self.offered: Path | None = None
        """A file whose path was just pasted."""
        self.offered_text = ""
        """That path as it was pasted."""

    # what goes out

    def outgoing(self, sent: Composer.Submitted, text: str) -> Outgoing:
        """What is sent when `text` is: with its files, and in its place. An edit goes where it was begun only."""
        edit = self.editing
        if edit is not None and edit.session_id != self._app.chat.target.session_id:
            edit = None
        return Outgoing(text, sent.pasted, self.files, edit.parent_id if edit else None)

    def sent(self, outgoing: Outgoing) -> None:
        """It is stored, or waits in the queue: what was being written before an edit is there again."""
        self.files = tuple(file for file in self.files if file not in outgoing.files)
        self.offered = None
        edit, self.editing = self.editing, None
        if edit is not None:
            self._put_before(edit.draft)
        self.changed()

    # edits

    def edit(self, message: "Message", parent_id: int, original: Outgoing) -> None:
        """Put an earlier message into the composer; what is there is kept."""
        draft = self._now() if self.editing is None else self.editing.draft
        self.editing = Editing(message.session_id, parent_id, original, draft)
        self._put(original)
        self._app.chat.composer.focus()

    def drop_edit(self) -> bool:
        """Leave the earlier message as it is; tells whether one was being changed."""
        edit, self.editing = self.editing, None
        if edit is not None:
            self._put(edit.draft)
        return edit is not None

    def session_shown(self) -> None:
        """Another session is open: an edit of the one before ends. Text that was changed stays, as a draft."""
        edit = self.editing
        if edit is None or edit.session_id == self._app.chat.target.session_id:
            return
        if self._app.chat.composer.value == edit.original.text:
            self.drop_edit()
        else:
            self.editing = None
            self._put_before(edit.draft)

    # files

    def attach(self, files: Sequence[Attached]) -> None:
        """These go with the next message, each once."""
        known = {file.path for file in self.files if file.path is not None}
        self.files += tuple(file for file in files if file.path is None or file.path not in known)
        self.changed()

    def detach(self, index: int) -> None:
        """This one does not."""
        self.files = tuple(file for place, file in enumerate(self.files) if place != index)
        self.changed()

    def offer(self, path: Path, text: str) -> None:
        """A path was pasted: its file could go with the message."""
        self.offered, self.offered_text = path, text
        self.changed()

    def take_offer(self) -> Path | None:
        """The file that was offered; its path is taken out of the text."""
        path, self.offered = self.offered, None
        composer = self._app.chat.composer
        if path is not None and composer.value.endswith(self.offered_text):
            composer.load_text(composer.value.removesuffix(self.offered_text))
        return path

    # the composer's keys

    def enter(self) -> None:
        """Enter without a text: send the files alone, or go on with what waits."""
        if self.files:
            self._app.sending.take(Composer.Submitted(""))
        else:
            self._app.queue.go_on()

    def up(self) -> bool:
        """Up in the empty composer: take back what waits. Tells whether something did."""
        return self._app.queue.take_back()

    def backspace(self) -> bool:
        """Backspace before the first character: the last file does not go along. Tells whether there was one."""
        if not self.files:
            return False
        self.detach(len(self.files) - 1)
        return True

    # text in the composer

    def put_before(self, pieces: Sequence[Outgoing]) -> None:
        """Put texts, with their files, before what is in the composer."""
        for piece in reversed(pieces):
            self._put_before(piece)
        self.changed()

    def restore(self, text: str, pasted: Sequence[str], files: Sequence[Attached]) -> None:
        """What was being written before a restart."""
        self._app.chat.composer.restore(text, pasted)
        self.attach(files)

    def changed(self) -> None:
        """Show it, and keep it."""
        self._app.show_tray()
        self._app.drafts.changed()

    def _now(self) -> Outgoing:
        composer = self._app.chat.composer
        text = composer.value
        return Outgoing(text, composer.pasted_in(text), self.files)

    def _put(self, piece: Outgoing) -> None:
        self._app.chat.composer.restore(piece.text, piece.pasted)
        self.files = piece.files
        self.changed()

    def _put_before(self, piece: Outgoing) -> None:
        now = self._now()
        if piece.text or piece.files:
            text = APART.join(filter(None, (piece.text, now.text)))
            self._put(Outgoing(text, (*piece.pasted, *now.pasted), (*piece.files, *now.files)))


def edit_told() -> str:
    """What is said while an earlier message is being changed."""
    return _("editing an earlier message — Enter sends it as a fork, Esc drops the edit")
