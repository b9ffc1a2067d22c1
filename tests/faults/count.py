"""Prints how many faults are tried and survived, one row a kind: `python tests/faults/count.py [--full]`.

Runs the tests of this directory that inject faults. `--full` lets every disk call fail in every way, which takes hours.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROWS = (
    ("disk calls that fail or are the last", "test_sweep.py"),
    ("the app dies while it is talked with", "test_sweep_app.py"),
    ("damaged, missing and foreign files; bad backups", "test_damage.py"),
    ("full disks, homes and files that cannot be written to", "test_full_disk.py"),
    ("several instances at once", "test_instances.py"),
    ("signals, closed terminals, errors of our own", "test_terminal.py"),
    ("the chat server fails", "test_provider_chat.py"),
    ("the embedding server fails", "test_provider_embedding.py"),
    ("keys by every channel, and the modes of all files", "test_private_files.py"),
    ("hostile texts in every place of the screen", "test_gate_screen.py"),
    ("hostile texts in every command", "test_gate_command_line.py"),
)
"""What is counted: its name, and the file that tries it."""


def counted(file: str) -> tuple[int, int]:
    """Faults tried and survived in the tests of a file."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        path = str(Path(__file__).with_name(file))
        command = [sys.executable, "-m", "pytest", "-q", f"--junit-xml={report}", path]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        cases = ElementTree.parse(report).iter("testcase")
        tried = survived = 0
        for case in cases:
            if case.find("skipped") is not None:
                continue
            number = next((int(p.attrib["value"]) for p in case.iter("property") if p.attrib["name"] == "faults"), 1)
            tried += number
            survived += number if case.find("failure") is None and case.find("error") is None else 0
    return tried, survived


def main() -> int:
    if "--full" in sys.argv:
        os.environ["ORCA_SWEEP"] = "full"
    failed = 0
    for name, file in ROWS:
        tried, survived = counted(file)
        failed += tried - survived
        sys.stdout.write(f"{name}: {tried} tried, {survived} survived\n")
        sys.stdout.flush()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
