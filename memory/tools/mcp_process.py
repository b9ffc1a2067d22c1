"""The process of an MCP server that speaks over its standard input and output, kept within bounds.

The SDK has a transport for this; it takes lines of any length and any number of them. Here a server that floods, or
writes what is not the protocol, is cut off; what it says on its error output goes to the log, bounded and masked; and
nothing of it is left behind: its process group is ended, also when orca itself is killed.
"""

import asyncio
import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from memory.config import MCPSettings
from memory.errors import MCPError
from memory.redaction import redact
from memory.text import label

log = logging.getLogger(__name__)

MAX_LINE = 4 * 1024 * 1024
"""Bytes of one message."""
MAX_UNASKED = 16 * 1024 * 1024
"""Bytes that a server may write without having been asked anything new."""
MAX_MESSAGES = 5000
"""Messages that it may send without having been asked anything new."""
MAX_GARBAGE = 20
"""Lines that are no messages: some servers greet."""
MAX_LOGGED = 8 * 1024
"""Bytes of a server's error output that go to the log (level `INFO`), from each start."""
LAST_SAID = 300
"""Characters of it that a failure is told with: the last, which tell most."""
GRACE = 1.0
"""Seconds to end by itself, then as many again after SIGTERM."""
LAST_WORDS = 0.3
"""Seconds to read on in the error output of a server that has ended."""

_SAFE = {
    *("HOME", "LOGNAME", "USER", "SHELL", "PATH", "TERM", "TZ", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA"),
    *("PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "USERNAME", "USERPROFILE", "WINDIR", "COMSPEC"),
}
"""Variables that a server gets without being given them: none holds a key."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_WATCH = "import os,signal,sys\nwhile os.read(0,1): pass\nos.killpg(int(sys.argv[1]),signal.SIGKILL)"
"""Ends a process group once orca, which holds the other end of its input, is gone."""


def environment(settings: MCPSettings, env: Mapping[str, str]) -> dict[str, str]:
    """What the server's process gets: a few harmless variables, and those that are configured for it.

    Raises `MCPError` for a `$NAME` that is not set.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in env:
            raise MCPError(f"The variable {name}, which the MCP server needs, is not set.", hint="Set it, then retry.")
        return env[name]

    kept = {name: value for name, value in env.items() if name.upper() in _SAFE or name.startswith("LC_")}
    return kept | {name: _VARIABLE.sub(value_of, value) for name, value in settings.env.items()}


class ServerProcess:
    """A transport for the SDK's client, and what is known of the process behind it. For one start."""

    def __init__(self, name: str, settings: MCPSettings, env: Mapping[str, str]) -> None:
        """Raises `MCPError` when a configured variable is not there."""
        self._name = name
        self._settings = settings
        self._env = environment(settings, env)
        self._secrets = [value for key, value in self._env.items() if key in settings.env]
        self._said: deque[str] = deque(maxlen=5)
        self._logged = self._bytes = self._messages = self._garbage = 0
        self.ended = asyncio.Event()
        """Set when the server is gone, or is not to be listened to any more."""
        self.problem = ""
        """Why it was cut off; empty when it ended by itself."""
        self.pid = 0
        self._process: asyncio.subprocess.Process | None = None

    def why(self) -> str:
        """A sentence on why it is gone, with the last of what it complained of."""
        if self.problem:
            return self.problem
        words = f"The MCP server {self._name} ended by itself."
        said = " / ".join(self._said)
        return f"{words} It said: {'…' * (len(said) > LAST_SAID)}{said[-LAST_SAID:]}" if said else words

    def kill(self) -> None:
        """End it at once, with all that it started; `open` then clears away what is left."""
        if self._process is not None and self._process.returncode is None:
            _signal(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))

    @asynccontextmanager
    async def open(self) -> "AsyncIterator[Any]":
        """Start it; yields the pair of streams that the SDK's client reads and writes. Raises `MCPError`."""
        import anyio
        from mcp.shared.message import SessionMessage

        process = await self._start()
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](16)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](16)
        tasks = [
            overhearing := asyncio.create_task(self._overhear(process)),
            asyncio.create_task(self._listen(process, incoming, overhearing)),
            asyncio.create_task(self._speak(process, outgoing)),
        ]
        watcher: asyncio.subprocess.Process | None = None
        try:
            watcher = await _watch(process.pid)
            yield read, write
        finally:
            await asyncio.shield(asyncio.ensure_future(_end(process, tasks, watcher)))
            for stream in (incoming, read, write, outgoing):
                stream.close()

    async def _start(self) -> asyncio.subprocess.Process:
        options: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            options = {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
        try:
            process = await asyncio.create_subprocess_exec(
                *(self._settings.command, *self._settings.args),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                limit=MAX_LINE,
                env=self._env,
                **options,
            )
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or "it is no command"
            raise MCPError(
                f"The MCP server {self._name} cannot be started: {label(self._settings.command, 80)}: {reason}.",
                hint=f"Look at [mcp.{self._name}] in config.toml.",
            ) from error
        self.pid, self._process = process.pid, process
        return process

    async def _listen(self, process: asyncio.subprocess.Process, incoming: Any, overhearing: Any) -> None:
        """Hand on what it says, until it ends (then with the last that it complained of) or says too much."""
        assert process.stdout is not None  # noqa: S101 — started with a pipe
        try:
            while line := await process.stdout.readline():
                message = self._message(line)
                if self.problem:
                    break
                if message is not None:
                    await incoming.send(message)
            if not self.problem:
                await asyncio.wait({overhearing}, timeout=LAST_WORDS)
        except ValueError:
            self.problem = f"The MCP server {self._name} wrote a message of more than {MAX_LINE // 1024**2} MiB."
        except OSError as error:
            self.problem = f"The MCP server {self._name} cannot be read ({error.strerror})."
        finally:
            self.ended.set()
            incoming.close()

    def _message(self, line: bytes) -> Any:
        """A line as a message; `None` when it is none. Sets `problem` when it is one too many."""
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        self._bytes += len(line)
        self._messages += 1
        if self._bytes > MAX_UNASKED or self._messages > MAX_MESSAGES:
            self.problem = f"The MCP server {self._name} sends without end and was cut off."
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self._garbage += bool(line.strip())
            if self._garbage > MAX_GARBAGE:
                self.problem = f"The MCP server {self._name} writes what is no message of the protocol."
            return None

    async def _speak(self, process: asyncio.subprocess.Process, outgoing: Any) -> None:
        assert process.stdin is not None  # noqa: S101 — started with a pipe
        try:
            async for item in outgoing:
                self._bytes = self._messages = 0
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
        except OSError:  # it is gone: the listener says so
            return

    async def _overhear(self, process: asyncio.subprocess.Process) -> None:
        """Its error output: to the log as far as it is allowed, the rest is read and dropped."""
        assert process.stderr is not None  # noqa: S101 — started with a pipe
        rest = b""
        while data := await process.stderr.read(4096):
            *lines, rest = (rest + data)[-8192:].split(b"\n")
            for raw in lines:
                self._complained(raw)
        self._complained(rest)

    def _complained(self, raw: bytes) -> None:
        line = label(redact(raw.decode("utf-8", "replace"), self._secrets), 500)
        if not line:
            return
        self._said.append(line)
        if self._logged < MAX_LOGGED:
            self._logged += len(raw)
            log.info("MCP server %s: %s", self._name, line)  # many tell there that all is well


async def _watch(group: int) -> "asyncio.subprocess.Process | None":
    """Have the group ended when this process is gone, however it went."""
    if os.name != "posix":
        return None
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", _WATCH, str(group)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )
    except OSError:
        return None


async def _end(
    process: asyncio.subprocess.Process, tasks: list["asyncio.Task[None]"], watcher: "asyncio.subprocess.Process | None"
) -> None:
    """End the process and all that it started: politely, then not. At most twice `GRACE`."""
    if process.stdin is not None:
        process.stdin.close()
    for task in tasks[1:]:  # its error output is still heard
        task.cancel()
    await asyncio.gather(*tasks[1:], return_exceptions=True)
    if not await _ended(process, GRACE):
        _signal(process, signal.SIGTERM)
        await _ended(process, GRACE)
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    if watcher is not None:
        with contextlib.suppress(ProcessLookupError):
            watcher.kill()
        await watcher.wait()
    tasks[0].cancel()
    await asyncio.gather(tasks[0], return_exceptions=True)
    transport = getattr(process, "_transport", None)  # else its pipes stay while a grandchild holds them
    if transport is not None:
        transport.close()


async def _ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether it ends in time. A child that holds its pipes does not count, so its exit alone is waited for."""
    try:
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110 — the process tells its end in no other way
                await asyncio.sleep(0.01)
    except TimeoutError:
        return False
    return True


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.kill()
