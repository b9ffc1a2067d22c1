"""Where everything is kept: the `Store` protocol (`memory.store.base`) and how to open one."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.clock import Clock
    from memory.store.base import Store

__all__ = ["open_store"]


def open_store(path: Path, *, clock: "Clock | None" = None) -> "Store":
    """Open or create the database at `path`, its directory (0700) and file (0600) included.

    Raises `StoreOpenError` when it is damaged, foreign, written by a newer version or not permitted (the file is then
    left as it was), else `StoreFullError` or `StoreBusyError`.
    """
    from memory.store.sqlite import SQLiteStore

    return SQLiteStore(path, clock=clock)
