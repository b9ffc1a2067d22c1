"""What every part of the SQLite store stands on: the open database, the clock and the vectors."""

from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import Clock, SystemClock
from memory.errors import NotFoundError
from memory.store.coarse import CoarseIndex
from memory.store.connection import Database
from memory.store.rows import SESSION, Row, to_session
from memory.text import repair
from memory.types import Session

if TYPE_CHECKING:
    import apsw


class StorePart:
    """Base of the parts that make up `SQLiteStore`; each holds the methods about one kind of thing."""

    def __init__(self, path: Path, *, clock: Clock | None = None) -> None:
        """Open or create the database at `path`. Raises leaves of `StoreError`, see `Database.open`."""
        self._clock: Clock = clock or SystemClock()
        self._db = Database.open(path, self._clock)
        self._coarse = CoarseIndex()

    @property
    def _has_vec0(self) -> bool:
        return self._db.vector_extension.loaded


def one_row(connection: "apsw.Connection", query: str, values: tuple[object, ...], what: str) -> Row:
    """The only row of a query; `NotFoundError` naming `what` when there is none."""
    row: Row | None = connection.execute(query, values).fetchone()
    if row is None:
        raise NotFoundError(f"There is no {what}.")
    return row


def read_session(connection: "apsw.Connection", session_id: str) -> Session:
    """One session; `NotFoundError`."""
    query = f"SELECT {SESSION} FROM sessions WHERE id = ?"
    return to_session(one_row(connection, query, (repair(session_id)[0],), f"session {session_id!r}"))
