"""One parse of the end of a growing text: its lines, its blocks, and which of them can no longer change."""

from itertools import accumulate

from orca_tui.render.blocks import Block, is_blank
from orca_tui.render.parser import LONG_LINE

_SIGNS = " \t>*+-_"


class Source:
    """The source of one parse, by lines: the rest, behind `lead`."""

    def __init__(self, lead: str, rest: str) -> None:
        self.text, self.lead = lead + rest, len(lead)
        self.lines = self.text.split("\n")
        self._starts = [0, *accumulate([len(line) + 1 for line in self.lines])]

    def offset(self, line: int) -> int:
        """Where a line begins in the rest."""
        return max(0, self._starts[line] - self.lead)

    def between(self, first: int, end: int) -> str:
        """The text of some lines."""
        return self.text[self._starts[first] : self._starts[end]]

    def firm(self, blocks: list[Block]) -> int:
        """How many blocks can no longer change. The last one can; the one above it too, when what ends it is a line
        that is not complete: it may turn out to go on."""
        count = len(blocks) - 1
        last = blocks[-1] if blocks else Block((), 0, 0)
        if count < 1 or last.start + 1 < len(self.lines) or is_blank(self.lines[last.start - 1]):
            return count
        line = self.lines[last.start]
        certain = len(line) > LONG_LINE or (last.kind in ("quote", "list") and line.strip(_SIGNS))
        return count if certain else count - 1


def opening(block: Block) -> tuple[str, str]:
    """What tells one list from the next."""
    return block.tokens[0].type, block.tokens[0].markup
