"""Where a reply is gone on with: words that the model repeats of its end, though it was told not to, are left out."""

LEAST = 12
"""Characters that a repetition has at least; a whole last line may be shorter."""
LEAST_LETTERS = 4
"""Letters and digits in it: rules, brackets and blanks may well come twice."""
LOOKED_AT = 2_000
"""Characters of the end that are looked for."""


class Joint:
    """Takes the pieces of what follows `before`; gives them back without a beginning that repeats the end of it.

    A piece is held for as long as it may still turn out to be such a repetition.
    """

    def __init__(self, before: str) -> None:
        end = before[-LOOKED_AT:]
        last_line = end.rpartition("\n")[2]
        ends = (end[start:] for start in range(len(end)))
        self._repeatable = [
            each
            for each in ends
            if (len(each) >= LEAST or each == last_line) and sum(map(str.isalnum, each)) >= LEAST_LETTERS
        ]
        """Longest first."""
        self._held = ""
        self._found = ""

    def feed(self, piece: str) -> str:
        """What of all that has come may go on now."""
        if not self._repeatable:
            return piece
        self._held = held = self._held + piece
        whole = next((each for each in self._repeatable if held.startswith(each)), "")
        self._found = whole if len(whole) > len(self._found) else self._found
        self._repeatable = [each for each in self._repeatable if len(each) > len(held) and each.startswith(held)]
        return "" if self._repeatable else self.finish()

    def finish(self) -> str:
        """The rest, when nothing follows."""
        self._repeatable = []
        rest, self._held = self._held[len(self._found) :], ""
        return rest
