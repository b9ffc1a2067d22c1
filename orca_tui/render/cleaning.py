"""Cleaning of text that arrives in pieces: nothing depends on where the pieces were cut.

`memory.text.clean` looks at neighbours (CRLF, colour sequences, joiners, marks), so the end of what has arrived can
still change. It is cut before the last character that surely begins something new; what follows is provisional.
"""

import re

from memory.text import clean

_FRESH = re.compile("[\x20-\x7e\u3000-\u3029\u3030-\u9fff\uac00-\ud7a3\uff01-\uff60]")
"""Characters that no earlier one goes on in."""
_UNFINISHED = re.compile("(?:\r|\x1b|(?:\x1b\\[|\x9b)[0-9;:]*)$")
"""What may be half of a line break or of a colour sequence."""
_SEARCHED = 256
"""Characters of the end that are searched for a place to cut."""


class Cleaner:
    """One text that grows."""

    def __init__(self) -> None:
        self._raw = ""

    def add(self, raw: str) -> tuple[str, str]:
        """Take more text. Returns what is clean for good, and what may still change (and comes again)."""
        raw = self._raw + raw
        end = self._end(raw)
        self._raw = raw[end:]
        return clean(raw[:end]), clean(self._raw)

    def end(self) -> str:
        """The text is over; what was provisional, for good."""
        raw, self._raw = self._raw, ""
        return clean(raw)

    @staticmethod
    def _end(raw: str) -> int:
        least = max(0, len(raw) - _SEARCHED)
        for at in range(len(raw) - 1, least, -1):
            if _FRESH.match(raw[at]) and not _UNFINISHED.search(raw, max(0, at - _SEARCHED), at):
                return at
        return 0 if len(raw) < 8 * _SEARCHED else least
