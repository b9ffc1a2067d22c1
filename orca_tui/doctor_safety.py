"""The doctor's look at what must not be lost: whether the database is whole, and which backups there are."""

from memory.config import Home
from orca_tui.doctor_vectors import Told


def safety_told(home: Home, problem: str) -> list[Told]:
    """The rows `integrity` and `backups`. `problem`: what an examination found; empty when the database is whole."""
    from memory.store.backups import existing

    backups = existing(home.database)
    return [_integrity(problem, str(backups[0]) if backups else ""), _backups([path.name for path in backups])]


def _integrity(problem: str, newest: str) -> Told:
    if not problem:
        return ("integrity", "ok", "the file is sound, and its rows are what was written", "")
    advice = "Close orca, then save what can be read: orca-tui recover"
    return ("integrity", "fail", problem, f"{advice}, or go back: orca-tui restore {newest}" if newest else advice)


def _backups(names: list[str]) -> Told:
    if not names:
        return ("backups", "ok", "none yet: the app makes one a day; at once: orca-tui backup", "")
    return ("backups", "ok", f"{len(names)}, the newest {names[0]}", "")
