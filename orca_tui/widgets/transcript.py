"""The transcript: every message of a session as rows, drawn by one widget.

Callers change entries, by key; what is visible is laid out at once, the rest when it is looked at. A reply that streams
is laid out at most 30 times a second, by a timer that only runs while text arrives. The view follows the end when it is
there, and otherwise stays where the reader is, whatever happens above or below.
"""

from collections.abc import Sequence
from dataclasses import replace

from orca_tui.render.entry import Entry, EntryState
from orca_tui.widgets.transcript_search import TranscriptSearch
from orca_tui.widgets.transcript_style import COMPONENTS, CSS


class Transcript(TranscriptSearch):
    """All entries of a session."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CSS = CSS

    @property
    def entries(self) -> list[Entry]:
        """The entries, oldest first, with what has streamed in."""
        return [item.whole() for item in self._ledger.items]

    def entry(self, key: str) -> Entry | None:
        """The entry with a key, with what has streamed in."""
        index = self._ledger.find(key)
        return None if index is None else self._ledger.items[index].whole()

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show other entries, from their end."""
        self._unselect()
        self._ledger.reset(entries)
        self._cursor, self._target = len(entries) - 1, None
        self.end_search()
        self._follow(True)
        self._changed()

    def add(self, entry: Entry) -> None:
        """Add an entry below the others. One with the key of an entry that is there takes its place."""
        if self._ledger.find(entry.key) is None:
            is_last = self._following and self._cursor == len(self._ledger.items) - 1 and self._target is None
            index = self._ledger.append(entry)
            self._cursor = index if is_last else self._cursor
            self._changed()
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
        self._changed()

    def replace(self, key: str, entry: Entry) -> None:
        """Show another entry (it may have another key) in the place of one; ignored when there is none."""
        index = self._ledger.find(key)
        if index is not None:
            if entry.kind != "tool":
                self._unselect()
            self._ledger.replace(index, entry)
            self._changed()

    def go_to(self, key: str) -> bool:
        """Put the beginning of an entry at the top of the view; tells whether there is such an entry."""
        return self.jump_to(key)

    def clear(self) -> None:
        """Take all entries away."""
        self.set_entries([])

    def _changed(self) -> None:
        self._entries_changed()
        self._show(grown=True)
        if self.has_focus:
            self.post_message(self.CursorMoved())
