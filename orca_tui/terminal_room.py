"""The app's part about the terminal around it: the window's title, notices while nobody looks, suspending."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING

from memory.errors import OrcaError, StoreError
from orca_tui import terminal_signs
from orca_tui.i18n import _
from orca_tui.messages import SessionNamed
from orca_tui.room import Room

if TYPE_CHECKING:
    from orca_tui.bridge import LiveTurn

PAUSE = 0.7
"""Seconds without a key that count as a pause of typing."""
LONG = 8.0
"""Seconds from which the end of a reply is worth a notice."""


class TerminalRoom(Room):
    """Joined in the app."""

    is_lent = False
    """Whether another program has the terminal."""
    _typed_at = 0.0
    _window_title: str | None = None
    """What the window is called; `None` while it has its own name."""

    @cached_property
    def _touched(self) -> asyncio.Event:
        """Set from the first key on."""
        return asyncio.Event()

    def was_typed(self) -> None:
        """A key came, or a paste."""
        self._typed_at = monotonic()
        self._touched.set()

    async def quiet(self) -> None:
        """Wait for the first pause of typing: what keeps Python busy for long then disturbs nobody.

        Nothing happens before the first key: an app that is only looked at stays as small as it is.
        """
        await self._touched.wait()
        while (left := self._typed_at + PAUSE - monotonic()) > 0:  # noqa: ASYNC110 - each key sets it anew
            await asyncio.sleep(left)

    def draw_after_resume(self) -> None:
        """After `fg` the terminal is empty: draw everything."""
        self.app_resume_signal.subscribe(self, lambda _app: self.refresh(layout=True), immediate=True)

    def on_session_named(self, event: SessionNamed) -> None:
        """The window is called after the open session."""
        if not terminal_signs.has_titles(self._terminal_env) or event.title == self._window_title:
            return
        if self._window_title is None:
            self._write_sign(terminal_signs.SAVE_TITLE)
        self._window_title = event.title
        self._write_sign(terminal_signs.window_title(event.title))

    def give_back_title(self) -> None:
        """The window is called what it was called before."""
        if self._window_title is not None:
            self._window_title = None
            self._write_sign(terminal_signs.RESTORE_TITLE)

    def reply_over(self, live: "LiveTurn") -> None:
        """A turn has ended, in whatever session: say so when it took long and nobody looks."""
        if not self.app_focus and monotonic() - live.began >= LONG:
            self.spawn("notice", self._give_notice, live)

    async def _give_notice(self, live: "LiveTurn") -> None:
        await self.give_notice(await self._notice_text(live))

    async def give_notice(self, text: str) -> None:
        """Tell somebody who looks elsewhere, in the way that the settings say."""
        chosen = terminal_signs.way(self.settings.ui.notifications, self._terminal_env)
        if chosen == "desktop" and not await asyncio.to_thread(terminal_signs.tell_desktop, text):
            chosen = "bell"
        if sign := terminal_signs.notice(chosen, text):
            self._write_sign(sign)

    async def _notice_text(self, live: "LiveTurn") -> str:
        """Which session it is, by its title; nothing of the reply, and nothing at all of an incognito session."""
        title = ""
        if self.core is not None and not live.target.incognito:
            try:
                title = (await asyncio.to_thread(self.core.store.session, live.session_id)).title
            except StoreError:
                title = ""
        if live.failed:
            return _("orca: a reply ended with an error: {title}", title=title) if title else _("orca: a reply failed")
        return _("orca: the reply is there: {title}", title=title) if title else _("orca: the reply is there")

    def suspend_orca(self) -> None:
        """Give the terminal back to the shell until `fg`; replies that are being written go on after it.

        Raises `OrcaError` where there is no shell to go back to.
        """
        driver = self._driver
        if driver is None or not driver.can_suspend or os.name == "nt":
            raise OrcaError(_("orca cannot be suspended here."))
        title = self._window_title
        self.give_back_title()
        self.action_suspend_process()
        if title is not None:  # it is back
            self.on_session_named(SessionNamed(title))

    @contextmanager
    def lent_terminal(self) -> Iterator[None]:
        """The terminal is another program's meanwhile: nothing of ours is written. What is inside must not raise."""
        title = self._window_title
        self.give_back_title()
        with self.batch_update(), self.suspend():
            self.is_lent = True
            yield
            self.is_lent = False
        if title is not None:
            self.on_session_named(SessionNamed(title))

    @property
    def _terminal_env(self) -> Mapping[str, str]:
        return os.environ if self.env is None else self.env

    def _write_sign(self, sign: str) -> None:
        if self._driver is not None and not self.is_lent:
            self._driver.write(sign)
            self._driver.flush()
