"""A scripted server for the provider tests: responses in order, bodies that come in pieces, break, or never end."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx2

from memory.config import LLMSettings, Secret
from memory.provider.base import ChatMessage, ChatOptions, ChatPart, ReasoningPart, TextPart
from memory.provider.openai_chat import OpenAIChat

KEY = "sk-canary-3f1e9a7b5c"
BASE_URL = "https://models.example/v1"
FOREVER = object()
"""A piece that never comes."""

HELLO = [ChatMessage("user", "hello")]


class Body(httpx2.AsyncByteStream):
    """Bytes piece by piece; an exception among them is raised; remembers whether it was closed."""

    def __init__(self, pieces: Sequence[Any]) -> None:
        self.pieces = pieces
        self.sent = 0
        self.closed = False
        self.waiting = asyncio.Event()
        """Set when a piece that never comes is waited for."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            if piece is FOREVER:
                self.waiting.set()
                await asyncio.Event().wait()
            self.sent += 1
            yield piece

    async def aclose(self) -> None:
        self.closed = True


class Server(httpx2.AsyncBaseTransport):
    """Answers each request with the next of `replies`: a response, an exception, or a callable of the request."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[httpx2.Request] = []
        self.bodies: list[Body] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Callable):
            reply = reply(request)
        if isinstance(reply, Exception):
            raise reply
        if reply is FOREVER:
            await asyncio.Event().wait()
        if isinstance(reply.stream, Body):
            self.bodies.append(reply.stream)
        return reply

    def sent(self, number: int = -1) -> Any:
        """The JSON body of a request."""
        return json.loads(self.requests[number].content)


def event(data: Any) -> bytes:
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode()) + b"\n\n"


def chunk(text: Any = None, finish: str | None = None, **delta: Any) -> bytes:
    if text is not None:
        delta["content"] = text
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


USAGE = event({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
DONE = b"data: [DONE]\n\n"
GOOD = [chunk(role="assistant"), chunk("Hi"), chunk(" there"), chunk(finish="stop"), USAGE, DONE]


def stream(*pieces: Any, status: int = 200, content_type: str = "text/event-stream", **headers: str) -> httpx2.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, headers={"content-type": content_type, **names}, stream=Body(pieces))


def answer(status: int, body: Any, **headers: str) -> httpx2.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return stream(raw, status=status, content_type="application/json", **headers)


def openai_error(message: str, code: Any = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code, "param": None}}


class Naps:
    """Stands in for sleeping; remembers how long it was asked for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def model(
    server: Server, *, naps: Naps | None = None, key: str = KEY, base_url: str = BASE_URL, **given: Any
) -> OpenAIChat:
    name = given.pop("model", "test-model")
    return OpenAIChat(
        base_url=base_url,
        model=name,
        api_key=Secret(key),
        key_hint="Set EXAMPLE_API_KEY.",
        settings=LLMSettings(**{"max_retries": 0, **given}),
        transport=server,
        sleep=naps or Naps(),
    )


async def collect(chat: OpenAIChat, options: ChatOptions | None = None) -> list[ChatPart]:
    try:
        return [part async for part in chat.stream(HELLO, options)]
    finally:
        await chat.close()


async def collect_until_error(chat: OpenAIChat, parts: list[ChatPart]) -> None:
    """Like `collect`, for a stream that fails after some parts."""
    try:
        async for part in chat.stream(HELLO):
            parts += [part]
    finally:
        await chat.close()


def text(parts: Sequence[ChatPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def reasoning(parts: Sequence[ChatPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ReasoningPart))
