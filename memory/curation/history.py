"""Taking changes back: undo of single acts, and rollback of a span of time. Both are journalled, and undoable.

An act is what was changed together (`MemoryEvent.act`). Taking it back gives each field that it changed the value from
before, unless something else has changed the field since: that is left, and said.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from memory.errors import NotFoundError, OrcaError
from memory.store.ledger import Ledger
from memory.types import FORGOTTEN, ItemKind, LongTermMemory, MemoryEvent, Scope, ShortTermMemory

UNDOABLE = ("user", "maintenance", "import")
"""Whose acts `undo` takes back when nobody says which: the user's, and what was written from the user's words."""
USER = "user"
PAGE = 500
_FREE = frozenset({"id", "updated_at", "created_at", "access_count", "last_accessed"})
"""Fields that are no decision of anybody's; they are not put back."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """One thing that was put back, or would be."""

    kind: ItemKind
    id: int
    text: str
    """What it says now; empty when it is gone."""
    changes: Mapping[str, Any]
    """Fields and the values that they get back."""
    left: tuple[str, ...] = ()
    """Fields that something else has changed since; they stay."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Net:
    """What one or more changes did to an item in all."""

    kind: ItemKind
    id: int
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(slots=True)
class _Walk:
    """Going back through acts, newest first: which are undone already."""

    undone: set[int] = field(default_factory=set)

    def is_candidate(self, events: Sequence[MemoryEvent]) -> bool:
        first = events[0]
        taken_back = {event.undoes for event in events if event.undoes is not None}
        if taken_back:
            if first.act not in self.undone:
                self.undone |= taken_back
            return False
        if first.act in self.undone or first.actor not in UNDOABLE:
            return False
        return any(e.action != "erase" for e in events) and not (
            first.actor != USER and all(e.kind == "short_term" for e in events)
        )


class History:
    """Reads the journal and takes acts back. Synchronous; safe from any thread."""

    def __init__(self, store: Ledger) -> None:
        self._store = store

    def of(self, kind: ItemKind, item_id: int, *, limit: int = 100) -> list[MemoryEvent]:
        """Every change of an item, newest first. Raises `NotFoundError` when there was never such an item."""
        events = self._store.journal(kind=kind, item_id=item_id, limit=limit)
        if not events:
            raise NotFoundError(f"Nothing is recorded about {kind} {item_id}.")
        return events

    def undo(self, steps: int = 1, *, event: int | None = None) -> list[TakenBack]:
        """Take back the last `steps` acts of the user, or the act that a change (by id) belongs to.

        An undo is an act as well: give one of its changes to take it back. Raises `OrcaError` when there is nothing
        to take back, or when everything that the act changed has been changed again since.
        """
        with self._store.act():
            acts = [self._act_of(event)] if event is not None else self._last(steps)
            if not acts:
                raise OrcaError("There is nothing to undo.")
            return [taken for events in acts for taken in self._take_back(events)]

    def undo_item(self, kind: ItemKind, item_id: int) -> list[TakenBack]:
        """Take back the newest change of one item that stands; called again, the one before.

        Raises `OrcaError` when there is none, or when it cannot be taken back.
        """
        walk = _Walk()
        for events in _acts(self._all()):
            if walk.is_candidate(events) and any((e.kind, e.item_id) == (kind, item_id) for e in events):
                return self.undo(event=events[0].id)
        raise OrcaError("There is nothing to undo in its history.")

    def newest(self) -> str:
        """When the act was done that `undo` takes back next; empty when there is none."""
        acts = self._last(1)
        return acts[0][0].timestamp if acts else ""

    def rollback(
        self,
        since: str,
        *,
        until: str | None = None,
        branch: str | None = None,
        scope: Scope | None = None,
        dry_run: bool = False,
    ) -> list[TakenBack]:
        """Give memories the state that they had at `since`, undoing what was changed until `until` (default: now).

        `branch`: only those that are, or were, in it. `scope`: only those of exactly this user and project. What was
        erased stays erased. Times are UTC ISO-8601. All of it is one act.
        """
        with self._store.act():
            changed: dict[tuple[ItemKind, int], list[MemoryEvent]] = {}
            for event in self._all(after=since, until=until):
                if event.kind != "short_term" and event.action not in ("rate", "erase"):
                    changed.setdefault((event.kind, event.item_id), []).append(event)
            found = [_net(events) for events in changed.values()]
            reason = f"rolled back to {since}"
            planned = (
                self._apply(net, "rollback", reason, None, dry_run) for net in found if _is_in(net, branch, scope)
            )
            return [taken for taken in planned if taken.changes or taken.note]

    def _last(self, steps: int) -> list[list[MemoryEvent]]:
        walk, found = _Walk(), list[list[MemoryEvent]]()
        for events in _acts(self._all()):
            if walk.is_candidate(events):
                found.append(events)
            if len(found) >= steps:
                break
        return found

    def _act_of(self, event_id: int) -> list[MemoryEvent]:
        events = self._store.changes(below=event_id + 1, limit=1)
        if not events or events[0].id != event_id:
            raise NotFoundError(f"There is no change {event_id}.", hint="`orca-tui memory history ID` lists changes.")
        return self._store.changes(act=events[0].act)

    def _all(self, *, after: str | None = None, until: str | None = None) -> Iterator[MemoryEvent]:
        below = None
        while events := self._store.changes(after=after, until=until, below=below, limit=PAGE):
            yield from events
            below = events[-1].id

    def _take_back(self, events: Sequence[MemoryEvent]) -> list[TakenBack]:
        act = events[0].act
        if all(event.action == "erase" for event in events):
            raise OrcaError("What was erased for good cannot be brought back.")
        changed: dict[tuple[ItemKind, int, bool], list[MemoryEvent]] = {}
        for event in events:
            changed.setdefault((event.kind, event.item_id, "rating" in (event.after or {})), []).append(event)
        reason = f"undo of {events[0].action} ({events[0].timestamp})"
        taken = [self._apply(_net(group), "undo", reason, act, False) for group in changed.values()]
        if not any(one.changes for one in taken):
            why = "; ".join(dict.fromkeys(one.note for one in taken if one.note)) or "it has been changed again since"
            raise OrcaError(f"This cannot be undone: {why}.", hint="Undo the later change first.")
        return taken

    def _apply(self, net: Net, action: str, reason: str, undoes: int | None, dry_run: bool) -> TakenBack:
        if net.kind == "long_term":
            return self._put_back_memory(net, action, reason, undoes, dry_run)
        if net.kind == "short_term":
            return self._put_back_summary(net, action, reason, undoes)
        return self._put_back_message(net, action, reason, undoes, dry_run)

    def _put_back_memory(self, net: Net, action: str, reason: str, undoes: int | None, dry_run: bool) -> TakenBack:
        try:
            now = self._store.memory(net.id)
        except NotFoundError:
            return TakenBack(net.kind, net.id, "", {}, note="it was erased for good")
        if net.before is None:  # It was not there: to the trash, from where it can be restored.
            wanted: dict[str, Any] = {} if now.status == "trashed" else {"status": "trashed"}
            left: tuple[str, ...] = ()
        else:
            wanted, left = _difference(net.before, net.after or {}, now)
        if wanted and not dry_run:
            self._store.put_back(net.id, wanted, action=action, actor=USER, reason=reason, undoes=undoes)
        return TakenBack(net.kind, net.id, now.content, wanted, left)

    def _put_back_summary(self, net: Net, action: str, reason: str, undoes: int | None) -> TakenBack:
        if net.before is not None and net.after is None:
            summary = ShortTermMemory(**{f.name: net.before[f.name] for f in fields(ShortTermMemory)})
            try:
                self._store.short_term_memory(summary.id)
            except NotFoundError:
                self._store.put_back_summary(summary, action=action, actor=USER, reason=reason, undoes=undoes)
                return TakenBack(net.kind, net.id, summary.content, {"removed": False})
        elif net.before is None:
            try:
                gone = self._store.remove_summary(net.id, action=action, actor=USER, reason=reason, undoes=undoes)
            except NotFoundError:
                return TakenBack(net.kind, net.id, "", {}, note="the summary is gone already")
            return TakenBack(net.kind, net.id, gone.content, {"removed": True})
        return TakenBack(net.kind, net.id, "", {}, note="the summary is there again")

    def _put_back_message(self, net: Net, action: str, reason: str, undoes: int | None, dry_run: bool) -> TakenBack:
        try:
            message = self._store.message(net.id)
        except NotFoundError:
            return TakenBack(net.kind, net.id, "", {}, note="the message is gone")
        before = dict(net.before or {})
        if message.metadata.get("erased"):
            return TakenBack(net.kind, net.id, "", {}, note="it was erased for good")
        if not dry_run and FORGOTTEN in before:
            self._store.mark_forgotten(
                net.id, bool(before[FORGOTTEN]), action=action, actor=USER, reason=reason, undoes=undoes
            )
        if not dry_run and "rating" in before:
            self._store.rate(net.id, int(before["rating"]), action=action, actor=USER, undoes=undoes)
        return TakenBack(net.kind, net.id, message.content, before)


def _acts(events: Iterable[MemoryEvent]) -> Iterator[list[MemoryEvent]]:
    """Events newest first, by act."""
    act: list[MemoryEvent] = []
    for event in events:
        if act and act[0].act != event.act:
            yield act
            act = []
        act.append(event)
    if act:
        yield act


def _net(newest_first: Sequence[MemoryEvent]) -> Net:
    last, first = newest_first[0], newest_first[-1]
    return Net(last.kind, last.item_id, last.action, first.before, last.after)


def _difference(
    before: Mapping[str, Any], after: Mapping[str, Any], now: LongTermMemory
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What to put back, and what has been changed again since."""
    wanted, left = {}, []
    for name, old in before.items():
        if name in _FREE or old == after.get(name):
            continue
        current = getattr(now, name)
        current = list(current) if isinstance(current, tuple) else current
        if current == after.get(name):
            wanted[name] = old
        elif current != old:
            left.append(name)
    return wanted, tuple(left)


def _is_in(net: Net, branch: str | None, scope: Scope | None) -> bool:
    states = [state for state in (net.before, net.after) if state and "branch" in state]
    if branch is not None and not any(state["branch"] == branch for state in states):
        return False
    return scope is None or any((s["user_id"], s["project"]) == (scope.user_id, scope.project) for s in states)
