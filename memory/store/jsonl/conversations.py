"""Sessions and messages: each session in a file of its own."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from memory.options import SessionOptions
from memory.store.base import OwnerCheck
from memory.store.jsonl.log import session_file
from memory.store.jsonl.parts import JSONLPart, new, one, one_message, one_session
from memory.store.jsonl.state import to_line
from memory.store.messages import repaired
from memory.store.rows import storable
from memory.store.sessions import MIN_PREFIX, the_only_session
from memory.text import repair
from memory.types import Message, MessageState, MessageType, Role, Scope, Session, SessionState, TitleBy


class ConversationPart(JSONLPart):
    """The methods about sessions and messages."""

    def create_session(
        self,
        *,
        scope: Scope | None = None,
        title: str = "",
        model: str | None = None,
        incognito: bool = False,
    ) -> Session:
        """Begin an empty session. Its team, if the scope names one, is not kept: sessions have none."""
        scope = scope or Scope()
        now, session_id = self._clock.now(), self._clock.new_id()
        session = new(
            Session,
            id=session_id,
            title=repair(title)[0],
            user_id=scope.user_id,
            project=scope.project,
            agent_id=scope.agent_id,
            model=model,
            state="open",
            incognito=incognito,
            created_at=now,
            updated_at=now,
        )
        with self._log.writing() as append:
            append(session_file(session_id), to_line("session", asdict(session)))
            return session

    def session(self, session_id: str) -> Session:
        """One session."""
        with self._log.reading():
            return one_session(self._state, session_id)

    def sessions(self, *, state: SessionState | None = "open", limit: int = 100, offset: int = 0) -> list[Session]:
        """Sessions that hold at least one message, the last changed first."""
        with self._log.reading():
            found = [
                session
                for session in self._state.sessions.values()
                if session.tip_message_id is not None and state in (None, session.state)
            ]
        found.sort(key=lambda session: (session.updated_at, session.id), reverse=True)
        return found[max(offset, 0) :][: max(limit, 0)]

    def find_session(self, prefix: str) -> Session:
        """The one session whose id starts with `prefix` (at least 4 characters); ambiguous or none: `NotFoundError`."""
        prefix, _ = repair(prefix)
        with self._log.reading():
            known = self._state.sessions
            enough = len(prefix) >= MIN_PREFIX
            found = [known[key] for key in sorted(known) if key == prefix or (enough and key.startswith(prefix))]
        return the_only_session(found, prefix)

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        model: str | None = None,
        state: SessionState | None = None,
        tip_message_id: int | None = None,
        options: SessionOptions | None = None,
    ) -> Session:
        """Change what is given; `None` leaves a field as it is. The tip must be a message of the session."""
        given = {"title": storable(title), "model": model, "state": state, "tip_message_id": tip_message_id}
        with self._log.writing() as append:
            before = one_session(self._state, session_id)
            if tip_message_id is not None:
                one_message(self._state, tip_message_id, session_id)
            changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
            if title is not None:
                changes["title_by"] = "user"
            if options is not None:
                changes["options"] = storable(options.facts())
            if not changes.keys().isdisjoint(("model", "tip_message_id")):
                changes["updated_at"] = self._clock.now()
            after = new(Session, asdict(before), **changes)
            append(session_file(session_id), to_line("session", asdict(after)))
            return after

    def suggest_title(self, session_id: str, title: str, *, by: TitleBy = "model") -> Session:
        """Give a session a title unless the user has given it one."""
        with self._log.writing() as append:
            before = one_session(self._state, session_id)
            if before.title_by == "user":
                return before
            after = new(Session, asdict(before), title=storable(title), title_by=by)
            append(session_file(session_id), to_line("session", asdict(after)))
            return after

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
        with self._log.writing() as append:
            tip = one_session(self._state, session_id).tip_message_id
            if parent_id:
                one_message(self._state, parent_id, session_id)
            message = new(
                Message,
                id=self._state.next_id("message"),
                session_id=session_id,
                role=role,
                content=content,
                msg_type=msg_type,
                token_count=token_count,
                has_embedding=False,
                timestamp=now,
                metadata=storable(facts),
                parent_id=tip if parent_id is None else parent_id or None,
                state=state,
            )
            append(session_file(session_id), _line(message, now))
            return self._shown(message.id)

    def update_message(
        self,
        message_id: int,
        *,
        content: str | None = None,
        state: MessageState | None = None,
        token_count: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Change what is given; `metadata` is merged key by key, a key set to `None` goes. Keeps the index in step."""
        with self._log.writing() as append:
            before = self._message(message_id)
            facts = {**before.metadata, **(metadata or {})}
            if content is not None:
                content, facts = repaired(content, facts)
            facts = {key: value for key, value in facts.items() if value is not None}
            given = {"content": content, "state": state, "token_count": token_count}
            changes = {name: value for name, value in given.items() if value is not None}
            after = new(Message, asdict(before), **changes, metadata=storable(facts))
            append(session_file(before.session_id), _line(after, self._clock.now()))
            return self._shown(message_id)

    def message(self, message_id: int) -> Message:
        """One message."""
        with self._log.reading():
            return self._shown(message_id)

    def path(self, session_id: str, *, tip: int | None = None, limit: int | None = None) -> list[Message]:
        """The messages from the root to `tip` (default: the session's), oldest first; only the newest `limit`."""
        with self._log.reading():
            session = one_session(self._state, session_id)
            at = session.tip_message_id if tip is None else one_message(self._state, tip, session_id).id
            found: list[Message] = []
            seen: set[int] = set()
            while at in self._state.messages and at not in seen and (limit is None or len(found) < limit):
                seen.add(at)
                found.append(self._shown(at))
                at = found[-1].parent_id
        return found[::-1]

    def messages(self, session_id: str) -> list[Message]:
        """All messages of a session, those of every fork, the first stored first."""
        with self._log.reading():
            one_session(self._state, session_id)
            found = [item for item, message in self._state.messages.items() if message.session_id == session_id]
            return [self._shown(item) for item in sorted(found)]

    def parents(self, session_id: str) -> list[tuple[int, int | None]]:
        """Id and parent of every message of a session, those of every fork, the first stored first."""
        with self._log.reading():
            one_session(self._state, session_id)
            found = [(one.id, one.parent_id) for one in self._state.messages.values() if one.session_id == session_id]
            return sorted(found)

    def attachments(self) -> set[str]:
        """The SHA-256 of every kept file that a message refers to."""
        with self._log.reading():
            found = [message.metadata.get("attachments") for message in self._state.messages.values()]
        files = [file for one in found if isinstance(one, list) for file in one if isinstance(file, dict)]
        return {name for file in files if isinstance(name := file.get("sha256"), str)}

    def recover_interrupted(self, is_alive: OwnerCheck) -> list[Message]:
        """Mark replies left `streaming` by a process that is gone as `stopped` with `metadata.interrupted`."""
        with self._log.reading():
            streaming = [message for message in self._state.messages.values() if message.state == "streaming"]
        left = [message for message in streaming if not is_alive(message.metadata.get("stream") or {})]
        marked = [self._mark_interrupted(message) for message in sorted(left, key=lambda message: message.id)]
        return [message for message in marked if message is not None]

    def _mark_interrupted(self, seen: Message) -> Message | None:
        """`None` when the reply went on since it was `seen`: its owner is another process, and alive."""
        with self._log.writing() as append:
            if self._state.messages.get(seen.id) != seen:
                return None
            changed_at = one_session(self._state, seen.session_id).updated_at
            stopped = replace(seen, state="stopped", metadata={**seen.metadata, "interrupted": True})
            append(session_file(seen.session_id), _line(stopped, changed_at))
            return self._shown(seen.id)

    def _message(self, message_id: int) -> Message:
        return one(self._state.messages, message_id, f"message {message_id}")

    def _shown(self, message_id: int) -> Message:
        return self._state.shown(self._message(message_id))


def _line(message: Message, at: str) -> bytes:
    """`at` is when the session changed. Whether there is a vector is told by the vectors alone."""
    facts = asdict(message)
    del facts["has_embedding"]
    return to_line("message", {**facts, "at": at})
