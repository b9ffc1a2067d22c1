"""Heights of many entries: where each begins, and which one a row belongs to."""

from bisect import bisect_right
from itertools import accumulate


class Heights:
    """A list of heights with their running totals, which are brought up to date when they are asked for."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._tops: list[int] = [0]
        """Where each entry begins, and the total at the end; right up to `_valid`."""
        self._valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def reset(self, heights: list[int]) -> None:
        """Take other heights."""
        self._heights = heights
        self._tops = [0]
        self._valid = 0

    def append(self, height: int) -> None:
        """Add an entry at the end."""
        self._heights.append(height)

    def cut(self, length: int) -> None:
        """Keep the first `length` entries."""
        del self._heights[length:]
        self._valid = min(self._valid, length)

    def set(self, index: int, height: int) -> None:
        """Change one height."""
        if self._heights[index] != height:
            self._heights[index] = height
            self._valid = min(self._valid, index)

    @property
    def total(self) -> int:
        """Rows of all entries."""
        return self.top(len(self._heights))

    def top(self, index: int) -> int:
        """First row of an entry; of one behind the last: the total."""
        if index > self._valid or len(self._tops) <= index:
            start = self._valid
            del self._tops[start + 1 :]
            more = accumulate(self._heights[start:], initial=self._tops[start])
            next(more)
            self._tops.extend(more)
            self._valid = len(self._heights)
        return self._tops[index]

    def find(self, row: int) -> tuple[int, int]:
        """The entry that a row belongs to, and the row's place in it; the nearest when there is no such row."""
        if not self._heights:
            return 0, 0
        total = self.total
        row = max(0, min(row, total - 1))
        index = max(0, min(bisect_right(self._tops, row) - 1, len(self._heights) - 1))
        return index, row - self._tops[index]
