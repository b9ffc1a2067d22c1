"""Checksums of rows: written before each commit, compared when somebody asks. SQLite itself checks no value."""

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.store.schema_checks import CHECKED

if TYPE_CHECKING:
    import apsw

AT_ONCE = 500
"""Rows that one commit gives a checksum: after an upgrade the older ones follow little by little, the newest first."""
_FUNCTION = "orca_checksum"


def register(connection: "apsw.Connection") -> None:
    """Let statements on `connection` compute checksums."""
    connection.create_scalar_function(_FUNCTION, checksum, deterministic=True)


def checksum(*values: object) -> int:
    """CRC-32 of the values of a row, in order, as SQLite would write them as bytes."""
    return zlib.crc32(b"\x1f".join(map(_bytes, values)))


def _bytes(value: object) -> bytes:
    if value is None:
        return b"\0"
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _computed(columns: Sequence[str]) -> str:
    """As bytes: what is damaged may be no text any more."""
    return f"{_FUNCTION}({', '.join(f'CAST({name} AS BLOB)' for name in columns)})"


def write_missing(connection: "apsw.Connection", at_once: int = AT_ONCE) -> None:
    """Give a checksum to rows that are new or changed, at most `at_once` of a table (-1: to all).

    In the transaction that changed them, on a connection that is registered.
    """
    for table, columns in CHECKED.items():
        connection.execute(
            f"UPDATE {table} SET checksum = {_computed(columns)} WHERE id IN"
            f" (SELECT id FROM {table} INDEXED BY {table}_without_checksum WHERE checksum IS NULL"
            f" ORDER BY id DESC LIMIT {at_once})"
        )


def wrong(connection: "apsw.Connection") -> dict[str, list[int]]:
    """Table → ids of the rows that are not what was written; only tables that have some."""
    register(connection)
    found: dict[str, list[int]] = {}
    for table, columns in CHECKED.items():
        present = connection.execute("SELECT count(*) FROM pragma_table_info(?) WHERE name = 'checksum'", (table,)).get
        if present:
            rows = connection.execute(
                f"SELECT id FROM {table} WHERE checksum IS NOT NULL AND checksum <> {_computed(columns)}"
            )
            if ids := [row_id for (row_id,) in rows]:
                found[table] = ids
    return found
