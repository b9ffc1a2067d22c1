"""Who has a database open. Each process shares a lock on its directory; replacing the file needs the lock alone.

The lock goes with the process, however that ends. On Windows there is none, and none is needed: there, a file that is
open cannot be replaced. The database itself is never opened for it: closing it would drop SQLite's own locks.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.errors import StoreBusyError
from memory.store.files import PRIVATE_FILE

WAIT = 10.0
"""Seconds that an opener waits while the file is being replaced."""
PAUSE = 0.02


class Presence:
    """A place in a directory, until `leave`."""

    def __init__(self, file: int | None) -> None:
        self._file = file

    @classmethod
    def enter(cls, directory: Path) -> "Presence":
        """Say that a database in `directory` is open. Raises `StoreBusyError` while one is being replaced."""
        file = _open(directory)
        if file is None:
            return cls(None)
        deadline = time.monotonic() + WAIT
        while not _lock(file, alone=False):
            if time.monotonic() > deadline:
                os.close(file)
                raise StoreBusyError(
                    f"The database in {directory} is being restored.", hint="Try again when that is done."
                )
            time.sleep(PAUSE)
        return cls(file)

    def leave(self) -> None:
        """Say that it is closed. Safe to call twice."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Run a block while nobody has a database in `directory` open; `StoreBusyError` at once when somebody has."""
    file = _open(directory)
    if file is None:
        yield
        return
    try:
        if not _lock(file, alone=True):
            raise StoreBusyError(
                f"The database in {directory} is open in another window or program.",
                hint="Close every orca that uses it, then try again.",
            )
        yield
    finally:
        os.close(file)


class Claim:
    """A task that one process at a time does for a home, such as embedding. It ends with the process."""

    def __init__(self, path: Path) -> None:
        """`path`: a small file of its own; it is made when the claim is first taken."""
        self._path = path
        self._file: int | None = None

    def take(self) -> bool:
        """Whether the task is ours now; it stays so until `let_go`. Also where there are no locks."""
        if self._file is None:
            try:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
            except OSError:
                return True
        return _lock(self._file, alone=True)

    def let_go(self) -> None:
        """Leave the task to others. Safe to call when it is not ours."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


if sys.platform == "win32":

    def _open(_directory: Path) -> int | None:
        return None

    def _lock(_file: int, *, alone: bool) -> bool:  # noqa: ARG001
        return True

else:
    import fcntl

    def _open(directory: Path) -> int | None:
        try:
            return os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # what is wrong with the directory is told by who opens the database
            return None

    def _lock(file: int, *, alone: bool) -> bool:
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True
