"""The gate on the plain command line: what every command prints of stored, typed and configured text, in a terminal.

What lists texts gets all, what shows one gets a part of them, so that each is shown; `ORCA_SWEEP=full`: all.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pexpect")
pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")]

from tests.faults.gate_corpus import PLAIN, entries  # noqa: E402
from tests.faults.terminal_bytes import by_entry, hidden, orders, run  # noqa: E402

CLI = Path(__file__).with_name("gate_cli.py")
SAYS_IT = {"ask", "memory show", "config show"}
"""Errors repeat what was typed only where that helps."""
LISTS = {"sessions list", "sessions show", "memory list", "memory inbox"}
OURS = {repr("\r"), repr("\t")}
"""What our own lines hold: line ends of the terminal, and tabs, which `clean` leaves."""


def test_no_entry_gets_through(home: Path, record_property: Callable[[str, object], None]) -> None:
    output, code = run([str(CLI)], home, columns=200)
    assert code == 0, output[-2000:]
    written = by_entry(output)
    hostile = [entry.id for entry in entries()[len(PLAIN) :]]
    shown = sum(name.partition(" ")[0] in hostile for name in written)
    record_property("faults", shown + len(hostile) * (len(LISTS) + 1))
    tags = {entry.id: entry.tag for entry in entries()}
    for name, text in written.items():
        assert orders(text) <= OURS, name
        assert hidden(text) == "", name
        assert "Traceback" not in text, name
    for entry, tag in tags.items():
        assert any(name.startswith(f"{entry} ") for name in written)
        assert [command for command in SAYS_IT if tag not in written.get(f"{entry} {command}", tag)] == [], entry
        assert [command for command in LISTS if tag not in written[f"all {command}"]] == [], entry
    assert "end" in written
    log = home / "orca.log"
    if log.exists():
        told = log.read_text("utf-8")
        assert orders(told) == set()
        assert hidden(told) == ""
