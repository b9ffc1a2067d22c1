"""The search in a ledger of entries: how many places there are, which one is looked at, where it is."""

from collections.abc import Sequence
from typing import NamedTuple

from orca_tui.render.folding import View
from orca_tui.render.hits import Hit, Terms
from orca_tui.render.ledger import Ledger

NOTHING = Terms(())
MOST_TRIES = 100
"""Entries that are laid out in one step, when they turn out to show none of what their source holds."""


class Spot(NamedTuple):
    """One place: which entry, and the how manieth in it."""

    entry: int
    number: int


class Search:
    """What is searched for in the entries of one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.terms = NOTHING
        self.spot: Spot | None = None
        """Where the search is; `None` before the first step."""
        self.hit: Hit = ()
        """The rows of it, at the present width."""
        self._counts: list[int] = []
        self._stale = True

    def look_for(self, terms: Sequence[str]) -> None:
        """Search for something else; no terms end the search."""
        self.terms = Terms(terms)
        self.spot, self.hit = None, ()
        self._stale = True

    def changed(self) -> None:
        """The entries are others, or stand elsewhere."""
        self._stale = True

    @property
    def total(self) -> int:
        """How many places there are."""
        return sum(self._fresh())

    @property
    def position(self) -> int:
        """The how manieth of all is looked at, from 1 on; 0: none."""
        if self.spot is None:
            return 0
        return sum(self._fresh()[: self.spot.entry]) + self.spot.number + 1

    def step(self, direction: int, start: int) -> bool:
        """Go to the next place (1) or the one before (-1); from entry `start` when there was no step yet.

        What is folded there is unfolded. Tells whether there is a place.
        """
        counts, spot = self._fresh(), self.spot
        for _try in range(min(len(counts) + 1, MOST_TRIES)):
            spot = self._after(spot, direction, start)
            if spot is None:
                break
            if self._reach(spot):
                return True
            spot = Spot(spot.entry, max(0, counts[spot.entry] - 1) if direction > 0 else 0)
        self.hit = ()
        self.spot = spot
        return False

    def enter(self, entry: int) -> bool:
        """Go to the first place in an entry; tells whether there is one."""
        return bool(self._fresh()[entry]) and self._reach(Spot(entry, 0))

    def locate(self) -> None:
        """Find the place again: rows are laid out anew."""
        if self.spot is not None:
            hits = self._hits(self.spot.entry)
            self.hit = hits[min(self.spot.number, len(hits) - 1)] if hits else ()

    def _fresh(self) -> list[int]:
        if self._stale:
            self._stale = False
            counts = [self.terms.count(item.whole()) for item in self._ledger.items] if self.terms else []
            self._counts = counts or [0] * len(self._ledger.items)
            if self.spot is not None and self.spot.entry >= len(self._counts):
                self.spot, self.hit = None, ()
        return self._counts

    def _after(self, spot: Spot | None, direction: int, start: int) -> Spot | None:
        """The next spot by what was counted; number -1 is the last of an entry."""
        counts = self._counts
        size = len(counts)
        if spot is not None and 0 <= spot.number + direction < counts[spot.entry]:
            return Spot(spot.entry, spot.number + direction)
        first = start if spot is None else spot.entry + direction
        for turn in range(size):
            entry = (first + direction * turn) % size
            if counts[entry]:
                return Spot(entry, 0 if direction > 0 else -1)
        return None

    def _reach(self, spot: Spot) -> bool:
        """Unfold what hides places in an entry, and learn how many there really are; false when it has fewer."""
        entry = spot.entry
        layout = self._ledger.lay(entry)
        if self.terms.count_text(layout.hidden):
            self._ledger.look(entry, View(thought=True, text=True, raw=layout.view.raw))
        hits = self._hits(entry)
        self._counts[entry] = len(hits)
        number = spot.number if spot.number >= 0 else len(hits) - 1
        if not 0 <= number < len(hits):
            return False
        self.spot, self.hit = Spot(entry, number), hits[number]
        return True

    def _hits(self, entry: int) -> list[Hit]:
        layout = self._ledger.whole_rows(entry)
        first = layout.head_height
        return self.terms.find([layout.row(at) for at in range(first, layout.height)], first)
