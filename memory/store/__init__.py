"""Where everything is kept: the `Store` protocol (`memory.store.base`) and how to open one."""

from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StoreError, StoreOpenError

if TYPE_CHECKING:
    from memory.clock import Clock
    from memory.config import Home
    from memory.store.base import Store

__all__ = ["open_store", "open_store_or_fallback"]


def open_store(path: Path, *, clock: "Clock | None" = None) -> "Store":
    """Open or create the database at `path`, its directory (0700) and file (0600) included.

    Raises `StoreOpenError` when it is damaged, foreign, written by a newer version or not permitted (the file is then
    left as it was) or when SQLite itself is missing, else `StoreFullError` or `StoreBusyError`.
    """
    try:
        from memory.store.sqlite import SQLiteStore

        return SQLiteStore(path, clock=clock)
    except ImportError as error:
        raise StoreOpenError(
            f"The SQLite library cannot be loaded ({error}).", hint="Install it again: pip install -U apsw"
        ) from error


def open_store_or_fallback(home: "Home", *, clock: "Clock | None" = None) -> "tuple[Store, StoreOpenError | None]":
    """The database of a home; when it cannot be opened, the store on plain files, with the reason.

    The database is left as it is. Raises what `open_store` raises when the files cannot be used either.
    """
    try:
        return open_store(home.database, clock=clock), None
    except StoreOpenError as error:
        from memory.store.jsonl import JSONLStore

        try:
            store = JSONLStore(home.root, clock=clock)
        except StoreError:
            raise error from None
        problem = StoreOpenError(
            f"{error} Until it can be opened, orca keeps everything in plain files: {home.root / 'sessions'}.",
            hint=error.hint,
        )
        return store, problem
