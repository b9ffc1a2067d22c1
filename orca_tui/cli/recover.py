"""`orca-tui recover`: make a damaged database anew from what can be read of it. The damaged one is kept as it is."""

from argparse import Namespace

from memory.clock import SystemClock
from memory.config import Home
from memory.errors import BackupError, StoreDamaged
from orca_tui.plain import complain, plain_print, print_json


def run(arguments: Namespace, home: Home) -> int:
    """Examine and, if it is damaged, recover. 1 when something was lost. Raises leaves of `StoreError`."""
    from memory.store.backups import existing
    from memory.store.health import examine
    from memory.store.salvage import salvage

    if not home.database.is_file():
        raise BackupError(f"There is no database at {home.database}.", hint="There is nothing to recover.")
    try:
        problem = examine(home.database).told()
    except StoreDamaged as error:
        problem = str(error)
    if not problem:
        if arguments.json:
            print_json({"damaged": False})
        else:
            plain_print("The database is whole: there is nothing to recover.")
        return 0
    found = salvage(home.database, SystemClock())
    if arguments.json:
        print_json({"damaged": True, "problem": problem, "kept": found.kept, "lost": found.lost, "aside": found.aside})
    else:
        plain_print(f"The database was damaged: {problem.rstrip('.')}.")
        plain_print(found.told())
        if newest := next(iter(existing(home.database)), None):
            plain_print(f"The newest backup is {newest}. To go back to it: orca-tui restore PATH")
    if found.whole:
        return 0
    complain("Not everything could be recovered.", "Vectors and text indexes are made anew by themselves.")
    return 1
