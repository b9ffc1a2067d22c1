"""`orca-tui restore`: put a backup in the place of the database, which is kept."""

from argparse import Namespace
from pathlib import Path

from memory.clock import SystemClock
from memory.config import Home
from memory.text import label
from orca_tui.cli.backup import counted
from orca_tui.cli.stored import prepare
from orca_tui.plain import plain_print, print_json


def run(arguments: Namespace, home: Home) -> int:
    """Restore; tells where the former database is. Raises `BackupError` and leaves of `StoreError`."""
    from memory.store.backup import restore

    prepare(home)
    done = restore(home.database, Path(arguments.path).expanduser().absolute(), SystemClock())
    if arguments.json:
        print_json(done)
        return 0
    plain_print(f"Restored: {label(str(done.backup.path))} ({counted(done.backup)}).")
    if done.aside is not None:
        plain_print(f"The database from before is in {label(str(done.aside))}.")
    return 0
