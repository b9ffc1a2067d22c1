"""Messages: a tree a session, appended to at the tip, and written before anything else happens with them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.errors import NotFoundError
from memory.store import fts
from memory.store.base import OwnerCheck
from memory.store.embeddings import forget_vectors
from memory.store.parts import StorePart, one_row, read_session
from memory.store.rows import MESSAGE, to_json, to_message
from memory.store.run_store import AGENT_RUN
from memory.text import repair
from memory.types import Message, MessageState, MessageType, Role

if TYPE_CHECKING:
    import apsw

SEARCHED_ROLES: tuple[Role, ...] = ("user", "assistant")
"""What the conversation consists of; prompts and the output of tools are not searched."""


class MessagePart(StorePart):
    """The methods about messages."""

    def add_message(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        parent_id: int | None = None,
        state: MessageState = "complete",
        msg_type: MessageType = "normal",
        token_count: int = 0,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Append a message below `parent_id` (default: the session's tip; `ROOT`: none) and make it the tip."""
        content, facts = repaired(content, dict(metadata or {}))
        now = self._clock.now()
        with self._db.write() as connection:
            tip = read_session(connection, session_id).tip_message_id
            if parent_id:
                query = "SELECT id FROM main_messages WHERE id = ? AND session_id = ?"
                one_row(connection, query, (parent_id, session_id), f"message {parent_id} in this session")
            connection.execute(
                "INSERT INTO main_messages"
                " (session_id, role, content, msg_type, token_count, timestamp, metadata, parent_id, state)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(session_id, role, content, msg_type, token_count, now, to_json(facts)),
                    *(tip if parent_id is None else parent_id or None, state),
                ),
            )
            message_id = connection.last_insert_rowid()
            connection.execute(
                "UPDATE sessions SET tip_message_id = ?, updated_at = ? WHERE id = ?", (message_id, now, session_id)
            )
            message = read_message(connection, message_id)
            _index(connection, message)
            return message

    def update_message(
        self,
        message_id: int,
        *,
        content: str | None = None,
        state: MessageState | None = None,
        token_count: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Change what is given; `metadata` is merged key by key, a key set to `None` goes. Keeps FTS in step.

        A streaming message is not in the index: it comes in with the update that ends it.
        """
        with self._db.write() as connection:
            before = read_message(connection, message_id)
            facts = {**before.metadata, **(metadata or {})}
            if content is not None:
                content, facts = repaired(content, facts)
            facts = {key: value for key, value in facts.items() if value is not None}
            connection.execute(
                "UPDATE main_messages SET content = coalesce(?, content), state = coalesce(?, state),"
                " token_count = coalesce(?, token_count), metadata = ? WHERE id = ?",
                (content, state, token_count, to_json(facts), message_id),
            )
            connection.execute(
                "UPDATE sessions SET updated_at = ? WHERE id = ?", (self._clock.now(), before.session_id)
            )
            after = read_message(connection, message_id)
            if after.content != before.content and before.has_embedding:
                forget_vectors(connection, "message", [message_id], has_vec0=self._has_vec0)
            if (after.content, after.state) != (before.content, before.state):
                _index(connection, after)
            return read_message(connection, message_id)

    def message(self, message_id: int) -> Message:
        """One message."""
        with self._db.read() as connection:
            return read_message(connection, message_id)

    def path(self, session_id: str, *, tip: int | None = None, limit: int | None = None) -> list[Message]:
        """The messages from the root to `tip` (default: the session's), oldest first; only the newest `limit`."""
        with self._db.read() as connection:
            session = read_session(connection, session_id)
            start = session.tip_message_id if tip is None else tip
            rows = connection.execute(
                f"""
                WITH RECURSIVE chain (step, at, above) AS (
                  SELECT 1, id, parent_id FROM main_messages WHERE id = :start AND session_id = :session
                  UNION ALL
                  SELECT step + 1, id, parent_id FROM chain JOIN main_messages ON id = above
                  WHERE :limit IS NULL OR step < :limit
                )
                SELECT {MESSAGE} FROM chain JOIN main_messages ON id = at
                WHERE :limit IS NULL OR step <= :limit ORDER BY step DESC
                """,
                {"start": start, "session": session_id, "limit": limit},
            ).fetchall()
        if tip is not None and not rows and (limit is None or limit > 0):
            raise NotFoundError(f"There is no message {tip} in this session.")
        return [to_message(row) for row in rows]

    def messages(self, session_id: str) -> list[Message]:
        """All messages of a session, those of every fork, the first stored first."""
        with self._db.read() as connection:
            read_session(connection, session_id)
            rows = connection.execute(
                f"SELECT {MESSAGE} FROM main_messages WHERE session_id = ? ORDER BY id", (session_id,)
            )
            return [to_message(row) for row in rows]

    def parents(self, session_id: str) -> list[tuple[int, int | None]]:
        """Id and parent of every message of a session, those of every fork, the first stored first."""
        with self._db.read() as connection:
            read_session(connection, session_id)
            query = "SELECT id, parent_id FROM main_messages WHERE session_id = ? ORDER BY id"
            return [(message, parent) for message, parent in connection.execute(query, (session_id,))]

    def attachments(self) -> set[str]:
        """The SHA-256 of every kept file that a message refers to."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT DISTINCT file.value ->> '$.sha256'"
                " FROM main_messages, json_each(metadata, '$.attachments') AS file"
                " WHERE metadata LIKE '%\"attachments\"%' AND file.type = 'object'"
            )
            return {name for (name,) in rows if isinstance(name, str)}

    def recover_interrupted(self, is_alive: OwnerCheck) -> list[Message]:
        """Mark replies left `streaming` by a process that is gone as `stopped` with `metadata.interrupted`.

        `is_alive(metadata["stream"])` tells whether the owner still writes. Returns the rows it marked.
        """
        with self._db.read() as connection:
            query = f"SELECT {MESSAGE} FROM main_messages WHERE state = 'streaming' ORDER BY id"
            streaming = [to_message(row) for row in connection.execute(query)]
        left = [message for message in streaming if not is_alive(message.metadata.get("stream") or {})]
        if not left:
            return []
        with self._db.write() as connection:
            return [marked for message in left if (marked := _mark_interrupted(connection, message))]


def is_searched(role: Role, state: MessageState, metadata: Mapping[str, Any]) -> bool:
    """Whether a message is what searches look at: finished talk, and no agent's words."""
    return role in SEARCHED_ROLES and state != "streaming" and not metadata.get(AGENT_RUN)


def read_message(connection: "apsw.Connection", message_id: int) -> Message:
    """One message; `NotFoundError`."""
    query = f"SELECT {MESSAGE} FROM main_messages WHERE id = ?"
    return to_message(one_row(connection, query, (message_id,), f"message {message_id}"))


def _mark_interrupted(connection: "apsw.Connection", seen: Message) -> Message | None:
    """`None` when the reply went on since it was `seen`: its owner is another process, and alive."""
    now = read_message(connection, seen.id)
    if now != seen:
        return None
    connection.execute(
        "UPDATE main_messages SET state = 'stopped', metadata = ? WHERE id = ?",
        (to_json({**now.metadata, "interrupted": True}), now.id),
    )
    marked = read_message(connection, now.id)
    _index(connection, marked)
    return marked


def _index(connection: "apsw.Connection", message: Message) -> None:
    """Bring the index in step with what the message is now: one that is (again) being written is not in it."""
    if is_searched(message.role, message.state, message.metadata):
        fts.put(connection, "message", message.id, message.content)
    else:
        fts.remove(connection, "message", message.id)


def repaired(content: str, facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Content that can be stored; how many characters it lost is noted in the message's facts."""
    content, lost = repair(content)
    return content, {**facts, "repaired": lost or None} if lost or "repaired" in facts else facts
