"""The real program in a real pseudo-terminal: it starts, talks, and leaves the terminal as it found it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory.store import open_store

pexpect = pytest.importorskip("pexpect")
termios = pytest.importorskip("termios")
pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")]

APP = Path(__file__).with_name("pty_app.py")
ROOT = Path(__file__).parents[2]
TIMEOUT = 60


class Terminal:
    """A child in a pseudo-terminal, and every byte it wrote."""

    def __init__(self, home: Path, *arguments: str) -> None:
        env = {**os.environ, "ORCA_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.child = pexpect.spawn(
            sys.executable, [str(APP), *arguments], env=env, dimensions=(30, 100), timeout=TIMEOUT
        )
        self.output = b""

    def wait_for(self, text: str) -> None:
        """Read until `text` was written."""
        deadline = time.monotonic() + TIMEOUT
        while text.encode() not in self.output:
            assert time.monotonic() < deadline, f"{text!r} never came"
            self.output += self.child.read_nonblocking(65536, timeout=TIMEOUT)

    def exit_code(self) -> int:
        """Read to the end."""
        while True:
            try:
                self.output += self.child.read_nonblocking(65536, timeout=TIMEOUT)
            except pexpect.EOF:
                break
        self.child.close()
        assert self.child.signalstatus is None
        return int(self.child.exitstatus)


@pytest.fixture
def terminal(home: Path) -> Iterator[Terminal]:
    started = Terminal(home)
    yield started
    started.child.close(force=True)


def assert_restored(output: bytes) -> None:
    """Alternate screen, mouse and paste mode are off, the cursor is there."""
    for on, off in (
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?1000h", b"\x1b[?1000l"),
        (b"\x1b[?2004h", b"\x1b[?2004l"),
    ):
        assert output.rfind(off) > output.rfind(on) >= 0
    assert output.rfind(b"\x1b[?25h") > output.rfind(b"\x1b[?25l")
    assert b"Traceback" not in output


def test_what_is_typed_before_the_first_frame_is_there(terminal: Terminal) -> None:
    terminal.child.send("early bird")
    terminal.wait_for("scripted")  # in the status bar: everything is up
    terminal.child.send("\r")
    terminal.wait_for("after")
    assert b"early bird" in terminal.output[terminal.output.index(b"\x1b[?1049h") :]


@pytest.mark.parametrize("pieces", [("early bird\rand more",), ("early bird", "\r", "and more")])
def test_an_enter_before_the_first_frame_is_at_least_a_line_break(
    terminal: Terminal, home: Path, pieces: tuple[str, ...]
) -> None:
    for piece in pieces:
        terminal.child.send(piece)
        time.sleep(0.05)  # apart, as they are typed; more or less does no harm
    terminal.wait_for("scripted")  # in the status bar: everything is up
    terminal.child.send("\r")
    terminal.wait_for("after")
    terminal.child.send("\x11")
    assert terminal.exit_code() == 0
    with closing(open_store(home / "memory.db")) as store:
        said = [m.content for s in store.sessions() for m in store.path(s.id) if m.role == "user"]
    assert "\n".join(said) == "early bird\nand more"


def test_it_talks_and_leaves_the_terminal_clean(terminal: Terminal) -> None:
    terminal.wait_for("end a message")
    terminal.child.send("hello\r")
    terminal.wait_for("after")
    terminal.child.send("\x11")  # Ctrl+Q
    assert terminal.exit_code() == 0
    assert_restored(terminal.output)
    assert b"]52;c;aGk=" in terminal.output  # visible
    ours = re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", terminal.output)  # Textual's shape of the mouse pointer
    assert re.findall(rb"\x1b\]|\x1b\[2J|\xc2\x9b|\x07", ours) == []


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_restores_the_terminal(terminal: Terminal, name: str) -> None:
    number = getattr(signal, name)
    terminal.wait_for("scripted")  # in the status bar: everything is up
    terminal.child.kill(number)
    assert terminal.exit_code() == 128 + number
    assert_restored(terminal.output)


def test_an_error_in_orca_itself_is_told_without_values(home: Path) -> None:
    crashing = Terminal(home, "--crash")
    assert crashing.exit_code() == 1
    assert_restored(crashing.output)
    assert b"orca stopped because of an error in itself" in crashing.output
    log = (home / "orca.log").read_text("utf-8")
    assert "KeyError" in log
    assert "sk-never-shown" not in log
    assert b"sk-never-shown" not in crashing.output


def test_suspending_gives_the_terminal_back_and_coming_back_draws_everything(terminal: Terminal) -> None:
    terminal.wait_for("scripted")
    terminal.child.send("a draft\x1a")  # Ctrl+Z
    _pid, status = os.waitpid(terminal.child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    terminal.wait_for("\x1b[?1049l")
    assert_restored(terminal.output)
    terminal.output = b""
    terminal.child.kill(signal.SIGCONT)
    terminal.wait_for("scripted")
    terminal.wait_for("a draft")
    terminal.child.send("\x11")
    assert terminal.exit_code() == 0
    assert_restored(terminal.output)


def test_a_terminal_that_does_not_control_the_program_is_closed(home: Path) -> None:
    outer, inner = os.openpty()
    termios.tcsetwinsize(inner, (30, 100))
    env = {**os.environ, "ORCA_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(APP)], env=env, stdin=inner, stdout=inner, stderr=inner, start_new_session=True
    ) as child:
        os.close(inner)
        try:
            output = b""
            while b"scripted" not in output:  # in the status bar: everything is up
                output += os.read(outer, 65536)
            os.close(outer)
            assert child.wait(TIMEOUT) == 128 + signal.SIGHUP
        finally:
            child.kill()
