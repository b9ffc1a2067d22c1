"""Work that comes round while the app is open."""

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress


class Periodic(ABC):
    """Does its step again and again, in the event loop that `start` was called in, until it is closed."""

    def __init__(self, name: str, first_delay: float) -> None:
        """`first_delay`: seconds from `start` to the first step."""
        self.problem = ""
        """Why the last step failed, for a person; empty when none did."""
        self._name = name
        self._first_delay = first_delay
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin. Needs a running event loop."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """End, and wait for the step under way, which looks at `_closing`."""
        self._closing.set()
        if self._task is not None:
            await self._task
            self._task = None

    @abstractmethod
    async def _step(self) -> float:
        """Do it once, and tell in how many seconds again. Errors that are known go to `problem`."""

    async def _run(self) -> None:
        wait = self._first_delay
        while not await self._closes_within(wait):
            wait = await self._step()

    async def _closes_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
        return self._closing.is_set()
