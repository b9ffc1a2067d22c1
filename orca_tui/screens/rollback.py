"""Rolling memory back to a time: what would change is shown before it is done, and one undo takes it back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memory.errors import OrcaError
from memory.text import label
from memory.types import Scope
from orca_tui.cli.memory_tools import given_time
from orca_tui.core_words import error_said
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.screens.memory_form import Dial
from orca_tui.screens.page import PageBody
from orca_tui.work import start

if TYPE_CHECKING:
    from memory.curation.history import TakenBack
    from orca_tui.memory_desk import MemoryDesk

LISTED = 200
"""Changes that are listed."""


@dataclass(frozen=True, slots=True)
class _Asked:
    since: str
    until: str | None
    branch: str | None
    scope: Scope | None


class RollbackScreen(ModalScreen[str]):
    """Gives what was done; empty when nothing was."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    AUTO_FOCUS = "#since"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "roll_back", show=False, priority=True, id="rollback.do"),
        Binding("escape", "leave", show=False, priority=True, id="rollback.leave"),
    ]

    def __init__(self, desk: "MemoryDesk") -> None:
        super().__init__(classes="-dialog")
        self._desk = desk
        self._asked: _Asked | None = None
        """What the list below shows."""
        self._number = 0

    def compose(self) -> ComposeResult:
        """Time span, branch, scope, what would change, keys."""
        everything, mine = _("everything"), _("this project") if self._desk.scope.project else _("no project")
        self._any, self._mine = everything, mine
        with Vertical(classes="dialog"):
            yield Static(Content(_("Roll memory back")), classes="dialog-title", markup=False)
            yield Static(
                Content.styled(_("to how it was: 30m (minutes), 2h, 3d, 1mo ago, or 2026-11-01T12:00"), "$muted"),
                markup=False,
            )
            yield Input("1h", compact=True, id="since")
            yield Static(Content.styled(_("only what changed until (empty: now)"), "$muted"), markup=False)
            yield Input("", compact=True, id="until")
            yield Dial(_("branch"), [everything, *self._desk.branches], everything, id="branch")
            yield Dial(_("scope"), [everything, mine], everything, id="scope")
            with PageBody(classes="dialog-body"):
                yield Static(id="plan", markup=False)
            yield Static(Content(""), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Show what the default would do."""
        self._look()

    def on_input_changed(self) -> None:
        """Another time."""
        self._look()

    def on_dial_changed(self) -> None:
        """Another branch or scope."""
        self._look()

    def on_input_submitted(self) -> None:
        """Enter in a field only goes on."""
        self.focus_next()

    def _look(self) -> None:
        start(self, "plan", self._plan, exclusive=True)

    async def _plan(self) -> None:
        self._asked = None
        try:
            asked = self._read()
            planned = await self._desk.planned_rollback(asked.since, asked.until, asked.branch, asked.scope)
        except OrcaError as error:
            self._show([Content.styled(error_said(error), "$warning")], "")
            return
        self._asked, self._number = asked, sum(1 for one in planned if one.changes)
        lines = [Content.styled(_("This would put back {n}:", n=count(self._number)), "bold")]
        lines += [_line(one) for one in planned[:LISTED]]
        if len(planned) > LISTED:
            lines.append(Content.styled(_("… and {n} more", n=len(planned) - LISTED), "$muted"))
        if not planned:
            lines = [Content.styled(_("Nothing has changed since then."), "$muted")]
        self._show(lines, _("Ctrl+S rolls back; undo takes it back · Tab goes on · Esc leaves it"))

    def _read(self) -> _Asked:
        """What is asked for. Raises `OrcaError`."""
        until = self.query_one("#until", Input).value.strip()
        branch, scope = self.query_one("#branch", Dial).value, self.query_one("#scope", Dial).value
        return _Asked(
            given_time(self.query_one("#since", Input).value),
            given_time(until, end=True) if until else None,
            None if branch == self._any else branch,
            None if scope == self._any else self._desk.scope,
        )

    def _show(self, lines: list[Content], hint: str) -> None:
        if self.is_attached:
            self.query_one("#plan", Static).update(Content("\n").join(lines))
            self.query_one(".dialog-hint", Static).update(Content(hint or _("Tab goes on · Esc leaves it")))

    def action_roll_back(self) -> None:
        """Do what is shown."""
        if self._asked is not None and self._number:
            start(self, "rollback", self._do, self._asked)

    async def _do(self, asked: _Asked) -> None:
        try:
            taken = await self._desk.planned_rollback(
                asked.since, asked.until, asked.branch, asked.scope, dry_run=False
            )
        except OrcaError as error:
            self._show([Content.styled(error_said(error), "$warning")], "")
            return
        number = sum(1 for one in taken if one.changes)
        self.dismiss(_("Rolled back: {n} put back as they were", n=count(number)))

    def action_leave(self) -> None:
        """Leave everything as it is."""
        self.dismiss("")


def _line(one: "TakenBack") -> Content:
    changes: Mapping[str, object] = one.changes
    did = ", ".join(f"{name}: {label(str(value), 60)}" for name, value in changes.items()) or label(one.note, 120)
    text = label(one.text[:400], 120) or f"{one.kind} {one.id}"
    line = Content.styled("· ", "$muted") + Content(text) + Content.styled(f"  → {did}", "$accent")
    if one.left:
        line += Content.styled(f"  {_('changed again since, stays')}: {', '.join(one.left)}", "$warning")
    return line
