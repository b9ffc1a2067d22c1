"""Tool calls as servers stream them."""

import time
from typing import Any

import httpx2
import pytest
from sse_script import (
    DONE,
    USAGE,
    Server,
    answer,
    chunk,
    collect,
    collect_until_error,
    event,
    model,
    stream,
)

from memory.errors import BadReply, StreamCut
from memory.provider.base import (
    ChatOptions,
    ChatPart,
    FinishPart,
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


async def test_a_call_that_nobody_offered_is_handed_on() -> None:
    parts = await collect(model(Server(stream(*deltas(piece(*A, index=0)), event({})))))
    assert told(parts) == [A]
