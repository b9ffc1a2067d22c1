"""The backups that orca makes by itself: one a day that something changed, the newest few kept."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import from_iso
from memory.errors import BackupError
from memory.store.backup import Backup, back_up, stamp

if TYPE_CHECKING:
    from memory.clock import Clock

log = logging.getLogger(__name__)

EVERY = timedelta(days=1)
_PREFIX, _SUFFIX = "memory-", ".db"
_FORM = "%Y%m%d-%H%M%S"


def directory(database: Path) -> Path:
    """Where the backups of a database lie, unless the user names another place."""
    return database.parent / "backups"


def new_name(database: Path, clock: "Clock") -> Path:
    """A path for a backup that is made now; nothing is there yet."""
    path = directory(database) / f"{_PREFIX}{stamp(clock)}{_SUFFIX}"
    others = (path.with_stem(f"{path.stem}-{number}") for number in range(2, 1000))
    return next((name for name in (path, *others) if not name.exists()), path)


def existing(database: Path) -> list[Path]:
    """The backups in their directory, the newest first."""
    found = directory(database).glob(f"{_PREFIX}*{_SUFFIX}")
    return sorted((path for path in found if path.is_file()), key=lambda path: path.name, reverse=True)


def back_up_if_due(
    database: Path,
    clock: "Clock",
    keep: int,
    cancelled: Callable[[], bool] = lambda: False,
) -> Backup | None:
    """Make today's backup and let go of all but the newest `keep`; `None` when it is not time, or nothing changed.

    `keep` 0 makes none. Raises `BackupError`, also when it was `cancelled`, and leaves of `StoreError`.
    """

    def go_on(_done: int, _pages: int) -> None:
        if cancelled():
            raise BackupError("The backup was left off: orca ends.")

    if keep < 1 or not database.is_file() or not _due(database, clock):
        return None
    made = back_up(database, new_name(database, clock), progress=go_on)
    for old in existing(database)[keep:]:
        with suppress(OSError):
            old.unlink()
    log.info("backed up to %s", made.path)
    return made


def _due(database: Path, clock: "Clock") -> bool:
    newest = next(iter(existing(database)), None)
    if newest is None:
        return True
    age = from_iso(clock.now()) - from_iso(clock_time(newest))
    changed = max(path.stat().st_mtime for path in (database, _log(database)) if path.exists())
    return (age >= EVERY or age < -EVERY) and changed > newest.stat().st_mtime


def clock_time(backup: Path) -> str:
    """When a backup of ours was made, ISO-8601, by its name."""
    text = "-".join(backup.stem.removeprefix(_PREFIX).split("-")[:2])
    with suppress(ValueError):
        return datetime.strptime(text, _FORM).replace(tzinfo=UTC).isoformat()
    return datetime.fromtimestamp(backup.stat().st_mtime, UTC).isoformat()


def _log(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")
