"""Tools, calls and their results in requests, and servers that refuse them."""

import json
from typing import Any

import pytest
from sse_script import (
    DONE,
    Naps,
    Server,
    answer,
    chunk,
    collect,
    model,
    openai_error,
    stream,
    text,
)

from memory.errors import RequestRefused, ToolsUnsupported
from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    Image,
    ToolCall,
    ToolSpec,
)

SPEC = ToolSpec("weather", "Tells the weather.", {"type": "object", "properties": {"place": {"type": "string"}}})
OFFER = ChatOptions(tools=(SPEC,))


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
