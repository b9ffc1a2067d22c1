"""A program in a pseudo-terminal: every byte that it writes with the time it came, and what it costs (Linux)."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

STYLE = re.compile(rb"\x1b\[[\d;?]*[a-zA-Z]")
TICKS = os.sysconf("SC_CLK_TCK")


class Terminal:
    """One program, 100 × 30 cells."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._text = b""
        self._grew = threading.Condition()
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
            start_new_session=True,
        )
        os.close(slave)
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, text: str) -> float:
        """Type; gives when."""
        os.write(self._master, text.encode())
        return time.monotonic()

    def forget(self) -> None:
        """What was written so far does not count any more."""
        with self._grew:
            self._text = b""

    def wait_for(self, text: str, seconds: float, *, raw: bool = False) -> float:
        """When `text` was there; `raw`: also inside the sequences for colours. Raises `TimeoutError`."""
        wanted, deadline = text.encode(), time.monotonic() + seconds
        with self._grew:
            while wanted not in (self._text if raw else STYLE.sub(b"", self._text)):
                if not self._grew.wait(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"{text!r} did not come within {seconds:.0f} s")
            return time.monotonic()

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """Resident MB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text("utf-8").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def close(self) -> None:
        """End the program and what it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._master, 65_536)
            except OSError:
                return
            with self._grew:
                self._text = (self._text + piece)[-60_000:]
                self._grew.notify_all()
