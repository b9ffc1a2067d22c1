"""Replies that the store does not take at the moment: they stay here, and are tried again while orca runs."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from memory.errors import NotFoundError, OrcaError, StoreError
from memory.events import SavingChanged
from memory.turns.reply import ReplyDraft
from memory.types import Message, MessageState

log = logging.getLogger(__name__)

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
"""Seconds between two tries: they begin with the first and double up to the longest."""


@dataclass(frozen=True, slots=True)
class _Late:
    """A reply whose turn is over."""

    draft: ReplyDraft
    state: MessageState
    error: OrcaError | None
    saved: Callable[[Message], None]


class UnsavedReplies:
    """Holds what could not be written and tells about it. All methods are for the event loop's thread."""

    def __init__(self, notify: Callable[[SavingChanged], None]) -> None:
        self._notify = notify
        self._late: list[_Late] = []
        self._growing: dict[ReplyDraft, StoreError] = {}
        """Replies on their way whose last checkpoint failed."""
        self._problem: StoreError | None = None
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def count(self) -> int:
        """Replies of which the store lacks something that it should have."""
        return len(self._late) + len(self._growing)

    @property
    def problem(self) -> str:
        """Why, for a person; empty when all is well."""
        return str(self._problem) if self.count and self._problem else ""

    def replies(self) -> list[Message]:
        """Those replies, as far as they have come."""
        return [draft.unsaved() for draft in (*(late.draft for late in self._late), *self._growing)]

    def checked(self, draft: ReplyDraft, problem: StoreError | None) -> None:
        """A checkpoint of a growing reply failed, or, without a problem, what it holds is stored."""
        known = self._growing.pop(draft, None)
        if problem is not None:
            self._growing[draft] = self._problem = problem
        if (problem is None) != (known is None):
            self._tell()

    def keep(
        self,
        draft: ReplyDraft,
        problem: StoreError,
        state: MessageState,
        error: OrcaError | None,
        saved: Callable[[Message], None],
    ) -> None:
        """Take charge of a reply that could not be stored at its end for a `problem`; `saved` is told once it is."""
        self._growing.pop(draft, None)
        self._problem = problem
        self._late.append(_Late(draft, state, error, saved))
        self._tell()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="unsaved replies")

    async def close(self) -> None:
        """Try a last time. What the store does not take now is lost; `count` tells how many."""
        self._closing.set()
        if self._task is not None:
            await self._task
            self._task = None
        await self._try()
        for late in self._late:
            log.error("orca ends with a reply of %d characters that could not be stored", len(late.draft.text))

    async def _run(self) -> None:
        wait = FIRST_WAIT
        while self._late and not await self._closes_within(wait):
            before = len(self._late)
            await self._try()
            wait = FIRST_WAIT if len(self._late) < before else min(2 * wait, LONGEST_WAIT)

    async def _try(self) -> None:
        for late in tuple(self._late):
            stored: Message | None = None
            try:
                stored = await asyncio.to_thread(late.draft.write, late.state, late.error)
            except NotFoundError:
                log.warning("a reply that was deleted before it could be stored is let go")
            except StoreError as problem:
                self._problem = problem
                continue
            self._late.remove(late)
            if stored is not None:
                late.saved(stored)
            self._tell(stored)

    async def _closes_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
        return self._closing.is_set()

    def _tell(self, stored: Message | None = None) -> None:
        hint = self._problem.hint if self.count and self._problem else ""
        self._notify(SavingChanged(self.count, self.problem, hint, stored))
