"""The chat's part about the transcript's cursor and search: the line one types into, and the keys that make sense."""

from typing import TYPE_CHECKING

from orca_tui import hints, keys
from orca_tui.screens.turn_screen import TurnScreen

if TYPE_CHECKING:
    from memory.types import Message
    from orca_tui.keys import Keymap
    from orca_tui.widgets.hint_line import HintLine
    from orca_tui.widgets.search_line import SearchLine
    from orca_tui.widgets.transcript import Transcript


class Finding(TurnScreen):
    """A screen with a transcript that is gone through by keys."""

    find_line: "SearchLine"
    hint_line: "HintLine"
    _keymap: "Keymap"
    _is_furnished = False
    _search_from = -1

    def show_keys(self) -> None:
        """The keys that make sense now."""
        raise NotImplementedError

    def message_hints(self) -> hints.Pairs:
        """What can be done with the message under the cursor, or while a search is typed; empty when neither is so."""
        if self._is_furnished and self.focused is self.find_line.field:
            return hints.searching()
        view = self.transcript if self._is_furnished else None
        if view is None or view.current is None:
            return []
        return hints.at_message(self._keymap.others, view.possible(), view.target, view.target_count())

    def chosen_reply(self) -> "Message | None":
        """The reply under the transcript's cursor, else the newest that holds text."""
        under = self.transcript.current.key if self.transcript.current is not None else ""
        replies = [m for m in self.messages if m.role == "assistant" and m.content]
        return next((m for m in replies if str(m.id) == under), replies[-1] if replies else None)

    def transcript_takes(self, key: str) -> bool:
        """Whether a key means something in the transcript, with the keys that the user chose."""
        for default, binding in self.transcript._bindings:
            chosen = self._keymap.others.get(binding.id or "")
            if key == default if chosen is None else key in keys.split(chosen):
                return True
        return False

    def picked_reply(self) -> "Message | None":
        """The reply under the transcript's cursor; `None` when it is on none."""
        under = self.transcript.current if self._is_furnished else None
        if under is None or not under.key.isdecimal():
            return None
        wanted = int(under.key)  # numbers are compared: this happens with every page of a long session
        return next((m for m in reversed(self.messages) if m.id == wanted and m.role == "assistant"), None)

    def open_search(self) -> None:
        """Begin to search, or go on with what is typed there."""
        self._search_from = self.transcript.cursor
        self.find_line.open()
        self.show_keys()

    def on_search_line_typed(self, event: "SearchLine.Typed") -> None:
        """Every letter searches, from where the search began."""
        if event.text.strip():
            self.transcript.search(event.text, start=self._search_from)
        else:
            self.transcript.end_search()

    def take_search(self) -> None:
        """Enter: what was found stays marked, and keys go to the transcript again."""
        self.set_focus(self.transcript)
        if not self.find_line.field.value.strip():
            self.find_line.close()

    def on_search_line_left(self) -> None:
        """Esc: no marks, and the view stays."""
        self.transcript.end_search()
        self.set_focus(self.transcript)
        self.find_line.close()

    def on_search_line_stepped(self, event: "SearchLine.Stepped") -> None:
        """The arrows go on while one types."""
        self.transcript.next_hit(event.direction)

    def on_transcript_searched(self, event: "Transcript.Searched") -> None:
        """How many there are; a search that has ended takes its line with it."""
        if self.transcript.searching:
            self.find_line.tell(self.transcript.sought, event.position, event.total)
        elif not self.find_line.field.has_focus:
            self.find_line.close()
        self.show_keys()

    def on_transcript_cursor_moved(self) -> None:
        """Other keys make sense; what was said was about the message before."""
        if self.transcript.has_focus:
            self.hint_line.say("")
        self.show_keys()
