"""The question before a tool runs: what it is, why it is asked, the whole call; four answers, deny under the cursor.

Nothing that was typed before the question was seen answers it: a key counts when it came after a pause since the
question was drawn or the key before it. What is typed meanwhile goes on to the composer.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Static

from memory.text import label
from memory.tools.base import Decision, PermissionRequest
from orca_tui.call_words import KEYS, MCP, ORDER, both_ends, meaning, reasons
from orca_tui.i18n import _
from orca_tui.safe import SafeStatic
from orca_tui.widgets.answer_list import AnswerList
from orca_tui.widgets.call_view import CallView

PAUSE = 0.4
"""Seconds without a key after which a key is an answer."""
WARNED = 2.0
"""Seconds for which it is told that a key came too early, after the last of them."""
AROUND = 6
"""Rows of the dialog that are neither facts, call nor answers."""
LOW = 20
"""Rows of the screen below which there is room for little else than call and answers."""


class PermissionScreen(ModalScreen[None]):
    """Tells its answer to `answered`, once; `stop` is called when the user wants the reply to end."""

    CSS_PATH = Path(__file__).with_name("permission.tcss")
    AUTO_FOCUS = "AnswerList"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"answer({decision!r})", show=False) for decision, key in KEYS.items()),
        Binding("escape", "answer('deny')", show=False, id="permission.deny"),
        Binding("ctrl+c", "stop", show=False, id="permission.stop"),
        Binding("space", "call('choose')", show=False),
    ]

    def __init__(
        self,
        request: PermissionRequest,
        text: str,
        *,
        session: str = "",
        answered: Callable[[Decision], None],
        stop: Callable[[], None],
        typed: Callable[[events.Key], None],
    ) -> None:
        """`text`: the whole call, clean. `session`: the title of the session that asks, when it is not the open one.

        `typed` gets the letters that are no answer.
        """
        super().__init__(classes="-dialog")
        self.request = request
        self._text = text
        self._session = session
        self._answered = answered
        self._stop = stop
        self._typed = typed
        self._waiting = 0
        self._quiet_since: float | None = None
        """When the question was drawn, or the key before it was no answer; `None`: not drawn yet."""
        self._is_heard = False
        self._is_over = False
        self._warned: Timer | None = None
        """Brings the keys back where the warning stands."""

    def compose(self) -> ComposeResult:
        """Facts, call, answers, keys."""
        request = self.request
        choices = [one for one in ORDER if one in request.choices or one == "deny"]
        with Vertical(classes="dialog", id="permission"):
            yield Static(Content(self._title()), classes="dialog-title", markup=False)
            yield SafeStatic(Content("\n").join(self._facts()), id="permission-facts")
            yield CallView(self._text, id="permission-call")
            yield AnswerList(
                [(KEYS[one], meaning(one, request)) for one in choices],
                lambda at: self.action_answer(choices[at]),
                id="permission-answers",
            )
            yield Static(classes="dialog-hint", markup=False, id="permission-hint")

    def on_mount(self) -> None:
        """Keys count from the first picture on."""
        self._fit()
        self._show_hint()
        self.call_after_refresh(self._drawn)

    def on_resize(self) -> None:
        """The call has what the rest leaves."""
        self._fit()

    def on_screen_resume(self) -> None:
        """What lay over it is gone, and the question may be too."""
        if self._is_over:
            self.dismiss(None)

    def close(self) -> None:
        """The question is settled; safe to call at any time, also twice."""
        self._is_over = True
        if self.is_attached and self.app.screen is self:
            self.dismiss(None)

    def show_waiting(self, waiting: int) -> None:
        """How many questions come after this one."""
        if waiting != self._waiting:
            self._waiting = waiting
            if self.is_mounted:
                self.query_one(".dialog-title", Static).update(Content(self._title()))

    # keys

    def hears(self, event: events.Event) -> bool:
        """Whether a key or click was meant as an answer."""
        if self._is_heard:
            return True
        if self._quiet_since is not None and event.time >= self._quiet_since + PAUSE:
            self._is_heard = True
        elif self._quiet_since is not None:
            self._quiet_since = max(self._quiet_since, event.time)
        return self._is_heard

    def take_early(self, event: events.Key) -> bool:
        """Keep a key that comes too early from being an answer; tells whether it did."""
        if event.key == "ctrl+c" or self.hears(event):
            return False
        event.stop()
        event.prevent_default()
        if event.is_printable:
            self._typed(event)
        self.query_one("#permission-hint", Static).update(
            Content.styled(_("What you type goes to the message; stop for a moment, then answer"), "$warning")
        )
        if self._warned is not None:
            self._warned.stop()
        self._warned = self.set_timer(WARNED, self._show_hint)
        return True

    def on_key(self, event: events.Key) -> None:
        """Nothing has the focus: the same holds."""
        self.take_early(event)

    def action_answer(self, decision: Decision) -> None:
        """Only what is offered."""
        if not self._is_over and (decision in self.request.choices or decision == "deny"):
            self.close()
            self._answered(decision)

    def action_stop(self) -> None:
        """Ctrl+C ends the reply that asks, and the question with it."""
        self.action_answer("deny")
        self._stop()

    def action_call(self, what: str, *arguments: int) -> None:
        """Scroll the call."""
        getattr(self.query_one(CallView), f"action_{what}")(*arguments)
        self._show_hint()

    # what is shown

    def _drawn(self) -> None:
        self._quiet_since = monotonic()

    def _title(self) -> str:
        told = _("May these tools be offered?") if self.request.tool == MCP else _("May this tool run?")
        return f"{told}  {_('(questions after this one: {n})', n=self._waiting)}" if self._waiting else told

    def _facts(self) -> Sequence[Content]:
        request = self.request
        who = _("agent {name}", name=label(request.agent, 60)) if request.agent else ""
        facts = [
            (_("Tool"), "" if request.tool == MCP else both_ends(request.tool, 120)),
            (_("Server") if request.tool == MCP else _("Reaches"), both_ends(request.target)),
            (_("Asked by"), who),
            (_("In session"), label(self._session, 80)),
        ]
        lines = [Content.assemble((f"{name}  ", "$muted"), (told, "bold")) for name, told in facts if told]
        return [*lines, *(Content.styled(reason, "$warning") for reason in reasons(request))]

    def _show_hint(self) -> None:
        told = [_("PgUp PgDn scroll the call"), _("Esc denies"), _("Ctrl+C stops the reply")]
        self.query_one("#permission-hint", Static).update(Content(" · ".join(told)))

    def _fit(self) -> None:
        """Give the call the rows that facts and answers leave."""
        width = max(20, min(92, self.size.width) - 8)
        facts = sum(max(1, len(line.wrap(width))) for line in self._facts())
        answers = len(self.request.choices) + ("deny" not in self.request.choices)
        low = self.size.height < LOW
        self.set_class(low, "-low")
        room = self.size.height - answers - (min(facts, 3) + 3 if low else facts + AROUND + 2)
        self.query_one(CallView).fit(room)
