"""Backups by themselves, while the app is open: a while after the start, then looked at every hour."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from memory.errors import OrcaError
from memory.store.backup import Backup

log = logging.getLogger(__name__)

FIRST_DELAY = 120.0
"""Seconds after the start: nothing is in the way of the first turns."""
INTERVAL = 3600.0


class Keeping:
    """Calls `back_up`, which makes a backup if one is due, in a thread, with what tells whether to leave off."""

    def __init__(
        self,
        back_up: Callable[[Callable[[], bool]], Backup | None],
        *,
        first_delay: float = FIRST_DELAY,
        interval: float = INTERVAL,
    ) -> None:
        self.problem = ""
        """Why the last one failed, for a person; empty when none did."""
        self._back_up = back_up
        self._first_delay = first_delay
        self._interval = interval
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin. Needs a running event loop."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="backups")

    async def close(self) -> None:
        """End; a backup that is being copied is left off, and nothing of it stays."""
        self._closing.set()
        if self._task is not None:
            await self._task
            self._task = None

    async def _run(self) -> None:
        wait = self._first_delay
        while not await self._closes_within(wait):
            try:
                await asyncio.to_thread(self._back_up, self._closing.is_set)
                self.problem = ""
            except OrcaError as error:
                log.warning("there is no backup of today: %s", error)
                self.problem = str(error)
            wait = self._interval

    async def _closes_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
        return self._closing.is_set()
