"""What the next prompt takes from memory: a section a tier, with its budget, its items, and why each is there."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content
from textual.message import Message

from memory.clock import SystemClock
from memory.text import label
from memory.types import ContextItem, ContextReport, ItemKind, ScoreParts, Tier, TierUse
from orca_tui.figures import age, count, short_count
from orca_tui.i18n import _
from orca_tui.memory_keys import memory_bindings
from orca_tui.messages import CommandChosen, DeedAsked
from orca_tui.widgets.budget_bar import TIERS, budget_line, budget_numbers, stacked_bar
from orca_tui.widgets.line_list import LineList, Row, split_line, text_row, wrapped_rows

SHOWN = {"working": 6, "short_term": 5, "long_term": 20}
"""Items of a tier that are shown before it is unfolded."""
ROLE_CELLS = 5
MANY = 100
"""From so many in the inbox their number is not told exactly."""

Key = tuple[str, str, int]
"""Of an item: tier, kind, id. Of the line that unfolds a tier: tier, `more`, 0."""


class MemorySidebar(LineList):
    """The column to the right of the chat."""

    DEFAULT_CSS = """
    MemorySidebar { padding: 0 0 0 1; }
    """

    BINDINGS = memory_bindings("trash", "archive", "pin", "edit", "promote", "demote", "undo")

    @dataclass
    class ItemChosen(Message):
        """An item was chosen. `kind` says which table `id` belongs to."""

        kind: ItemKind
        id: int

    def __init__(self, *, id: str | None = None, now: Callable[[], str] | None = None) -> None:  # noqa: A002
        """`now` tells the time that ages are reckoned from (default: the system clock)."""
        super().__init__(id=id)
        self._now = now or SystemClock().now
        self._report: ContextReport | None = None
        self._unfolded: set[str] = set()
        self._moment = ""
        self._inbox: tuple[int, str] = (0, "")

    def show_inbox(self, waiting: int, key: str) -> None:
        """Say how many wait for review, and the key that leads there."""
        if (waiting, key) != self._inbox:
            self._inbox = (waiting, key)
            self.rebuild()

    def show(self, report: ContextReport | None) -> None:
        """Show where the tokens go; `None` before anything is known."""
        self._report = report
        self._moment = self._now()
        self.rebuild()

    def choose(self, key: Hashable) -> None:
        """Tell which item it is, or unfold its tier."""
        match key:
            case (str(tier), "more", _):
                self._unfolded ^= {tier}
                self.rebuild()
            case (str(), "message" | "short_term" | "long_term" as kind, int(item_id)):
                self.post_message(self.ItemChosen(kind, item_id))
            case (str(), "inbox", _):
                self.post_message(CommandChosen("memories", "inbox"))

    def action_deed(self, deed: str) -> None:
        """A key: what is to be done to the item under the cursor."""
        match self.cursor_key:
            case (str(), "message" | "short_term" | "long_term" as kind, int(item_id)):
                self.post_message(DeedAsked(deed, kind, item_id))
            case _:
                self.post_message(DeedAsked(deed, None, 0))

    def build(self, width: int) -> Sequence[Row]:
        """The whole column."""
        rows = [*self._head(width), *self._review()]
        for tier in TIERS:
            rows.append(text_row())
            rows += self._section(tier, self._use(tier), width)
        return rows

    def _review(self) -> list[Row]:
        """What waits in the inbox; no line when nothing does."""
        waiting, key = self._inbox
        if not waiting:
            return []
        told = _("{n} to review", n=f"{MANY - 1}+" if waiting >= MANY else waiting)
        return [text_row(f"? {told}{f' · {key}' if key else ''}", "$warning", ("", "inbox", 0))]

    def _use(self, tier: Tier) -> TierUse:
        if self._report is None:
            return TierUse(tier, 0, 0, (), 0)
        return next(use for use in self._report.tiers if use.tier == tier)

    def _head(self, width: int) -> list[Row]:
        """All tiers together, against the budget and the window."""
        title = Content.styled(_("Memory"), "bold $heading")
        report = self._report
        if report is None:
            return [Row(lambda: title), Row(partial(stacked_bar, width, []))]
        used = sum(use.used for use in report.tiers)
        numbers = Content.styled(budget_numbers(used, report.budget), "bold $tier-over" if used > report.budget else "")
        parts = [(use.used / max(1, report.budget), TIERS[use.tier][1]) for use in report.tiers]
        window = _(
            "prompt {used} of {window}", used=short_count(report.prompt_tokens), window=count(report.window.tokens)
        )
        estimated = _("estimated") if report.window.source == "estimated" else ""
        foot = split_line(Content.styled(window, "$muted"), Content.styled(estimated, "italic $warning"), width)
        return [
            Row(lambda: split_line(title, numbers, width)),
            Row(partial(stacked_bar, width, parts)),
            Row(lambda: foot),
        ]

    def _section(self, tier: Tier, use: TierUse, width: int) -> list[Row]:
        """One tier: budget line, items, what was left out."""
        rows = [Row(partial(budget_line, width, tier, use.used, use.budget, numbers_cells=self._numbers_cells()))]
        if not use.items:
            rows += wrapped_rows(_teach(tier), width, "$muted")
        hidden = max(0, len(use.items) - SHOWN[tier])
        newest_last = tier == "working"
        folded = hidden > 0 and tier not in self._unfolded
        items = use.items
        if folded:
            items = items[hidden:] if newest_last else items[:-hidden]
        more = self._more(tier, hidden, folded) if hidden else []
        shown = [row for item in items for row in self._item(tier, item, width)]
        rows += [*more, *shown] if newest_last else [*shown, *more]
        if use.left_out:
            rows.append(text_row("  " + _("{n} left out", n=count(use.left_out)), "italic $muted"))
        return rows

    def _numbers_cells(self) -> int:
        """The widest numbers of the three budget lines, so that their bars end in one column."""
        tiers = self._report.tiers if self._report is not None else ()
        return max((len(budget_numbers(use.used, use.budget)) for use in tiers), default=0)

    def _more(self, tier: Tier, hidden: int, folded: bool) -> list[Row]:
        earlier = _("{n} earlier", n=count(hidden)) if tier == "working" else _("{n} more", n=count(hidden))
        return [text_row(f"… {earlier}" if folded else "… " + _("show fewer"), "$muted", (tier, "more", 0))]

    def _item(self, tier: Tier, item: ContextItem, width: int) -> list[Row]:
        key: Key = (tier, item.kind, item.id)
        if tier == "working":
            return [Row(partial(_message_line, item, width), key)]
        return [Row(partial(_memory_line, tier, item, width), key), Row(partial(self._why_line, item, width), key)]

    def _why_line(self, item: ContextItem, width: int) -> Content:
        facts = [age(item.timestamp, self._moment)]
        if item.parts is not None:
            facts.append(f"{item.parts.total:.2f} {_reason(item.parts)}".strip())
        if item.branch:
            facts.append(label(item.branch, 32))
        left = Content.styled("  " + " · ".join(filter(None, facts)), "$muted")
        return split_line(left, Content.styled(short_count(item.tokens), "$muted"), width)


def _message_line(item: ContextItem, width: int) -> Content:
    """Who, the first words, and the tokens."""
    who = {"user": _("you"), "assistant": _("orca"), "tool": _("tool")}.get(item.role or "", _("note"))
    style = "bold $user-bar" if item.role == "user" else "$muted"
    left = Content.styled(who, style).truncate(ROLE_CELLS, pad=True) + Content(_first_words(item.text))
    return split_line(left, Content.styled(short_count(item.tokens), "$muted"), width)


def _memory_line(tier: Tier, item: ContextItem, width: int) -> Content:
    line = Content.assemble(("▏ ", TIERS[tier][1]), _first_words(item.text))
    return line.truncate(width, ellipsis=True)


def _first_words(text: str) -> str:
    return label(text[:400], 200)


def _reason(parts: ScoreParts) -> str:
    """What weighed most in the rank."""
    weights = {
        _("by meaning"): parts.vector,
        _("by words"): parts.text,
        _("important"): parts.importance,
        _("recent"): parts.recency,
        _("often used"): parts.heat,
        _("by branch"): parts.branch,
        _("by what was said around it"): parts.context,
        _("looks like an answer"): parts.form,
    }
    reason, weight = max(weights.items(), key=lambda pair: pair[1])
    return reason if weight > 0 else ""


def _teach(tier: Tier) -> str:
    """What will be here, and how it gets here."""
    match tier:
        case "working":
            return _("Nothing yet. The newest messages show here, word for word.")
        case "short_term":
            return _("Nothing yet. Each turn is summed up here in a sentence or two.")
        case "long_term":
            return _("Nothing yet. Facts you tell orca will show here.")
