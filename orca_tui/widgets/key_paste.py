"""Tells a paste that arrives as key presses from typing, for terminals without bracketed paste."""

from enum import Enum, auto

BURST_SECONDS = 0.01
"""Keys closer together than this were not typed."""


class Enter(Enum):
    """What an editor does about a key."""

    TYPED = auto()
    """The key is what it seems."""
    HELD = auto()
    """An Enter right behind a burst: wait a moment whether more follows."""
    BREAK = auto()
    """An Enter inside a paste: a line break."""
    BREAK_FIRST = auto()
    """A key right behind a held Enter: that one was a line break."""


class KeyPaste:
    """Watches keys go by, by the times at which they were read."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._pasting = False
        self.held = False
        """Whether an Enter waits to be told what it was."""

    def see(self, *, enter: bool, time: float) -> Enter:
        """Judge a text key or Enter that was read at `time` (seconds, monotonic)."""
        quick = time - self._last < BURST_SECONDS
        self._last = time
        if not quick:
            self._pasting = False
            return Enter.TYPED
        if self.held:
            self.held, self._pasting = False, True
            return Enter.BREAK_FIRST
        if not enter:
            return Enter.TYPED
        if self._pasting:
            return Enter.BREAK
        self.held = True
        return Enter.HELD

    def release(self) -> bool:
        """Nothing followed: tells whether an Enter was held, and lets go of it. The next key counts as typed."""
        held, self.held = self.held, False
        self._last = float("-inf")
        return held
