"""What every part of the store on files stands on: the log, what it adds up to, and the clock."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from memory.clock import Clock, SystemClock
from memory.errors import NotFoundError, StoreError
from memory.store.jsonl import checks
from memory.store.jsonl.checks import Value
from memory.store.jsonl.log import Log
from memory.store.jsonl.state import State
from memory.store.rows import item_facts, storable
from memory.types import LongTermMemory, MemoryEvent, Message, Session, ShortTermMemory, SubagentRun

Key = TypeVar("Key", int, str)
Item = TypeVar("Item", Session, Message, ShortTermMemory, LongTermMemory, SubagentRun)


class JSONLPart:
    """Base of the parts that make up `JSONLStore`; each holds the methods about one kind of thing."""

    def __init__(self, home: Path, *, clock: Clock | None = None) -> None:
        """Open or create the files in `home` and read them. Raises leaves of `StoreError`, see `Log`."""
        self._clock: Clock = clock or SystemClock()
        self._state = State()
        self._log = Log(home, self._state.apply)


def one(table: Mapping[Key, Item], key: Key, what: str) -> Item:
    """The item with this id; `NotFoundError` naming `what` when there is none."""
    found = table.get(key)
    if found is None:
        raise NotFoundError(f"There is no {what}.")
    return found


def one_session(state: State, session_id: str) -> Session:
    """One session; `NotFoundError`."""
    return one(state.sessions, session_id, f"session {session_id!r}")


def one_message(state: State, message_id: int, session_id: str) -> Message:
    """One message of a session; `NotFoundError`."""
    what = f"message {message_id} in this session"
    message = one(state.messages, message_id, what)
    if message.session_id != session_id:
        raise NotFoundError(f"There is no {what}.")
    return message


def new(kind: type[Value], before: Mapping[str, Any] | None = None, /, **changes: Any) -> Value:
    """A value that is to be written. Raises `StoreError` when it cannot be."""
    try:
        return checks.checked(kind, {**(before or {}), **changes})
    except ValueError as error:
        raise StoreError(f"The store refused a value: {error}.") from error


class Act:
    """Changes of memories that are made together, as the journal tells them."""

    def __init__(self, state: State, *, actor: str, timestamp: str) -> None:
        self.rows: list[dict[str, Any]] = []
        """The changes so far, as a line holds them."""
        self._first = state.next_id("event")
        self._actor, self._timestamp = actor, timestamp

    def record(
        self,
        action: str,
        before: ShortTermMemory | LongTermMemory | None,
        after: ShortTermMemory | LongTermMemory | None,
        reason: str = "",
    ) -> None:
        """Add one change. At least one of `before` and `after` is given."""
        item = after or before
        if item is None:
            raise ValueError("a change needs what was before or what came after")
        event = new(
            MemoryEvent,
            id=self._first + len(self.rows),
            kind="long_term" if isinstance(item, LongTermMemory) else "short_term",
            item_id=item.id,
            action=action,
            before=None if before is None else storable(item_facts(before)),
            after=None if after is None else storable(item_facts(after)),
            actor=storable(self._actor),
            reason=storable(reason),
            timestamp=self._timestamp,
            batch=self._first,
        )
        self.rows.append(asdict(event))
