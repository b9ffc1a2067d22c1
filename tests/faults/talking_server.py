"""A model server on loopback that answers each request with the next of a script: bytes, a silence, a reset.

Unlike a stand-in transport it has real connections, so a test can ask whether any is left.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

HANG, RESET = object(), object()
"""Say nothing more until the client has gone; break the connection."""

Piece = bytes | object


@dataclass
class Request:
    """What was asked."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Talker:
    """The script and what came of it."""

    script: list[Sequence[Piece]]
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    open: int = 0
    """Connections that are not closed yet."""
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the script says nothing more."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while request := await _read(reader):
                if request.body is None:  # which models there are
                    writer.write(b"".join(refusal(404, b"")))  # type: ignore[arg-type]
                    return
                self.requests.append(request)
                pieces = self.script.pop(0) if self.script else refusal(500, b"the script is over")
                for piece in pieces:
                    if piece is HANG:
                        self.hanging.set()
                        await reader.read()
                        return
                    if piece is RESET:
                        writer.transport.abort()
                        return
                    writer.write(piece)  # type: ignore[arg-type]
                    await writer.drain()
                if b"content-length" not in bytes(pieces[0]).lower():  # type: ignore[arg-type]
                    return
        except ConnectionError:
            return
        finally:
            self.open -= 1
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(head[0].split(" ")[1], headers, json.loads(raw) if raw else None)


@asynccontextmanager
async def talking(*script: Sequence[Piece]) -> AsyncIterator[Talker]:
    """The server while the block runs; afterwards no connection may be open."""
    talker = Talker(list(script))
    server = await asyncio.start_server(talker.serve, "127.0.0.1", 0)
    talker.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield talker
    finally:
        server.close()


def head(status: int = 200, kind: str = "text/event-stream", **more: str) -> bytes:
    """Status line and headers of a response that ends with its connection."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def refusal(status: int, body: bytes | dict[str, Any], **more: str) -> list[Piece]:
    """A whole response that is no reply."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return [head(status, "application/json", **more), raw]


def delta(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One event of a stream."""
    fields = {"content": text, **more} if text is not None else more
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def reply(*pieces: Piece) -> list[Piece]:
    """A stream: headers, then these."""
    return [head(), *pieces]


GOOD = reply(delta(role="assistant"), delta("All"), delta(" well."), delta(finish="stop"), DONE)
