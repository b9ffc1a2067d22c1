"""The transcript: every message of a session as rows, drawn by one widget.

Callers change entries, by key; what is visible is laid out at once, the rest when it is looked at. A reply that streams
is laid out at most 30 times a second, by a timer that only runs while text arrives. The view follows the end when it is
there, and otherwise stays where the reader is, whatever happens above or below.
"""

from collections.abc import Mapping, Sequence
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
            waiting = [item.entry for item in self._ledger.cut(self._talk_end())]
            is_last = self._following and self._cursor >= len(self._ledger.items) - 1 and self._target is None
            index = self._ledger.append(entry)
            for one in waiting:
                self._ledger.append(one)
            self._cursor = index if is_last else self._cursor
            self._changed()
        else:
            self.replace(entry.key, entry)

    def show_waiting(self, entries: Sequence[Entry]) -> None:
        """Show these, of state `queued`, below all others, in the place of those that waited before."""
        end = self._talk_end()
        if [item.entry for item in self._ledger.items[end:]] != list(entries):
            self._unselect()
            self._ledger.cut(end)
            for entry in entries:
                self._ledger.append(entry)
            self._cursor = min(self._cursor, len(self._ledger.items) - 1)
            self._changed()

    def show_forks(self, forks: Mapping[str, tuple[int, int]]) -> None:
        """Tell at the entries with these keys which fork of how many they are; at all others, that there is one."""
        for item in list(self._ledger.items):
            fork = forks.get(item.entry.key.removesuffix("-error"), (0, 0))
            told = fork if item.entry.kind != "tool" and self._tells_fork(item.entry) else (0, 0)
            if item.entry.fork != told:
                self.replace(item.entry.key, replace(item.whole(), fork=told))

    def _tells_fork(self, entry: Entry) -> bool:
        """An error below a text leaves it to the text."""
        return entry.kind != "error" or self._ledger.find(entry.key.removesuffix("-error")) is None

    def _talk_end(self) -> int:
        """Number of entries above those that wait."""
        end = len(self._ledger.items)
        while end and self._ledger.items[end - 1].entry.state == "queued":
            end -= 1
        return end

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
