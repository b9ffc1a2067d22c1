"""The gate on the screen: every place that shows foreign text, both corpora, the real app in a terminal.

Each place gets a part of the entries, so that all are shown; `ORCA_SWEEP=full` (or `make gate`) gives it all of them.
One process a sink. For each entry: the terminal got no order that honest text does not give it, no hidden character,
the entry was shown, and the app lived on to the last. What is stored stays as it came; `test_text` tests that.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pexpect")
pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")]

from tests.faults.gate_app import SINKS, given  # noqa: E402
from tests.faults.gate_corpus import PLAIN  # noqa: E402
from tests.faults.terminal_bytes import by_entry, hidden, orders, run  # noqa: E402

APP = Path(__file__).with_name("gate_app.py")
PASSING = ("toast", "banner")
"""Gone again before the next entry, so whether each was seen is a matter of time."""


@pytest.mark.parametrize("sink", SINKS)
def test_no_entry_gets_through(
    home: Path, tmp_path: Path, sink: str, record_property: Callable[[str, object], None]
) -> None:
    entries = given(sink)
    record_property("faults", len(entries) - len(PLAIN))
    result = tmp_path / "result.json"
    output, code = run([str(APP), sink, str(result)], home)
    told = json.loads(result.read_text("utf-8"))
    assert "error" not in told, told
    assert code == 0
    written = by_entry(output)
    plain = set().union(*(orders(written[f"plain-{number}"]) for number in range(len(PLAIN))), orders(written[""]))
    for entry in entries[len(PLAIN) :]:
        assert orders(written[entry.id]) <= plain, entry.id
        assert hidden(written[entry.id]) == "", entry.id
    assert len(told["shown"]) == len(entries)
    if not sink.startswith(PASSING):
        assert [name for name, seen in told["shown"].items() if not seen] == []
    assert b"Traceback" not in output
