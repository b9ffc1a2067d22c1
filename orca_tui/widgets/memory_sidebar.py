"""What the next prompt takes from memory: a section a tier, with its budget, its items, and why each is there."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message

from memory.clock import SystemClock
from memory.text import label
from memory.types import ContextItem, ContextReport, ItemKind, ScoreParts, Tier, TierUse
from orca_tui.figures import age, count, short_count
from orca_tui.i18n import _
from orca_tui.memory_keys import memory_bindings
from orca_tui.messages import CommandChosen, DeedAsked
from orca_tui.recalled import Picture
from orca_tui.widgets.budget_bar import TIERS, budget_line, budget_numbers, stacked_bar
from orca_tui.widgets.line_list import LineList, Row, split_line, text_row, wrapped_rows

SHOWN = {"working": 6, "short_term": 5, "long_term": 20}
"""Items of a tier that are shown before it is unfolded."""
ROLE_CELLS = 5
LEAST_TITLE = 6
"""Cells of a session's title below which it says nothing."""
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
        self._picture: Picture | None = None
        self._unfolded: set[str] = set()
        self._moment = ""
        self._inbox: tuple[int, str] = (0, "")

    def show_inbox(self, waiting: int, key: str) -> None:
        """Say how many wait for review, and the key that leads there."""
        if (waiting, key) != self._inbox:
            self._inbox = (waiting, key)
            self.rebuild()

    def show(self, picture: Picture | None) -> None:
        """Show where the tokens go; `None` before anything is known."""
        self._picture = picture
        self._report = picture.report if picture is not None else None
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
        for tier in TIERS if self._report is not None else ():
            rows.append(text_row())
            if tier == "short_term" and self._picture is not None:
                told = _("Given to the newest reply") if self._picture.of_reply else _("For the next reply")
                if self._picture.is_earlier:
                    told = _("Given to the chosen reply")
                rows.append(text_row(told, "italic $muted"))
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
            return [Row(lambda: title), text_row("…", "$muted")]
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
            rows += wrapped_rows(self._empty(tier), width, "$muted")
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
        return [Row(partial(_recalled_line, tier, item, width), key), Row(partial(self._why_line, item, width), key)]

    def _why_line(self, item: ContextItem, width: int) -> Content:
        """When, why, and where from. A branch is named whole or, when there is no room, not at all."""
        tokens = Content.styled(short_count(item.tokens), "$muted")
        facts = [age(item.timestamp, self._moment), _reason(item.parts) if item.parts is not None else ""]
        line = "  " + " · ".join(filter(None, facts))
        room = width - cell_len(line) - tokens.cell_length - 4
        if item.branch and cell_len(branch := label(item.branch, 40)) <= room:
            line += f" · {branch}"
        elif item.kind == "message" and self._picture is not None and item.id in self._picture.origins:
            title = label(self._picture.origins[item.id], 40) or _("Untitled")
            room -= cell_len(_("from “{title}”", title=""))
            if room >= LEAST_TITLE:
                cut = Content(title).truncate(room, ellipsis=True).plain
                line += " · " + _("from “{title}”", title=cut)
        return split_line(Content.styled(line, "$muted"), tokens, width)

    def _empty(self, tier: Tier) -> str:
        """Why there is nothing in a tier, or what will be."""
        shown = self._picture
        if shown is not None and tier != "working" and shown.without_memory:
            return _("Nothing: it was asked for without memory.")
        if shown is not None and tier == "short_term" and shown.summaries == 1 and shown.all_above:
            return _("1 summary; its turn is above, word for word.")
        if shown is not None and tier == "short_term" and shown.summaries and shown.all_above:
            return _("{n} summaries; their turns are above, word for word.", n=count(shown.summaries))
        if shown is not None and tier == "short_term" and shown.summaries:
            return _("{n} summaries; none was needed.", n=count(shown.summaries))
        if shown is not None and tier == "long_term" and shown.of_reply:
            return _("Nothing: no memory fitted what you wrote.")
        return _teach(tier)


def _who(item: ContextItem) -> Content:
    who = {"user": _("you"), "assistant": _("orca"), "tool": _("tool")}.get(item.role or "", _("note"))
    style = "bold $user-bar" if item.role == "user" else "$muted"
    return Content.styled(who, style).truncate(ROLE_CELLS, pad=True)


def _message_line(item: ContextItem, width: int) -> Content:
    """Who, the first words (of a message that only asks for tools, their sign), and the tokens."""
    left = _who(item) + Content(_first_words(item.text) or "⚙")
    return split_line(left, Content.styled(short_count(item.tokens), "$muted"), width)


def _recalled_line(tier: Tier, item: ContextItem, width: int) -> Content:
    """The first words; of a message, who said it."""
    line = Content.styled("▏ ", TIERS[tier][1]) + (_who(item) if item.kind == "message" else Content(""))
    return (line + Content(_first_words(item.text))).truncate(width, ellipsis=True)


def _first_words(text: str) -> str:
    return label(text[:400], 200)


def _reason(parts: ScoreParts) -> str:
    """What spoke most for it, in a word; empty when nothing did."""
    weights = {
        _("meaning"): parts.vector,
        _("words"): parts.text,
        _("important"): parts.importance,
        _("recent"): parts.recency,
        _("often used"): parts.heat,
        _("context"): parts.context,
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
