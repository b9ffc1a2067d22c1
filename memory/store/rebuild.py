"""Fills a fresh database with the rows of a damaged one, and lets none of them point to what is not there."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memory.store import checksums, fts
from memory.store.checksums import checksum
from memory.store.messages import SEARCHED_ROLES
from memory.store.pages import RawRow, Value
from memory.store.rows import TABLES
from memory.store.run_store import AGENT_RUN
from memory.store.schema_checks import CHECKED
from memory.store.shapes import SHAPES, table_of
from memory.types import FORGOTTEN

if TYPE_CHECKING:
    import apsw

_KINDS = {table: kind for kind, table in TABLES.items()}
_OWNER = "coalesce((SELECT user_id FROM sessions GROUP BY user_id ORDER BY count(*) DESC LIMIT 1), 'default')"

MENDING = (
    # A session of which only messages are left.
    "INSERT INTO sessions (id, user_id, created_at, updated_at)"
    f" SELECT session_id, {_OWNER}, min(timestamp), max(timestamp) FROM main_messages"
    " WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id",
    # A message whose predecessor is lost goes on from the one before that.
    "UPDATE main_messages SET parent_id = (SELECT max(earlier.id) FROM main_messages AS earlier"
    " WHERE earlier.session_id = main_messages.session_id AND earlier.id < main_messages.id)"
    " WHERE parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main_messages AS above"
    " WHERE above.id = main_messages.parent_id AND above.id < main_messages.id"
    " AND above.session_id = main_messages.session_id)",
    "UPDATE sessions SET tip_message_id ="
    " (SELECT max(message.id) FROM main_messages AS message WHERE message.session_id = sessions.id)"
    " WHERE tip_message_id IS NULL OR tip_message_id NOT IN (SELECT id FROM main_messages)",
    "UPDATE long_term_memories SET supersedes = NULL"
    " WHERE supersedes IS NOT NULL AND supersedes NOT IN (SELECT id FROM long_term_memories)",
    "DELETE FROM short_term_memories WHERE session_id NOT IN (SELECT id FROM sessions)",
    "DELETE FROM subagent_messages WHERE session_id NOT IN (SELECT id FROM sessions)"
    " OR parent_msg_id NOT IN (SELECT id FROM main_messages)",
    "DELETE FROM feedback WHERE message_id NOT IN (SELECT id FROM main_messages)",
    "DELETE FROM injections WHERE message_id NOT IN (SELECT id FROM main_messages)",
)
"""Makes every row point to rows that are there, or takes it out when it means nothing without them."""


class Rebuild:
    """Writes rows into a fresh database whose foreign keys are not enforced meanwhile, in one transaction."""

    def __init__(self, connection: "apsw.Connection") -> None:
        self.kept: dict[str, int] = {}
        """Table → rows written."""
        self.altered = 0
        """Rows that are not what was written once."""
        self._connection = connection
        self._columns = {table: columns(connection, table) for table in SHAPES}

    def take(self, rows: Iterable[RawRow]) -> None:
        """Keep the rows that are of a table which can be told."""
        for row in rows:
            table = table_of(row.values)
            if table is not None and len(row.values) <= len(self._columns[table]):
                self._put(table, dict(zip(self._columns[table], row.values, strict=False)), row.rowid)

    def mend(self) -> None:
        """Let every row point to rows that are there, and have a checksum."""
        for statement in MENDING:
            self._connection.execute(statement)
        checksums.register(self._connection)
        checksums.write_missing(self._connection, -1)

    def _put(self, table: str, values: dict[str, Value], rowid: int) -> None:
        import apsw

        if table != "sessions":
            values["id"] = rowid
        written = values.pop("checksum", None)
        if "has_embedding" in values:
            values["has_embedding"] = 0
        try:
            self._connection.execute(
                f"INSERT OR IGNORE INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
        except apsw.Error:  # a value that no row can have
            return
        if not self._connection.changes():
            return
        self.kept[table] = self.kept.get(table, 0) + 1
        if written is not None and written != checksum(*(values.get(name) for name in CHECKED[table])):
            self.altered += 1
        self._index(table, values)

    def _index(self, table: str, values: dict[str, Value]) -> None:
        kind = _KINDS.get(table)
        if kind is None:
            return
        if kind == "message" and (values["state"] == "streaming" or values["role"] not in SEARCHED_ROLES):
            return
        if kind == "message" and any(f'"{mark}"' in str(values["metadata"]) for mark in (FORGOTTEN, AGENT_RUN)):
            return
        fts.put(self._connection, kind, int(str(values["id"])), str(values["content"]))


def columns(connection: "apsw.Connection", table: str) -> list[str]:
    """The columns of a table, in the order in which its rows hold them."""
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
