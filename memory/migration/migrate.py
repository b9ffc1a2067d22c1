"""Bringing old session files into the database: nothing twice, nothing lost, and the source is never changed.

Messages go in in batches; each is one transaction with how far its file has been read, so that a run that was cut off
leaves what a shorter run would have left, and the next one goes on. What cannot be read is copied byte for byte to a
file beside the source, with its line number and the reason.
"""

import errno
import logging
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memory.config import Home
from memory.migration.old_sessions import OldSessionFile
from memory.migration.own_files import OwnFile, message_digest, open_file, own_files
from memory.migration.rejects import Rejects
from memory.store.base import Store
from memory.store.imports import ImportedMessage, ImportMark, ImportPart
from memory.store.jsonl.log import MEMORIES, SESSIONS
from memory.types import Scope

log = logging.getLogger(__name__)

BATCH = 500
"""Messages that go into one transaction: well under a second."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    path: Path
    file: int
    """From 1."""
    files: int
    lines: int
    """Of this file, so far."""


@dataclass(slots=True)
class FileReport:
    """What became of one file."""

    path: Path
    lines: int = 0
    imported: int = 0
    """Messages that were added by this run."""
    already: int = 0
    """Messages that had come in before."""
    repaired: int = 0
    """Of the imported: those that were not as they should be."""
    skipped: int = 0
    """Lines, or parts of lines, that hold no message or a message again."""
    summaries: int = 0
    memories: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why something was skipped or repaired, and how often."""
    rejects: Path | None = None
    """The file with what could not be read; `None` when there is nothing of that kind."""
    problem: str = ""
    """Why the file could not be read (to its end); empty otherwise."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of all files."""

    files: tuple[FileReport, ...]

    def total(self, name: str) -> int:
        """The sum of one of the counts."""
        return sum(getattr(report, name) for report in self.files)

    @property
    def reasons(self) -> Counter[str]:
        """Why something was skipped or repaired, over all files."""
        return sum((report.reasons for report in self.files), Counter[str]())


class Migration:
    """One run. `store` may be missing for a dry run, when there is no database yet."""

    def __init__(
        self,
        home: Home,
        store: ImportPart | None,
        *,
        scope: Scope | None = None,
        dry_run: bool = False,
        batch: int = BATCH,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        if store is None and not dry_run:
            raise ValueError("only a dry run needs no store")
        self._home = home
        self._store = store
        self._scope = scope
        self._dry_run = dry_run
        self._batch = batch
        self._progress = progress or (lambda _: None)

    def run(self, source: Path | None = None) -> Report:
        """Bring in a file, all `*.jsonl` below a directory, or (default) what lies in the home.

        A file that cannot be read is told in the report. Raises leaves of `StoreError`.
        """
        paths = self._paths(source)
        reports: list[FileReport] = []
        for number, path in enumerate(paths, 1):
            report = FileReport(path)
            reports.append(report)
            try:
                self._file(report, partial(self._tell, path, number, len(paths)))
            except OSError as error:
                report.problem = error.strerror or type(error).__name__
        return Report(tuple(reports))

    def _tell(self, path: Path, number: int, files: int, lines: int) -> None:
        self._progress(Progress(path, number, files, lines))

    def _paths(self, source: Path | None) -> list[Path]:
        if source is None:
            found = sorted((self._home.root / SESSIONS).rglob("*.jsonl"))
            return [path for path in (*found, self._home.root / MEMORIES) if path.is_file()]
        if source.is_dir():
            return [path for path in sorted(source.rglob("*.jsonl")) if path.is_file()]
        return [source]

    def _file(self, report: FileReport, tell: Callable[[int], None]) -> None:
        path = report.path
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        old = open_file(path, self._scope)
        with Rejects(path, self._home.root / "rejected", old.key, active=not self._dry_run) as rejects:
            waiting: dict[str, tuple[ImportedMessage, tuple[str, ...]]] = {}
            for outcome in old.outcomes():
                if outcome.message is not None:
                    waiting[outcome.message.digest] = (outcome.message, outcome.repairs)
                else:
                    report.skipped += 1
                    report.reasons[outcome.reason] += 1
                    if not outcome.is_repeat:
                        rejects.add(outcome.line, outcome.reason, outcome.raw)
                if len(waiting) >= self._batch:
                    self._write(report, old, waiting)
                    tell(old.lines)
            self._write(report, old, waiting)
            if isinstance(old, OwnFile):
                self._write_rest(report, old)
            report.rejects = rejects.keep()
        report.lines = old.lines
        self._mark(report, old, finished=True)
        tell(old.lines)

    def _write(
        self,
        report: FileReport,
        old: OldSessionFile | OwnFile,
        waiting: dict[str, tuple[ImportedMessage, tuple[str, ...]]],
    ) -> None:
        """One batch, which is empty afterwards."""
        if not waiting:
            return
        messages = [message for message, _ in waiting.values()]
        if self._dry_run or self._store is None:
            added = waiting.keys() - (self._store.imported(waiting) if self._store else set())
        else:
            added = self._store.import_messages(_mark_of(report.path, old), old.sessions, messages)
        report.imported += len(added)
        report.already += len(waiting) - len(added)
        for digest in added:
            repairs = waiting[digest][1]
            report.repaired += bool(repairs)
            report.reasons.update(repairs)
        waiting.clear()

    def _write_rest(self, report: FileReport, old: OwnFile) -> None:
        """What only files of ours hold: which path was chosen, runs of subagents, summaries, memories."""
        if self._dry_run or self._store is None:
            return
        for session_id, tip, seen in old.tips():
            self._store.import_tip(session_id, tip, seen)
        self._store.import_subagent_runs(old.runs())
        report.summaries = self._store.import_summaries(_mark_of(report.path, old), old.summaries())
        for memory in old.memories():
            source = memory.source_message_id
            report.memories += self._store.import_memory(
                old.memory_digest(memory.id),
                memory,
                supersedes=None if memory.supersedes is None else old.memory_digest(memory.supersedes),
                merged_from=[old.memory_digest(item) for item in memory.merged_from],
                source=None if source is None else message_digest(memory.source_session or "", source),
                reason=f"from {report.path.name}",
            )

    def _mark(self, report: FileReport, old: OldSessionFile | OwnFile, *, finished: bool) -> None:
        if self._store is not None and not self._dry_run:
            self._store.set_import_mark(_mark_of(report.path, old, finished=finished))


def waiting_files(home: Home, store: Store) -> int:
    """How many files the store on plain files has left that were not brought in yet, or have grown since.

    What other programs have written is not counted: it may stay where it is. 0 unless `store` is the database, or when
    the files cannot be read.
    """
    if not isinstance(store, ImportPart) or not (home.root / SESSIONS).is_dir():
        return 0
    done = {mark.path: mark.size for mark in store.import_marks() if mark.finished}
    try:
        return sum(done.get(str(path.absolute())) != path.stat().st_size for path in own_files(home.root))
    except OSError as error:
        log.warning("%s cannot be read: %s", home.root / SESSIONS, error.strerror)
        return 0


def _mark_of(path: Path, old: OldSessionFile | OwnFile, *, finished: bool = False) -> ImportMark:
    return ImportMark(old.key, str(path.absolute()), path.stat().st_size, old.lines, finished)
