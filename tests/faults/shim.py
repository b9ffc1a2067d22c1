"""Runs the real program with a disk that fails, or a death, at the N-th call that changes a file of its home."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """What happens at which call; `sticky`: from there on. The default never happens."""

    kind: str = "none"
    at: int = -1
    sticky: bool = False


@dataclass(frozen=True)
class Done:
    """A run that has ended. `code` is negative when a signal ended it."""

    code: int
    out: str
    err: str


class Shim:
    """The injector in a process that runs the program on request; `close` ends it."""

    def __init__(self, library: Path) -> None:
        self.library = library
        command = [sys.executable, str(Path(__file__).with_name("runner.py"))]
        self._runner = subprocess.Popen(
            command, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def environment(self, home: Path | None = None, fault: Fault | None = None) -> dict[str, str]:
        """For a process that is started with the injector."""
        found = {**os.environ, "LD_PRELOAD": str(self.library), "PYTHONPATH": str(ROOT)}
        if home is not None:
            found |= {"ORCA_HOME": str(home), "FAULT_PATH": f"{home}/"}
        if fault is not None:
            found |= {"FAULT_KIND": fault.kind, "FAULT_AT": str(fault.at)}
        return found

    def run(self, home: Path, argv: Sequence[str], fault: Fault | None = None, *, nobody: bool = False) -> Done:
        """The program with `argv` in `home`, to its end; as `nobody`, whom the modes of files hold back."""
        fault = fault or Fault()
        assert self._runner.stdin is not None
        assert self._runner.stdout is not None
        request = {"home": str(home), "argv": argv, "kind": fault.kind, "at": fault.at, "sticky": fault.sticky}
        request["nobody"] = nobody
        self._runner.stdin.write(json.dumps(request) + "\n")
        self._runner.stdin.flush()
        code = int(self._runner.stdout.readline())
        out, err = (Path(f"{home}.{name}").read_text("utf-8", "replace") for name in ("out", "err"))
        return Done(code, out, err)

    def count(self, home: Path, argv: Sequence[str]) -> int:
        """How many calls change a file of the home in an undisturbed run."""
        done = self.run(home, argv)
        assert done.code == 0, done.err
        return int(Path(f"{home}.calls").read_text())

    def close(self) -> None:
        """End the process that runs the program."""
        self._runner.communicate()
