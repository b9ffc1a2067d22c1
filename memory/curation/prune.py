"""Pruning: what could go and what that frees, shown before anything is done; and what has cooled or repeats itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from memory.clock import from_iso, to_iso
from memory.curation.curator_base import CuratorBase, scope_of
from memory.curation.heat import heat, is_cold
from memory.curation.history import TakenBack
from memory.store.ledger import Ledger
from memory.store.proposals import Dismissal, Proposal
from memory.tokens import TokenCounter
from memory.types import LongTermMemory, MemoryStatus
from memory.writing.worth import is_near_duplicate

Criterion = Literal["expired", "cold", "duplicates", "branch", "older_than", "ids"]
Action = Literal["archive", "trash"]

MAX_COLD = 100
"""Memories that are proposed at once, the coldest."""
NEIGHBOURS = 10
"""Hits of the text index among which a near-duplicate is looked for."""


@dataclass(frozen=True, slots=True)
class PruneItem:
    """A memory that would go."""

    memory: LongTermMemory
    tokens: int
    why: str


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What would be done. Nothing is, until `Curator.apply`."""

    items: tuple[PruneItem, ...]
    action: Action

    @property
    def tokens(self) -> int:
        """What the memories take in prompts and in the store's searches, in tokens."""
        return sum(item.tokens for item in self.items)


class Pruner(CuratorBase):
    """The part of `Curator` that lets go of much at once."""

    def plan_prune(
        self,
        criterion: Criterion,
        *,
        branch: str | None = None,
        older_than_days: float = 0.0,
        ids: Sequence[int] = (),
        action: Action = "archive",
    ) -> PrunePlan:
        """What a criterion takes: `expired` ones, the `cold`, the newer of `duplicates`, a whole `branch`, what has not
        been changed or used for `older_than_days`, or `ids`. `branch` narrows any of them. Pinned ones stay unless
        named by id.
        """
        now = self._clock.now()
        found: list[tuple[LongTermMemory, str]]
        match criterion:
            case "expired":
                rows = self.all(status=("active", "expired"))
                found = [(r, f"expired {r.expires_at[:10]}") for r in rows if r.expires_at and r.expires_at <= now]
            case "cold":
                found = [(row, f"heat {heat(row, now):.2f}") for row in self.cold()]
            case "duplicates":
                found = [(newer, f"says what {older.id} says") for older, newer in self.duplicates()]
            case "branch":
                self._check_branch(branch or "")
                found = [(row, f"in {branch}") for row in self.all(status=("active", "expired"))]
            case "older_than":
                edge = to_iso(from_iso(now) - timedelta(days=older_than_days))
                rows = self.all(status=("active", "expired"))
                found = [
                    (r, f"since {r.updated_at[:10]}") for r in rows if max(r.updated_at, r.last_accessed or "") < edge
                ]
            case "ids":
                found = [(self._store.memory(one), "chosen") for one in dict.fromkeys(ids)]
        counter = TokenCounter()
        items = [
            PruneItem(row, counter.count(row.content), why)
            for row, why in found
            if (criterion == "ids" or not row.pinned) and (branch is None or row.branch == branch)
        ]
        return PrunePlan(tuple(items), action)

    def apply(self, plan: PrunePlan) -> list[LongTermMemory]:
        """Do what a plan says, as one act. What has changed since the plan was made is left alone."""
        status: MemoryStatus = "archived" if plan.action == "archive" else "trashed"
        with self._act():
            planned = {item.memory.id: item.memory for item in plan.items}
            same = [row.id for row in self.existing(list(planned)) if row.updated_at == planned[row.id].updated_at]
            return self._set_status(same, status, f"pruned: {len(same)} at once")

    def cold(self, *, limit: int = MAX_COLD) -> list[LongTermMemory]:
        """Active memories that have cooled, the coldest first: proposed for archiving, never archived by themselves."""
        now, kept = self._clock.now(), self._dismissed("cold")
        cooled = (row for row in self.all() if is_cold(row, now) and (row.id,) not in kept)
        return sorted(cooled, key=lambda row: heat(row, now))[:limit]

    def keep_cold(self, *memory_ids: int) -> None:
        """Turn down the proposal to archive these; it is not made again."""
        self.ledger.dismiss("cold", [(one,) for one in memory_ids])
        self._changed(memory_ids)

    def keep_both(self, *pairs: tuple[int, int]) -> None:
        """Turn down proposals that two memories say the same; they are not made again."""
        self.ledger.dismiss("duplicate", pairs)
        self._changed([one for pair in pairs for one in pair])

    def undo(self, steps: int = 1) -> list[TakenBack]:
        """Take back the last `steps` acts of the user (`History.undo`), or proposals turned down, as they come.

        Raises `OrcaError` when there is nothing to take back.
        """
        taken: list[TakenBack] = []
        with self._act():
            for step in range(steps):
                dismissal, newest = self.ledger.last_dismissal(), self.history.newest()
                if dismissal is not None and dismissal.timestamp >= newest:
                    taken += self._propose_again(dismissal)
                elif newest or not step:
                    taken += self.history.undo()
        self.told_changed(taken)
        return taken

    def _propose_again(self, dismissal: Dismissal) -> list[TakenBack]:
        self.ledger.propose_again(dismissal)
        rows = self.existing([one for ids in dismissal.items for one in ids])
        return [TakenBack("long_term", row.id, row.content, {"proposed": dismissal.what}) for row in rows]

    def _dismissed(self, what: Proposal) -> set[tuple[int, ...]]:
        return self._store.dismissed(what) if isinstance(self._store, Ledger) else set()

    def duplicates(
        self, *, since: str = "", limit: int = 500, cancelled: Callable[[], bool] = lambda: False
    ) -> list[tuple[LongTermMemory, LongTermMemory]]:
        """Pairs (older, newer) of active memories of one scope that say the same: alike, of one polarity, with the
        same numbers and names. Looks at the newest `limit` of what was changed after `since`.
        """
        pairs: dict[tuple[int, int], tuple[LongTermMemory, LongTermMemory]] = {}
        kept = self._dismissed("duplicate")
        looked = 0
        for row in self.all():
            if row.updated_at <= since:
                continue
            looked += 1
            if looked > limit or cancelled():
                break
            other = self._same(row)
            if other is not None:
                older, newer = sorted((row, other), key=lambda one: one.id)
                if (older.id, newer.id) not in kept:
                    pairs[older.id, newer.id] = (older, newer)
        return list(pairs.values())

    def _same(self, row: LongTermMemory) -> LongTermMemory | None:
        scope = scope_of(row)
        hits = self._store.search_text(row.content, kinds=("long_term",), limit=NEIGHBOURS, scope=scope)
        others = self.existing([hit.id for hit in hits if hit.id != row.id])
        threshold = self._settings.near_duplicate
        return next(
            (o for o in others if scope_of(o) == scope and is_near_duplicate(o.content, row.content, threshold)), None
        )
