"""The app in a terminal dies at a disk call while it is talked with: what it had shown is there at the next start."""

import os
import sys
from pathlib import Path

import pytest
from homes import OLD_TEXTS, assert_sound, filled, write_config
from shim import Fault, Shim

pexpect = pytest.importorskip("pexpect")
pytestmark = pytest.mark.pty

QUESTION = "When does the harbour open on Sundays?"
SHOWN = "Gladly"
"""The beginning of the reply: the question is stored when it is on the screen."""
CALLS = range(1, 400) if os.environ.get("ORCA_SWEEP") == "full" else (2, 14, 30, 55)
TIMEOUT = 60


@pytest.mark.parametrize("at", CALLS)
def test_the_app_dies_at_a_disk_call(home: Path, shim: Shim, model_url: str, at: int) -> None:
    write_config(home, model_url)
    filled(home)
    env = {**shim.environment(home, Fault("tear" if at % 2 else "kill", at)), "TERM": "xterm-256color"}
    child = pexpect.spawn(sys.executable, ["-m", "orca_tui"], env=env, dimensions=(30, 100), timeout=TIMEOUT)
    said = False
    try:
        if child.expect([pexpect.EOF, "Enter"]) and child.expect([pexpect.EOF, "scripted"]):
            child.send(f"{QUESTION}\r")
            said = child.expect([pexpect.EOF, SHOWN]) == 1
            child.send("\x11")  # Ctrl+Q
            child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert_sound(home, texts=[*OLD_TEXTS, *([QUESTION] if said else [])], memories=["The user sails."])
