"""Where words stand in an entry: counted in its source, found in its rows. No widget in here."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory.text import clean
from orca_tui.render.call import call_text
from orca_tui.render.entry import Entry
from orca_tui.render.line import Line

MOST_TERMS = 40
MOST_LENGTH = 200
"""How much is searched for; what is more is left out."""


class Piece(NamedTuple):
    """Characters of one row."""

    row: int
    start: int
    end: int


Hit = tuple[Piece, ...]
"""One place, which may take several rows."""


class Terms:
    """What is searched for: any of these, upper and lower case alike, blanks in them matching any blanks."""

    def __init__(self, terms: Sequence[str]) -> None:
        words = {" ".join(clean(term[:MOST_LENGTH]).split()) for term in terms[:MOST_TERMS]}
        self.words = sorted(filter(None, words), key=lambda word: (-len(word), word))
        self._lowered = [word.lower() for word in self.words]
        parts = [r"\s+".join(map(re.escape, word.split(" "))) for word in self.words]
        self._pattern = re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)

    def __bool__(self) -> bool:
        return bool(self.words)

    def count(self, entry: Entry) -> int:
        """About how often they stand in an entry, folded or not; costs next to nothing."""
        return self.count_text(searched(entry))

    def count_text(self, text: str) -> int:
        """The same for a text."""
        lowered = text.lower()
        return sum([lowered.count(word) for word in self._lowered])

    def find(self, rows: Sequence[Line], first: int) -> list[Hit]:
        """Where they stand in rows, of which the first has the number `first`. Rows that fold are left out."""
        texts, starts, at = [], [], 0
        for index, line in enumerate(rows):
            joint = (line.joint or "") if index else ""
            own = "" if line.kind == "fold" else line.text
            texts += [joint, own]
            starts.append(at + len(joint))
            at += len(joint) + len(own)
        return [
            tuple(_pieces(match.start(), match.end(), starts, texts, first))
            for match in self._pattern.finditer("".join(texts))
        ]


def _pieces(start: int, end: int, starts: list[int], texts: list[str], first: int) -> Iterator[Piece]:
    row = max(0, bisect_right(starts, start) - 1)
    while row < len(starts) and starts[row] < end:
        left, right = max(start - starts[row], 0), min(end - starts[row], len(texts[2 * row + 1]))
        if right > left:
            yield Piece(first + row, left, right)
        row += 1


def searched(entry: Entry) -> str:
    """All of an entry that is searched."""
    if entry.kind == "tool":
        return f"{entry.title}\n{call_text(entry)}\n{entry.note}"
    if not (entry.reasoning or entry.note or entry.title):
        return entry.text
    return "\n".join((entry.title, entry.reasoning, entry.text, entry.note))
