"""The parent's side of `local_worker`: starts it, passes requests and events, notices its end."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory.errors import ServerFailed
from memory.text import label

WORKER = Path(__file__).with_name("local_worker.py")
Event = dict[str, Any]
_LONGEST_LINE = 16 * 1024 * 1024
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


class WorkerProcess:
    """A started worker. Not to be used again once it has ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._inboxes: dict[int, asyncio.Queue[Event | None]] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._complaints: deque[str] = deque(maxlen=20)
        self._failed = ""
        self._last_id = 0
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._overhear())]

    @classmethod
    async def start(cls, config: Mapping[str, Any]) -> "WorkerProcess":
        """Start a process and hand it `config`; it loads on. Raises `ServerFailed`."""
        options: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            options = {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", str(WORKER)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                limit=_LONGEST_LINE,
                env=_environment(os.environ),
                **options,
            )
        except OSError as error:
            raise ServerFailed(f"The process for the local model cannot be started ({error.strerror}).") from error
        worker = cls(process)
        worker._send(config)
        return worker

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return not self._tasks[0].done()

    async def wait_ready(self) -> None:
        """Wait until the model is loaded. Raises `ServerFailed` that says why it cannot be."""
        await asyncio.shield(self._ready)

    def ask(self, request: Mapping[str, Any]) -> tuple[int, "asyncio.Queue[Event | None]"]:
        """Send a request; its events come in the queue, `None` when the process has ended."""
        self._last_id += 1
        inbox = self._inboxes[self._last_id] = asyncio.Queue()
        if self.alive:
            self._send({"id": self._last_id, "request": request})
        else:
            inbox.put_nowait(None)
        return self._last_id, inbox

    def cancel(self, number: int) -> None:
        """Stop a request; nothing of it comes any more."""
        if self._inboxes.pop(number, None) is not None and self.alive:
            self._send({"cancel": number})

    def why_ended(self) -> str:
        """How the process ended, in words."""
        code = self._process.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"it was ended by {signal.Signals(-code).name}"
        return f"exit code {code}"

    async def stop(self) -> None:
        """End the process at once; it has nothing to save."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None  # noqa: S101 — started with a pipe
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _listen(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 — started with a pipe
        try:
            while line := await self._process.stdout.readline():
                self._take(json.loads(line))
        except ValueError:  # not our protocol, or a line without end: the process is of no use any more
            self._process.kill()
        await self._process.wait()
        for inbox in self._inboxes.values():
            inbox.put_nowait(None)
        if not self._ready.done():
            await self._tasks[1]  # all that it complained of
            self._fail(self._failed or self.why_ended())

    def _take(self, event: Event) -> None:
        if "failed" in event:  # it ends now
            self._failed = str(event["failed"])
        elif "ready" in event:
            self._ready.set_result(None)
        elif (inbox := self._inboxes.get(event["id"])) is not None:
            inbox.put_nowait(event)
            if "end" in event:
                del self._inboxes[event["id"]]

    def _fail(self, reason: str) -> None:
        said = next((line for line in self._complaints if "error loading model:" in line), "")
        reason = said.partition("error loading model:")[2].strip() or reason
        self._ready.set_exception(
            ServerFailed(
                f"The local model cannot be loaded: {label(reason, 160)}.",
                hint="Choose another file, or fetch it again: orca-tui model list",
            )
        )
        self._ready.exception()  # seen, also when nobody waits

    async def _overhear(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 — started with a pipe
        with contextlib.suppress(ValueError):
            while line := await self._process.stderr.readline():
                self._complaints.append(line.decode("utf-8", "replace"))


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """What the worker is to see of the environment: no keys."""
    return {name: value for name, value in env.items() if not any(word in name.upper() for word in _SECRET_WORDS)}
