"""A file of lines that only ever grows: each line is written whole, or not at all."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from memory.store.files import PRIVATE_FILE


class LineFile:
    """One file, and how far it has been read. For use under the lock only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_to = 0

    def new_lines(self) -> list[bytes]:
        """The whole lines since the last call, without their ends. A last line without an end is not whole yet."""
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to += len(whole) + len(newline)
        return [line for line in whole.split(b"\n") if line.strip()]

    def append(self, line: bytes) -> None:
        """Write one line with one call, behind a newline when the file ends inside a line, and see it on the disk.

        What a failed write left is taken away again. Raises `OSError`; a short write is `ENOSPC`.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        is_new = not self.path.exists()
        file = os.open(self.path, flags, PRIVATE_FILE)
        try:
            size = os.lseek(file, 0, os.SEEK_END)
            data = (b"\n" if _ends_inside_a_line(file, size) else b"") + line + b"\n"
            try:
                if os.write(file, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(file, size)
                raise
        finally:
            os.close(file)
        self._read_to = size + len(data)
        if is_new:
            _see_on_disk(self.path.parent)


def _ends_inside_a_line(file: int, size: int) -> bool:
    if not size:
        return False
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) != b"\n"


def _see_on_disk(directory: Path) -> None:
    """Make a new file's name survive a power cut, where the system can do that."""
    if os.name == "posix":
        file = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
