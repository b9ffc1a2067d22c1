"""What a reply was given from memory: each item with its tier, tokens and the parts of its score, drawn as a bar."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content
from textual.message import Message

from memory.clock import SystemClock
from memory.text import label
from memory.types import Injection, LongTermMemory, ScoreParts
from orca_tui.figures import age, count
from orca_tui.i18n import _
from orca_tui.memory_keys import memory_bindings
from orca_tui.messages import DeedAsked
from orca_tui.widgets.budget_bar import TIERS, stacked_bar, tier_name
from orca_tui.widgets.line_list import LineList, Row, split_line, text_row, wrapped_rows
from orca_tui.widgets.memory_list import state_word

BAR_CELLS = 24
TEXT_LINES = 3
COLORS = ("$tier-working", "$tier-short-term", "$tier-long-term", "$success", "$warning", "$primary", "$muted", "$link")


@dataclass(frozen=True, slots=True)
class Given:
    """One item that a reply was given."""

    injection: Injection
    text: str
    """As it is now; empty when it is gone."""
    timestamp: str
    memory: LongTermMemory | None
    """As it is now; `None` when it is a summary or a message, or gone."""


class WhyList(LineList):
    """Items by rank. Enter opens one; the keys of the memory screen act on it."""

    BINDINGS = memory_bindings(
        "trash", "archive", "pin", "edit", "promote", "demote", "restore", "erase", "undo", "source", "next", "previous"
    )

    @dataclass
    class Chosen(Message):
        """An item is to be looked at."""

        given: Given

    class Moved(Message):
        """The cursor is on another item."""

    def __init__(self, *, id: str | None = None, now: Callable[[], str] | None = None) -> None:  # noqa: A002
        """`now` tells the time that ages are reckoned from (default: the system clock)."""
        super().__init__(id=id)
        self._now = now or SystemClock().now
        self._given: dict[int, Given] = {}
        self._empty = ""

    def show(self, given: Sequence[Given], empty: str) -> None:
        """Show these; `empty` says why there is none."""
        self._given = {one.injection.rank: one for one in given}
        self._empty = empty
        self.rebuild()

    @property
    def given(self) -> list[Given]:
        """All that is shown."""
        return list(self._given.values())

    @property
    def current(self) -> Given | None:
        """The item under the cursor."""
        return self._given.get(self.cursor_key) if isinstance(self.cursor_key, int) else None

    def choose(self, key: Hashable) -> None:
        """Tell which one."""
        if isinstance(key, int):
            self.post_message(self.Chosen(self._given[key]))

    def cursor_moved(self) -> None:
        """Tell it."""
        self.post_message(self.Moved())

    def action_deed(self, deed: str) -> None:
        """Tell what is to be done to the item under the cursor."""
        found = self.current
        if found is None:
            self.post_message(DeedAsked(deed, None, 0))
        else:
            self.post_message(DeedAsked(deed, found.injection.kind, found.injection.item_id))

    def build(self, width: int) -> Sequence[Row]:
        """All items, with a blank line between."""
        if not self._given:
            return wrapped_rows(self._empty, width - 2, "$muted")
        rows: list[Row] = []
        for rank, given in self._given.items():
            rows += [text_row()] if rows else []
            rows.append(Row(partial(self._head, given, width), rank))
            rows += [Row(lambda line=line: line, rank) for line in self._text(given, width)]  # type: ignore[misc]
            rows += [Row(lambda line=line: line, rank) for line in _score(given.injection.parts, width)]  # type: ignore[misc]
        return rows

    def _head(self, given: Given, width: int) -> Content:
        injection = given.injection
        sign, color = TIERS[injection.tier]
        kind = {"message": _("message"), "short_term": _("summary"), "long_term": _("memory")}[injection.kind]
        facts = [kind, age(given.timestamp, self._now())]
        if given.memory is not None:
            facts += [label(given.memory.branch, 40), state_word(given.memory)]
        left = Content.assemble((f"{sign} ", color), (tier_name(injection.tier), "bold"))
        left += Content.styled("  " + " · ".join(filter(None, facts)), "$muted")
        return split_line(left, Content.styled(_("{n} tokens", n=count(injection.tokens)), "$muted"), width)

    def _text(self, given: Given, width: int) -> list[Content]:
        text = label(given.text[:2000], 600) or _("It is gone: erased for good, or its session with it.")
        lines = Content(text).wrap(max(8, width - 3))
        if len(lines) > TEXT_LINES:
            lines = lines[:TEXT_LINES]
            lines[-1] = (lines[-1].rstrip() + Content(" …")).truncate(max(8, width - 3), ellipsis=True)
        return [Content("  ") + line for line in lines]


def score_parts(parts: ScoreParts) -> list[tuple[str, float]]:
    """What was added to the total, by name, in a fixed order."""
    named = [
        (_("meaning"), parts.vector),
        (_("words"), parts.text),
        (_("importance"), parts.importance),
        (_("recency"), parts.recency),
        (_("heat"), parts.heat),
        (_("branch"), parts.branch),
        (_("context"), parts.context),
        (_("form"), parts.form),
    ]
    return [(name, value) for name, value in named if value]


def _score(parts: ScoreParts, width: int) -> list[Content]:
    """The total as a bar of its parts, then each part with its number."""
    found = score_parts(parts)
    if not found and not parts.total:
        return [Content.styled("  " + _("goes by its age or use, not by a score"), "$muted")]
    positive = sum(value for _name, value in found if value > 0) or 1.0
    colors = dict(zip((name for name, _value in found), COLORS, strict=False))
    shares = [(value / positive, colors[name]) for name, value in found if value > 0]
    line = Content("  ")
    if width >= 60:
        line += stacked_bar(BAR_CELLS, shares) + Content(" ")
    line += Content.styled(f"{parts.total:.2f}", "bold")
    told = [Content.assemble(("■ ", colors[name]), (f"{name} {value:+.2f}", "$muted")) for name, value in found]
    if parts.coverage:
        told.append(Content.styled(_("covers {share} of the words", share=f"{parts.coverage:.0%}"), "$muted"))
    lines = [line]
    for one in told:
        if lines[-1].cell_length + one.cell_length + 2 > width:
            lines.append(Content("  "))
        lines[-1] += Content("  " if len(lines) == 1 else "") + one + Content("" if len(lines) == 1 else "  ")
    return lines
