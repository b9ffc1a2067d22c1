"""Where the user writes: an editor that grows, sends, remembers what was sent and completes commands.

The text stays until the screen calls `clear_sent` (or `clear`): a message that could not be stored is still there.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from textual import events
from textual.binding import Binding
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.message import Message

from orca_tui.i18n import _
from orca_tui.widgets.completion import Completions, Entry, following, matching
from orca_tui.widgets.input_history import InputHistory
from orca_tui.widgets.key_paste import Enter, KeyPaste
from orca_tui.widgets.path_typing import PathTyping

HOLD_SECONDS = 0.03
"""How long an Enter at the end of a burst of keys waits for more of them before it sends."""
JOINERS = ("\u200c", "\u200d")
"""ZWNJ and ZWJ: not printable, but part of words and emoji."""


class Beside(Protocol):
    """What stands beside the text, and has some keys while the text is empty."""

    def enter(self) -> None:
        """Enter without a text."""
        ...

    def up(self) -> bool:
        """Up without a text; tells whether that meant something."""
        ...

    def backspace(self) -> bool:
        """Backspace before the first character; tells whether that meant something."""
        ...


class Composer(PathTyping):
    """The message editor."""

    DEFAULT_CSS = """
    Composer {
        height: auto;
        min-height: 3;
        max-height: 10;
        padding: 0 1;
        border: round $border-blurred;
        background: $background;
        scrollbar-size-vertical: 1;
        border-title-align: right;
        border-title-color: $accent;
        &:focus { border: round $border; }
    }
    """

    BINDINGS = [
        Binding("alt+z", "undo", "Take back what was typed", id="take_back", show=False, priority=True),
        Binding("enter", "send", "Send", id="send", show=False),
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "New line", id="newline", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """Send was asked for. `text` is whole: folded pastes in full, nothing cut, never only blanks.

        Posted unless there is a `taker`.
        """

        text: str
        pasted: tuple[str, ...] = ()
        """Pieces of it that were not typed."""

    def __init__(self, *, placeholder: str | None = None, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(
            id=id, placeholder=_("Send a message, or / for commands") if placeholder is None else placeholder
        )
        self.taker: Callable[[Composer.Submitted], None] | None = None
        """Gets what is sent at once, before any key behind that Enter is looked at."""
        self.beside: Beside | None = None
        self.choices: dict[str, Callable[[], Sequence[Entry]]] = {}
        """By command: what may follow its name, as one word each."""
        self._inputs = InputHistory()
        self._sent: str | None = None
        self._menu = Completions(self._accept)
        self._commands: Sequence[Entry] = ()
        self._menu_dismissed = False
        self._key_paste_watch = KeyPaste()

    # what the screen uses

    def set_history(self, entries: Iterable[str]) -> None:
        """What the up key brings back, oldest first."""
        self._inputs.replace(entries)

    def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """Slash commands to complete: names and one line about each."""
        self._commands = [(name.removeprefix("/"), about) for name, about in commands]

    def clear(self) -> EditResult:
        """Empty the editor for good: undo does not bring the text back."""
        result = super().clear()
        self._inputs.reset()
        self._sent = None
        return result

    def clear_sent(self) -> None:
        """What was submitted is stored: take it out, and keep what was typed after it."""
        sent, self._sent = self._sent, None
        if sent is not None and self.text == sent:
            self.clear()
        elif sent and self.text.startswith(sent):
            self.delete((0, 0), _location(sent))

    # keys

    async def _on_key(self, event: events.Key) -> None:
        if event.key != "enter" and not event.is_printable:
            await self.release_enter()
        if (
            self._menu_key(event.key)
            or self._complete_path(event.key)
            or self._key_paste(event)
            or await self._run_binding(event)
        ):
            event.stop()
            event.prevent_default()
        elif event.key == "enter":
            event.prevent_default()
        elif event.character in JOINERS:
            event.stop()
            event.prevent_default()
            self._replace_via_keyboard(event.character, *self.selection)

    async def _run_binding(self, event: events.Key) -> bool:
        """Do what a key of the editor's own means; tells whether it was one.

        Here and now: Textual would send the key up to the app and back, and what is typed meanwhile would overtake it.
        """
        if event.is_printable:
            return False
        bindings = self._bindings.copy()
        bindings.apply_keymap(self.app._keymap)
        for binding in bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                return True
        return False

    def _menu_key(self, key: str) -> bool:
        """Give a key to the open menu; tells whether it was one for it."""
        if not self._menu.is_open:
            return False
        if key in ("up", "down"):
            self._menu.move(-1 if key == "up" else 1)
        elif key == "escape":
            self._menu_dismissed = True
            self._menu.close()
        elif key == "tab" or (key == "enter" and self.text != self._menu.current):
            self._accept(self._menu.current)
        else:
            return False
        return True

    def _key_paste(self, event: events.Key) -> bool:
        """Handle an Enter inside a paste that comes as keys: it is a line break. Tells whether `event` was one."""
        enter = event.key == "enter"
        if not enter and not event.is_printable:
            return False
        seen = self._key_paste_watch.see(enter=enter, time=event.time)
        if seen is Enter.HELD:
            self.set_timer(HOLD_SECONDS, self.release_enter)
            return True
        if seen in (Enter.BREAK, Enter.BREAK_FIRST):
            self.action_newline()
        if seen is Enter.BREAK_FIRST and enter:
            self.action_newline()
        return enter and seen is not Enter.TYPED

    async def release_enter(self) -> None:
        """No text follows the Enter that waits, if any does: it was pressed, so it counts."""
        if self._key_paste_watch.release():
            await self._run_binding(events.Key("enter", "\r"))

    def action_send(self) -> None:
        """Submit the text, unless there is none."""
        text = self.value
        if text.strip():
            self._sent = self.text
            self._inputs.add(text)
            self._menu.close()
            sent = self.Submitted(text, self.pasted_in(text))
            if self.taker is not None:
                self.taker(sent)
            else:
                self.post_message(sent)
        elif self.beside is not None:
            self.beside.enter()

    def action_delete_left(self) -> None:
        """Delete backwards; before the first character, what stands beside the text."""
        first = self.selection.is_empty and self.cursor_location == (0, 0)
        if not (first and self.beside is not None and self.beside.backspace()):
            super().action_delete_left()

    def action_newline(self) -> None:
        """Begin a new line."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_cursor_up(self, select: bool = False) -> None:
        """Go up; from the first row to the older input; from an empty one to what waits."""
        if not select and not self.text and self.beside is not None and self.beside.up():
            return
        if select or not self.navigator.is_first_wrapped_line(self.cursor_location) or not self._recall(-1):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Go down; from the last row to the newer input."""
        if select or not self.navigator.is_last_wrapped_line(self.cursor_location) or not self._recall(1):
            super().action_cursor_down(select)

    def _recall(self, step: int) -> bool:
        found = self._inputs.move(step, self.value)
        if found is None:
            return False
        self._menu_dismissed = True
        self.load_text(found)
        if step < 0:
            self.move_cursor((0, len(self.document[0])))
        return True

    # command menu

    def edit(self, edit: Edit) -> EditResult:
        """Every change comes by here: keep the menu in step."""
        result = super().edit(edit)
        self._update_menu()
        return result

    def _update_menu(self) -> None:
        """Open the menu while one command word is being typed at the start."""
        text = self.text
        if not text.startswith("/"):
            self._menu_dismissed = False
        found = []
        if re.fullmatch(r"/[^\s/]*", text) and not self._menu_dismissed:
            found = [(f"/{name}", about) for name, about in matching(self._commands, text[1:])]
        elif not self._menu_dismissed:
            found = following(self.choices, text)
        self._show_menu(found)

    def _show_menu(self, found: Sequence[Entry]) -> None:
        if not found:
            self._menu.close()
            return
        if not self._menu.is_attached:
            self.screen.mount(self._menu)
        self._menu.open(found, self.region.offset)

    def _accept(self, chosen: str) -> None:
        """Put the chosen command, or the chosen path behind the command that is there, in the text."""
        command = self._path_command()
        if command is None:
            self._replace_via_keyboard(f"{chosen} ", (0, 0), self.document.end)
            self._menu.close()
        else:
            self._put_path(command, chosen)
            self._menu.close()

    def on_blur(self) -> None:
        """The menu belongs to typing."""
        self._menu.close()

    def on_unmount(self) -> None:
        """The menu lies on the screen: take it along."""
        if self._menu.is_attached:
            self._menu.remove()


def _location(text: str) -> Location:
    """Where the end of `text` lies when the document begins with it."""
    return text.count("\n"), len(text) - text.rfind("\n") - 1
