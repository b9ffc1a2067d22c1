"""Runs the program again and again, each time in a process of its own: a fork of this one, which has imported it.

Reads one request a line (JSON: home, argv, kind, at, sticky), answers one line (JSON: code, calls). What a run prints
goes to the files `out` and `err` beside its home. Started with the fault injector preloaded.
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

import apsw  # noqa: F401
import httpx2  # noqa: F401 - here once, instead of in every run
import numpy as np  # noqa: F401
import openai  # noqa: F401

import orca_tui.cli.ask
import orca_tui.cli.migrate  # noqa: F401
from memory.tokens import TokenCounter
from orca_tui.cli import main

TokenCounter().count("loaded")
shim = ctypes.CDLL(os.environ["LD_PRELOAD"])


def run(request: dict[str, Any]) -> None:
    """In the fork: never returns."""
    home = Path(request["home"])
    for number, name in enumerate((os.devnull, f"{home}.out", f"{home}.err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    os.chdir(home)
    os.environ["ORCA_HOME"] = str(home)
    shim.fault_begin(f"{home}/".encode(), request["kind"].encode(), request["at"], request["sticky"])
    try:
        code = main(request["argv"])
    except SystemExit as error:
        code = int(error.code or 0)
    calls = shim.fault_seen()
    sys.stdout.flush()
    sys.stderr.flush()
    Path(f"{home}.calls").write_text(str(calls))
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
