"""The chat: sessions to the left, transcript and composer in the middle, memory to the right, two lines below.

It draws; what a key or a typed line means is decided by the app (`orca_tui.actions`, `orca_tui.conversation`).
"""

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from memory.config import UISettings
from memory.errors import OrcaError
from orca_tui import hints
from orca_tui.entries import entries_of, error_entry, notice_entry
from orca_tui.i18n import _
from orca_tui.keys import Keymap, display
from orca_tui.messages import SessionNamed, SessionShown
from orca_tui.render.entry import Entry
from orca_tui.screens.finding import Finding
from orca_tui.target import Target
from orca_tui.widgets.bare import BareHorizontal, BareVertical
from orca_tui.widgets.composer import Beside, Composer
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.status_bar import StatusBar
from orca_tui.widgets.welcome import Welcome

if TYPE_CHECKING:
    from memory.types import Message, Session, SessionState
    from orca_tui.recalled import Picture
    from orca_tui.widgets.memory_sidebar import MemorySidebar
    from orca_tui.widgets.session_list import SessionList
    from orca_tui.widgets.tray import Tray


class ChatScreen(Finding):
    """The main screen; the one `TurnView` (`orca_tui.screens.turn_screen`)."""

    AUTO_FOCUS = "#composer"

    def __init__(self, keymap: Keymap, ui: UISettings, *, now: Callable[[], str] | None = None) -> None:
        """`now`: what ages are reckoned from (default: the system clock)."""
        super().__init__(panel=ui.sessions, sidebar=ui.sidebar)
        self.add_class("-empty")
        self._keymap = keymap
        self._now = now
        self._blink = ui.cursor_blink
        self.sessions: SessionList
        self.memory: MemorySidebar
        self.tray: Tray
        self.taker: Callable[[Composer.Submitted], None] | None = None
        """Gets what is sent in the composer, at once."""
        self.writing: Beside | None = None
        self._notices = 0
        self._is_furnished = False
        self._busy = False
        self._model_notice = ""

    def compose(self) -> ComposeResult:
        """What one needs to type; the rest is brought in by `furnish` behind the first frame."""
        self.take_breakpoints()
        self.welcome = Welcome(id="welcome")
        self.composer = Composer(id="composer")
        self.composer.cursor_blink = self._blink
        self.composer.taker = self.taker
        self.composer.beside = self.writing
        self.composer.completer = complete_path
        self.status = StatusBar(id="status")
        self.status.update_status(is_starting=True)
        self.hint_line = HintLine(id="hints")
        with BareHorizontal(id="main"):
            yield BareVertical(id="panel")
            with BareVertical(id="centre"):
                yield self.welcome
                yield self.composer
            yield BareVertical(id="sidebar")
        yield self.status
        yield self.hint_line
        yield Static(Content(_("Too small: orca needs 40 × 10 cells. Nothing is lost.")), id="too-small", markup=False)

    def on_mount(self) -> None:
        """The keys to begin with."""
        self.show_keys()

    async def furnish(self) -> list[str]:
        """Bring in transcript and side columns; tells the ids of the bindings that the widgets have.

        Their modules are loaded in a thread, so that typing goes on meanwhile.
        """
        kit = await asyncio.to_thread(import_module, "orca_tui.widgets.kit")
        self.transcript = kit.Transcript(id="transcript")
        self.find_line = kit.SearchLine(id="find")
        self.tray = kit.Tray(id="tray")
        self.sessions = kit.SessionList(id="sessions", now=self._now)
        self.memory = kit.MemorySidebar(id="memory", now=self._now)
        with self.app.batch_update():
            await self.query_one("#centre").mount(self.transcript, self.find_line, self.tray, before=self.composer)
            await self.query_one("#panel").mount(self.sessions)
            await self.query_one("#sidebar").mount(self.memory)
        self._is_furnished = True
        self.transcript.opener, self.find_line.field.taker = self.open_search, self.take_search
        widgets = (self.composer, self.transcript, self.find_line.field, self.sessions, self.memory)
        found = [binding.id for widget in widgets for _key, binding in widget._bindings if binding.id]
        return [*found, *kit.MEMORY_IDS]

    @property
    def is_furnished(self) -> bool:
        """Whether all of it is there."""
        return self._is_furnished

    # what the conversation shows

    def begin(self, *, incognito: bool = False) -> None:
        """An empty session is open from here on. It is stored with its first message."""
        self.show_session(Target(incognito=incognito), ())
        self.post_message(SessionNamed(""))

    def go_incognito(self) -> None:
        """What is begun with the next message is not to be remembered."""
        self.target.incognito = True
        self.status.update_status(incognito=True)

    def show_session(
        self, target: Target, messages: "Sequence[Message]", entries: Sequence[Entry] | None = None
    ) -> None:
        """Open a session's path, or an empty one. `entries`: what `entries_of` gives for it, where that is known."""
        self.target = target
        self.messages, self.places = list(messages), {}
        self.show_options()
        if self._is_furnished:
            self.transcript.set_entries(entries_of(messages) if entries is None else entries)
        self.set_class(not messages, "-empty")
        self.composer.set_history([m.content for m in messages if m.role == "user"])
        self.set_busy(False)
        self.post_message(SessionShown())

    def show_options(self) -> None:
        """What the open session has of its own."""
        own = self.target.options
        self.status.update_status(incognito=self.target.incognito, persona=own.persona, own_model=own.model)

    def show_waiting(self, entries: Sequence[Entry], total: int) -> None:
        """Messages that wait: those of the open session, and how many there are in all."""
        self.status.update_status(queued=total)
        if self._is_furnished:
            if entries:
                self.leave_greeting()
            self.transcript.show_waiting(entries)

    @property
    def listed(self) -> "SessionState":
        """The state of the sessions that the list shows."""
        return self.sessions.view if self._is_furnished else "open"

    def show_sessions(self, sessions: "Sequence[Session]") -> None:
        """Fill the list of sessions."""
        self.sessions.show(sessions, self.target.session_id)
        title = next((one.title for one in sessions if one.id == self.target.session_id), None)
        if title is not None:
            self.post_message(SessionNamed(title))

    def show_memory(self, shown: "Picture") -> None:
        """Where the tokens go."""
        self.memory.show(shown)
        self.status.update_status(window=shown.report.window, used=shown.report.prompt_tokens)

    def show_inbox(self, waiting: int) -> None:
        """How many memories wait for review."""
        self.memory.show_inbox(waiting, display(self._keymap.first("memories")))

    def add_notice(self, text: str) -> None:
        """A remark of orca's own in the transcript."""
        self._notices += 1
        self.leave_greeting()
        self.transcript.add(notice_entry(f"notice-{self._notices}", text))

    def add_error(self, error: OrcaError) -> None:
        """An error that belongs to no stored message."""
        self._notices += 1
        self.leave_greeting()
        self.transcript.add(error_entry(f"notice-{self._notices}", error, ""))

    def show_keys(self) -> None:
        """The keys that make sense now, on the last line and in the greeting."""
        if self._is_furnished and self.focused is self.sessions:
            usual = hints.sessions(self._keymap, self.sessions.view)
        else:
            usual = hints.streaming(self._keymap) if self._busy else hints.resting(self._keymap)
        self.hint_line.show(self.message_hints() or usual)
        self.welcome.show_keys(hints.greeting(self._keymap))

    def use_keymap(self, keymap: Keymap) -> None:
        """Other keys are in force."""
        self._keymap = keymap
        self.show_keys()

    def on_descendant_focus(self) -> None:
        """Other keys make sense."""
        self.show_keys()

    def speak_anew(self) -> None:
        """The language of the screen changed."""
        self.composer.placeholder = _("Send a message, or / for commands")
        self.status.refresh()
        self.show_keys()

    def set_busy(self, busy: bool) -> None:
        """Whether a reply is being written in the open session."""
        self._busy = busy
        self.hint_line.say("")
        self.set_activity("")
        self.show_keys()

    def set_model(self, name: str, notice: str, *, tiny: bool = False) -> None:
        """Who answers, and what is to be known about it; both may be empty."""
        self.status.update_status(model=name, tiny=tiny, is_starting=False)
        self._model_notice = notice
        self.welcome.show_notice(notice)

    def show_queue(self, waiting: int, status: str, problem: str) -> None:
        """How the embedding queue goes."""
        self.status.update_status(waiting=waiting, queue_status=status, queue_problem=problem)

    # what the conversation asks for

    def focus_main(self) -> None:
        """Back to the composer."""
        self.composer.focus()

    def room_below(self) -> int:
        """The lines of the composer and of what stands above it."""
        tray = self.tray.outer_size.height if self._is_furnished else 0
        return self.composer.outer_size.height + tray

    def on_text_area_changed(self) -> None:
        """The composer may have grown or shrunk."""
        if self.has_class("-over-panel") or self.has_class("-over-sidebar"):
            self.call_after_refresh(self.fit_overlays)

    def on_key(self, event: events.Key) -> None:
        """Text that is typed in the transcript is meant for the composer."""
        if not event.is_printable or not self._is_furnished or self.focused is not self.transcript:
            return
        if not self.transcript_takes(event.key):
            event.stop()
            self.composer.focus()
            self.composer.post_message(events.Key(event.key, event.character))

    def go_to_sessions(self) -> None:
        """Move to the list of sessions, opening it when it is hidden."""
        if not self.query_one("#panel").display:
            self.toggle_panel()
        self.sessions.focus()

    def leave_greeting(self) -> None:
        """From the greeting to the transcript; what was said about the model stays in it."""
        if self.has_class("-empty"):
            self.remove_class("-empty")
            if self._model_notice:
                self.transcript.add(notice_entry("model", self._model_notice))


async def complete_path(typed: str) -> list[str]:
    """What a typed path may go on as."""
    from orca_tui.attaching import completions

    return await asyncio.to_thread(completions, typed)
