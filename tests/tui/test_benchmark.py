"""The benchmark of the whole app runs; what it measures is for a quiet machine."""

import os
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.pty, pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")]

sys.path.insert(0, str(Path(__file__).parents[2]))


def test_it_gives_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.tui import Size, measure

    monkeypatch.setitem(os.environ, "NO_COLOR", "")
    table = measure(Size(tokens=50, messages=8, idle=0.1, rounds=1)).splitlines()
    assert table[0].startswith("| what | orca |")
    rows = {line.split("|")[1].strip(): line for line in table[2:]}
    assert set(rows) == {
        *("interactive s", "idle CPU %", "RSS MB", "lag s", "CPU s", "key p95 ms"),
        *("long: open s", "long: PageUp p95 ms", "long: RSS MB"),
    }
