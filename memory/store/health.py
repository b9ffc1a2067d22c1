"""Whether a database is whole: SQLite's own check, which reads the text indexes too, and the checksums of its rows."""

from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from memory.store import checksums
from memory.store.failures import translated

if TYPE_CHECKING:
    import apsw

MOST = 20
"""Findings of SQLite's that are kept."""


@dataclass(frozen=True, slots=True)
class Health:
    """What an examination found."""

    structure: tuple[str, ...] = ()
    """What SQLite says of the file, at most 20 lines; none when it is sound."""
    rows: dict[str, list[int]] = field(default_factory=dict)
    """Table → ids of the rows that are not what was written."""

    @property
    def ok(self) -> bool:
        """Whether all is as it was written."""
        return not (self.structure or self.rows)

    def told(self) -> str:
        """In one sentence; empty when all is well."""
        found = [f"{len(ids)} rows of {table} are not what was written" for table, ids in sorted(self.rows.items())]
        if self.structure:
            found.append(f"the file is damaged ({self.structure[0]})")
        return "; ".join(found)


def examine(path: Path) -> Health:
    """Read everything in the database at `path` once; minutes for gigabytes. Raises leaves of `StoreError`."""
    import apsw

    with translated(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(5000)
        return examine_open(connection)


def examine_open(connection: "apsw.Connection") -> Health:
    """The same, of an open database. Raises `apsw.Error` when not even that can be read."""
    import apsw

    found = [str(line) for (line,) in connection.execute(f"PRAGMA integrity_check({MOST})")]
    structure = tuple(line for line in found if line != "ok")
    if not structure:
        structure = tuple(f"{row[0]} has a row that points nowhere" for row in _dangling(connection))
    try:
        rows = checksums.wrong(connection)
    except apsw.CorruptError:
        rows = {}
    return Health(structure, rows)


def _dangling(connection: "apsw.Connection") -> list[tuple[str, ...]]:
    return list(islice(connection.execute("PRAGMA foreign_key_check"), 1))
