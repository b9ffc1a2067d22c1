import asyncio
import gzip
import logging
from typing import Any

import httpx2
import pytest
from sse_script import (
    DONE,
    FOREVER,
    GOOD,
    HELLO,
    KEY,
    USAGE,
    Server,
    answer,
    chunk,
    collect,
    event,
    model,
    reasoning,
    stream,
    text,
)

from memory.provider.base import ChatMessage, ChatOptions, FinishPart, ReasoningPart, TextPart, UsagePart
from memory.types import Usage


async def test_text_usage_and_finish_come_in_this_order() -> None:
    server = Server(stream(*GOOD))
    parts = await collect(model(server))
    assert parts == [TextPart("Hi"), TextPart(" there"), UsagePart(Usage(7, 2)), FinishPart("stop")]
    assert server.bodies[0].closed


async def test_the_request_says_what_was_asked_and_nothing_about_this_machine() -> None:
    server = Server(stream(*GOOD))
    chat = model(server, temperature=0.5, max_tokens=100, parameters={"top_p": 0.9})
    await collect(chat, ChatOptions(max_tokens=50, extra={"seed": 1}))
    sent = server.sent()
    assert sent == {
        "model": "test-model",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "max_tokens": 50,
        "top_p": 0.9,
        "seed": 1,
    }
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["user-agent"] == "orca-tui"
    assert not [name for name in headers if name.startswith("x-stainless")]
    assert str(server.requests[0].url) == "https://models.example/v1/chat/completions"


async def test_headers_of_the_environment_go_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer other\nX-Private: 1")
    server = Server(stream(*GOOD))
    await collect(model(server))
    sent = str(server.requests[0].headers.raw)
    assert "private" not in sent.lower()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_without_a_key_no_authorization_is_sent() -> None:
    server = Server(stream(*GOOD))
    await collect(model(server, key=""))
    assert "authorization" not in server.requests[0].headers


async def test_what_cannot_be_encoded_is_replaced_in_the_request() -> None:
    server = Server(stream(*GOOD))
    chat = model(server)
    async for _ in chat.stream([ChatMessage("user", "a\ud83db")]):
        pass
    await chat.close()
    assert server.sent()["messages"][0]["content"] == "a\ufffdb"


WHOLE = b"".join(GOOD)
LONG = b"".join([chunk("你好"), chunk(" 👩‍👩‍👧 é"), chunk(finish="stop"), DONE])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
async def test_pieces_of_any_size_and_any_line_end(size: int, line_end: bytes) -> None:
    raw = LONG.replace(b"\n", line_end)
    parts = await collect(model(Server(stream(*(raw[i : i + size] for i in range(0, len(raw), size))))))
    assert text(parts) == "你好 👩‍👩‍👧 é"
    assert parts[-1] == FinishPart("stop")


def choice(**fields: Any) -> bytes:
    return event({"choices": [fields]})


SHAPES: dict[str, list[Any]] = {
    "azure: first chunk without choices": [event({"choices": [], "prompt_filter_results": [{}]}), *GOOD],
    "azure: filter results after the end": [*GOOD[:4], choice(index=0, content_filter_results={}), USAGE, DONE],
    "no choices key": [event({"id": "x"}), *GOOD],
    "choices null": [event({"choices": None}), *GOOD],
    "delta null": [choice(index=0, delta=None), *GOOD],
    "content null": [chunk(role="assistant", content=None), *GOOD],
    "choices of odd types": [event({"choices": [None, 3, "x", []]}), event([1]), event("x"), event(b"null"), *GOOD],
    "no index": [choice(delta={"content": "Hi"}), choice(delta={"content": " there"}, finish_reason="stop"), USAGE],
    "no done mark": GOOD[:-1],
    "done mark without a blank line": [*GOOD[:-1], b"data: [DONE]\n"],
    "more after the done mark": [*GOOD, chunk("!"), b"data: {broken\n\n"],
    "usage in every chunk": [
        event({"choices": [{"delta": {"content": "Hi"}}], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}),
        event({"choices": [{"delta": {"content": " there"}, "finish_reason": "stop"}], "usage": None}),
        USAGE,
        DONE,
    ],
    "usage of odd types": [event({"choices": [], "usage": {"prompt_tokens": None, "completion_tokens": "2"}}), *GOOD],
    "finish reason empty in every chunk": [chunk("Hi", ""), chunk(" there", ""), USAGE, DONE],
    "finish reason early": [chunk("Hi", "stop"), chunk(" there"), USAGE, DONE],
    "finish reason twice": [*GOOD[:4], *GOOD[3:]],
    "no finish reason, but a done mark": [chunk("Hi"), chunk(" there", None), USAGE, DONE],
    "message in place of delta": [
        choice(message={"content": "Hi"}),
        choice(message={"content": " there"}),
        USAGE,
        DONE,
    ],
    "legacy text": [choice(text="Hi"), choice(text=" there", finish_reason="stop"), USAGE],
    "content in parts": [chunk([{"type": "text", "text": "Hi"}, {"type": "text", "text": " there"}], "stop"), USAGE],
    "another choice": [choice(index=1, delta={"content": "no"}), *GOOD],
    "comments": [b": OPENROUTER PROCESSING\n\n", b"event: message\nid: 1\nretry: 3\n", *GOOD],
    "comment as data": [b"data: : OPENROUTER PROCESSING\n\n", *GOOD],
    "byte order mark": [b"\xef\xbb\xbf", *GOOD],
    "event over two data lines": [
        b'data: {"choices": [{"delta":\ndata: {"content": "Hi"}}]}\n\n',
        chunk(" there", "stop"),
        USAGE,
    ],
    "cut after the finish reason": [*GOOD[:5], httpx2.RemoteProtocolError("reset")],
}


@pytest.mark.parametrize("pieces", SHAPES.values(), ids=SHAPES.keys())
async def test_shapes_that_servers_send(pieces: list[Any]) -> None:
    server = Server(stream(*pieces))
    parts = await collect(model(server))
    assert text(parts) == "Hi there"
    assert parts[-2:] == [UsagePart(Usage(7, 2)), FinishPart("stop")]
    assert server.bodies[0].closed


async def test_usage_is_left_out_when_the_server_does_not_tell() -> None:
    parts = await collect(model(Server(stream(chunk("Hi", "stop"), DONE))))
    assert parts == [TextPart("Hi"), FinishPart("stop")]


async def test_a_server_that_stays_open_after_the_end_is_not_waited_for() -> None:
    server = Server(stream(*GOOD, FOREVER))
    parts = await collect(model(server))
    assert parts[-1] == FinishPart("stop")
    assert server.bodies[0].closed


async def test_usage_that_never_comes_is_not_waited_for_longer_than_the_idle_time() -> None:
    parts = await collect(model(Server(stream(chunk("Hi", "stop"), FOREVER)), idle_timeout=0.02))
    assert parts == [TextPart("Hi"), FinishPart("stop")]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("length", "length"), ("content_filter", "content_filter"), ("function_call", "tool_calls"), ("odd", "odd")],
)
async def test_the_finish_reason_is_the_servers(reason: str, expected: str) -> None:
    parts = await collect(model(Server(stream(chunk("Hi", reason), DONE))))
    assert parts[-1] == FinishPart(expected)


async def test_an_empty_reply_with_a_reason_is_told_as_it_is() -> None:
    assert await collect(model(Server(stream(chunk("", "stop"), DONE)))) == [FinishPart("stop")]


async def test_a_plain_completion_is_taken_for_a_stream() -> None:
    body = {
        "choices": [
            {"message": {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
    }
    parts = await collect(model(Server(answer(200, body))))
    assert parts == [ReasoningPart("hm"), TextPart("Hi"), UsagePart(Usage(7, 2)), FinishPart("stop")]


async def test_gzip_is_unpacked() -> None:
    parts = await collect(model(Server(stream(gzip.compress(WHOLE), content_encoding="gzip"))))
    assert text(parts) == "Hi there"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_fields(name: str) -> None:
    pieces = [chunk(**{name: "first"}), chunk(**{name: " then"}), chunk("Hi"), chunk(finish="stop"), DONE]
    parts = await collect(model(Server(stream(*pieces))))
    assert (reasoning(parts), text(parts)) == ("first then", "Hi")


async def test_reasoning_given_twice_is_shown_once() -> None:
    parts = await collect(model(Server(stream(chunk(reasoning="a", reasoning_content="a"), chunk("Hi", "stop")))))
    assert reasoning(parts) == "a"


async def test_reasoning_in_typed_parts() -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hi"}]
    parts = await collect(model(Server(stream(chunk(content, "stop")))))
    assert (reasoning(parts), text(parts)) == ("hm", "Hi")


async def test_inline_thinking_split_at_every_character() -> None:
    letters = [chunk(letter) for letter in "<think>why?</think>\n\nSo: <think>x</think>"]
    parts = await collect(model(Server(stream(*letters, chunk(finish="stop"), DONE))))
    assert (reasoning(parts), text(parts)) == ("why?\n\n", "So: <think>x</think>")


async def test_a_tag_is_plain_text_when_reasoning_has_its_own_field() -> None:
    parts = await collect(model(Server(stream(chunk(reasoning="hm"), chunk("<think>x</think>", "stop")))))
    assert (reasoning(parts), text(parts)) == ("hm", "<think>x</think>")


async def test_hostile_text_passes_unchanged() -> None:
    hostile = "\x1b]52;c;aGk=\x07 [/x] [@click=app.quit]x[/] List<int> <think>x</think> 2*3*4 \u202e\x9b \u2028"
    parts = await collect(model(Server(stream(*(chunk(letter) for letter in hostile), chunk(finish="stop")))))
    assert text(parts) == hostile


async def test_warming_up_sends_nothing() -> None:
    server = Server()
    chat = model(server)
    await chat.warm_up()
    await chat.close()
    assert server.requests == []


async def test_cancelling_closes_the_body_at_once() -> None:
    server = Server(stream(chunk("Hi"), FOREVER))
    chat = model(server)
    seen = asyncio.Event()

    async def read() -> None:
        async for _ in chat.stream(HELLO):
            seen.set()

    task = asyncio.create_task(read())
    await seen.wait()
    assert not server.bodies[0].closed
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.bodies[0].closed
    await chat.close()


async def test_closing_the_iterator_closes_the_body_at_once() -> None:
    server = Server(stream(chunk("one"), chunk("two"), FOREVER))
    chat = model(server)
    parts = chat.stream(HELLO)
    assert await anext(parts) == TextPart("one")
    await parts.aclose()
    assert server.bodies[0].closed
    assert server.bodies[0].sent == 1
    await chat.close()
    await chat.close()


async def test_no_log_holds_key_prompt_or_reply(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_LOG", "debug")
    caplog.set_level(logging.DEBUG)
    await collect(model(Server(stream(*GOOD)), base_url="https://models.example/v1?secret=1"))
    assert not [record for record in caplog.records if record.name.split(".")[0] in ("openai", "httpx2", "httpcore2")]
    assert KEY not in caplog.text
