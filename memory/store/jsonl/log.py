"""All files of the store together: read once, then only what was added; written under one lock.

A line is one transaction. Every process keeps what the lines add up to in memory and reads on when another has written,
which it sees by a number in the lock file.
"""

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.errors import StoreError, StoreFullError, StoreOpenError
from memory.store.files import PRIVATE_DIRECTORY
from memory.store.jsonl.lines import LineFile
from memory.store.jsonl.lock import FileLock

MARK = b'{"orca":1,'
"""How every line of ours begins; a file that begins otherwise belongs to another program and is left alone."""
SESSIONS = "sessions"
MEMORIES = "memories.jsonl"
VECTORS = "vectors.jsonl"
LOCK = "sessions.lock"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ELOOP)

Apply = Callable[[str, bytes], None]
"""Takes the name of a file (without `.jsonl`) and one of its lines, or raises `ValueError`."""
Append = Callable[[str, bytes], None]
"""Takes a file's path below the home and a line that `Apply` accepts, and writes it."""


def session_file(session_id: str) -> str:
    """Where a session is kept, below the home."""
    return f"{SESSIONS}/{session_id}.jsonl"


def is_ours(path: Path) -> bool:
    """Whether a file of lines was written by this store. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


class Log:
    """The open files. Safe from any thread."""

    def __init__(self, home: Path, apply: Apply) -> None:
        """Create what is missing and read all. Raises `StoreOpenError`, `StoreBusyError` or `StoreFullError`."""
        self.home = home
        self.damaged = 0
        """Lines that could not be read; they are left where they are."""
        self._apply = apply
        self._files: dict[str, LineFile] = {}
        self._thread = threading.RLock()
        self._seen = -1
        self._closed = False
        with _told(home):
            for directory in (home, home / SESSIONS):
                directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            self._lock = FileLock(home / LOCK)
            try:
                with self._lock.held():
                    self._read_on(self._lock.number)
            except BaseException:
                self._lock.close()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A block that sees one state of the store: everything that was written before it."""
        with self._thread, _told(self.home):
            self._check_open()
            if self._lock.number != self._seen:
                with self._lock.held():
                    self._read_on(self._lock.number)
            yield

    @contextmanager
    def writing(self) -> Iterator[Append]:
        """A block that nobody else writes in. It may append one line: the transaction."""
        with self._thread, _told(self.home):
            self._check_open()
            with self._lock.held():
                number = self._lock.number
                if number != self._seen:
                    self._read_on(number)
                yield self._append

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.path.stat().st_size for file in self._files.values() if file.path.exists())

    def close(self) -> None:
        """Wait for the running block and let go. Safe to call twice."""
        with self._thread:
            if not self._closed:
                self._closed = True
                self._lock.close()

    def _append(self, name: str, line: bytes) -> None:
        # The number first: who sees it waits for the lock, and so reads what is written now.
        number = self._lock.raise_number()
        self._file(name).append(line)
        self._seen = number
        self._apply(Path(name).stem, line)

    def _read_on(self, number: int) -> None:
        for name in self._names():
            file = self._file(name)
            for line in file.new_lines():
                try:
                    self._apply(file.path.stem, line)
                except ValueError:
                    self.damaged += 1
        self._seen = number

    def _names(self) -> Iterator[str]:
        """The files that are there and ours; vectors last, since they need the texts that they belong to."""
        sessions = (f"{SESSIONS}/{path.name}" for path in sorted((self.home / SESSIONS).glob("*.jsonl")))
        for name in (*sessions, MEMORIES, VECTORS):
            path = self.home / name
            known = name in self._files or name in (MEMORIES, VECTORS)
            if path.is_file() and not path.is_symlink() and (known or is_ours(path)):
                yield name

    def _file(self, name: str) -> LineFile:
        return self._files.setdefault(name, LineFile(self.home / name))

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")


@contextmanager
def _told(home: Path) -> Iterator[None]:
    """Run a block; an error of the disk leaves it as a leaf of `StoreError`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno in _FULL:
            raise StoreFullError(
                f"Nothing can be written to {home}: the disk or quota is full.",
                hint="Free some space. What is stored is whole.",
            ) from error
        if error.errno in _FORBIDDEN:
            raise StoreOpenError(
                f"The files in {home} cannot be used: {reason}.", hint=f"Check that you may read and write {home}."
            ) from error
        raise StoreError(
            f"The disk failed while {home} was in use: {reason}.", hint="Check the disk; try again."
        ) from error
