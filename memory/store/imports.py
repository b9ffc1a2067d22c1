"""Bringing in what was kept elsewhere: batches that can be repeated and interrupted without anything coming in twice.

Each item has a digest that is the same whenever its source is read; an item whose digest is known is there already. The
digests, the items and how far the source has been read are written in one transaction.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from memory.errors import NotFoundError
from memory.store import fts, journal
from memory.store.filters import one_of
from memory.store.memories import MemoryPart, read_memory
from memory.store.messages import is_searched
from memory.store.rows import Row, storable, to_json
from memory.store.runs import RunPart
from memory.text import repair
from memory.tokens import TokenCounter
from memory.types import ItemKind, LongTermMemory, MessageState, MessageType, Role, Session, ShortTermMemory

if TYPE_CHECKING:
    import apsw

ACTOR = "import"
_COUNTER = TokenCounter()
"""Learns no margin: counts are stored without one."""
_FOLLOWED = (
    *("content", "memory_type", "branch", "status", "pinned", "confidence", "importance", "expires_at", "topic_key"),
)
"""What a change at the source changes here."""


@dataclass(frozen=True, slots=True)
class ImportMark:
    """How far a source has been read."""

    source: str
    """Names the source wherever it lies."""
    path: str
    """Where it lay."""
    size: int
    """Bytes."""
    lines: int
    """Lines that are done."""
    finished: bool = False


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message on its way in."""

    digest: str
    session_id: str
    role: Role
    content: str
    timestamp: str
    """Kept as it is."""
    metadata: Mapping[str, Any]
    parent: str | None
    """The digest of the message above; `None` at the root."""
    state: MessageState = "complete"
    msg_type: MessageType = "normal"
    token_count: int = 0


class ImportPart(MemoryPart, RunPart):
    """The methods that imports stand on."""

    def import_messages(
        self, mark: ImportMark, sessions: Mapping[str, Session], messages: Sequence[ImportedMessage]
    ) -> set[str]:
        """Add those messages that are not there, with the sessions that they need; gives the digests of those added.

        A session goes on at an added message when it stood at the one above, so that what the user did since stays.
        """
        with self._db.write() as connection:
            needed = {item for message in messages for item in (message.digest, message.parent) if item}
            known = _known(connection, needed)
            added = set[str]()
            for message in messages:
                if message.digest not in known:
                    _make_session(connection, sessions[message.session_id])
                    known[message.digest] = _insert(connection, message, known)
                    _remember(connection, message.digest, "message", known[message.digest])
                    added.add(message.digest)
            _set_mark(connection, mark, self._clock.now())
            return added

    def import_tip(self, session_id: str, tip: str, seen: Iterable[str]) -> None:
        """Choose a session's path, unless the user has chosen or gone on: only from one of the messages `seen`."""
        with self._db.write() as connection:
            known = _known(connection, {*seen, tip})
            if tip in known:
                connection.execute(
                    f"UPDATE sessions SET tip_message_id = ? WHERE id = ? AND {one_of('tip_message_id')}",
                    (known[tip], session_id, json.dumps(list(known.values()))),
                )

    def import_summaries(
        self,
        mark: ImportMark,
        summaries: Sequence[tuple[str, ShortTermMemory, str | None, str | None]],
    ) -> int:
        """Add summaries, each with its digest and those of the first and last message that it covers, journalled.

        One whose session is not here, or that is here already, is left out; tells how many were added.
        """
        now, added = self._clock.now(), 0
        with self._db.write() as connection, journal.one_act(connection):
            known = _known(connection, {item for row in summaries for item in (row[0], row[2], row[3]) if item})
            for digest, summary, first, last in summaries:
                here = connection.execute("SELECT 1 FROM sessions WHERE id = ?", (summary.session_id,)).get
                if digest in known or not here:
                    continue
                here_first, here_last = (known.get(end) if end else None for end in (first, last))
                stored = _insert_summary(
                    connection, replace(summary, first_message_id=here_first, last_message_id=here_last)
                )
                fts.put(connection, "short_term", stored.id, stored.content)
                journal.record(
                    connection, "import", before=None, after=stored, actor=ACTOR, reason=mark.path, timestamp=now
                )
                _remember(connection, digest, "short_term", stored.id)
                added += 1
            _set_mark(connection, mark, now)
        return added

    def import_memory(
        self,
        digest: str,
        memory: LongTermMemory,
        *,
        supersedes: str | None,
        merged_from: Sequence[str],
        source: str | None,
        reason: str,
    ) -> bool:
        """Add a long-term memory; the digests name the items that it points to. False when it is there already.

        An active one takes the place of an active one about the same topic that was here before. One that is there and
        was changed at its source since is changed here as well.
        """
        with self._db.write() as connection, journal.one_act(connection):
            known = _known(connection, {item for item in (digest, supersedes, source, *merged_from) if item})
            if digest in known:
                self._follow(known[digest], memory, reason)
                return False
            older = [] if memory.status != "active" else _same_topic(connection, memory)
            for old in older:
                self.update_memory(old.id, {"status": "superseded"}, actor=ACTOR, reason=reason)
            above = known.get(supersedes) if supersedes else None
            added = self.insert_memory(
                replace(
                    memory,
                    supersedes=older[0].id if older else above,
                    version=max([memory.version, *(old.version + 1 for old in older)]),
                    merged_from=tuple(known[item] for item in merged_from if item in known),
                    source_message_id=known.get(source) if source else None,
                ),
                actor=ACTOR,
                reason=reason,
            )
            _remember(connection, digest, "long_term", added.id)
            return True

    def _follow(self, memory_id: int, memory: LongTermMemory, reason: str) -> None:
        try:
            here = self.memory(memory_id)
        except NotFoundError:  # Erased since, and it stays so.
            return
        if memory.updated_at > here.updated_at:
            changes = {name: getattr(memory, name) for name in _FOLLOWED}
            self.update_memory(memory_id, changes, actor=ACTOR, reason=reason)

    def imported(self, digests: Iterable[str]) -> set[str]:
        """Which of the digests are known."""
        with self._db.read() as connection:
            return set(_known(connection, set(digests)))

    def set_import_mark(self, mark: ImportMark) -> None:
        """Note how far a source has been read."""
        with self._db.write() as connection:
            _set_mark(connection, mark, self._clock.now())

    def import_marks(self) -> list[ImportMark]:
        """Every source that was read, wholly or in part."""
        with self._db.read() as connection:
            rows: list[Row] = connection.execute(
                "SELECT source, path, size, lines, finished FROM imports ORDER BY source"
            ).fetchall()
            return [ImportMark(source, path, size, lines, bool(done)) for source, path, size, lines, done in rows]


def _known(connection: "apsw.Connection", digests: set[str]) -> dict[str, int]:
    """Ids of the items that came in with these digests."""
    rows: list[Row] = connection.execute(
        f"SELECT digest, item_id FROM imported_items WHERE {one_of('digest')}", (json.dumps(sorted(digests)),)
    ).fetchall()
    return dict(rows)


def _remember(connection: "apsw.Connection", digest: str, kind: ItemKind, item_id: int) -> None:
    connection.execute("INSERT INTO imported_items VALUES (?, ?, ?)", (digest, kind, item_id))


def _set_mark(connection: "apsw.Connection", mark: ImportMark, now: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO imports (source, path, size, lines, finished, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
        (mark.source, repair(mark.path)[0], mark.size, mark.lines, int(mark.finished), now),
    )


def _make_session(connection: "apsw.Connection", session: Session) -> None:
    row = asdict(session) | {"tip_message_id": None, "incognito": int(session.incognito)}
    row["options"] = to_json(session.options.facts())
    if session.state == "trashed":
        row |= {"state": "open", "trashed_at": session.updated_at}
    connection.execute(
        f"INSERT OR IGNORE INTO sessions ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        storable(tuple(row.values())),
    )


def _insert(connection: "apsw.Connection", message: ImportedMessage, known: Mapping[str, int]) -> int:
    parent = known.get(message.parent) if message.parent else None
    connection.execute(
        "INSERT INTO main_messages"
        " (session_id, role, content, msg_type, token_count, timestamp, metadata, parent_id, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(message.session_id, message.role, message.content, message.msg_type, _tokens(message)),
            *(message.timestamp, to_json(message.metadata), parent, message.state),
        ),
    )
    message_id = connection.last_insert_rowid()
    connection.execute(
        "UPDATE sessions SET tip_message_id = ?, updated_at = max(updated_at, ?) WHERE id = ? AND tip_message_id IS ?",
        (message_id, message.timestamp, message.session_id, parent),
    )
    if is_searched(message.role, message.state, message.metadata):
        fts.put(connection, "message", message_id, message.content)
    return message_id


def _tokens(message: ImportedMessage) -> int:
    """As a turn stores it, so that no prompt has to count a long path. With calls it is counted where they are."""
    if message.token_count or not message.content or message.metadata.get("tool_calls"):
        return message.token_count
    return _COUNTER.count_message(message.role, message.content)


def _insert_summary(connection: "apsw.Connection", summary: ShortTermMemory) -> ShortTermMemory:
    row = {name: value for name, value in asdict(summary).items() if name != "id"}
    connection.execute(
        f"INSERT INTO short_term_memories ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        storable(tuple(row.values())),
    )
    return replace(summary, id=connection.last_insert_rowid())


def _same_topic(connection: "apsw.Connection", memory: LongTermMemory) -> list[LongTermMemory]:
    """Active memories about the topic in exactly this scope, the latest version first."""
    rows: list[Row] = connection.execute(
        "SELECT id FROM long_term_memories WHERE topic_key = ? AND user_id = ? AND project IS ?"
        " AND agent_id IS ? AND team_id IS ? AND status = 'active' ORDER BY version DESC, id DESC",
        (memory.topic_key, memory.user_id, memory.project, memory.agent_id, memory.team_id),
    ).fetchall()
    return [read_memory(connection, memory_id) for (memory_id,) in rows]
