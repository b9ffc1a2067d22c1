"""The soak: two instances chat at random on one home while the model server fails and one of them is killed.

`python tests/faults/soak.py [SECONDS] [SEED]` (an hour by default; `make soak SECONDS=300`). Afterwards everything is
verified: no acknowledged message or memory is lost or there twice, the database is whole, the indexes are in step,
and the memory of the instance that lived through it all has not grown.
"""

import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import apsw

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import loopback  # noqa: E402
from homes import assert_in_step, write_config  # noqa: E402

INSTANCE = Path(__file__).with_name("soak_instance.py")
FAULTS = 0.15
"""Share of the requests that the server fails, in one of several ways."""
KILL_EVERY = (4.0, 12.0)
"""Seconds between two kills, shortest and longest."""
GROWTH = 12.0
"""Megabytes that the resident memory may grow by between the second and the last fifth of the time."""


class Flaky(loopback.Handler):
    """The server on loopback, which fails at random."""

    dice = random.Random(0)
    faults: Counter[str] = Counter()

    def handle(self) -> None:
        """A client that was killed, also in the middle of a request, is no error."""
        with suppress(ConnectionError, ValueError):
            super().handle()

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        if self.dice.random() >= FAULTS:
            super().do_POST()
            return
        kind = self.dice.choice(("500", "429", "cut", "broken", "gone"))
        self.faults[kind] += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True
        if kind == "gone":
            return
        status = int(kind) if kind.isdigit() else 200
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Retry-After", "0")
        self.end_headers()
        half = b'data: {"choices": [{"index": 0, "delta": {"content": "Half an "}}]}\n\n'
        self.wfile.write(b"" if status != 200 else half + (b"data: {half\n\n" if kind == "broken" else b""))


@dataclass
class Instance:
    """A process that chats, what it acknowledged, and how much memory it took."""

    home: Path
    name: str
    seed: int
    lines: list[str] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    starts: int = 0
    process: subprocess.Popen[str] | None = None
    listener: threading.Thread | None = None

    def start(self) -> None:
        """Begin, or begin again under another name."""
        self.starts += 1
        name = f"{self.name}{self.starts}"
        command = [sys.executable, str(INSTANCE), str(self.home), name, str(self.seed * 1000 + self.starts)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT)})
        self.listener = threading.Thread(target=self._listen, args=(self.process,), daemon=True)
        self.listener.start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                if line.endswith("\n"):  # a line that a kill cut off was not acknowledged
                    self.lines.append(line.rstrip("\n"))

    def measure(self) -> None:
        """Note the resident memory, where it can be read."""
        assert self.process is not None
        statm = Path(f"/proc/{self.process.pid}/statm")
        if statm.exists():
            self.megabytes.append(int(statm.read_text().split()[1]) * 4096 / 1e6)

    def end(self, number: int) -> int:
        """Send a signal and wait; the exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        code = self.process.wait(60)
        assert self.listener is not None
        self.listener.join()
        return code


def growth(megabytes: list[float]) -> float:
    """How much more the last fifth took than the second, in megabytes."""
    fifth = len(megabytes) // 5
    if not fifth:
        return 0.0
    return statistics.median(megabytes[-fifth:]) - statistics.median(megabytes[fifth : 2 * fifth])


def verified(home: Path, acknowledged: list[str]) -> list[str]:
    """What is wrong; empty when all is well."""
    wrong: list[str] = []
    with closing(apsw.Connection(str(home / "memory.db"))) as connection:
        for pragma in ("integrity_check", "foreign_key_check"):
            found = [row[0] for row in connection.execute(f"PRAGMA {pragma}")]
            wrong += [f"{pragma}: {row}" for row in found if row != "ok"]
        said = Counter(text for (text,) in connection.execute("SELECT content FROM main_messages WHERE role = 'user'"))
        kept = Counter(text for (text,) in connection.execute("SELECT content FROM long_term_memories"))
        try:
            assert_in_step(connection)
        except AssertionError as error:
            wrong.append(f"out of step: {error}")
    for line in acknowledged:
        kind, _, text = line.partition(" ")
        times = (said if kind == "said" else kept)[text]
        if times != 1:
            wrong.append(f"{times} times instead of once: {line[:60]}")
    return wrong


def soak(home: Path, seconds: float, seed: int) -> list[str]:
    """Run it; what is wrong afterwards."""
    dice = random.Random(seed)
    Flaky.dice, Flaky.faults = random.Random(seed), Counter()
    loopback.Handler, plain = Flaky, loopback.Handler  # type: ignore[misc]
    try:
        with loopback.serving() as url:
            write_config(home, url)
            lasting, killed = Instance(home, "a", seed), Instance(home, "b", seed + 1)
            lasting.start()
            killed.start()
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(left, dice.uniform(*KILL_EVERY)))
                lasting.measure()
                killed.end(signal.SIGKILL)
                killed.start()
            codes = [lasting.end(signal.SIGTERM), killed.end(signal.SIGTERM)]
    finally:
        loopback.Handler = plain  # type: ignore[misc]
    acknowledged = lasting.lines + killed.lines
    grown = growth(lasting.megabytes)
    sys.stdout.write(
        f"{seconds:.0f} s, seed {seed}: {len(acknowledged)} acknowledged, {killed.starts - 1} kills, "
        f"{sum(Flaky.faults.values())} faults of the server {dict(Flaky.faults)}, memory {grown:+.1f} MB\n"
    )
    wrong = verified(home, acknowledged)
    if codes[0] != 0 or codes[1] not in (0, -signal.SIGTERM):  # the other may just have begun
        wrong.append(f"instances ended with {codes}")
    if not acknowledged:
        wrong.append("nothing was said")
    if grown > GROWTH:
        wrong.append(f"memory grew by {grown:.1f} MB")
    return wrong


def main() -> int:
    """What is wrong goes to stdout, a line each."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory(prefix="orca-soak-") as scratch:
        wrong = soak(Path(scratch) / "home", seconds, seed)
    sys.stdout.writelines(f"{line}\n" for line in wrong or ["all is well"])
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
