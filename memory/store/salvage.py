"""A damaged database: what can be read of it goes into a fresh one, and the damaged one is kept as it is.

Rows are read from the pages themselves (`memory.store.pages`), the text indexes are made anew, and so, by the embedding
queue, are the vectors. What stands in no page of its own kind (what was imported, what replies were given) is read with
SQLite as far as that goes.
"""

import logging
import mmap
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import BackupError
from memory.store import files, health
from memory.store.backup import put_in_place, stamp
from memory.store.connection import PAGE_SIZE, Database
from memory.store.failures import translated
from memory.store.pages import HEADER, PageFile
from memory.store.presence import alone
from memory.store.rebuild import Rebuild, columns
from memory.store.shapes import table_of

if TYPE_CHECKING:
    import apsw

    from memory.clock import Clock

log = logging.getLogger(__name__)

WORKPLACE = ".recovering"
BY_SQLITE = ("imports", "imported_items", "injections")
"""Tables that are read with SQLite, if that is still possible."""
REPORTED = ("sessions", "main_messages", "short_term_memories", "long_term_memories")


@dataclass(frozen=True, slots=True)
class Salvage:
    """What became of a damaged database."""

    aside: Path | None
    """The directory in which the damaged files lie untouched."""
    kept: dict[str, int]
    """Table → rows that are in the fresh database."""
    lost: dict[str, int]
    """Table → rows that the damaged file says it had and that could not be read. What it does not tell is left out."""
    altered: int
    """Rows whose text is not what was written: they are kept as they were read."""

    @property
    def whole(self) -> bool:
        """Whether nothing is known to be lost or garbled."""
        return not any(self.lost.values()) and not self.altered

    def told(self) -> str:
        """What was saved and what was lost, in two or three sentences."""
        kept = ", ".join(f"{_NAMES[table]} {self.kept.get(table, 0)}" for table in REPORTED)
        parts = [f"Saved: {kept}."]
        if lost := ", ".join(f"{_NAMES[table]} {count}" for table, count in self.lost.items() if count):
            parts.append(f"Lost: {lost}.")
        elif len(self.lost) < len(REPORTED):
            parts.append("How much was lost cannot be told.")
        if self.altered:
            parts.append(f"Rows that may be garbled: {self.altered}.")
        if self.aside is not None:
            parts.append(f"The damaged files are in {self.aside}.")
        return " ".join(parts)


_NAMES = {
    "sessions": "sessions",
    "main_messages": "messages",
    "short_term_memories": "summaries",
    "long_term_memories": "memories",
}


def salvage(database: Path, clock: "Clock") -> Salvage:
    """Put a fresh database, with all that can be read, in the place of a damaged one, which is kept in a directory.

    Raises `StoreBusyError` while somebody has it open, `BackupError` when nothing can be read or written: then the
    damaged one is where it was.
    """
    workplace = database.parent / WORKPLACE
    try:
        with alone(database.parent):
            shutil.rmtree(workplace, ignore_errors=True)
            workplace.mkdir(mode=files.PRIVATE_DIRECTORY)
            try:
                fresh = workplace / database.name
                rebuild, lost = _rebuild(database, fresh, clock)
                files.flush(fresh)
                aside = put_in_place(database, fresh, f"broken-{stamp(clock)}")
            finally:
                shutil.rmtree(workplace, ignore_errors=True)
    except OSError as error:
        raise BackupError(
            f"{database} cannot be recovered: {error.strerror or error}.", hint="Check that there is room, then again."
        ) from error
    found = Salvage(aside, rebuild.kept, lost, rebuild.altered)
    log.warning("the database was damaged and made anew: %s", found.told())
    return found


def _rebuild(database: Path, fresh: Path, clock: "Clock") -> tuple[Rebuild, dict[str, int]]:
    """Fill `fresh`. Gives what was written, and the rows lost, by table."""
    import apsw

    Database.open(fresh, clock).close()
    with translated(fresh), _pages(database) as variants, closing(apsw.Connection(str(fresh))) as connection:
        connection.execute("BEGIN IMMEDIATE")
        rebuild = Rebuild(connection)
        rebuild.take(max(variants, key=_worth).rows())
        if not rebuild.kept.get("main_messages") and not rebuild.kept.get("long_term_memories"):
            raise BackupError(
                f"Nothing can be read from {database}.", hint="It was left as it is. Restore a backup of it."
            )
        lost = _read_the_rest(database, connection, fresh.parent / "damaged.db", rebuild.kept)
        rebuild.mend()
        connection.execute("COMMIT")
        connection.pragma("journal_mode", "delete")
    if problem := health.examine(fresh).told():
        raise BackupError(f"What was recovered is not sound: {problem}.", hint="Restore a backup of the database.")
    return rebuild, lost


@contextmanager
def _pages(database: Path) -> Iterator[list[PageFile]]:
    """The database with its log and without: a log of another database makes it worse."""
    journal = database.with_name(f"{database.name}-wal")
    newer = journal.read_bytes() if journal.is_file() else b""
    if not database.stat().st_size:
        yield [PageFile(b"", newer, PAGE_SIZE)]
        return
    with database.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        told = int.from_bytes(content[16:18], "big")
        size = told if len(content) > HEADER and 512 <= told <= 32768 and told & (told - 1) == 0 else PAGE_SIZE
        yield [PageFile(content, part, size) for part in dict.fromkeys((newer, b""))]


def _worth(pages: PageFile) -> int:
    """How many rows that count are in it."""
    return sum(1 for row in pages.rows() if table_of(row.values) in REPORTED)


def _read_the_rest(database: Path, target: "apsw.Connection", copy: Path, kept: Mapping[str, int]) -> dict[str, int]:
    """Read with SQLite what pages do not tell, as far as that goes; gives how many rows are lost, by table."""
    import apsw

    lost: dict[str, int] = {}
    with suppress(OSError, apsw.Error):
        for suffix in ("", "-wal"):
            part = database.with_name(database.name + suffix)
            if part.is_file():
                shutil.copyfile(part, copy.with_name(copy.name + suffix))
        with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as source:
            for table in BY_SQLITE:
                with suppress(apsw.Error):
                    _copy_table(source, target, table)
            for table in REPORTED:
                with suppress(apsw.Error):
                    there = int(source.execute(f"SELECT count(*) FROM {table}").get)
                    lost[table] = max(0, there - kept.get(table, 0))
    return lost


def _copy_table(source: "apsw.Connection", target: "apsw.Connection", table: str) -> None:
    wanted = set(columns(target, table))
    names = [name for name in columns(source, table) if name in wanted and not (table == "injections" and name == "id")]
    if names:
        into = f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        for row in source.execute(f"SELECT {', '.join(names)} FROM {table}"):
            target.execute(into, row)
