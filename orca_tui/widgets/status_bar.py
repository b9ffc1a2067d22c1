"""The status line: what goes on, who answers, how full the context is, and how memory is doing."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.widget import Widget

from memory.text import label
from orca_tui.core_words import core_said
from orca_tui.figures import short_count
from orca_tui.i18n import _
from orca_tui.widgets.budget_bar import stacked_bar

if TYPE_CHECKING:
    from memory.types import ContextWindow

GAUGE_CELLS = 10
HIGH, FULL = 0.8, 1.0
"""Shares of the window from which the gauge warns."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the bar knows."""

    activity: str = ""
    """What is going on (`streaming`, `waiting 3 s`); empty at rest."""
    model: str = ""
    own_model: str = ""
    """The model of the open session only; empty: `model`."""
    persona: str = ""
    """Of the open session."""
    queued: int = 0
    """Messages that wait until a reply is over."""
    is_starting: bool = False
    """Whether it is not known yet who answers."""
    tiny: bool = False
    """Whether the model is the very small built-in one."""
    window: "ContextWindow | None" = None
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
    project: str = ""
    """The project whose memories are recalled beside the user's own; empty: none."""
    unsaved: int = 0
    """Replies that cannot be written."""

    @property
    def answering(self) -> str:
        """Who answers in the open session."""
        return self.own_model or self.model


@dataclass(slots=True)
class _Part:
    """One item of the line: its wordings from long to short, each with the rank at which it is given up."""

    wordings: list[tuple[int, Content]]
    right: bool = False

    @property
    def rank(self) -> int:
        """Rank of the present wording; the lowest in the line is given up first."""
        return self.wordings[0][0]

    @property
    def text(self) -> Content:
        """The present wording."""
        return self.wordings[0][1]


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
    while parts and sum(part.text.cell_length + 2 for part in parts) - 2 > width:
        least = min(parts, key=lambda part: part.rank)
        least.wordings.pop(0)
        if not least.wordings:
            parts.remove(least)
    left = Content("  ").join(part.text for part in parts if not part.right)
    right = Content("  ").join(part.text for part in parts if part.right)
    return left + Content(" " * max(0, width - left.cell_length - right.cell_length)) + right


def _parts(status: Status) -> list[_Part]:
    trouble = [_unsaved(status), _incognito(status)]
    return [
        *trouble,
        _model(status),
        _persona(status),
        _queued(status),
        _activity(status),
        _project(status),
        _branches(status),
        _queue(status),
        _gauge(status),
    ]


def _unsaved(status: Status) -> _Part:
    """Stays as long as it is so, whatever else there is room for."""
    wordings = [(30, f"✗ {_('not saved')}: {status.unsaved}"), (31, f"✗ {status.unsaved}")] if status.unsaved else []
    return _Part([(rank, Content.styled(text, "bold $error")) for rank, text in wordings])


def _incognito(status: Status) -> _Part:
    wordings = [(11, f"◌ {_('incognito')}"), (28, "◌")] if status.incognito else []
    return _Part([(rank, Content.styled(text, "bold $warning")) for rank, text in wordings])


def _project(status: Status) -> _Part:
    limits = [(3, 30), (9, 14)] if status.project else []
    return _Part([(rank, Content.styled(f"▣ {label(status.project, limit)}", "$accent")) for rank, limit in limits])


def _activity(status: Status) -> _Part:
    limits = [(10, 60), (17, 24), (25, 12)] if status.activity else []
    return _Part([(rank, Content.styled(f"● {label(status.activity, limit)}", "$success")) for rank, limit in limits])


def _model(status: Status) -> _Part:
    if status.own_model:
        own = Content.styled(f" · {_('this session')}", "$warning")
        named = [(rank, Content.styled(label(status.own_model, limit), "bold")) for rank, limit in ((8, 40), (20, 14))]
        return _Part([(7, named[0][1] + own), *named])
    if not status.model and status.is_starting:
        return _Part([(20, Content.styled(_("starting…"), "$muted"))])
    if not status.model:
        return _Part([(20, Content.styled(_("no model"), "$warning"))])
    limits = [(8, 40), (12, 24), (20, 14)]
    wordings = [(rank, Content.styled(label(status.model, limit), "bold")) for rank, limit in limits]
    if status.tiny:
        wordings.insert(0, (3, wordings[0][1] + Content.styled(f" · {_('tiny')}", "$muted")))
    return _Part(wordings)


def _persona(status: Status) -> _Part:
    wordings = [(rank, f"◇ {label(status.persona, limit)}") for rank, limit in ((11, 24), (16, 10)) if status.persona]
    return _Part([(rank, Content.styled(text, "$accent")) for rank, text in wordings])


def _queued(status: Status) -> _Part:
    """Messages that wait are always told."""
    wordings = [(26, f"◷ {_('waiting: {n}', n=status.queued)}"), (29, f"◷ {status.queued}")] if status.queued else []
    return _Part([(rank, Content.styled(text, "bold $warning")) for rank, text in wordings])


def _branches(status: Status) -> _Part:
    names = [label(name, 24) for name in status.branches]
    number = _("1 branch") if len(names) == 1 else _("{n} branches", n=len(names))
    wordings = [(1, ", ".join(names)), (5, number)] if names else []
    return _Part([(rank, Content.styled(text, "$muted")) for rank, text in wordings], right=True)


def _queue(status: Status) -> _Part:
    """The embedding queue: at rest it goes first, in trouble it stays long."""
    words, style = _("{n} waiting", n=status.waiting), "$muted"
    if status.queue_status == "off":
        wordings = [(4, f"○ {_('no embeddings')}"), (6, "○")]
    elif status.queue_status == "paused":
        problem = label(core_said(status.queue_problem), 40) or _("paused")
        wordings = [(7, f"‖ {words}: {problem}"), (13, f"‖ {words}"), (19, f"‖ {status.waiting}")]
        style = "$warning"
    else:
        wordings = [(2, f"● {words}"), (6, f"● {status.waiting}")]
        style = "$primary" if status.waiting else "$muted"
    return _Part([(rank, Content.styled(text, style)) for rank, text in wordings], right=True)


def _gauge(status: Status) -> _Part:
    """How full the model's window is; a word, or `~`, says when its size is a guess."""
    window = status.window
    if window is None or window.tokens <= 0:
        return _Part([])
    share = status.used / window.tokens
    color = "$tier-over" if share >= FULL else "$warning" if share >= HIGH else "$primary"
    percent = Content.styled(f"{'! ' if share >= FULL else ''}{share:.0%}", f"bold {color}")
    bar = stacked_bar(GAUGE_CELLS, [(min(1.0, share), color)])
    sizes = f"{short_count(status.used)} / {short_count(window.tokens)}"
    guess = window.source == "estimated"
    told = Content.styled(f" {_('estimated')}", "italic $warning") if guess else Content("")
    tilde = "~" if guess else ""
    return _Part(
        [
            (9, Content.assemble(bar, " ", percent, "  ", sizes, told)),
            (14, Content.assemble(percent, f" {sizes}", told)),
            (18, Content.assemble(percent, f" {tilde}{sizes}")),
            (30, Content.assemble(tilde, percent)),
        ],
        right=True,
    )
