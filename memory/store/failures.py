"""SQLite's errors, said in plain sentences: the only place that turns an `apsw` error into a leaf of `StoreError`."""

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import StoreBusyError, StoreDamaged, StoreError, StoreFullError, StoreOpenError

if TYPE_CHECKING:
    import apsw

RECOVER = "The file was left as it is. Close orca, then save what can be read: orca-tui recover"


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Run a block; an error of SQLite, or of a value on its way there, leaves it as a leaf of `StoreError`."""
    import apsw

    try:
        yield
    except apsw.Error as error:
        raise _leaf(error, path) from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise StoreError(f"A value cannot be stored: {error}.") from error
    except (UnicodeDecodeError, JSONDecodeError) as error:
        raise StoreDamaged(f"{path} is damaged: something in it is not what was written.", hint=RECOVER) from error


def _leaf(error: "apsw.Error", path: Path) -> StoreError:
    import apsw

    if isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_WRITE:
        return StoreFullError(
            f"Nothing can be written to {path}: the disk or quota is full.",
            hint="Free some space. What is stored is whole.",
        )
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusyError(
            f"{path} is held by another process.", hint="Close the other program that uses it, or try again."
        )
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return StoreDamaged(f"{path} is damaged or not a database.", hint=RECOVER)
    if isinstance(error, apsw.CantOpenError | apsw.PermissionsError | apsw.AuthError):
        return StoreOpenError(f"{path} cannot be opened.", hint=f"Check that you may read and write {path.parent}.")
    if isinstance(error, apsw.ReadOnlyError):
        return StoreOpenError(
            f"{path} cannot be written to.", hint=f"Make {path.parent} and the file writable for you."
        )
    if isinstance(error, apsw.IOError):
        return StoreError(f"The disk failed while {path} was in use ({error}).", hint="Check the disk; try again.")
    if isinstance(error, apsw.ConstraintError):
        return StoreError(f"The database refused a value: {error}.")
    if isinstance(error, apsw.ConnectionClosedError):
        return StoreError("The store is closed.")
    return StoreError(f"The database could not do that: {error}.", hint="Run `orca-tui doctor`.")
