"""When streaming entries are laid out: at most `RATE` times a second, less often when it is slow, never when idle."""

from collections.abc import Callable
from time import monotonic, thread_time

from textual.timer import Timer
from textual.widget import Widget

from orca_tui.render.ledger import Ledger

RATE = 30
"""Times a second that new text is drawn."""
SHARE = 4
"""Laying out may take one part in this of the time: after a slow one the next waits longer."""
BUDGET = 0.01
"""Seconds of work after which a tick takes no other slice of a text that waits."""
IDLE_TICKS = 10
"""Ticks without text after which the timer stops."""


class Feed:
    """Drives the growing entries of a ledger. `flushed` is told the first row that is another now."""

    def __init__(self, widget: Widget, ledger: Ledger, flushed: Callable[[int], None]) -> None:
        self._widget = widget
        self._ledger = ledger
        self._flushed = flushed
        self._timer: Timer | None = None
        self._idle = 0
        self._not_before = 0.0

    @property
    def running(self) -> bool:
        """Whether the timer runs."""
        return self._timer is not None

    def wake(self) -> None:
        """There may be text to lay out: the first is drawn at once, more with the timer."""
        if self._timer is None and self._widget.is_running and self._ledger.width:
            self._idle = 0
            self._timer = self._widget.set_interval(1 / RATE, self.tick)
            self._widget.call_next(self.flush)

    def tick(self) -> None:
        """The timer's turn."""
        if monotonic() >= self._not_before:
            self._idle = 0 if self.flush() else self._idle + 1
        if self._idle >= IDLE_TICKS and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def flush(self) -> bool:
        """Lay out what has come, slice by slice, as long as that is quick. True when there was something."""
        started = thread_time()
        changed: list[int] = []
        while indexes := self._ledger.advance():
            changed += [self._ledger.first_changed(index) for index in indexes]
            if thread_time() - started > BUDGET:
                break
        if changed:
            self._flushed(min(changed))
            self._not_before = monotonic() + (thread_time() - started) * (SHARE - 1) - 1 / RATE
        return bool(changed)
