"""Where everything is kept: the `Store` protocol (`memory.store.base`) and how to open one."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StoreDamaged, StoreError, StoreOpenError
from memory.store import files
from memory.store.failures import RECOVER
from memory.text import label

if TYPE_CHECKING:
    from memory.clock import Clock
    from memory.config import Home
    from memory.store.base import Store

log = logging.getLogger(__name__)

__all__ = ["emptied", "open_store", "open_store_or_fallback"]


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


def open_store_or_fallback(home: "Home", *, clock: "Clock | None" = None) -> "tuple[Store, StoreError | None]":
    """The database of a home, and what is to be told about it.

    One that is damaged is kept aside, and what can be read of it is in the one that is given. When it cannot be opened
    it is left as it is, and the store on plain files takes its place. One that was emptied begins anew.
    Raises what `open_store` raises when the files cannot be used either.
    """
    problem = emptied(home)
    try:
        try:
            return open_store(home.database, clock=clock), problem
        except StoreDamaged:
            problem = _recovered(home, clock)
            return open_store(home.database, clock=clock), problem
    except StoreOpenError as error:
        from memory.store.jsonl import JSONLStore

        try:
            store = JSONLStore(home.root, clock=clock)
        except StoreError:
            raise error from None
        instead = f"Until it can be opened, orca keeps everything in plain files: {home.root / 'sessions'}."
        return store, StoreOpenError(f"{error} {instead}", hint=error.hint)


def _recovered(home: "Home", clock: "Clock | None") -> StoreError:
    """Make a damaged database anew, and say so. Raises the error that stands when that is not possible."""
    from memory.clock import SystemClock
    from memory.store.backups import existing
    from memory.store.salvage import salvage

    damaged = StoreDamaged(f"{home.database} is damaged or not a database.", hint=RECOVER)
    try:
        found = salvage(home.database, clock or SystemClock())
    except StoreError as error:
        log.warning("the damaged database could not be recovered: %s", error)
        raise damaged from error
    newest = next(iter(existing(home.database)), None)
    hint = f"The newest backup is {newest}. To go back to it: orca-tui restore PATH" if newest else ""
    return StoreError(f"The database was damaged, and was made anew. {found.told()}", hint=hint)


def emptied(home: "Home") -> StoreError | None:
    """What is to be told when nothing is in the database of a home any more, as after a repair of the disk."""
    if not files.is_emptied(home.database):
        return None
    name, copies = home.database.name, files.copies(home.database)
    if copies:
        found = f"Here lie {', '.join(label(copy, 60) for copy in copies)}: to go back to one, close orca first and"
        hint = f"{found} put it in the place of {name}."
    else:
        hint = "If there were conversations in it, close orca and put a backup of yours in its place."
    return StoreError(f"{label(str(home.database))} was empty: everything begins anew.", hint=hint)
