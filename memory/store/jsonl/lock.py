"""One writer at a time in all processes: a lock on a small file, and a number in it that every write raises."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.errors import StoreBusyError
from memory.store.files import PRIVATE_FILE

TIMEOUT = 5.0
"""Seconds to wait for another process."""
PAUSE = 0.01
_FAR = 1 << 30
"""Where Windows locks a byte: nobody reads there."""
_NUMBER = 8


class FileLock:
    """Holds `path` open. Not for use by two threads at once."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises `OSError`."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._path = path
        self._file = os.open(path, flags, PRIVATE_FILE)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run a block alone. Raises `StoreBusyError` when another process does not let go in time."""
        deadline = time.monotonic() + TIMEOUT
        while not _lock(self._file):
            if time.monotonic() > deadline:
                raise StoreBusyError(
                    f"{self._path.parent} is held by another process.",
                    hint="Close the other program that uses it, or try again.",
                )
            time.sleep(PAUSE)
        try:
            yield
        finally:
            _unlock(self._file)

    @property
    def number(self) -> int:
        """How often somebody has written. Readable without the lock."""
        os.lseek(self._file, 0, os.SEEK_SET)
        return int.from_bytes(os.read(self._file, _NUMBER), "big")

    def raise_number(self) -> int:
        """Tell the others to look again; gives the new number. Only with the lock."""
        number = self.number + 1
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, number.to_bytes(_NUMBER, "big"))
        return number

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
