"""The database as a file: made for its owner's eyes only, before SQLite sees it."""

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from memory.errors import StoreOpenError

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
CREATION_CHECKS, CREATION_WAIT = 4, 0.05
"""How often an empty database is looked at before it counts as emptied, and the seconds in between."""


def prepare(path: Path) -> None:
    """Make sure that `path` is a regular file of ours that others cannot read; create it empty when it is missing.

    SQLite gives its -wal and -shm files the mode of the database, so they are private as well. Raises
    `StoreOpenError`.
    """
    try:
        path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        create_private(path)
    except FileExistsError:
        _check_existing(path)
    except OSError as error:
        raise StoreOpenError(
            f"{path} cannot be created: {error.strerror}.", hint=f"Check that you may write to {path.parent}."
        ) from error


def is_emptied(path: Path) -> bool:
    """Whether `path` is a database in which nothing is any more: no bytes, and no log beside it.

    Another process may be at its first start and have made the file just now: it is given a moment to fill it.
    """
    with suppress(OSError):  # told when it is opened
        for _ in range(CREATION_CHECKS):
            if not path.is_file() or path.stat().st_size or _size(path.with_name(f"{path.name}-wal")):
                return False
            time.sleep(CREATION_WAIT)
        return True
    return False


def copies(path: Path) -> list[str]:
    """The names of what may be copies of a database, beside it or in `backups`, the newest first."""
    own = {path.name, *(f"{path.name}-{part}" for part in ("wal", "shm", "journal"))}
    found = [other for other in path.parent.glob(f"{path.stem}*") if other.name not in own and other.is_file()]
    found += path.parent.glob(f"backups/{path.stem}*{path.suffix}")
    newest_first = sorted(found, key=lambda other: -other.stat().st_mtime)
    return [str(other.relative_to(path.parent)) for other in newest_first if _size(other)]


def older_copies(path: Path) -> list[str]:
    """The paths of all copies of a database from before: of upgrades, backups, and what was replaced."""
    name = path.name
    patterns = (f"{name}.before-*", f"backups/{path.stem}*{path.suffix}", f"replaced-*/{name}", f"broken-*/{name}")
    return sorted(str(found) for pattern in patterns for found in path.parent.glob(pattern))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def create_private(path: Path) -> None:
    """Create an empty file with mode 0600. Raises `OSError`; `FileExistsError` also for a dangling link."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(path, flags, PRIVATE_FILE))


def flush(path: Path) -> None:
    """Have the system write a file, or the names in a directory, to disk. Raises `OSError`."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_existing(path: Path) -> None:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise StoreOpenError(
                f"{path} is a link, a directory or a device, not a file.",
                hint="Set ORCA_HOME to the directory where the database really is.",
            )
        if os.name == "posix" and found.st_mode & 0o077 and found.st_uid == os.geteuid():
            path.chmod(PRIVATE_FILE)
    except OSError as error:
        raise StoreOpenError(
            f"{path} cannot be read: {error.strerror}.", hint=f"Check that you may read {path.parent}."
        ) from error
