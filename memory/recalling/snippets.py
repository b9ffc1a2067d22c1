"""The piece of a found text that shows why it was found, with the places of the words."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from memory.store.search import is_unspaced, terms_of_word

LOOKED_AT = 50_000
"""Characters of a text in which a first place is looked for."""
BEFORE = 24
"""Characters shown before the first place."""
_WORD = re.compile(r"[\w.+#'\-@&:]+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text in one line."""

    text: str
    places: tuple[tuple[int, int], ...]
    """Beginning and end of every word that was looked for."""


def snippet(text: str, wanted: Collection[str], length: int) -> Snippet:
    """At most `length` characters (and an ellipsis) around the first of the `wanted` terms, else from the beginning.

    `wanted` is what `memory.store.search.query_terms` gives.
    """
    first = next(places(text[:LOOKED_AT], wanted), (0, 0))
    start = max(0, first[0] - BEFORE) if first[1] > length else 0
    piece = " ".join(text[start : start + length].split())
    if start:
        piece = "…" + piece
    if start + length < len(text):
        piece += "…"
    return Snippet(piece, tuple(_joined(places(piece, wanted))))


def _joined(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbours as one: single characters of one Chinese word."""
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def places(text: str, wanted: Collection[str]) -> Iterator[tuple[int, int]]:
    """Where the terms stand in a text, as beginning and end."""
    wanted = frozenset(wanted)
    if not wanted:
        return
    for match in _WORD.finditer(text):
        start = match.start()
        for piece in re.finditer(r"\S", match[0]) if is_unspaced(match[0]) else ():
            at = start + piece.start()
            single, pair, last = text[at], text[at : at + 2], text[max(start, at - 1) : at + 1]
            if not wanted.isdisjoint((single, pair, last)):
                yield at, at + 1
        if not is_unspaced(match[0]) and not wanted.isdisjoint(terms_of_word(match[0])):
            yield start, match.end()
