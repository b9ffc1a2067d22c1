"""The transcript: every message of a session as rows, drawn by one widget.

Callers change entries, by key; what is visible is laid out at once, the rest when it is looked at. A reply that streams
is laid out at most 30 times a second, by a timer that only runs while text arrives. The view follows the end when it is
there, and otherwise stays where the reader is, whatever happens above or below.
"""

from collections.abc import Sequence
from dataclasses import replace

from orca_tui.render.entry import Entry, EntryState
from orca_tui.render.ledger import Place
from orca_tui.widgets.transcript_style import COMPONENTS, CSS
from orca_tui.widgets.transcript_view import TranscriptView


class Transcript(TranscriptView):
    """All entries of a session."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CSS = CSS

    @property
    def entries(self) -> list[Entry]:
        """The entries, oldest first, with what has streamed in."""
        return [item.whole() for item in self._ledger.items]

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show other entries, from their end."""
        self._unselect()
        self._ledger.reset(entries)
        self._follow(True)
        self._show()

    def add(self, entry: Entry) -> None:
        """Add an entry below the others. One with the key of an entry that is there takes its place."""
        if self._ledger.find(entry.key) is None:
            self._ledger.append(entry)
            self._show()
        else:
            self.replace(entry.key, entry)

    def begin(self, entry: Entry) -> None:
        """Add an entry whose text will come by `feed`."""
        self.add(replace(entry, state="streaming"))

    def feed(self, key: str, text: str) -> None:
        """More text of a streaming entry. One that is not shown any more is ignored: its session was left."""
        if self._ledger.grow(key, text):
            self._feed.wake()

    def feed_reasoning(self, key: str, text: str) -> None:
        """More reasoning of a streaming entry; ignored when it is not shown any more."""
        if self._ledger.grow(key, text, reasoning=True):
            self._feed.wake()

    def finish(self, key: str, *, state: EntryState, note: str | None = None, text: str | None = None) -> None:
        """End a streaming entry; ignored when it is not shown any more.

        `text`, when it differs from what was fed, takes its place; `note` is told below it.
        """
        index = self._ledger.find(key)
        if index is None:
            return
        fed = self._ledger.items[index].whole()
        told = fed.note if note is None else note
        self._ledger.finish(index, replace(fed, state=state, note=told, text=fed.text if text is None else text))
        self._show()

    def replace(self, key: str, entry: Entry) -> None:
        """Show another entry (it may have another key) in the place of one; ignored when there is none."""
        index = self._ledger.find(key)
        if index is not None:
            self._unselect()
            self._ledger.replace(index, entry)
            self._show()

    def go_to(self, key: str) -> bool:
        """Put the beginning of an entry at the top of the view; tells whether there is such an entry."""
        index = self._ledger.find(key)
        if index is not None:
            self._follow(False)
            self._place = Place(index, 0)
            self._show()
        return index is not None

    def clear(self) -> None:
        """Take all entries away."""
        self.set_entries([])
