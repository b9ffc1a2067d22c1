"""What an export would bring in, and bringing it in: shown before it is done, counted while it is, and cancellable."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memory.errors import OrcaError
from memory.text import label
from orca_tui.core_words import core_said
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.screens.page import PageBody
from orca_tui.work import start

if TYPE_CHECKING:
    from memory.core import Core
    from memory.migration.importing import ImportProgress, ImportReport

NAMED, REASONS = 20, 12
"""Skipped records and reasons that are listed."""


class ImportScreen(ModalScreen[bool]):
    """Gives whether something came in."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "go", show=False, id="import.go"),
        Binding("n,q,escape", "leave", show=False, id="import.leave"),
    ]

    def __init__(self, core: "Core", path: Path) -> None:
        super().__init__(classes="-dialog")
        self._core = core
        self._path = path
        self._stop = threading.Event()
        self._plan: ImportReport | None = None
        self._is_running = False
        self._came_in = False

    def compose(self) -> ComposeResult:
        """What is read, what comes of it, keys."""
        with Vertical(classes="dialog"):
            title = _("Import {path}", path=label(self._path.name, 80))
            yield Static(Content(title), classes="dialog-title", markup=False)
            with PageBody(classes="dialog-body"):
                yield Static(Content(_("Reading…")), id="import-text", markup=False)
            yield Static(Content(_("Esc cancels")), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """See what is there."""
        self.query_one(PageBody).focus()
        start(self, "import", self._run, True)

    def on_unmount(self) -> None:
        """However it ends, the thread ends as well."""
        self._stop.set()

    async def _run(self, dry_run: bool) -> None:
        self._is_running = True
        loop = asyncio.get_running_loop()

        def told(done: "ImportProgress") -> None:
            loop.call_soon_threadsafe(self._count, done)

        try:
            report = await asyncio.to_thread(self._work, dry_run, told)
        except OrcaError as error:
            self._show(
                [Content.styled(core_said(str(error)), "$warning"), Content(core_said(error.hint))], _("Esc closes")
            )
            return
        finally:
            self._is_running = False
        self._came_in |= not dry_run and bool(report.messages or report.facts)
        if dry_run:
            self._plan = report
        hint = _("Enter imports · Esc leaves it") if dry_run and _brings(report) else _("Esc closes")
        self._show(lines_of(report), hint)

    def _work(self, dry_run: bool, told: "Callable[[ImportProgress], None]") -> "ImportReport":
        from memory.migration.importing import Importing

        core = self._core
        importing = Importing(core.store, core.clock, core.settings.memory, progress=told, cancelled=self._stop.is_set)
        return importing.run(self._path, dry_run=dry_run)

    def _count(self, done: "ImportProgress") -> None:
        if self._is_running and self.is_attached:
            told = _(
                "{talks} conversations, {messages} messages…", talks=count(done.talks), messages=count(done.messages)
            )
            self.query_one("#import-text", Static).update(Content(told))

    def _show(self, lines: list[Content], hint: str) -> None:
        if self.is_attached:
            self.query_one("#import-text", Static).update(Content("\n").join(lines))
            self.query_one(".dialog-hint", Static).update(Content(hint))

    def action_go(self) -> None:
        """Do what was shown."""
        plan, self._plan = self._plan, None
        if plan is not None and _brings(plan):
            self.query_one(".dialog-hint", Static).update(Content(_("Esc cancels; what came in stays")))
            start(self, "import", self._run, False)
        elif plan is None and not self._is_running:
            self.dismiss(self._came_in)

    def action_leave(self) -> None:
        """Cancel what runs, else close."""
        if self._is_running and not self._stop.is_set():
            self._stop.set()
            self.query_one(".dialog-hint", Static).update(Content(_("Cancelling…")))
        else:
            self.dismiss(self._came_in)


def lines_of(report: "ImportReport") -> list[Content]:
    """What came of an export, or would."""
    from memory.migration.foreign import NAMES

    numbers = {
        "source": NAMES[report.source],
        "talks": count(report.talks),
        "messages": count(report.messages),
        "facts": count(report.facts),
    }
    if report.dry_run:
        said = _("{source}: {talks} conversations with {messages} messages would come in.", **numbers)
    else:
        said = _("{source}: {talks} conversations with {messages} messages came in.", **numbers)
    lines = [Content.styled(said, "bold")]
    if report.facts:
        lines.append(Content(_("{facts} things that it remembered go to the inbox for review.", **numbers)))
    if report.known or report.facts_known:
        known = count(report.known + report.facts_known)
        lines.append(Content.styled(_("{n} were here already.", n=known), "$muted"))
    if report.repaired:
        lines.append(Content.styled(_("{n} were repaired.", n=count(report.repaired)), "$muted"))
    if report.cancelled:
        lines.append(Content.styled(_("Cancelled: what came in stays, and the next import goes on."), "$warning"))
    if report.skipped:
        lines += [Content(""), Content.styled(_("{n} records were not taken:", n=count(report.skipped)), "bold")]
        lines += [
            Content(f"{number:>7,}  {label(core_said(why), 100)}")
            for why, number in report.reasons.most_common(REASONS)
        ]
        lines += [
            Content.styled(f"         {label(one.what, 60)}: {label(core_said(one.reason), 80)}", "$muted")
            for one in report.named[:NAMED]
        ]
    lines += [Content(""), Content.styled(_("The file is not changed, and nothing comes in twice."), "$muted")]
    return lines


def _brings(report: "ImportReport") -> bool:
    return bool(report.messages or report.facts)
