"""`orca-tui import`: bring in the chats of other programs. The export stays as it is; nothing comes in twice."""

import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import SystemClock
from memory.config import Home
from memory.migration.foreign import NAMES
from memory.settings import load_settings
from memory.text import label
from orca_tui.cli.migrate import open_database
from orca_tui.plain import plain_print, print_json

if TYPE_CHECKING:
    from memory.migration.importing import ImportProgress, ImportReport

TOLD = 10
"""Skipped records that are named."""


def run(arguments: Namespace, home: Home) -> int:
    """0 when something could be read, also when all of it was here already."""
    from memory.migration.importing import Importing

    counter = _Counter()
    settings = load_settings(home).memory
    try:
        with open_database(home) as store:
            importing = Importing(store, SystemClock(), settings, progress=counter.show)
            report = importing.run(
                Path(arguments.file).expanduser(), source=arguments.source, dry_run=arguments.dry_run
            )
    finally:
        counter.end()
    if arguments.json:
        print_json({**asdict(report), "path": str(report.path), "reasons": dict(report.reasons)})
    else:
        _print(report)
    return 0


def _print(report: "ImportReport") -> None:
    would = "Would come in" if report.dry_run else "Came in"
    plain_print(
        f"{would} from {NAMES[report.source]}: {report.talks} conversations with {report.messages} messages "
        f"({report.repaired} repaired); {report.known} messages were here already, {report.skipped} records skipped."
    )
    if report.facts:
        plain_print(f"{report.facts} things that it remembered wait for review: `orca-tui memory inbox`.")
    for reason, count in report.reasons.most_common():
        plain_print(f"  {count:5}  {label(reason, 100)}")
    for skipped in report.named[:TOLD]:
        plain_print(f"         {label(skipped.what, 60)}: {label(skipped.reason, 100)}")


class _Counter:
    """How far the run is, on stderr: a line that counts up on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._begun = False

    def show(self, done: "ImportProgress") -> None:
        """Show one step."""
        if self._terminal:
            self._begun = True
            sys.stderr.write(f"\r{done.talks} conversations, {done.messages} messages".ljust(60))
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the counting line."""
        if self._begun:
            sys.stderr.write("\n")
