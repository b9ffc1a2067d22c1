"""What is remembered of a block at the end of a growing text: how much of it is settled, and how it goes on."""

from dataclasses import dataclass

from orca_tui.render.line import Line, Span
from orca_tui.render.table import TablePlan


@dataclass(slots=True)
class OpenParagraph:
    """A paragraph whose beginning is settled. `carry` is its last row so far: the next piece goes on in it."""

    carry: list[Span]
    joint: str


@dataclass(slots=True)
class OpenTable:
    """A table whose first rows are settled; `head` is the source of its header, to parse the others with."""

    head: str
    plan: TablePlan


@dataclass(slots=True)
class OpenList:
    """A list whose first items are settled; `number` is what the next one is counted."""

    opening: tuple[str, str]
    number: int


@dataclass(slots=True)
class Laid:
    """What became of one block."""

    settled: list[Line]
    tail: list[Line]
    keep: int
    """Where the source that is not settled begins in the rest."""
    open: OpenParagraph | OpenTable | OpenList | None = None
    blank: bool = False
