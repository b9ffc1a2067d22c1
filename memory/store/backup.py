"""Backups: made while others write, verified before they count, and put back only while nobody has the database open.

A backup is a database file of its own, with everything in it: sessions, memories, the journal and the vectors. Files
that went with messages lie in a directory beside it, which all backups there share.
"""

import os
import shutil
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import BackupError, StoreError
from memory.store import files, health, migrations
from memory.store.connection import APPLICATION_ID
from memory.store.copying import Progress, copy_database
from memory.store.failures import translated
from memory.store.presence import alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from memory.clock import Clock

ROOM = 1.1
"""Free space that a copy needs, as a multiple of the database."""
COUNTED = {
    "sessions": "sessions",
    "messages": "main_messages",
    "short_term": "short_term_memories",
    "long_term": "long_term_memories",
    "embeddings": "embeddings",
}
"""What is counted, and its table."""


ATTACHMENTS, KEPT_ATTACHMENTS = "attachments", "orca-attachments"
"""Directories of such files, each named by its SHA-256: beside the database, and beside backups."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was verified."""

    path: Path
    size: int
    """Bytes."""
    counts: dict[str, int]
    """Sessions, messages, short_term, long_term and embeddings in it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    backup: Backup
    aside: Path | None
    """The directory in which the database from before lies now; `None` when there was none."""


def back_up(
    database: Path,
    target: Path,
    *,
    progress: Progress = lambda done, pages: None,  # noqa: ARG005
) -> Backup:
    """Copy `database` to the new file `target` and verify the copy.

    Raises `BackupError` when `target` exists, cannot be written, or the copy is not whole: the database then is damaged
    as well. Raises leaves of `StoreError` when the database cannot be read.
    """
    if not database.is_file():
        raise BackupError(f"There is no database at {database}.", hint="There is nothing to back up yet.")
    if os.path.lexists(target):
        raise BackupError(f"{target} exists already.", hint="Choose another name: a backup replaces nothing.")
    with _told(target):
        target.parent.mkdir(mode=files.PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        if shutil.disk_usage(target.parent).free < database.stat().st_size * ROOM:
            raise BackupError(f"There is too little room for a backup in {target.parent}.", hint="Free some space.")
        with translated(database):
            copy_database(database, target, check=_require_whole, progress=progress)
        _copy_missing(database.parent / ATTACHMENTS, target.parent / KEPT_ATTACHMENTS)
    return verify(target)


def verify(path: Path) -> Backup:
    """Read all of a backup. Raises `BackupError` when it is none, is damaged, or is from a newer version."""
    import apsw

    if not path.is_file():
        raise BackupError(f"There is no backup at {path}.", hint="Name the file that `orca-tui backup` wrote.")
    try:
        with translated(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as copy:
            copy.set_busy_timeout(5000)
            if copy.pragma("application_id") != APPLICATION_ID:
                raise BackupError(f"{path} is not a database of orca.", hint="Name another file.")
            if newer := migrations.unknown(copy):
                raise BackupError(f"{path} was written by a newer version of orca ({newer}).", hint="Upgrade orca-tui.")
            _require_whole(copy)
            counts = {name: int(copy.execute(f"SELECT count(*) FROM {table}").get) for name, table in COUNTED.items()}
    except BackupError:
        raise
    except StoreError as error:
        raise BackupError(f"The backup cannot be read: {error}", hint="Name another backup.") from error
    return Backup(path, path.stat().st_size, counts)


def restore(database: Path, backup: Path, clock: "Clock") -> Restored:
    """Put a verified copy of `backup` in the place of `database`, and keep what was there in a directory beside it.

    Raises `BackupError`, and `StoreBusyError` while an orca has the database open.
    """
    if database.exists() and backup.exists() and backup.samefile(database):
        raise BackupError("That is the database itself.", hint="Name a backup of it.")
    found = verify(backup)
    with _told(database):
        database.parent.mkdir(mode=files.PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        with alone(database.parent), translated(backup):
            fresh = database.with_name(f"{database.name}.restoring")
            copy_database(backup, fresh)
            _copy_missing(backup.parent / KEPT_ATTACHMENTS, database.parent / ATTACHMENTS)
            return Restored(found, put_in_place(database, fresh, f"replaced-{stamp(clock)}"))


def put_in_place(database: Path, fresh: Path, name: str) -> Path | None:
    """Let `fresh` be the database, and keep the former one in the new directory `name`; gives that directory.

    Only while nobody has it open. Whenever it is cut off, the former files are where they were or in that directory.
    Raises `OSError`.
    """
    log = database.with_name(f"{database.name}-wal")
    aside: Path | None = None
    if database.exists():
        aside = _new_directory(database.parent / name)
        for part in (database, log):
            if part.exists():
                _keep(part, aside / part.name)
        files.flush(aside)
    for part in (log, database.with_name(f"{database.name}-shm")):
        part.unlink(missing_ok=True)
    fresh.replace(database)
    files.flush(database.parent)
    return aside


def stamp(clock: "Clock") -> str:
    """The time for a file's name, to the second, UTC: `20260301-120000`."""
    return clock.now()[:19].replace("-", "").replace(":", "").replace("T", "-")


def _copy_missing(source: Path, target: Path) -> None:
    """Let every file of `source` be in `target`, too: their names tell what is in them."""
    if not source.is_dir():
        return
    target.mkdir(mode=files.PRIVATE_DIRECTORY, exist_ok=True)
    for file in source.iterdir():
        kept = target / file.name
        if file.is_file() and not file.name.startswith(".") and not kept.exists():
            partial = target / f".{file.name}"
            partial.unlink(missing_ok=True)
            _keep(file, partial)
            partial.replace(kept)


def _keep(part: Path, kept: Path) -> None:
    """Give a file a second name, or copy it where that is not possible."""
    try:
        os.link(part, kept)
    except OSError:
        shutil.copy2(part, kept)
        files.flush(kept)


def _new_directory(wanted: Path) -> Path:
    for number in range(1, 1000):
        found = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        with suppress(FileExistsError):
            found.mkdir(mode=files.PRIVATE_DIRECTORY)
            return found
    raise FileExistsError(f"{wanted} exists")


def _require_whole(copy: "apsw.Connection") -> None:
    found = health.examine_open(copy)
    if not found.ok:
        raise BackupError(
            f"What was to be copied is damaged: {found.told()}.",
            hint="`orca-tui doctor` tells more; `orca-tui recover` saves what can be read.",
        )


@contextmanager
def _told(path: Path) -> "Iterator[None]":
    try:
        yield
    except OSError as error:
        raise BackupError(
            f"{path} cannot be written: {error.strerror or error}.", hint="Check that there is room and that you may."
        ) from error
