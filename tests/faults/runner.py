"""Runs the program again and again, each time in a process of its own: a fork of this one, which has imported it.

Reads one request a line (JSON: home, argv, kind, at, sticky, nobody), answers one line: the exit code. What a run
prints goes to the files `out` and `err` beside its home. Started with the fault injector preloaded.
"""

import ctypes
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from memory.tokens import TokenCounter
from orca_tui.cli import main

PRELOADED = (
    *("apsw", "httpx2", "numpy", "openai", "memory.core", "concurrent.futures.thread", "encodings.idna"),
    *("encodings.utf_8_sig", "orca_tui.cli.memory", "orca_tui.cli.migrate", "orca_tui.cli.restore"),
    *("memory.store.salvage", "orca_tui.cli.ask", "orca_tui.cli.sessions", "memory.provider.factory"),
)
"""Here once, instead of in every run; and some users cannot read the library's directory."""
for preloaded in PRELOADED:
    import_module(preloaded)
TokenCounter().count("loaded")
NOBODY = 65534
shim = ctypes.CDLL(os.environ["LD_PRELOAD"])


def run(request: dict[str, Any]) -> None:
    """In the fork: never returns."""
    home = Path(request["home"])
    for number, name in enumerate((os.devnull, f"{home}.out", f"{home}.err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    os.chdir(home)
    os.environ["ORCA_HOME"] = str(home)
    counted = os.open(f"{home}.calls", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    if request["nobody"]:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    shim.fault_begin(f"{home}/".encode(), request["kind"].encode(), request["at"], request["sticky"])
    try:
        code = main(request["argv"])
    except SystemExit as error:
        code = int(error.code or 0)
    calls = shim.fault_seen()
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(counted, str(calls).encode())
    os._exit(code)


def serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            run(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


serve()
