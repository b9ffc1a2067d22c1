"""Shared by all tests: no network, no colour surprises, a home of their own."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine: a red run is red for everyone. `--hypothesis-profile=explore` looks further.
settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=2000, database=None)
settings.load_profile("same")

os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ["TZ"] = "UTC"
os.environ.setdefault("COLORTERM", "truecolor")
os.environ.setdefault("TERM", "xterm-256color")
for name in (
    "NO_COLOR",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "SILICONFLOW_API_KEY",
    "ORCA_HOME",
    "LANGUAGE",
    "LC_ALL",
    "COLUMNS",  # a terminal has the size that its test gives it
    "LINES",
):
    os.environ.pop(name, None)
os.environ["LANG"] = "C.UTF-8"

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches beyond loopback fails."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh `$ORCA_HOME` for every test."""
    path = tmp_path / "orca-home"
    monkeypatch.setenv("ORCA_HOME", str(path))
    return path
