"""Copies of a database that others may be writing to: whole as of one moment, on disk, or not there at all."""

import os
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory.store import files

if TYPE_CHECKING:
    import apsw

PAGES_AT_ONCE = 512
Progress = Callable[[int, int], None]
"""Gets how many pages are copied, and how many there are."""


def copy_database(
    source: Path,
    target: Path,
    *,
    check: "Callable[[apsw.Connection], None]" = lambda copy: None,  # noqa: ARG005
    progress: Progress = lambda done, pages: None,  # noqa: ARG005
) -> None:
    """Copy `source` as it was last committed to `target` (0600), which appears only when it is whole.

    `check` may look at the copy before that, and refuse it. Writers are not kept waiting. Raises `OSError` and
    `apsw.Error`, and what `check` and `progress` raise; nothing is left then.
    """
    import apsw

    partial = target.with_name(target.name + ".partial")
    _remove(partial)
    try:
        files.create_private(partial)
        with closing(apsw.Connection(str(source))) as origin, closing(apsw.Connection(str(partial))) as copy:
            origin.execute("BEGIN")
            origin.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # from here on, it stands still
            with copy.backup("main", origin, "main") as backup:
                while not backup.done:
                    backup.step(PAGES_AT_ONCE)
                    progress(backup.page_count - backup.remaining, backup.page_count)
            origin.execute("ROLLBACK")
            copy.pragma("journal_mode", "delete")
            check(copy)
        files.flush(partial)
        partial.replace(target)
        files.flush(target.parent)
    except BaseException:
        _remove(partial)
        raise


def _remove(partial: Path) -> None:
    for name in (partial, partial.with_name(f"{partial.name}-journal")):
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - also where the name is a link
