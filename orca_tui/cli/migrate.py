"""`orca-tui migrate`: bring old session files into the database. The files stay as they are."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.config import Home
from memory.errors import StoreError
from memory.settings import load_settings
from memory.text import label
from memory.types import Scope
from orca_tui.cli.stored import prepare
from orca_tui.plain import complain, plain_print, print_json

if TYPE_CHECKING:
    from memory.migration.migrate import FileReport, Report
    from memory.migration.migrate import Progress as Done
    from memory.store.imports import ImportPart

COUNTS = ("lines", "imported", "already", "repaired", "skipped", "summaries", "memories")


def run(arguments: Namespace, home: Home) -> int:
    """1 when a file could not be read or there is none where PATH says, else 0; rejected lines are no failure."""
    from memory.migration.migrate import Migration

    settings = load_settings(home).memory
    scope = Scope(settings.user_id, settings.project or None)
    source = Path(arguments.path).expanduser() if arguments.path is not None else None
    counter = _Counter()
    try:
        with _database(home, dry_run=arguments.dry_run) as store:
            migration = Migration(home, store, scope=scope, dry_run=arguments.dry_run, progress=counter.report)
            report = migration.run(source)
    finally:
        counter.end()
    if arguments.json:
        print_json(_facts(report, dry_run=arguments.dry_run))
    else:
        _print(report, dry_run=arguments.dry_run)
    for file in report.files:
        if file.problem:
            complain(f"{label(str(file.path))} cannot be read: {file.problem}.")
    if source is not None and not report.files:
        complain(f"There is no .jsonl file in {label(str(source))}.")
        return 1
    return int(any(file.problem for file in report.files))


@contextmanager
def _database(home: Home, *, dry_run: bool) -> "Iterator[ImportPart | None]":
    """The database; a dry run makes none."""
    if dry_run and not home.database.is_file():
        yield None
        return
    with open_database(home) as store:
        yield store


@contextmanager
def open_database(home: Home) -> "Iterator[ImportPart]":
    """The database itself: plain files are what is brought in. Raises leaves of `StoreError`."""
    from memory.store import open_store
    from memory.store.imports import ImportPart

    prepare(home)
    store = open_store(home.database)
    try:
        if not isinstance(store, ImportPart):
            raise StoreError("This store takes no imports.")
        yield store
    finally:
        store.close()


def _facts(report: "Report", *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        **{name: report.total(name) for name in COUNTS},
        "reasons": dict(report.reasons),
        "files": [{field.name: getattr(file, field.name) for field in fields(file)} for file in report.files],
    }


def _print(report: "Report", *, dry_run: bool) -> None:
    if not report.files:
        plain_print("There are no session files to bring in.")
        return
    for file in report.files:
        if file.imported or file.skipped or file.memories or file.summaries:
            _print_file(file)
    total = {name: report.total(name) for name in COUNTS}
    begin = "Would come in" if dry_run else "Came in"
    files = "1 file" if len(report.files) == 1 else f"{len(report.files)} files"
    plain_print(
        f"{begin} from {files}: {total['imported']} messages ({total['repaired']} repaired); "
        f"{total['already']} were there already, {total['skipped']} skipped."
    )
    if total["memories"] or total["summaries"]:
        plain_print(f"Also: {total['memories']} memories, {total['summaries']} summaries.")


def _print_file(file: "FileReport") -> None:
    plain_print(
        f"{label(file.path.name, 60)}: {file.imported} imported, {file.repaired} repaired, {file.skipped} skipped"
    )
    for reason, count in sorted(file.reasons.items()):
        plain_print(f"  {count:5}  {reason}")
    if file.rejects is not None:
        plain_print(f"  What could not be read is in {label(str(file.rejects))}")


class _Counter:
    """How far the run is, on stderr: a line that counts up on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._begun = False

    def report(self, done: "Done") -> None:
        """Show one step."""
        if self._terminal:
            self._begun = True
            text = f"file {done.file} of {done.files}: {label(done.path.name, 40)}, {done.lines} lines"
            sys.stderr.write(f"\r{text:<78}")
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the counting line."""
        if self._begun:
            sys.stderr.write("\n")
