"""Upkeep: what keeps memory in order without anybody asking. It marks, merges copies and proposes; it drops nothing.

`Upkeep.run` is one run, blocking, for a thread or for cron. `Scheduler` runs it while the app is open.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from memory.clock import Clock, from_iso, to_iso
from memory.curation.curator import Curator
from memory.curation.periodic import Periodic
from memory.errors import OrcaError
from memory.events import UpkeepChanged
from memory.store.base import Store
from memory.store.upkeep_log import MaintenanceRun
from memory.types import LongTermMemory

log = logging.getLogger(__name__)

ACTOR = "upkeep"
FIRST_DELAY = 60.0
"""Seconds after the start until the first run: nothing is in the way of the first turn."""
INTERVAL = 6 * 3600.0
RETRY_AFTER = 300.0
"""Seconds until a run that failed is tried again; doubles up to `INTERVAL`."""
DUPLICATES_AT_ONCE = 2000


class Upkeep:
    """The steps of one run. Each is journalled, and safe to end after: the next run goes on."""

    def __init__(self, curator: Curator, clock: Clock) -> None:
        self._curator = curator
        self._clock = clock

    def due(self, interval: float = INTERVAL) -> bool:
        """Whether no run without a problem ended within `interval` seconds, in any process."""
        runs = self._curator.ledger.runs(limit=1)
        edge = to_iso(from_iso(self._clock.now()) - timedelta(seconds=interval))
        return not runs or bool(runs[0].problem) or runs[0].ended_at < edge

    def run(
        self,
        *,
        started_by: str,
        cancelled: Callable[[], bool] = lambda: False,
        before: Mapping[str, int] | None = None,
        problem: str = "",
    ) -> MaintenanceRun:
        """Do every step and record the run. A step that fails is recorded and does not keep the others from running.

        `before` and `problem` tell of what was done for this run already. Raises leaves of `StoreError` when not even
        that can be recorded.
        """
        ledger, started = self._curator.ledger, self._clock.now()
        counts = dict(before or {})
        problems = [problem] if problem else []
        steps: Sequence[tuple[str, Callable[[], int]]] = (
            ("expired", self._expire),
            ("merged", lambda: self._merge(cancelled)),
            ("duplicates_proposed", lambda: len(self._curator.duplicates(cancelled=cancelled))),
            ("cold_proposed", lambda: len(self._curator.cold())),
            ("inbox", lambda: sum(1 for _ in self._curator.all(status=("pending",)))),
            ("waiting_for_embedding", lambda: waiting(ledger)),
            ("indexes_rebuilt", ledger.compact_vectors),
        )
        for name, step in steps:
            if cancelled():
                problems.append("it was ended early")
                break
            try:
                counts[name] = step()
            except OrcaError as error:
                problems.append(f"{name}: {error}")
            except Exception as error:
                log.exception("upkeep met an error that it does not know, in %s", name)
                problems.append(f"{name}: unexpected {type(error).__name__}")
        return ledger.add_run(started_at=started, started_by=started_by, counts=counts, problem="; ".join(problems))

    def _expire(self) -> int:
        """Mark what is past its time. It is still found, below what is not; pinned memories do not expire."""
        now, count = self._clock.now(), 0
        ledger = self._curator.ledger
        past = [row for row in self._curator.all() if row.expires_at and row.expires_at <= now and not row.pinned]
        with ledger.act():
            for row in past:
                why = f"lived until {row.expires_at}"
                ledger.update_memory(row.id, {"status": "expired"}, actor=ACTOR, reason=why)
                count += 1
        return count

    def _merge(self, cancelled: Callable[[], bool]) -> int:
        """Make one of memories that say the same, when neither is the user's own hand: the older one stays."""
        count = 0
        for older, newer in self._changed_pairs(cancelled):
            if self._curator.by_hand(older) or self._curator.by_hand(newer):
                continue
            self._merge_pair(older, newer)
            count += 1
        return count

    def _merge_pair(self, older: LongTermMemory, newer: LongTermMemory) -> None:
        ledger = self._curator.ledger
        if {ledger.memory(older.id).status, ledger.memory(newer.id).status} != {"active"}:
            return
        changes = {
            "confidence": max(older.confidence, newer.confidence),
            "importance": max(older.importance, newer.importance),
            "expires_at": max(filter(None, (older.expires_at, newer.expires_at)), default=None),
            "merged_from": tuple(sorted({*older.merged_from, newer.id})),
        }
        if len(newer.content) > len(older.content):
            changes["content"] = newer.content
        with ledger.act():
            ledger.update_memory(newer.id, {"status": "superseded"}, actor=ACTOR, reason=f"says what {older.id} says")
            ledger.update_memory(older.id, changes, actor=ACTOR, reason=f"merged with {newer.id}")

    def _changed_pairs(self, cancelled: Callable[[], bool]) -> list[tuple[LongTermMemory, LongTermMemory]]:
        runs = self._curator.ledger.runs(limit=1)
        since = runs[0].started_at if runs and not runs[0].problem else ""
        return self._curator.duplicates(since=since, limit=DUPLICATES_AT_ONCE, cancelled=cancelled)


def waiting(store: Store) -> int:
    """Items without a vector of the model that is in use; all of them before the first vector."""
    model = store.embedding_model()
    return store.count_waiting(model=model[0] if model else "")


class Scheduler(Periodic):
    """Runs upkeep in the background while the app is open: soon after the start, then every few hours.

    It ends between two steps of a run.
    """

    def __init__(
        self,
        upkeep: Upkeep,
        *,
        notify: Callable[[UpkeepChanged], None] = lambda change: None,  # noqa: ARG005
        first_delay: float = FIRST_DELAY,
        interval: float = INTERVAL,
    ) -> None:
        super().__init__("memory upkeep", first_delay)
        self.last: MaintenanceRun | None = None
        """The last run of this process."""
        self._upkeep = upkeep
        self._notify = notify
        self._interval = interval
        self._failures = 0

    async def run_now(self) -> MaintenanceRun:
        """One run at once. Raises leaves of `StoreError`."""
        run = await asyncio.to_thread(self._upkeep.run, started_by="app", cancelled=self._closing.is_set)
        self.last, self.problem = run, run.problem
        self._notify(UpkeepChanged(run.counts, run.problem))
        return run

    async def _step(self) -> float:
        try:
            if await asyncio.to_thread(self._upkeep.due, self._interval):
                await self.run_now()
        except OrcaError as error:
            log.warning("upkeep did not run: %s", error)
            self.problem = str(error)
            self._notify(UpkeepChanged({}, self.problem))
        if not self.problem:
            self._failures = 0
            return self._interval
        self._failures += 1
        wait: float = min(self._interval, RETRY_AFTER * 2 ** min(self._failures - 1, 10))
        return wait
