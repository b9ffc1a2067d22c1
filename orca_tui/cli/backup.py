"""`orca-tui backup`: a verified copy of the database, made while others use it."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import SystemClock
from memory.config import Home
from memory.text import label
from orca_tui.plain import plain_print, print_json

if TYPE_CHECKING:
    from memory.store.backup import Backup


def run(arguments: Namespace, home: Home) -> int:
    """Make a backup and tell where it is. Raises `BackupError` and leaves of `StoreError`."""
    from memory.store.backup import back_up

    counter = _Counter()
    try:
        made = back_up(home.database, _target(arguments.path, home), progress=counter.report)
    finally:
        counter.end()
    if arguments.json:
        print_json(made)
    else:
        plain_print(f"Backed up and verified: {label(str(made.path))} ({counted(made)}).")
    return 0


def counted(backup: "Backup") -> str:
    """What is in it, as words."""
    counts = ", ".join(f"{name.replace('_', '-')} {count}" for name, count in backup.counts.items())
    return f"{counts}, {backup.size / 1_000_000:.1f} MB"


def _target(given: str | None, home: Home) -> Path:
    """A path that is named, a new file in a directory that is named, or one among the automatic backups."""
    from memory.store.backups import new_name

    name = new_name(home.database, SystemClock())
    if given is None:
        return name
    path = Path(given).expanduser().absolute()
    return path / name.name if path.is_dir() else path


class _Counter:
    """How far the copy is, on stderr: a line that counts up on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = -1

    def report(self, done: int, pages: int) -> None:
        """Show one step."""
        percent = 100 * done // max(pages, 1)
        if self._terminal and percent != self._shown:
            self._shown = percent
            sys.stderr.write(f"\rcopying, {percent} %")
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the counting line."""
        if self._shown >= 0:
            sys.stderr.write("\n")
