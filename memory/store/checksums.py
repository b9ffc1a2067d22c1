"""Checksums of rows: written before each commit, compared when somebody asks. SQLite itself checks no value."""

import zlib
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
    """CRC-32 of the values of a row, in order."""
    text = "\x1f".join("\0" if value is None else str(value) for value in values)
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def write_missing(connection: "apsw.Connection") -> None:
    """Give a checksum to rows that are new or changed. In the transaction that changed them, on a registered one."""
    for table, columns in CHECKED.items():
        connection.execute(
            f"UPDATE {table} SET checksum = {_FUNCTION}({', '.join(columns)}) WHERE id IN"
            f" (SELECT id FROM {table} INDEXED BY {table}_without_checksum WHERE checksum IS NULL"
            f" ORDER BY id DESC LIMIT {AT_ONCE})"
        )


def wrong(connection: "apsw.Connection") -> dict[str, list[int]]:
    """Table → ids of the rows that are not what was written; only tables that have some."""
    register(connection)
    found: dict[str, list[int]] = {}
    for table, columns in CHECKED.items():
        present = connection.execute("SELECT count(*) FROM pragma_table_info(?) WHERE name = 'checksum'", (table,)).get
        if present:
            rows = connection.execute(
                f"SELECT id FROM {table} WHERE checksum IS NOT NULL AND checksum <> {_FUNCTION}({', '.join(columns)})"
            )
            if ids := [row_id for (row_id,) in rows]:
                found[table] = ids
    return found
