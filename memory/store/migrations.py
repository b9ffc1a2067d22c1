"""Bringing a database up to date: named steps, each in one transaction with the record that it was done."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StoreError
from memory.store import schema, schema_agents, schema_checks, schema_curation, schema_options, schema_sessions
from memory.store.copying import copy_database

if TYPE_CHECKING:
    import apsw

    from memory.clock import Clock

MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("conversations", schema.CONVERSATIONS),
    ("memories", schema.MEMORIES),
    ("provenance", schema.PROVENANCE),
    ("embeddings", schema.EMBEDDINGS),
    ("text_index", schema.TEXT_INDEX),
    ("lifecycle", schema.LIFECYCLE),
    ("imports", schema.IMPORTS),
    ("packed_codes", schema.PACKED_CODES),
    ("context_scores", schema.CONTEXT_SCORES),
    ("session_list", schema_sessions.SESSION_LIST),
    ("checksums", schema_checks.CHECKSUMS),
    ("subagent_runs", schema_agents.RUNS),
    ("session_options", schema_options.SESSION_OPTIONS),
    ("dismissed_proposals", schema_curation.PROPOSALS),
)
"""Name and SQL of every step, in order. Steps are added at the end; a released one is never changed."""
COPIES = 3
"""Copies from before an upgrade that are kept, the newest."""
WAIT = 600.0
"""Seconds to wait for another process that is upgrading the database."""


def migrate(
    connection: "apsw.Connection", path: Path, clock: "Clock", *, application_id: int, busy_timeout: float
) -> None:
    """Apply what is missing, in one transaction. Before that, a database with data is copied aside.

    Two processes may do it at once: the second waits, and finds nothing left to do. `busy_timeout`: seconds that
    `connection` waits for others afterwards.
    """
    if not _pending(connection):
        return
    connection.set_busy_timeout(int(WAIT * 1000))
    connection.execute("BEGIN IMMEDIATE")
    connection.set_busy_timeout(int(busy_timeout * 1000))
    try:
        pending = _pending(connection)
        if pending and applied(connection):
            _back_up(path, path.with_name(f"{path.name}.before-{pending[0][0]}"))
        connection.pragma("application_id", application_id)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT"
        )
        for name, sql in pending:
            connection.execute(sql)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (name, clock.now()))
        connection.pragma("user_version", len(applied(connection)))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # A full disk has rolled back already.
            connection.execute("ROLLBACK")
        raise


def _pending(connection: "apsw.Connection") -> list[tuple[str, str]]:
    done = applied(connection)
    return [(name, sql) for name, sql in MIGRATIONS if name not in done]


def applied(connection: "apsw.Connection") -> set[str]:
    """Names of the steps that this database has seen."""
    exists = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get
    return {name for (name,) in connection.execute("SELECT name FROM migrations")} if exists else set()


def unknown(connection: "apsw.Connection") -> str:
    """What this database has seen and we have not: it was written by a newer version. Empty when all is known."""
    names = sorted(applied(connection) - {name for name, _ in MIGRATIONS})
    version = connection.pragma("user_version")
    return ", ".join(names) or (f"schema {version}" if version > len(MIGRATIONS) else "")


def _back_up(path: Path, target: Path) -> None:
    """Copy the database as it was last committed to `target`, and let go of the oldest such copies.

    Nobody writes meanwhile: the caller is in a write transaction. A copy that is there already is kept.
    """
    if target.exists():
        return
    try:
        copy_database(path, target)
    except OSError as error:
        raise StoreError(
            f"The database needs an upgrade, and could not be copied to {target} before: {error.strerror}.",
            hint=f"Make room and check that you may write to {target.parent}.",
        ) from error
    older = [copy for copy in path.parent.glob(f"{path.name}.before-*") if copy != target and copy.suffix != ".partial"]
    with suppress(OSError):
        for copy in sorted(older, key=lambda copy: copy.stat().st_mtime, reverse=True)[COPIES - 1 :]:
            copy.unlink()
