"""The status line: what goes on, who answers, how full the context is, and how memory is doing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from textual.content import Content
from textual.widget import Widget

from memory.text import label
from memory.types import ContextWindow
from orca_tui.figures import short_count
from orca_tui.i18n import _
from orca_tui.widgets.budget_bar import stacked_bar

GAUGE_CELLS = 10
HIGH, FULL = 0.8, 1.0
"""Shares of the window from which the gauge warns."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the bar knows."""

    activity: str = ""
    """What is going on (`streaming`, `waiting 3 s`); empty at rest."""
    model: str = ""
    tiny: bool = False
    """Whether the model is the very small built-in one."""
    window: ContextWindow | None = None
    used: int = 0
    """Tokens of the prompt."""
    waiting: int = 0
    """Items that wait for an embedding."""
    queue_status: str = "idle"
    """`idle`, `working`, `paused` or `off`."""
    queue_problem: str = ""
    """Why the queue is paused."""
    branches: tuple[str, ...] = ()
    """Data branches that are searched; empty: as the settings say."""
    incognito: bool = False


@dataclass(slots=True)
class _Part:
    """One item of the line: its wordings from long to short, and how long it is kept when room is short."""

    rank: int
    wordings: list[Content]
    right: bool = False


class StatusBar(Widget):
    """One line of state. What matters least is shortened first, then left out."""

    DEFAULT_CSS = """
    StatusBar { height: 1; padding: 0 1; background: $bar-background; color: $bar-foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._status = Status()

    @property
    def status(self) -> Status:
        """What is shown."""
        return self._status

    def update_status(self, **fields: Any) -> None:
        """Change the named fields of `Status`; the others stay. Raises `TypeError` for an unknown name."""
        changed = replace(self._status, **fields)
        if changed != self._status:
            self._status = changed
            self.refresh()

    def render(self) -> Content:
        """The line for the present width."""
        return status_line(self._status, self.content_size.width)


def status_line(status: Status, width: int) -> Content:
    """The whole line in at most `width` cells."""
    parts = [part for part in _parts(status) if part.wordings]
    while parts and _length(parts) > width:
        shortest = min(parts, key=lambda part: part.rank)
        shortest.wordings.pop(0)
        if not shortest.wordings:
            parts.remove(shortest)
        else:
            shortest.rank += 10
    left = Content("  ").join(part.wordings[0] for part in parts if not part.right)
    right = Content("  ").join(part.wordings[0] for part in parts if part.right)
    gap = width - left.cell_length - right.cell_length
    return left + Content(" " * max(0, gap)) + right


def _length(parts: Sequence[_Part]) -> int:
    return sum(part.wordings[0].cell_length + 2 for part in parts) - 2


def _parts(status: Status) -> list[_Part]:
    return [_incognito(status), _model(status), _activity(status), _branches(status), _queue(status), _gauge(status)]


def _incognito(status: Status) -> _Part:
    words = Content.styled(f"◌ {_('incognito')}", "bold $warning")
    return _Part(8, [words, Content.styled("◌", "bold $warning")] if status.incognito else [])


def _activity(status: Status) -> _Part:
    wordings = [Content.styled(f"● {label(status.activity, limit)}", "$success") for limit in (60, 24, 12)]
    return _Part(6, wordings if status.activity else [])


def _model(status: Status) -> _Part:
    if not status.model:
        return _Part(4, [Content.styled(_("no model"), "$warning")])
    wordings = [Content.styled(label(status.model, limit), "bold") for limit in (40, 24, 14)]
    if status.tiny:
        wordings.insert(0, wordings[0] + Content.styled(f" · {_('tiny')}", "$muted"))
    return _Part(4, wordings)


def _branches(status: Status) -> _Part:
    names = [label(name, 24) for name in status.branches]
    if not names:
        return _Part(1, [])
    number = _("1 branch") if len(names) == 1 else _("{n} branches", n=len(names))
    return _Part(1, [Content.styled(text, "$muted") for text in (", ".join(names), number)], right=True)


def _queue(status: Status) -> _Part:
    """The embedding queue; at rest it is the first to go, in trouble among the last."""
    words = _("{n} waiting", n=status.waiting)
    if status.queue_status == "off":
        wordings = [Content.styled(f"○ {_('no embeddings')}", "$muted"), Content.styled("○", "$muted")]
    elif status.queue_status == "paused":
        problem = label(status.queue_problem, 40) or _("paused")
        wordings = [
            Content.styled(text, "$warning") for text in (f"‖ {words}: {problem}", f"‖ {words}", f"‖ {status.waiting}")
        ]
        return _Part(5, wordings, right=True)
    else:
        style = "$muted" if status.waiting == 0 else "$primary"
        wordings = [Content.styled(text, style) for text in (f"● {words}", f"● {status.waiting}")]
    return _Part(2, wordings, right=True)


def _gauge(status: Status) -> _Part:
    """How full the model's window is; `~` and words say when its size is a guess."""
    window = status.window
    if window is None or window.tokens <= 0:
        return _Part(7, [])
    share = status.used / window.tokens
    color = "$tier-over" if share >= FULL else "$warning" if share >= HIGH else "$primary"
    percent = Content.styled(f"{'! ' if share >= FULL else ''}{share:.0%}", f"bold {color}")
    bar = stacked_bar(GAUGE_CELLS, [(min(1.0, share), color)])
    sizes = f"{short_count(status.used)} / {short_count(window.tokens)}"
    guess = window.source == "estimated"
    told = Content.styled(f" {_('estimated')}", "italic $warning") if guess else Content("")
    tilde = "~" if guess else ""
    return _Part(
        7,
        [
            Content.assemble(bar, " ", percent, "  ", sizes, told),
            Content.assemble(percent, f" {sizes}", told),
            Content.assemble(percent, f" {tilde}{sizes}"),
            Content.assemble(tilde, percent),
        ],
        right=True,
    )
