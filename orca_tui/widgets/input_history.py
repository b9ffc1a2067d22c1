"""What was sent before, to be had back with the up key; edits on the way are kept until something is sent."""

from collections.abc import Iterable

MAX_ENTRIES = 500


class InputHistory:
    """A list of entries, oldest first, with a place in it; the place after the newest is the draft."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._edited: dict[int, str] = {}
        self._place = 0

    def replace(self, entries: Iterable[str]) -> None:
        """Take these entries, oldest first, and go to the draft."""
        self._entries = [text for text in entries if text.strip()][-MAX_ENTRIES:]
        self.reset()

    def add(self, text: str) -> None:
        """Append what was sent (not when it is the newest already) and go to an empty draft."""
        if not self._entries or self._entries[-1] != text:
            self._entries = [*self._entries, text][-MAX_ENTRIES:]
        self.reset()

    def reset(self) -> None:
        """Go to the draft; edits of earlier entries are dropped."""
        self._edited.clear()
        self._place = len(self._entries)

    def move(self, step: int, current: str) -> str | None:
        """Go `step` entries (negative: older) and get the text there, or `None` at the end of the list.

        `current` is what the editor shows now: it is kept for this place.
        """
        target = self._place + step
        if not 0 <= target <= len(self._entries):
            return None
        self._edited[self._place] = current
        self._place = target
        return self._edited.get(target, self._entries[target] if target < len(self._entries) else "")
