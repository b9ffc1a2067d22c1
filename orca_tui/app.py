"""The composition root: opens the core behind the first frame, and joins screens, commands, themes and signals."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.binding import BindingsMap
from textual.command import CommandPalette
from textual.content import Content
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import TextArea

from memory.config import Home, Settings
from memory.text import label
from orca_tui import commands, keys
from orca_tui.core_words import core_said
from orca_tui.draft import DraftKeeper
from orca_tui.elsewhere import Elsewhere
from orca_tui.i18n import _, set_language
from orca_tui.leaving import Leaving
from orca_tui.memory_room import MemoryRoom
from orca_tui.messages import CommandChosen, ContextShown, CoreChanged, TurnEnded
from orca_tui.safe import RenderGuard
from orca_tui.screens.chat import ChatScreen
from orca_tui.sending import Sending
from orca_tui.session_room import SessionRoom
from orca_tui.settings_room import SettingsRoom
from orca_tui.startup import Startup
from orca_tui.talking_room import TalkingRoom
from orca_tui.terminal import write_log
from orca_tui.themes import VARIABLES, variable_defaults
from orca_tui.theming import ThemeShelf
from orca_tui.transcript_room import TranscriptRoom
from orca_tui.widgets.composer import Composer

if TYPE_CHECKING:
    from memory.clock import Clock
    from memory.core import Core
    from memory.provider.base import ChatModel, Embedder
    from orca_tui.bridge import Bridge
    from orca_tui.conversation import Conversation
    from orca_tui.widgets.session_list import SessionList
    from orca_tui.widgets.transcript import Transcript

FIRST_KEYS = 0.05
"""Seconds after the first frame in which what was already typed is drawn, before modules are loaded beside it."""
SWITCH_INTERVAL = 0.001
"""Seconds that a busy thread (imports, the tokenizer) may keep the screen waiting; Python's own 5 ms show in typing."""


class OrcaApp(
    MemoryRoom,
    SettingsRoom,
    SessionRoom,
    TranscriptRoom,
    TalkingRoom,
    Elsewhere,
    inherit_bindings=False,
):
    """The terminal app. `chat` and `embedder` replace what the settings would choose (tests, demo)."""

    TITLE = "orca"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    COMMANDS: ClassVar[set[Any]] = {commands.CommandProvider}

    def __init__(
        self,
        home: Home,
        settings: Settings,
        *,
        warnings: Sequence[str] = (),
        session_id: str | None = None,
        chat: "ChatModel | None" = None,
        embedder: "Embedder | None" = None,
        clock: "Clock | None" = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        set_language(settings.ui.language)
        super().__init__()
        self._guard = RenderGuard()
        self.home, self.settings, self.env = home, settings, env
        self.keymap = keys.resolve(commands.default_keys(), settings.keys)
        self._bindings = BindingsMap(commands.bindings(self.keymap))
        self.set_keymap(dict(self.keymap.others))
        self.core: Core | None = None
        self.conversation: Conversation | None = None
        now = clock.now if clock is not None else None
        self.chat = ChatScreen(self.keymap, settings.ui, now=now)
        self.bridge: Bridge | None = None
        self._warnings = [*warnings, *self.keymap.problems]
        self._startup = Startup(self, session_id=session_id, chat=chat, embedder=embedder, clock=clock)
        self._early: list[events.Key | events.Paste] | None = []
        self.sending = Sending(self)
        self.chat.taker = self.sending.take
        self.drafts = DraftKeeper(self)
        self.run_talk()
        self._leaving = Leaving(self)
        self._quit_asked = False
        self.themes = ThemeShelf(self, home.themes)
        self._warnings += self.themes.start_with(settings.ui.theme)

    # start

    async def on_event(self, event: events.Event) -> None:
        """Keys that come before there is an editor to take them wait for it."""
        if isinstance(event, events.Key | events.Paste):
            self.was_typed()
            if self._early is not None:
                self._early.append(event)
                return
        await super().on_event(event)

    async def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The composer has the focus for the first time: here is what was typed meanwhile, before what comes next."""
        if self._early is not None and event.widget is self.chat.composer:
            self.drafts.restore()
            early, self._early = self._early, None
            for key in early:
                await super().on_event(key)

    def get_default_screen(self) -> Screen[object]:
        """The chat lies below everything else."""
        return self.chat

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's and, behind them, the guard."""
        inner = super().get_line_filters()
        if inner != self._guard.inner:
            self._guard = RenderGuard(inner)
        return (self._guard,)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Values for themes that are not ours; what fits our dark one fits any dark one."""
        theme = self.current_theme
        return dict(VARIABLES) if theme.dark else variable_defaults(theme)

    def on_ready(self) -> None:
        """The first frame is on the screen: now the store, then the model."""
        if not self.is_headless:
            self._leaving.catch_signals()
            self.draw_after_resume()
            self.watch_elsewhere(self.set_interval)
        self.chat.composer.set_commands([(c.name, _(c.summary)) for c in commands.COMMANDS])
        self.warn(self._warnings)
        self.set_timer(FIRST_KEYS, lambda: self.spawn("startup", self._startup.run))

    def warn(self, problems: Sequence[str]) -> None:
        """What the settings could not be followed in."""
        if problems:
            text = "\n".join(label(core_said(problem)) for problem in problems[:5])
            self.notify(text, title=_("Settings"), severity="warning", timeout=10, markup=False)

    # what is typed, chosen and reported

    def on_command_chosen(self, event: CommandChosen) -> None:
        """From the palette."""
        self.sending.start(event.name, event.argument)

    def on_transcript_text_below(self) -> None:
        """A reply goes on below what is being read: say how to get there, on the composer's edge."""
        key = self.keymap.first("latest")
        told = _("new text below")
        self.chat.composer.border_title = Content(f"↓ {told} · {keys.display(key)}" if key else f"↓ {told}")

    def on_transcript_follow_changed(self, event: "Transcript.FollowChanged") -> None:
        """At the end, nothing is below."""
        if event.at_end:
            self.chat.composer.border_title = None

    def on_session_list_chosen(self, event: "SessionList.Chosen") -> None:
        """Open it; an overlay goes."""
        self.chat.close_overlay()
        self.chat.composer.focus()
        self.sending.start("resume", event.session_id)

    @on(Composer.PasteRefused)
    def _paste_refused(self, event: Composer.PasteRefused) -> None:
        """Too much for a prompt."""
        self.chat.hint_line.say(_("That paste is larger than {n} MB and was left out", n=event.limit >> 20))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """A remark is for the text that it was said about; the text is kept."""
        self.drafts.changed()
        if event.text_area.text:
            self.chat.hint_line.say("")
            self._quit_asked = False

    def on_context_shown(self, _event: ContextShown) -> None:
        """What the reply is given is told with where it comes from."""
        if self.conversation is not None:
            self.spawn("refresh", self.conversation.refresh_memory)

    def on_turn_ended(self, _event: TurnEnded) -> None:
        """The list of sessions and the memory moved."""
        if self.conversation is not None:
            self.spawn("refresh", self.conversation.refresh)

    def on_core_changed(self, message: CoreChanged) -> None:
        """Background work: the queue's state, memory that was written, replies that cannot be."""
        from orca_tui import background

        background.show(self, message.event)

    # commands

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While another screen lies over the chat, only a few commands have their keys."""
        if action == "run_command" and not isinstance(self.screen, ChatScreen):
            catches_all = getattr(self.screen, "CATCHES_ALL_KEYS", False)
            return commands.BY_NAME[str(parameters[0])].anywhere and not catches_all
        return True

    def action_run_command(self, name: str) -> None:
        """A key was pressed. It comes after the keys before it, which the focused widget may not have looked at yet."""
        where = self.focused or self.chat
        if not where.call_later(self._start_command, name):
            self.sending.start(name)

    async def _start_command(self, name: str) -> None:
        await self.chat.composer.release_enter()
        self.sending.start(name)

    async def action_interrupt(self) -> None:
        """Stop the reply; at rest, the second time in a row leaves."""
        if self.conversation is not None and self.conversation.stop():
            return
        if self._quit_asked:
            await self.leave(0)
        self._quit_asked = True
        self.chat.hint_line.say(_("Ctrl+C again leaves; what you typed is still here"))

    def action_command_palette(self) -> None:
        """The palette, with our words."""
        if not CommandPalette.is_open(self):
            self.push_screen(CommandPalette(placeholder=_("Find a command"), id="--command-palette"))

    # the end

    async def leave(self, code: int) -> None:
        """Keep what running turns brought, drain the writes, and end the process with `code`."""
        await self._leaving.leave(code)

    async def on_unmount(self) -> None:
        """However the app ends, the store is closed."""
        self.give_back_title()
        await self._leaving.close_core()

    def _fatal_error(self) -> None:
        """An error in orca itself: a sentence for the user, the traceback without values for the log."""
        write_log(self.home, traceback.format_exc())
        told = _("orca stopped because of an error in itself. Everything up to here is saved.")
        more = _("Details: {path}", path=label(str(self.home.log)))
        self._leaving.say(f"{told}\n{more}")
        self._close_messages_no_wait()


def run(home: Home, settings: Settings, *, warnings: Sequence[str] = (), session_id: str | None = None) -> int:
    """Open the app; tells the exit code of the process."""
    app = OrcaApp(home, settings, warnings=warnings, session_id=session_id)
    sys.setswitchinterval(SWITCH_INTERVAL)
    app.run()
    return app.return_code or 0
