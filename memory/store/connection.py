"""The one door to the database file: one writer, a few readers, every transaction through `write` or `read`.

SQLite calls are made here and in the modules that are handed a connection by it; none keeps a connection. All
methods are safe from any thread, and the error that leaves a block is a leaf of `StoreError`.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StoreError, StoreOpenError
from memory.store import checksums, extension, files, migrations
from memory.store.failures import translated
from memory.store.presence import Presence

if TYPE_CHECKING:
    import apsw

    from memory.clock import Clock

log = logging.getLogger(__name__)

APPLICATION_ID = 0x4F524341
"""“ORCA”, in the file's header: whose database it is."""
BUSY_TIMEOUT = 5.0
"""Seconds to wait for another process."""
MAX_READERS = 4
PAGE_SIZE = 16_384
"""Bytes: a vector and its code fit a page with little waste."""
CACHE_KIB = 65_536
MMAP_BYTES = 1024 * 1024 * 1024
ELSEWHERE = "The file was left as it was; set ORCA_HOME to another directory to use that instead."


class Database:
    """An open database file. Made by `Database.open`."""

    def __init__(
        self, path: Path, writer: "apsw.Connection", vector_extension: extension.Extension, presence: Presence
    ) -> None:
        self.path = path
        self.vector_extension = vector_extension
        self._writer = writer
        self._presence = presence
        self._writing = threading.RLock()
        self._writer_thread = 0
        """Which thread is in a write transaction; 0: none."""
        self._readers: list[apsw.Connection] = []
        self._reader_slots = threading.BoundedSemaphore(MAX_READERS)
        self._closed = False

    @classmethod
    def open(cls, path: Path, clock: "Clock") -> "Database":
        """Open or create the database at `path` and bring its schema up to date.

        Raises `StoreOpenError` (damaged, foreign, newer, not permitted; the file is left as it was), or
        `StoreFullError`, `StoreBusyError`.
        """
        files.prepare(path)
        presence = Presence.enter(path.parent)
        try:
            with translated(path):
                writer, vector_extension = _connect(path)
                try:
                    # Until the file has proved to be ours, closing must not write to it.
                    _keep_wal_on_close(writer, keep=True)
                    _check_identity(writer, path)
                    _set_up_file(writer)
                    migrations.migrate(writer, path, clock, application_id=APPLICATION_ID, busy_timeout=BUSY_TIMEOUT)
                    _keep_wal_on_close(writer, keep=False)
                except BaseException:
                    writer.close()
                    raise
        except BaseException:
            presence.leave()
            raise
        if vector_extension.problem:
            _tell_once(vector_extension.problem)
        return cls(path, writer, vector_extension, presence)

    @property
    def writing(self) -> bool:
        """Whether this thread is in a write transaction: what it reads may yet be undone."""
        return self._writer_thread == threading.get_ident()

    @contextmanager
    def write(self) -> Iterator["apsw.Connection"]:
        """One write transaction: commits at the end of the block, rolls back when an exception leaves it.

        Inside another one of the same thread it is a part of that: kept or undone with it, and undone alone when the
        exception is caught in between.
        """
        with self._writing, translated(self.path):
            self._check_open()
            connection = self._writer
            if self.writing:
                with connection:
                    yield connection
                return
            # IMMEDIATE: a transaction that reads first and then writes would fail at once, without waiting.
            connection.execute("BEGIN IMMEDIATE")
            self._writer_thread = threading.get_ident()
            try:
                yield connection
                checksums.write_missing(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # A full disk has rolled back already.
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._writer_thread = 0

    @contextmanager
    def read(self) -> Iterator["apsw.Connection"]:
        """One read transaction: everything in the block sees the same state of the database.

        Inside a write transaction of the same thread it sees what that has written.
        """
        if self.writing:
            with translated(self.path):
                yield self._writer
            return
        with translated(self.path), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def foreign_changes(self) -> int:
        """A number that is another one after every commit by another process."""
        with self._writing, translated(self.path):
            self._check_open()
            return int(self._writer.pragma("data_version"))

    def fold_log(self) -> bool:
        """Write the log into the file and cut it to nothing; false when a reader or another process is in the way."""
        import apsw

        with self._writing, translated(self.path):
            self._check_open()
            try:
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return False
        return True

    def close(self) -> None:
        """Wait for the running write, fold the write-ahead log into the file and let go. Safe to call twice."""
        import apsw

        with self._writing:
            if self._closed:
                return
            self._closed = True
            for _ in range(MAX_READERS):
                self._reader_slots.acquire()
            for reader in self._readers:
                reader.close()
            self._readers.clear()
            for _ in range(MAX_READERS):
                self._reader_slots.release()
            # On a full disk or beside another process it fails: what was committed is safe in the log.
            with suppress(apsw.Error):
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._writer.close()
            self._presence.leave()

    @contextmanager
    def _reader(self) -> Iterator["apsw.Connection"]:
        with self._reader_slots:
            self._check_open()
            try:
                connection = self._readers.pop()
            except IndexError:
                connection, _ = _connect(self.path, reader=True)
            try:
                yield connection
            finally:
                self._readers.append(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")


@cache
def _tell_once(problem: str) -> None:
    log.warning("%s; vectors are compared without it", problem)


def _connect(path: Path, *, reader: bool = False) -> "tuple[apsw.Connection, extension.Extension]":
    """A connection with everything set that is not stored in the file, and sqlite-vec when it is there."""
    import apsw

    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(BUSY_TIMEOUT * 1000))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", "memory")
    if reader:
        connection.pragma("query_only", 1)
        connection.pragma("mmap_size", MMAP_BYTES)
    else:
        # Not on readers: mapped pages are looked at again at every access, and checking their cells each time makes a
        # full-text search six times slower.
        connection.pragma("cell_size_check", 1)
        checksums.register(connection)
    return connection, extension.load(connection)


def _check_identity(writer: "apsw.Connection", path: Path) -> None:
    """Refuse what is not ours or is newer than we are. Only reads."""
    if writer.readonly("main"):
        raise StoreOpenError(f"{path} cannot be written to.", hint=f"Make it writable for you: chmod u+w {path}")
    owner = writer.pragma("application_id")
    tables = writer.execute("SELECT count(*) FROM sqlite_schema").get
    if owner != APPLICATION_ID and (owner or tables):
        raise StoreOpenError(f"{path} is the database of another program.", hint=ELSEWHERE)
    if tables and (unknown := migrations.unknown(writer)):
        raise StoreOpenError(
            f"{path} was written by a newer version of orca ({unknown}).",
            hint=f"Upgrade orca-tui. {ELSEWHERE}",
        )


def _set_up_file(writer: "apsw.Connection") -> None:
    """Settings that the file keeps, and how commits reach it."""
    writer.pragma("page_size", PAGE_SIZE)
    _switch_to_wal(writer)
    # FULL: an acknowledged message survives a power cut; a fsync a commit is well under a millisecond on an SSD.
    writer.pragma("synchronous", "full")
    writer.pragma("secure_delete", 1)


def _switch_to_wal(writer: "apsw.Connection") -> None:
    """Two first starts at once meet here, and SQLite does not always wait for the other."""
    import apsw

    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            mode = writer.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            break
    if mode != "wal":
        raise StoreOpenError(
            "The file system of the database has no write-ahead logging (a network drive?).",
            hint="Set ORCA_HOME to a directory on a local disk.",
        )


def _keep_wal_on_close(writer: "apsw.Connection", *, keep: bool) -> None:
    import apsw

    writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(keep))
