"""One model in a process of its own; started by `local_process`, as a file, and importing nothing of orca.

The library runs llama.cpp's whole server: loading holds the interpreter's lock, it takes over SIGINT and SIGTERM, it
listens on a socket, it prints, and a bad file or an old processor can end the process. None of that may happen to
the screen.

It speaks in lines of JSON. In: first the configuration (`path`, `n_ctx`, `threads`, `batch`), then requests
(`id`, `request`) and cancellations (`cancel`). Out: `ready` or `failed`, then by `id`: `started`, `progress`, `text`,
`reasoning`, `usage`, `finish`, `error`, and always `end` last. When its input ends, it ends.
"""

import contextlib
import json
import os
import queue
import secrets
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any


class Worker:
    """Answers requests one after the other."""

    def __init__(self, out: int) -> None:
        self._out = out
        self._requests: queue.SimpleQueue[tuple[int, dict[str, Any]]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()

    def say(self, **event: Any) -> None:
        """Write one line; ends the process when nobody reads any more."""
        data = json.dumps(event).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except OSError:
            os._exit(0)

    def take(self, line: bytes) -> None:
        """Queue a request or mark one as cancelled."""
        message = json.loads(line)
        if "cancel" in message:
            self._cancelled.add(message["cancel"])
        else:
            self._requests.put((message["id"], message["request"]))

    def serve(self, server: Any) -> None:
        """Answer for ever."""
        while True:
            number, request = self._requests.get()
            if number not in self._cancelled:
                self.say(id=number, started=True)
                self._answer(server, number, request)
            self._cancelled.discard(number)
            self.say(id=number, end=True)

    def _answer(self, server: Any, number: int, request: dict[str, Any]) -> None:
        def on_chunk(chunk: dict[str, Any]) -> bool:
            """Pass on what came; a true result stops the generation."""
            if number in self._cancelled:
                return True
            try:
                self._tell(number, chunk)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self.say(id=number, error={"message": f"unexpected chunk: {error!r}", "code": 500})
                return True
            return False

        try:
            server.handle_chat_completions(request, on_chunk)
        except Exception as error:  # noqa: BLE001 — whatever the library throws
            self.say(id=number, error={"message": str(error), "code": 500})

    def _tell(self, number: int, chunk: dict[str, Any]) -> None:
        if "error" in chunk:
            self.say(id=number, error=chunk["error"])
        if (progress := chunk.get("prompt_progress")) is not None:
            self.say(id=number, progress=[progress["processed"], progress["total"]])
        for choice in chunk.get("choices", ()):
            delta = choice.get("delta") or {}
            if text := delta.get("reasoning_content"):
                self.say(id=number, reasoning=text)
            if text := delta.get("content"):
                self.say(id=number, text=text)
            if reason := choice.get("finish_reason"):
                self.say(id=number, finish=reason)
        if (usage := chunk.get("usage")) is not None:
            self.say(id=number, usage=[usage["prompt_tokens"], usage["completion_tokens"]])


def load(config: dict[str, Any]) -> Any:
    """Load the model. Blocks, with the interpreter's lock held."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = config["path"]
    params.n_ctx = config["n_ctx"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = config["batch"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = config["threads"]
    params.cache_ram_mib = 512
    params.warmup = False
    params.verbosity = 1  # errors only; the parent reads them to say why loading failed
    params.ui = params.endpoint_slots = params.endpoint_props = False
    params.api_keys = [secrets.token_hex(32)]  # for the socket that it insists on, which nobody is to use
    if os.name != "posix":
        return xllamacpp.Server(params)
    with tempfile.TemporaryDirectory(prefix="orca-") as private:
        params.hostnames = [str(Path(private) / "s.sock")]
        return xllamacpp.Server(params)  # the socket goes with the folder: then there is no way in


def main() -> None:
    """Load, then serve until the input ends."""
    out = os.dup(1)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    worker = Worker(out)
    lines = sys.stdin.buffer
    config = json.loads(lines.readline())
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(5)
    try:
        server = load(config)
    except Exception as error:  # noqa: BLE001 — whatever the library throws
        worker.say(failed=f"{type(error).__name__}: {error}")
        os._exit(1)
    for taken_over in (signal.SIGINT, signal.SIGTERM):
        signal.signal(taken_over, signal.SIG_DFL)
    worker.say(ready=True)
    threading.Thread(target=worker.serve, args=(server,), daemon=True).start()
    for line in lines:
        worker.take(line)
    os._exit(0)


if __name__ == "__main__":
    main()
