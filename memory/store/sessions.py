"""Sessions: begin, find, list, change."""

from collections.abc import Sequence

from memory.errors import NotFoundError
from memory.options import SessionOptions
from memory.store.parts import StorePart, one_row, read_session
from memory.store.rows import SESSION, STATE, to_json, to_session
from memory.text import repair
from memory.types import Scope, Session, SessionState, TitleBy

MIN_PREFIX = 4
"""Characters of an id that are needed to find a session by its beginning."""


class SessionPart(StorePart):
    """The methods about sessions."""

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
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO sessions (id, title, user_id, project, agent_id, model, incognito, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(session_id, repair(title)[0], scope.user_id, scope.project, scope.agent_id),
                    *(model, int(incognito), now, now),
                ),
            )
            return read_session(connection, session_id)

    def session(self, session_id: str) -> Session:
        """One session."""
        with self._db.read() as connection:
            return read_session(connection, session_id)

    def sessions(self, *, state: SessionState | None = "open", limit: int = 100, offset: int = 0) -> list[Session]:
        """Sessions that hold at least one message, the last changed first."""
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT {SESSION} FROM sessions"
                " WHERE tip_message_id IS NOT NULL AND (:state IS NULL OR " + STATE + " = :state)"
                " ORDER BY updated_at DESC, id DESC LIMIT :limit OFFSET :offset",
                {"state": state, "limit": max(limit, 0), "offset": max(offset, 0)},
            )
            return [to_session(row) for row in rows]

    def find_session(self, prefix: str) -> Session:
        """The one session whose id starts with `prefix` (at least 4 characters); ambiguous or none: `NotFoundError`."""
        prefix, _ = repair(prefix)
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT {SESSION} FROM sessions WHERE id = :prefix"
                " OR (length(:prefix) >= :least AND id BETWEEN :prefix AND :prefix || char(0x10FFFF))"
                " ORDER BY id LIMIT 2",
                {"prefix": prefix, "least": MIN_PREFIX},
            ).fetchall()
        return the_only_session([to_session(row) for row in rows], prefix)

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
        """Change what is given; `None` leaves a field as it is. The tip must be a message of the session.

        A title that is given here is the user's. Title, state and options are no change of the conversation.
        """
        with self._db.write() as connection:
            read_session(connection, session_id)
            if tip_message_id is not None:
                query = "SELECT id FROM main_messages WHERE id = ? AND session_id = ?"
                one_row(connection, query, (tip_message_id, session_id), f"message {tip_message_id} in this session")
            connection.execute(
                "UPDATE sessions SET"
                " title = coalesce(:title, title), title_by = iif(:title IS NULL, title_by, 'user'),"
                " options = coalesce(:options, options), model = coalesce(:model, model),"
                " tip_message_id = coalesce(:tip, tip_message_id),"
                " updated_at = iif(:model IS NULL AND :tip IS NULL, updated_at, :now),"
                " state = coalesce(nullif(:state, 'trashed'), state),"
                " trashed_at = CASE WHEN :state IS NULL THEN trashed_at WHEN :state = 'trashed' THEN :now END"
                " WHERE id = :id",
                {
                    "title": None if title is None else repair(title)[0],
                    "options": None if options is None else to_json(options.facts()),
                    "model": model,
                    "state": state,
                    "tip": tip_message_id,
                    "now": self._clock.now(),
                    "id": session_id,
                },
            )
            return read_session(connection, session_id)

    def suggest_title(self, session_id: str, title: str, *, by: TitleBy = "model") -> Session:
        """Give a session a title unless the user has given it one."""
        with self._db.write() as connection:
            read_session(connection, session_id)
            connection.execute(
                "UPDATE sessions SET title = ?, title_by = ? WHERE id = ? AND title_by <> 'user'",
                (repair(title)[0], by, session_id),
            )
            return read_session(connection, session_id)


def the_only_session(found: Sequence[Session], prefix: str) -> Session:
    """The session that `prefix` names, of those whose id begins with it. Raises `NotFoundError`."""
    if found and (len(found) == 1 or found[0].id == prefix):
        return found[0]
    if found:
        raise NotFoundError(f"More than one session begins with {prefix!r}.", hint="Give more of the id.")
    if len(prefix) < MIN_PREFIX:
        raise NotFoundError(
            f"There is no session {prefix!r}.", hint=f"Give at least {MIN_PREFIX} characters of its id."
        )
    raise NotFoundError(f"No session begins with {prefix!r}.", hint="`orca-tui sessions list` shows them all.")
