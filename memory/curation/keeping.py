"""Backups by themselves, while the app is open: a while after the start, then looked at every hour."""

import asyncio
import logging
from collections.abc import Callable

from memory.curation.periodic import Periodic
from memory.errors import OrcaError
from memory.store.backup import Backup

log = logging.getLogger(__name__)

FIRST_DELAY = 120.0
"""Seconds after the start: nothing is in the way of the first turns."""
INTERVAL = 3600.0


class Keeping(Periodic):
    """Calls `back_up`, which makes a backup if one is due, in a thread, with what tells whether to leave off.

    A backup that is being copied at the end is left off, and nothing of it stays.
    """

    def __init__(
        self,
        back_up: Callable[[Callable[[], bool]], Backup | None],
        *,
        first_delay: float = FIRST_DELAY,
        interval: float = INTERVAL,
    ) -> None:
        super().__init__("backups", first_delay)
        self._back_up = back_up
        self._interval = interval

    async def _step(self) -> float:
        try:
            await asyncio.to_thread(self._back_up, self._closing.is_set)
            self.problem = ""
        except OrcaError as error:
            log.warning("there is no backup of today: %s", error)
            self.problem = str(error)
        return self._interval
