import httpx2
import pytest
from sse_script import (
    DONE,
    FOREVER,
    GOOD,
    Naps,
    Server,
    answer,
    chunk,
    collect,
    collect_until_error,
    event,
    model,
    openai_error,
    stream,
    text,
)

from memory import errors
from memory.provider import chunks
from memory.provider.base import ChatPart

HTML = b"<!DOCTYPE html><html><script>alert(1)</script></html>"


GZIP = {"content_encoding": "gzip"}
BROKEN: dict[str, tuple[httpx2.Response, type[errors.ProviderError], str]] = {
    # name: response, error, text that arrives all the same
    "web page": (stream(HTML, content_type="text/html"), errors.BadReply, ""),
    "web page called a stream": (stream(b"\n ", HTML), errors.BadReply, ""),
    "empty body": (stream(), errors.BadReply, ""),
    "no content": (stream(status=204), errors.BadReply, ""),
    "only the done mark": (stream(DONE), errors.BadReply, ""),
    "only comments": (stream(b": hi\n\n"), errors.BadReply, ""),
    "chunks without a word": (stream(chunk(role="assistant"), DONE), errors.BadReply, ""),
    "plain text": (stream(b"Not found", content_type="text/plain"), errors.BadReply, ""),
    "another JSON document": (answer(200, {"status": "ok"}), errors.BadReply, ""),
    "a JSON list": (answer(200, []), errors.BadReply, ""),
    "half a JSON document": (answer(200, b'{"choices": [{"mess'), errors.BadReply, ""),
    "an error in a JSON document": (answer(200, openai_error("overloaded")), errors.ServerFailed, ""),
    "a code and a message": (answer(200, {"code": 50505, "message": "busy", "data": None}), errors.ServerFailed, ""),
    "bad gzip": (stream(b"not gzip", **GZIP), errors.BadReply, ""),
    "broken JSON": (stream(chunk("Hi"), b"data: {broken\n\n", DONE), errors.BadReply, "Hi"),
    "JSON too deep": (stream(chunk("Hi"), b"data: " + b"[" * 200_000 + b"\n\n"), errors.BadReply, "Hi"),
    "error in the stream": (stream(chunk("Hi"), event(openai_error("upstream died"))), errors.ServerFailed, "Hi"),
    "error as a named event": (
        stream(chunk("Hi"), b'event: error\ndata: {"message": "x"}\n\n'),
        errors.ServerFailed,
        "Hi",
    ),
    "error as a field": (stream(chunk("Hi"), b'error: {"code": 500, "message": "x"}\n\n'), errors.ServerFailed, "Hi"),
    "error object of vLLM": (
        stream(chunk("Hi"), event({"object": "error", "message": "x"})),
        errors.ServerFailed,
        "Hi",
    ),
    "error as the finish reason": (stream(chunk("Hi"), chunk("", "error")), errors.ServerFailed, "Hi"),
    "rate limit in the stream": (
        stream(event({"error": {"code": 429, "message": "slow down"}})),
        errors.RateLimited,
        "",
    ),
    "too long in the stream": (stream(event(openai_error("context length exceeded"))), errors.ContextTooLong, ""),
    "no model in the stream": (stream(event(openai_error("model x not found"))), errors.ModelNotFound, ""),
    "end without a finish reason": (stream(chunk("Hi")), errors.StreamCut, "Hi"),
    "end after the role": (stream(chunk(role="assistant")), errors.StreamCut, ""),
    "end after reasoning": (stream(chunk(reasoning="hm")), errors.StreamCut, ""),
    "end inside JSON": (stream(chunk("Hi"), b'data: {"choices": [{"del'), errors.StreamCut, "Hi"),
    "end inside what could be a tag": (stream(chunk("<thi")), errors.StreamCut, "<thi"),
    "reset inside what could be a tag": (stream(chunk("<thi"), httpx2.ReadError("")), errors.StreamCut, "<thi"),
    "reset after text": (stream(chunk("Hi"), httpx2.RemoteProtocolError("peer closed")), errors.StreamCut, "Hi"),
    "reset after the role": (stream(chunk(role="assistant"), httpx2.ReadError("")), errors.ProviderUnavailable, ""),
    "silence after text": (stream(chunk("Hi"), FOREVER), errors.ProviderTimeout, "Hi"),
    "silence after the headers": (stream(FOREVER), errors.ProviderTimeout, ""),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_broken_replies(name: str) -> None:
    reply, kind, arrived = BROKEN[name]
    server = Server(reply, answer(404, b""))
    parts: list[ChatPart] = []
    # Long enough for what comes before the silence to arrive on a busy machine.
    short = {"first_byte_timeout": 0.5, "idle_timeout": 0.5} if name.startswith("silence") else {}
    with pytest.raises(errors.ProviderError) as caught:
        await collect_until_error(model(server, **short), parts)
    assert type(caught.value) is kind
    assert caught.value.hint
    assert "<" not in str(caught.value)
    assert text(parts) == arrived
    assert server.bodies[0].closed


async def test_silence_before_the_headers() -> None:
    with pytest.raises(errors.ProviderTimeout, match=r"sent nothing for 0\.02 seconds"):
        await collect(model(Server(lambda _: FOREVER), first_byte_timeout=0.02))


async def test_keep_alive_comments_are_no_silence() -> None:
    parts = await collect(model(Server(stream(b": wait\n\n", *GOOD)), first_byte_timeout=5))
    assert text(parts) == "Hi there"


async def test_an_endless_reply_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_BYTES", 10_000)
    server = Server(stream(*[chunk("x" * 100)] * 1000))
    parts: list[ChatPart] = []
    with pytest.raises(errors.BadReply, match="grew beyond"):
        await collect_until_error(model(server), parts)
    assert len(text(parts)) < 10_000
    assert server.bodies[0].closed
    assert server.bodies[0].sent < 200


async def test_nothing_is_retried_once_a_byte_has_come() -> None:
    naps = Naps()
    for reply in (stream(chunk("Hi"), httpx2.ReadError("")), stream(event(openai_error("busy"))), stream(HTML)):
        with pytest.raises(errors.ProviderError):
            await collect(model(Server(reply), naps=naps, max_retries=3))
    assert naps.seconds == []
