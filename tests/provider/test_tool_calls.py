"""Tool calls as servers stream them, and as requests bring them back."""

import json
import time
from typing import Any

import httpx2
import pytest
from sse_script import (
    DONE,
    USAGE,
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

from memory.errors import BadReply, RequestRefused, StreamCut, ToolsUnsupported
from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    ChatPart,
    FinishPart,
    Image,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolSpec,
    UsagePart,
)
from memory.provider.tool_calls import MAX_CALLS
from memory.types import Usage

SPEC = ToolSpec("weather", "Tells the weather.", {"type": "object", "properties": {"place": {"type": "string"}}})
OFFER = ChatOptions(tools=(SPEC,))


def calls(parts: list[ChatPart]) -> list[ToolCall]:
    return [part.call for part in parts if isinstance(part, ToolCallPart)]


def told(parts: list[ChatPart]) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in calls(parts)]


def piece(name: Any = None, arguments: Any = None, **around: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**around, "type": "function", "function": function}


def deltas(*pieces: dict[str, Any] | list[dict[str, Any]], finish: str | None = "tool_calls") -> list[bytes]:
    lists = [entry if isinstance(entry, list) else [entry] for entry in pieces]
    return [*(chunk(tool_calls=entries) for entries in lists), chunk(finish=finish), DONE]


async def streamed(*pieces: Any) -> list[ChatPart]:
    return await collect(model(Server(stream(*pieces))), OFFER)


A = ("a", '{"x": 1}')
B = ("b", '{"y": "é你"}')

SHAPES: dict[str, tuple[list[bytes], list[tuple[str, str]]]] = {
    "as documented": (
        deltas(piece("a", "", index=0, id="1"), piece(None, '{"x"', index=0), piece(None, ": 1}", index=0)),
        [A],
    ),
    "no index": (deltas(piece("a", '{"x"', id="1"), piece(None, ": 1}")), [A]),
    "no index, id again": (deltas(piece("a", '{"x"', id="1"), piece(None, ": 1}", id="1")), [A]),
    "no index, another id each time": (deltas(piece("a", '{"x"', id="1"), piece(None, ": 1}", id="2")), [A]),
    "no index, no id, two whole": (deltas(piece(*A), piece(*B)), [A, B]),
    "no index, two whole in one delta": (deltas([piece(*A), piece(*B)]), [A, B]),
    "no index, two in pieces of one delta": (
        deltas(
            [piece("a", '{"x"'), piece("b", '{"y"')],
            [piece(None, ": 1}"), piece(None, ': "é你"}')],
        ),
        [A, B],
    ),
    "no index, two by id, interleaved": (
        deltas(
            piece("a", '{"x"', id="1"),
            piece("b", '{"y"', id="2"),
            piece(None, ": 1}", id="1"),
            piece(None, ': "é你"}', id="2"),
        ),
        [A, B],
    ),
    "index null or a string": (deltas(piece("a", '{"x"', index="0"), piece(None, ": 1}", index="0")), [A]),
    "id and name again in each piece": (
        deltas(piece("a", '{"x"', index=0, id="1"), piece("a", ": 1}", index=0, id="1")),
        [A],
    ),
    "id empty, name empty later": (
        deltas(piece("a", '{"x"', index=0, id="1"), piece("", ": 1}", index=0, id="")),
        [A],
    ),
    "id and name null later": (
        deltas(piece("a", '{"x"', index=0, id="1"), piece(None, ": 1}", index=0, id=None)),
        [A],
    ),
    "name in pieces": (
        deltas(piece("get_", index=0, id="1"), piece("weather", index=0), piece(None, "{}", index=0)),
        [("get_weather", "{}")],
    ),
    "name from its beginning": (
        deltas(piece("get_", index=0, id="1"), piece("get_weather", "{}", index=0)),
        [("get_weather", "{}")],
    ),
    "interleaved": (
        deltas(
            piece("b", '{"y"', index=1, id="2"),
            piece("a", '{"x"', index=0, id="1"),
            piece(None, ': "é你"}', index=1),
            piece(None, ": 1}", index=0),
        ),
        [B, A],
    ),
    "index 0 for both, ids": (deltas(piece(*A, index=0, id="1"), piece(*B, index=0, id="2")), [A, B]),
    "index 0 for both, ids empty": (deltas(piece(*A, index=0, id=""), piece(*B, index=0, id="")), [A, B]),
    "index 0 for both, no arguments": (
        deltas(piece("a", "", index=0, id="1"), piece("b", "", index=0, id="2")),
        [("a", ""), ("b", "")],
    ),
    "told twice": (deltas(piece(*A, index=0, id="1"), piece(*A, index=0, id="1")), [A]),
    "arguments as an object": (deltas(piece("a", {"x": 1})), [A]),
    "arguments as an object, twice": (deltas(piece("a", {"x": 1}, index=0), piece("a", {"x": 1}, index=0)), [A]),
    "arguments null": (deltas(piece("a", index=0), {"index": 0, "function": {"arguments": None}}), [("a", "")]),
    "no function around it": (deltas({"id": "1", "name": "a", "arguments": '{"x": 1}'}), [A]),
    "old shape": (
        [
            chunk(function_call={"name": "a", "arguments": '{"x"'}),
            chunk(function_call={"arguments": ": 1}"}),
            chunk(finish="function_call"),
            DONE,
        ],
        [A],
    ),
    "finish reason stop": (deltas(piece(*A, index=0, id="1"), finish="stop"), [A]),
    "finish reason with the call": ([chunk(finish="tool_calls", tool_calls=[piece(*A, index=0)]), DONE], [A]),
    "no finish reason, but a done mark": ([chunk(tool_calls=[piece(*A, index=0)]), DONE], [A]),
    "cut off in the arguments": (deltas(piece("a", '{"x": ', index=0), finish="length"), [("a", '{"x": ')]),
    "odd entries": (
        [chunk(tool_calls=[None, 3, "x"]), chunk(tool_calls={}), chunk(tool_calls=[{}]), *deltas(piece(*A, index=0))],
        [A],
    ),
    "ollama": (
        [
            chunk("", tool_calls=[{"id": "call_x", "index": 0, **piece(*A)}]),
            chunk("", finish="tool_calls"),
            DONE,
        ],
        [A],
    ),
}


@pytest.mark.parametrize(("pieces", "expected"), SHAPES.values(), ids=SHAPES.keys())
async def test_shapes_that_servers_send(pieces: list[bytes], expected: list[tuple[str, str]]) -> None:
    parts = await streamed(*pieces)
    assert told(parts) == expected
    ids = [call.id for call in calls(parts)]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert parts[-1] == FinishPart("tool_calls")


async def test_text_calls_usage_and_finish_come_in_this_order() -> None:
    pieces = [chunk("Let me see."), *deltas(piece(*A, index=0, id="call_9"))[:-1], USAGE, DONE]
    assert await streamed(*pieces) == [
        TextPart("Let me see."),
        ToolCallPart(ToolCall("call_9", *A)),
        UsagePart(Usage(7, 2)),
        FinishPart("tool_calls"),
    ]


async def test_ids_that_two_calls_share_are_replaced() -> None:
    parts = await streamed(*deltas(piece(*A, index=0, id="same"), piece(*B, index=1, id="same")))
    first, second = calls(parts)
    assert first.id == "same"
    assert second.id not in ("", "same")


async def test_calls_in_a_plain_completion() -> None:
    message = {"content": None, "tool_calls": [piece(*A, id="1"), piece("a", {"x": 2}), piece(*A, id="3")]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    parts = await collect(model(Server(answer(200, body))), OFFER)
    assert told(parts) == [A, ("a", '{"x": 2}'), A]


async def test_arguments_in_many_pieces_take_linear_time() -> None:
    """Ten times the pieces may not take a hundred times as long; a few megabytes come through whole."""

    async def seconds(number: int) -> float:
        pieces = [piece("a", "x", index=0) for _ in range(number)]
        body = b"".join(deltas(piece("a", '{"v": "', index=0, id="1"), *pieces, piece(None, '"}', index=0)))
        began = time.process_time()
        parts = await streamed(body)
        took = time.process_time() - began
        assert told(parts) == [("a", '{"v": "' + "x" * number + '"}')]
        return took

    await seconds(100)
    assert await seconds(20_000) < 30 * max(await seconds(2_000), 0.01)


async def test_too_many_calls_are_stopped() -> None:
    with pytest.raises(BadReply, match="tool calls"):
        await streamed(*deltas(*(piece("a", "{}", index=i) for i in range(MAX_CALLS + 1))))


async def test_calls_that_are_too_large_are_stopped() -> None:
    with pytest.raises(BadReply, match="MiB of tool calls"):
        await streamed(*(chunk(tool_calls=[piece("a", "x" * 1_000_000, index=0)]) for _ in range(5)))


async def test_a_stream_that_is_cut_in_a_call_hands_on_no_call() -> None:
    parts: list[ChatPart] = []
    server = Server(stream(chunk("Hm."), chunk(tool_calls=[piece("a", '{"x": 1}', index=0)])))
    with pytest.raises(StreamCut):
        await collect_until_error(model(server), parts)
    assert parts == [TextPart("Hm.")]


async def test_a_connection_that_breaks_in_a_call_is_a_reply_cut_off() -> None:
    broken = httpx2.RemoteProtocolError("reset")
    with pytest.raises(StreamCut):
        await streamed(chunk(tool_calls=[piece("a", '{"x"', index=0)]), broken)


async def test_tools_are_offered_and_results_brought_back() -> None:
    server = Server(stream(chunk("Sunny.", "stop"), DONE))
    asked = ToolCall("call_1", "weather", '{"place": "东京"}')
    history = [
        ChatMessage("user", "Weather?"),
        ChatMessage("assistant", "", tool_calls=(asked,), reasoning="I look it up."),
        ChatMessage("tool", "sunny\ud800", tool_call_id="call_1"),
    ]
    chat = model(server)
    parts = [part async for part in chat.stream(history, OFFER)]
    await chat.close()
    assert text(parts) == "Sunny."
    assert server.sent()["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
            },
        }
    ]
    assert server.sent()["messages"] == [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"place": "东京"}'},
                }
            ],
            "reasoning_content": "I look it up.",
        },
        {"role": "tool", "content": "sunny\ufffd", "tool_call_id": "call_1"},
    ]


@pytest.mark.parametrize("arguments", ["", '{"x": ', "[1]", "3", "[" * 5000])
async def test_calls_that_servers_would_refuse_are_made_fit_to_be_repeated(arguments: str) -> None:
    server = Server(stream(chunk("ok", "stop"), DONE))
    asked = ToolCall("1", "do it.now/" + "x" * 99, arguments)
    chat = model(server)
    history = [ChatMessage("assistant", "", tool_calls=(asked,)), ChatMessage("tool", "no", tool_call_id="1")]
    _ = [part async for part in chat.stream(history)]
    await chat.close()
    sent = server.sent()["messages"][0]["tool_calls"][0]["function"]
    assert sent == {"name": ("do_it_now_" + "x" * 99)[:64], "arguments": "{}"}


async def test_images_go_as_data_addresses() -> None:
    server = Server(stream(chunk("a dot", "stop"), DONE))
    chat = model(server)
    dot = Image("image/png", b"\x89PNG")
    _ = [part async for part in chat.stream([ChatMessage("user", "这是什么?", images=(dot,))])]
    await chat.close()
    assert server.sent()["messages"][0]["content"] == [
        {"type": "text", "text": "这是什么?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]


REASONING_REFUSED = [
    openai_error("The reasoning_content is not allowed in input messages"),
    {"detail": [{"type": "extra_forbidden", "loc": ["body", "messages", 0], "msg": "Extra inputs are not permitted"}]},
]


@pytest.mark.parametrize("body", REASONING_REFUSED)
async def test_reasoning_that_a_server_refuses_is_left_out_from_then_on(body: dict[str, Any]) -> None:
    good = (chunk("ok", "stop"), DONE)
    server = Server(answer(422, body), stream(*good), stream(*good))
    chat = model(server)
    history = [ChatMessage("assistant", "hm", reasoning="because"), ChatMessage("user", "and?")]
    for _ in range(2):
        parts = [part async for part in chat.stream(history)]
        assert text(parts) == "ok"
    await chat.close()
    assert ["reasoning_content" in json.dumps(server.sent(i)) for i in range(3)] == [True, False, False]


TOOLS_REFUSED: list[tuple[int, Any]] = [
    (400, openai_error("registry.ollama.ai/library/gemma:2b does not support tools", kind="api_error")),
    (400, {"message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'}),
    (400, {"code": 20037, "message": "Function call is not supported for this model.", "data": None}),
    (400, openai_error("deepseek-reasoner does not support Function Calling")),
    (400, openai_error("`tool calling` is not supported with this model")),
    (400, openai_error("Unsupported parameter: 'tools' is not supported with this model.", "unsupported_parameter")),
    (404, openai_error("No endpoints found that support tool use. To learn more, read the docs.", 404)),
    (500, openai_error("tools param requires --jinja flag", 500, "server_error")),
    (400, {"message": "该模型不支持工具调用"}),
]


@pytest.mark.parametrize(("status", "body"), TOOLS_REFUSED)
async def test_a_model_without_tools_is_told_as_one(status: int, body: Any) -> None:
    server, naps = Server(answer(status, body)), Naps()
    with pytest.raises(ToolsUnsupported) as caught:
        await collect(model(server, naps=naps, max_retries=3), OFFER)
    assert "tools.enabled" in caught.value.hint
    assert naps.seconds == []


async def test_the_same_words_are_no_such_thing_when_no_tool_was_offered() -> None:
    with pytest.raises(RequestRefused):
        await collect(model(Server(answer(400, openai_error("x does not support tools")))))


async def test_a_schema_that_is_refused_is_not_a_model_without_tools() -> None:
    words = "Invalid schema for function 'weather': 'oneOf' is not supported."
    with pytest.raises(RequestRefused):
        await collect(model(Server(answer(400, openai_error(words)))), OFFER)


async def test_a_call_that_nobody_offered_is_handed_on() -> None:
    parts = await collect(model(Server(stream(*deltas(piece(*A, index=0)), event({})))))
    assert told(parts) == [A]
