"""A model server on loopback: streams one fixed reply, and embeds every text as a vector that depends on it."""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

REPLY = "Gladly. The harbour opens at six, and the tide turns at noon."
WIDTH = 8


class Handler(BaseHTTPRequestHandler):
    """OpenAI's chat completions and embeddings, as much as orca asks for."""

    protocol_version = "HTTP/1.1"
    embedded: list[str] = []
    lock = Lock()

    def do_GET(self) -> None:
        self._send(b'{"data": [{"id": "scripted", "context_length": 8192}]}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            with self.lock:
                self.embedded += body["input"]
            rows = [{"index": at, "embedding": vector(text)} for at, text in enumerate(body["input"])]
            self._send(json.dumps({"data": rows, "model": "vectors", "usage": {"total_tokens": 1}}).encode())
        elif body.get("stream"):
            self._send(b"".join(_stream()), "text/event-stream")
        else:
            message = {"message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop", "index": 0}
            self._send(json.dumps({"id": "1", "choices": [message], "model": "scripted"}).encode())

    def _send(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


def vector(text: str) -> list[float]:
    """Not zero, and the same for the same text."""
    number = zlib.crc32(text.encode())
    return [1.0 + (number >> bit & 1) for bit in range(WIDTH)]


def _stream() -> Iterator[bytes]:
    for word in REPLY.split(" "):
        yield _event({"choices": [{"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}]})
    yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield b"data: [DONE]\n\n"


def _event(facts: dict[str, Any]) -> bytes:
    body = {"id": "1", "object": "chat.completion.chunk", "model": "scripted", **facts}
    return b"data: %s\n\n" % json.dumps(body).encode()


@contextmanager
def serving() -> Iterator[str]:
    """Its address while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
