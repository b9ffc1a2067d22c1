"""However the app ends, the terminal is as it was, what had arrived is stored, and the exit code says how it ended."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory.store import open_store
from orca_tui.terminal import RESET

pexpect = pytest.importorskip("pexpect")
pytestmark = [pytest.mark.pty, pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")]

ROOT = Path(__file__).parents[2]
APP = Path(__file__).with_name("terminal_app.py")
TIMEOUT = 60.0
MODES = ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?1000h", b"\x1b[?1000l"), (b"\x1b[?2004h", b"\x1b[?2004l"))
FOCUS = (b"\x1b[?1004h", b"\x1b[?1004l")
SECRET = b"sk-never-shown"


class Session:
    """A child in a pseudo-terminal, and every byte that it wrote."""

    def __init__(self, home: Path, *command: str) -> None:
        env = {**os.environ, "ORCA_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.home = home
        self.child = pexpect.spawn(sys.executable, list(command), env=env, dimensions=(30, 100), timeout=TIMEOUT)
        self.output = b""

    def wait_for(self, *texts: bytes, after: int = 0) -> None:
        """Read until each of `texts` was written."""
        deadline = time.monotonic() + TIMEOUT
        while not all(text in self.output[after:] for text in texts):
            assert time.monotonic() < deadline, f"{texts} never came"
            self.output += self.child.read_nonblocking(65536, timeout=TIMEOUT)

    def talk(self) -> None:
        """Wait until the app is up, and send a message whose reply has begun."""
        self.wait_for(b"scripted", b"end a message")
        self.child.send("hello there\r")
        self.wait_for(b"Half of it.")

    def exit_code(self) -> int:
        """Read to the end."""
        while True:
            try:
                self.output += self.child.read_nonblocking(65536, timeout=TIMEOUT)
            except pexpect.EOF:
                break
        self.child.close()
        return int(self.child.exitstatus if self.child.signalstatus is None else -self.child.signalstatus)

    def assert_restored(self) -> None:
        for on, off in (*MODES, FOCUS):
            assert self.output.rfind(off) > self.output.rfind(on) >= 0
        assert self.output.rfind(b"\x1b[?25h") > self.output.rfind(b"\x1b[?25l")
        assert b"Traceback" not in self.output
        assert SECRET not in self.output

    def said(self) -> list[tuple[str, str]]:
        """The texts and states of all messages."""
        with closing(open_store(self.home / "memory.db")) as store:
            return [(m.content, m.state) for s in store.sessions() for m in store.path(s.id)]


@pytest.fixture
def started(home: Path) -> Iterator[list[Session]]:
    sessions: list[Session] = []
    yield sessions
    for session in sessions:
        session.child.close(force=True)


@pytest.fixture
def hanging(home: Path, started: list[Session]) -> Session:
    """In the middle of a reply."""
    started.append(Session(home, str(APP), "hang"))
    started[0].talk()
    return started[0]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT"])
def test_a_signal_in_the_middle_of_a_reply_keeps_what_had_arrived(hanging: Session, name: str) -> None:
    number = getattr(signal, name)
    hanging.child.kill(number)
    assert hanging.exit_code() == 128 + number
    hanging.assert_restored()
    assert hanging.said() == [("hello there", "complete"), ("Half of it. ", "stopped")]


def test_a_second_interrupt_does_not_wait(hanging: Session) -> None:
    hanging.child.kill(signal.SIGINT)
    hanging.child.kill(signal.SIGINT)
    assert hanging.exit_code() == 128 + signal.SIGINT
    hanging.assert_restored()
    assert hanging.said()[0] == ("hello there", "complete")


def test_the_terminal_is_closed(hanging: Session) -> None:
    hanging.child.ptyproc.fileobj.close()
    hanging.child.closed = hanging.child.ptyproc.closed = True
    _, status = os.waitpid(hanging.child.pid, 0)
    hanging.child.ptyproc.terminated = True
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    assert hanging.said() == [("hello there", "complete"), ("Half of it. ", "stopped")]


def test_ctrl_z_gives_the_terminal_back_and_takes_it_again(hanging: Session) -> None:
    hanging.child.kill(signal.SIGTSTP)
    hanging.wait_for(b"\x1b[?1049l", b"\x1b[?25h", FOCUS[1])
    _, status = os.waitpid(hanging.child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    hanging.assert_restored()
    stopped = len(hanging.output)
    hanging.child.kill(signal.SIGCONT)
    hanging.wait_for(b"\x1b[?1049h", after=stopped)
    hanging.child.send("\x11")  # Ctrl+Q
    assert hanging.exit_code() == 0
    hanging.assert_restored()
    assert hanging.said() == [("hello there", "complete"), ("Half of it. ", "stopped")]


def test_it_is_ended_while_it_is_stopped(hanging: Session) -> None:
    hanging.child.kill(signal.SIGTSTP)
    hanging.wait_for(b"\x1b[?1049l")
    os.waitpid(hanging.child.pid, os.WUNTRACED)
    hanging.child.kill(signal.SIGTERM)
    hanging.child.kill(signal.SIGCONT)
    assert hanging.exit_code() == 128 + signal.SIGTERM
    hanging.assert_restored()


@pytest.mark.parametrize("kind", ["widget", "worker"])
def test_an_error_of_our_own_ends_clean_and_shows_no_value(home: Path, started: list[Session], kind: str) -> None:
    started.append(Session(home, str(APP), kind))
    session = started[0]
    assert session.exit_code() == 1
    session.assert_restored()
    assert b"orca stopped because of an error in itself" in session.output
    log = (home / "orca.log").read_bytes()
    assert b"Error" in log
    assert SECRET not in log


def test_an_error_in_the_core_is_told_and_the_app_goes_on(home: Path, started: list[Session]) -> None:
    started.append(Session(home, str(APP), "core"))
    session = started[0]
    session.talk()
    session.wait_for(b"Unexpected error in orca: RuntimeError")
    session.child.send("\x11")
    assert session.exit_code() == 0
    session.assert_restored()
    assert session.said() == [("hello there", "complete"), ("Half of it. ", "failed")]


def test_after_a_kill_the_next_start_resets_the_terminal(home: Path, started: list[Session], tmp_path: Path) -> None:
    """Both on the same terminal: a shell starts the second when the first is dead."""
    home.mkdir()
    (home / "config.toml").write_text(
        '[llm]\nprovider = "demo"\n[embedding]\nprovider = "off"\n[ui]\nlanguage = "en"\n'
    )
    (home / "config.toml").chmod(0o600)
    script = tmp_path / "twice.py"
    script.write_text(
        "import subprocess, sys\n"
        "command = [sys.executable, '-m', 'orca_tui']\n"
        "first = subprocess.Popen(command)\n"
        "first.wait()\n"
        "sys.stderr.write(f'<ended {first.returncode}>'); sys.stderr.flush()\n"
        "sys.exit(subprocess.run(command).returncode)\n"
    )
    started.append(Session(home, str(script)))
    session = started[0]
    session.wait_for(b"end a message")
    (mark,) = (home / "terminals").iterdir()
    os.kill(int(mark.read_text()), signal.SIGKILL)
    session.wait_for(b"<ended -9>")
    ended = session.output.index(b"<ended -9>")
    session.wait_for(RESET.encode(), b"end a message", after=ended)
    assert session.output.index(RESET.encode(), ended) < session.output.index(b"\x1b[?1049h", ended)
    session.child.send("\x11")
    assert session.exit_code() == 0
    session.assert_restored()
    assert list((home / "terminals").iterdir()) == []
