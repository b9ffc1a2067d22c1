"""The way out: running turns keep what they brought, writes drain, the terminal is restored, the exit code is right."""

import asyncio
import signal
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.segment import Segments
from rich.text import Text

from memory.errors import OrcaError
from memory.text import clean
from orca_tui.i18n import _
from orca_tui.terminal import end_now, exit_within, when_gone, write_log

if TYPE_CHECKING:
    from orca_tui.app import OrcaApp

DRAIN = 1.0
"""Seconds that running turns, and then the embedding queue, get to finish."""
HARD_EXIT = 4.0
"""Seconds after which leaving is forced."""


class Leaving:
    """Ends one app. Every way out comes through here: quit, signals, errors."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app
        self._begun = False
        self._lost = False
        """Whether something could not be saved until the end."""

    async def leave(self, code: int) -> None:
        """Stop the turns, close the core, exit with `code`; 1 instead of 0 when something could not be saved.

        A second call does nothing.
        """
        if self._begun:
            return
        self._begun = True
        app = self._app
        if not app.is_headless:
            exit_within(HARD_EXIT, code, self._attributes)
        await app.sending.close(DRAIN)
        if app.bridge is not None:
            app.bridge.stop_all()
            with suppress(TimeoutError):
                await asyncio.wait_for(app.bridge.idle(), DRAIN)
        await app.drafts.save()
        try:
            await self.close_core()
        finally:
            app.exit(return_code=code or int(self._lost))

    async def close_core(self) -> None:
        """Drain and close the store; once. What goes wrong at the very end is for the log."""
        core, self._app.core = self._app.core, None
        if core is not None:
            try:
                await core.close(drain=DRAIN)
            except OrcaError as error:
                write_log(self._app.home, f"closing: {error}")
            self._lost = bool(core.unsaved)
            if core.unsaved:
                self.say(_("Replies that could not be saved: {n} ({why})", n=core.unsaved, why=core.save_problem))

    def say(self, text: str) -> None:
        """Print `text` on the terminal once the app has left it."""
        console = self._app.console
        self._app._exit_renderables.append(Segments(console.render(Text(clean(text)), console.options)))

    def catch_signals(self) -> None:
        """These signals leave like a quit, with 128 + their number. Call it on the app's loop.

        SIGINT is a signal of other programs here: Ctrl+C is a key. A second one does not wait for anything.
        """
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                with suppress(NotImplementedError):  # Windows
                    loop.add_signal_handler(number, self._on_signal, 128 + number)
        if sys.__stdin__ is not None:
            when_gone(sys.__stdin__.fileno(), partial(self._hung_up, loop))

    def _hung_up(self, loop: asyncio.AbstractEventLoop) -> None:
        """From another thread: the terminal is closed."""
        with suppress(RuntimeError):  # the loop is, too
            loop.call_soon_threadsafe(self._on_signal, 128 + signal.SIGHUP)

    def _on_signal(self, code: int) -> None:
        if self._app.is_lent and code == 128 + signal.SIGINT:
            return  # Ctrl+C in the editor that has the terminal
        if self._begun:
            if code == 128 + signal.SIGINT:
                end_now(code, self._attributes)
        elif self._app.is_running:
            self._app.spawn("leave", self.leave, code)

    @property
    def _attributes(self) -> list[Any] | None:
        """The terminal's from before the app, if it has one."""
        found: list[Any] | None = getattr(self._app._driver, "attrs_before", None)
        return found
