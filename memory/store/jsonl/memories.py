"""Summaries and long-term memory, their journal, and what replies were given: one file for all of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from memory.errors import StoreError
from memory.store.journal import name_change
from memory.store.jsonl.log import MEMORIES
from memory.store.jsonl.parts import Act, JSONLPart, new, one, one_session
from memory.store.jsonl.state import State, sees, to_line
from memory.store.memories import CHANGEABLE
from memory.store.rows import storable
from memory.store.summaries import ACTOR
from memory.types import (
    Injection,
    ItemKind,
    LongTermMemory,
    MemoryEvent,
    MemoryStatus,
    NewMemory,
    Scope,
    ShortTermMemory,
)


class MemoryPart(JSONLPart):
    """The methods about memories."""

    def add_short_term(
        self,
        session_id: str,
        content: str,
        *,
        source_count: int = 1,
        confidence: float = 0.8,
        first_message_id: int | None = None,
        last_message_id: int | None = None,
    ) -> ShortTermMemory:
        """Add a summary, journalled."""
        now = self._clock.now()
        with self._log.writing() as append:
            one_session(self._state, session_id)
            added = new(
                ShortTermMemory,
                id=self._state.next_id("short_term"),
                session_id=session_id,
                content=storable(content),
                source_count=source_count,
                confidence=confidence,
                created_at=now,
                updated_at=now,
                first_message_id=first_message_id,
                last_message_id=last_message_id,
            )
            act = Act(self._state, actor=ACTOR, timestamp=now)
            act.record("add", None, added)
            append(MEMORIES, to_line("memory", {"short_term": [asdict(added)], "events": act.rows}))
            return added

    def short_term(self, session_id: str, *, limit: int | None = None) -> list[ShortTermMemory]:
        """The session's summaries, newest first."""
        with self._log.reading():
            one_session(self._state, session_id)
            found = _newest(self._state, session_id)
        return found if limit is None else found[: max(limit, 0)]

    def short_term_memory(self, memory_id: int) -> ShortTermMemory:
        """One summary."""
        with self._log.reading():
            return one(self._state.summaries, memory_id, f"summary {memory_id}")

    def keep_short_term(self, session_id: str, keep: int, *, spare: Collection[int] = ()) -> int:
        """Remove all but the newest `keep` summaries, journalled; tells how many went.

        Those that begin at a message of `spare` stay as well.
        """
        now, reason = self._clock.now(), f"only the newest {keep} are kept"
        with self._log.writing() as append:
            one_session(self._state, session_id)
            old = _newest(self._state, session_id)[max(keep, 0) :]
            gone = [summary for summary in old if summary.first_message_id not in spare]
            act = Act(self._state, actor=ACTOR, timestamp=now)
            for summary in gone:
                act.record("remove", summary, None, reason)
            if gone:
                append(MEMORIES, to_line("memory", {"gone": [summary.id for summary in gone], "events": act.rows}))
            return len(gone)

    def add_memory(self, new: NewMemory, *, actor: str, reason: str = "") -> LongTermMemory:
        """Add a long-term memory, journalled; an active one of the same scope and topic key is superseded."""
        now = self._clock.now()
        with self._log.writing() as append:
            older = _same_topic(self._state, new) if new.topic_key and new.status == "active" else []
            added = _new_memory(self._state, new, older[0] if older else None, now)
            superseded = [replace(old, status="superseded", updated_at=now) for old in older]
            act = Act(self._state, actor=actor, timestamp=now)
            for before, after in zip(older, superseded, strict=True):
                act.record(
                    "supersede", before, after, f"superseded by memory {added.id}" + (f": {reason}" if reason else "")
                )
            act.record("add", None, added, reason)
            append(MEMORIES, _line([added, *superseded], act))
            return added

    def update_memory(
        self, memory_id: int, changes: Mapping[str, Any], *, actor: str, reason: str = ""
    ) -> LongTermMemory:
        """Change fields of a memory by name, journalled with before and after. Unknown fields: `ValueError`."""
        if unknown := changes.keys() - CHANGEABLE:
            raise ValueError(f"a memory has no field to change named {', '.join(sorted(unknown))}")
        wanted = {name: tuple(value) if isinstance(value, list) else value for name, value in storable(changes).items()}
        now = self._clock.now()
        with self._log.writing() as append:
            before = one(self._state.memories, memory_id, f"memory {memory_id}")
            changed = {name: value for name, value in wanted.items() if getattr(before, name) != value}
            if not changed:
                return before
            after = new(LongTermMemory, asdict(before), **changed, updated_at=now)
            act = Act(self._state, actor=actor, timestamp=now)
            act.record(name_change(before, after), before, after, reason)
            append(MEMORIES, _line([after], act))
            return after

    def memory(self, memory_id: int) -> LongTermMemory:
        """One long-term memory."""
        with self._log.reading():
            return one(self._state.memories, memory_id, f"memory {memory_id}")

    def memories(
        self,
        *,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        limit: int = 100,
        offset: int = 0,
    ) -> list[LongTermMemory]:
        """Long-term memories, newest first. A scope sees its own and what is not tied to a project, agent or team."""
        with self._log.reading():
            found = [
                memory
                for memory in self._state.memories.values()
                if (branches is None or memory.branch in branches)
                and (status is None or memory.status in status)
                and sees(scope, memory)
            ]
        found.sort(key=lambda memory: -memory.id)
        return found[max(offset, 0) :][: max(limit, 0)]

    def touch_memories(self, memory_ids: Sequence[int]) -> None:
        """Count one access each, now."""
        with self._log.writing() as append:
            known = [item_id for item_id in dict.fromkeys(memory_ids) if item_id in self._state.memories]
            if known:
                append(MEMORIES, to_line("touched", {"ids": known, "at": self._clock.now()}))

    def journal(
        self, *, kind: ItemKind | None = None, item_id: int | None = None, limit: int = 100
    ) -> list[MemoryEvent]:
        """Changes, newest first. `before` and `after` hold every field of the memory: enough to put it back."""
        with self._log.reading():
            found = [
                event
                for event in reversed(self._state.events)
                if kind in (None, event.kind) and item_id in (None, event.item_id)
            ]
        return found[: max(limit, 0)]

    def add_injections(self, injections: Sequence[Injection]) -> None:
        """Record what a reply was given."""
        with self._log.writing() as append:
            if any(given.message_id not in self._state.messages for given in injections):
                raise StoreError("The store refused a value: what was given belongs to no reply.")
            rows = [asdict(new(Injection, asdict(given), parts=given.parts)) for given in injections]
            if rows:
                append(MEMORIES, to_line("injections", {"items": rows}))

    def injections(self, message_id: int) -> list[Injection]:
        """What a reply was given, by rank."""
        with self._log.reading():
            found = list(self._state.injections.get(message_id, ()))
        return sorted(found, key=lambda given: given.rank)


def _line(memories: Sequence[LongTermMemory], act: Act) -> bytes:
    return to_line("memory", {"long_term": [asdict(memory) for memory in memories], "events": act.rows})


def _newest(state: State, session_id: str) -> list[ShortTermMemory]:
    found = [summary for summary in state.summaries.values() if summary.session_id == session_id]
    return sorted(found, key=lambda summary: (summary.updated_at, summary.id), reverse=True)


def _same_topic(state: State, wanted: NewMemory) -> list[LongTermMemory]:
    """Active memories about the topic in exactly this scope, the latest version first; normally at most one."""
    found = [
        memory
        for memory in state.memories.values()
        if (memory.status, memory.topic_key) == ("active", storable(wanted.topic_key))
        and Scope(memory.user_id, memory.project, memory.agent_id, memory.team_id) == wanted.scope
    ]
    return sorted(found, key=lambda memory: (memory.version, memory.id), reverse=True)


def _new_memory(state: State, wanted: NewMemory, old: LongTermMemory | None, now: str) -> LongTermMemory:
    given = asdict(wanted)
    return new(
        LongTermMemory,
        storable({**given, **given.pop("scope")}),
        id=state.next_id("long_term"),
        access_count=0,
        created_at=now,
        updated_at=now,
        version=old.version + 1 if old else 1,
        supersedes=old.id if old else None,
        merged_from=(),
    )
