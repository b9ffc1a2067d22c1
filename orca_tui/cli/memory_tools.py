"""What the memory commands share: opening, printing, asking, reading texts and times."""

import os
import shlex
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import SystemClock
from memory.config import Home
from memory.errors import ConfigError, OrcaError
from memory.settings import load_settings
from memory.text import label
from memory.types import LongTermMemory
from orca_tui.cli.stored import open_read
from orca_tui.plain import complain, local_time, plain_print

if TYPE_CHECKING:
    from memory.curation.curator import Curator

SNIPPET = 300
"""Characters of a text that are shown in a list."""
MAX_TEXT = 100_000
"""Bytes of a memory's text that are read from stdin."""


@contextmanager
def open_curator(home: Home) -> "Iterator[Curator]":
    """The curator of a home. Raises leaves of `OrcaError`."""
    from memory.curation.curator import Curator

    settings = load_settings(home)
    with open_read(home) as store:
        yield Curator(store, settings.memory, SystemClock())


def print_memories(rows: Sequence[LongTermMemory], empty: str = "Nothing found.") -> None:
    """Two lines each: the facts, and the beginning of the text."""
    if not rows:
        plain_print(empty)
    for row in rows:
        facts = [row.memory_type, label(row.branch, 64), *(["pinned"] if row.pinned else [])]
        if row.status != "active":
            facts.append(row.status)
        if row.source != "user":
            facts.append(f"from {row.source}")
        plain_print(f"{row.id}  {local_time(row.created_at)}  {' · '.join(facts)}")
        plain_print(f"    {label(row.content, SNIPPET)}")


def may_go_on(arguments: Namespace, question: str) -> bool:
    """Whether to do it: `--yes`, or the answer on a terminal. Else it is said that nothing was done."""
    if arguments.yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty() and not arguments.json:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().casefold() in ("y", "yes", "j", "是"):
            return True
    complain("Nothing was done.", "Add --yes to do it.")
    return False


def given_text(words: Sequence[str]) -> str:
    """What was written, else what comes through stdin. Raises `ConfigError` when there is nothing, or too much."""
    text = " ".join(words)
    if not words or list(words) == ["-"]:
        if sys.stdin is None or (not words and sys.stdin.isatty()):
            raise ConfigError("There is no text.", hint="Write it behind the command, or pipe it in.")
        raw = sys.stdin.buffer.read(MAX_TEXT + 1)
        if len(raw) > MAX_TEXT:
            raise ConfigError(f"The text is larger than {MAX_TEXT // 1000} kB.")
        text = raw.decode("utf-8", errors="replace")
    if not text.strip():
        raise ConfigError("The text is empty.")
    return text.strip()


def edited_text(home: Home, text: str) -> str:
    """The text as it comes back from `$VISUAL` or `$EDITOR`. Raises `ConfigError` without one, `OrcaError` when it
    fails.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not command or not sys.stdin.isatty():
        raise ConfigError("There is no new text.", hint="Give it with --text, or set EDITOR and use a terminal.")
    descriptor, name = tempfile.mkstemp(suffix=".txt", prefix="memory-", dir=home.root)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        done = subprocess.run([*command, name], check=False)  # noqa: S603 - the user's own editor
        if done.returncode:
            raise OrcaError(f"The editor ended with {done.returncode}; nothing was changed.")
        return path.read_text("utf-8", errors="replace").strip()
    except OSError as error:
        raise OrcaError(f"The editor cannot be started: {error.strerror}.", hint="Check EDITOR.") from error
    finally:
        path.unlink(missing_ok=True)


def given_time(text: str, *, end: bool = False) -> str:
    """A time as it is stored, from what searches take as well: `30m`, `2h`, `3d`, `1mo` back from now, a date, or
    ISO-8601 (local without an offset). `end`: of a date, its end.

    Raises `ConfigError`.
    """
    from memory.recalling.search_query import time_of

    try:
        return time_of(text, SystemClock().now(), end=end)
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            f"{label(text, 40)!r} is no time.",
            hint="For example 2026-03-01T12:00, or back from now: 30m (minutes), 2h, 3d, 1mo.",
        ) from error
