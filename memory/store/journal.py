"""The journal: every change of a memory, in the transaction that makes it, with the whole row before and after."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memory.store.parts import StorePart
from memory.store.rows import EVENT, item_facts, to_event, to_json
from memory.text import repair
from memory.types import ItemKind, LongTermMemory, MemoryEvent, MemoryStatus, ShortTermMemory

if TYPE_CHECKING:
    import apsw

    Memory = ShortTermMemory | LongTermMemory

_ACTIONS: dict[MemoryStatus, str] = {
    "active": "restore",
    "superseded": "supersede",
    "archived": "archive",
    "expired": "expire",
    "trashed": "trash",
    "pending": "suspend",
}
"""What a change to a status is called."""


class JournalPart(StorePart):
    """Reading the journal."""

    def journal(
        self, *, kind: ItemKind | None = None, item_id: int | None = None, limit: int = 100
    ) -> list[MemoryEvent]:
        """Changes, newest first. `before` and `after` hold every field of the memory: enough to put it back."""
        conditions, values = ["1"], []
        for column, value in (("kind", kind), ("item_id", item_id)):
            if value is not None:
                conditions.append(f"{column} = ?")
                values.append(value)
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT {EVENT} FROM memory_events WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT ?",
                [*values, max(limit, 0)],
            )
            return [to_event(row) for row in rows]


def record(
    connection: "apsw.Connection",
    action: str,
    *,
    before: "Memory | None",
    after: "Memory | None",
    actor: str,
    reason: str,
    timestamp: str,
    undoes: int | None = None,
) -> None:
    """Write one change of a memory. At least one of `before` and `after` is given."""
    item = after or before
    if item is None:
        raise ValueError("a change needs what was before or what came after")
    record_facts(
        connection,
        "long_term" if isinstance(item, LongTermMemory) else "short_term",
        item.id,
        action,
        before=None if before is None else item_facts(before),
        after=None if after is None else item_facts(after),
        actor=actor,
        reason=reason,
        timestamp=timestamp,
        undoes=undoes,
    )


def record_facts(
    connection: "apsw.Connection",
    kind: ItemKind,
    item_id: int,
    action: str,
    *,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    actor: str,
    reason: str,
    timestamp: str,
    undoes: int | None = None,
) -> int:
    """Write one change of anything: what it was before and is after, as facts. Gives the change's id."""
    connection.execute(
        "INSERT INTO memory_events (kind, item_id, action, before, after, actor, reason, timestamp, undoes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(kind, item_id, action),
            *(None if facts is None else to_json(facts) for facts in (before, after)),
            *(repair(actor)[0], repair(reason)[0], timestamp, undoes),
        ),
    )
    return connection.last_insert_rowid()


@contextmanager
def one_act(connection: "apsw.Connection") -> Iterator[None]:
    """All that is recorded in the block belongs together, and to what an enclosing block records."""
    last = connection.execute("SELECT coalesce(max(id), 0) FROM memory_events").get
    yield
    connection.execute(
        "UPDATE memory_events SET batch = (SELECT min(id) FROM memory_events WHERE id > :last) WHERE id > :last",
        {"last": last},
    )


def name_change(before: LongTermMemory, after: LongTermMemory) -> str:
    """What a change is called: by the status that it led to, else `update`."""
    if before.status == after.status:
        return "update"
    return "accept" if (before.status, after.status) == ("pending", "active") else _ACTIONS[after.status]
