"""Over real HTTP on loopback, against llmock; what it cannot do (see `raw_server`) against a few lines of asyncio."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from llmock.scenarios import Fail, Match, Reply, StreamFault, ToolCall, ToolFault
from llmock.testing import LLMockServer
from sse_script import HELLO, KEY, Naps, chunk, reasoning, text

from memory import errors
from memory.config import EmbeddingSettings, LLMSettings, Secret
from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    ChatPart,
    FinishPart,
    RetryPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
    UsagePart,
)
from memory.provider.openai_chat import OpenAIChat
from memory.provider.openai_embed import OpenAIEmbedder


@pytest.fixture(scope="module")
def server() -> Iterator[LLMockServer]:
    with LLMockServer() as running:
        yield running


@pytest.fixture
def llm(server: LLMockServer) -> Iterator[LLMockServer]:
    yield server
    server.state.scenarios.clear()


def chat_at(base_url: str, naps: Naps | None = None, *, model: str = "gpt-4o-mini", **given: Any) -> OpenAIChat:
    return OpenAIChat(
        base_url=base_url,
        model=model,
        api_key=Secret(KEY),
        settings=LLMSettings(**given),
        sleep=naps or Naps(),
    )


async def run(chat: OpenAIChat) -> tuple[list[ChatPart], errors.ProviderError | None]:
    parts: list[ChatPart] = []
    try:
        async for part in chat.stream(HELLO):
            parts += [part]
    except errors.ProviderError as error:
        return parts, error
    finally:
        await chat.close()
    return parts, None


async def test_a_reply_streams(llm: LLMockServer) -> None:
    llm.state.scenarios.add(Reply(text="<think>hm, 你好</think>Hello 👩‍👩‍👧 there, <think>x</think>"))
    parts, error = await run(chat_at(llm.base_url()))
    assert error is None
    assert reasoning(parts) == "hm, 你好"
    assert text(parts) == "Hello 👩‍👩‍👧 there, <think>x</think>"
    assert len([part for part in parts if isinstance(part, TextPart)]) > 1
    assert isinstance(parts[-2], UsagePart)
    assert parts[-2].usage.prompt_tokens > 0
    assert parts[-1] == FinishPart("stop")


async def test_a_rate_limit_is_waited_out(llm: LLMockServer) -> None:
    llm.state.scenarios.add(Fail(429, retry_after=3))
    naps = Naps()
    parts, error = await run(chat_at(llm.base_url(), naps))
    assert error is None
    assert naps.seconds == [3.0]
    assert isinstance(parts[0], RetryPart)
    assert parts[-1] == FinishPart("stop")


async def test_a_refused_key(llm: LLMockServer) -> None:
    llm.state.scenarios.add(Fail(401, message=f"Incorrect API key provided: {KEY}"))
    parts, error = await run(chat_at(llm.base_url()))
    assert isinstance(error, errors.AuthenticationFailed)
    assert KEY not in str(error) + error.hint
    assert parts == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("disconnect", errors.StreamCut),
        ("truncate", errors.StreamCut),
        ("malformed", errors.BadReply),
        ("stall", errors.ProviderTimeout),
    ],
)
async def test_a_broken_stream_keeps_what_came(llm: LLMockServer, kind: Any, expected: type[Exception]) -> None:
    llm.state.scenarios.add(Reply(text="one two three four"), StreamFault(kind, after_chunks=3))
    parts, error = await run(chat_at(llm.base_url(), idle_timeout=1 if kind == "stall" else 60))
    assert isinstance(error, expected)
    assert text(parts).rstrip() == "one two"


WEATHER = ChatOptions(tools=(ToolSpec("weather", "Tells the weather.", {"type": "object", "properties": {}}),))


async def test_calls_and_their_results_go_round(llm: LLMockServer) -> None:
    asked = (ToolCall("weather", {"place": "东京"}), ToolCall("weather", {"place": "Oslo"}))
    llm.state.scenarios.add(Reply(text="Let me see.", tool_calls=asked, match=Match(tools=True)), Reply(text="Sunny."))
    chat = chat_at(llm.base_url())
    parts = [part async for part in chat.stream(HELLO, WEATHER)]
    calls = tuple(part.call for part in parts if isinstance(part, ToolCallPart))
    assert [(call.name, json.loads(call.arguments)["place"]) for call in calls] == [
        ("weather", "东京"),
        ("weather", "Oslo"),
    ]
    assert text(parts) == "Let me see."
    assert parts[-1] == FinishPart("tool_calls")
    results = [ChatMessage("tool", "sunny", tool_call_id=call.id) for call in calls]
    history = [*HELLO, ChatMessage("assistant", text(parts), tool_calls=calls), *results]
    answer = [part async for part in chat.stream(history, WEATHER)]
    await chat.close()
    assert text(answer) == "Sunny."


async def test_a_call_with_broken_arguments_is_handed_on(llm: LLMockServer) -> None:
    llm.state.scenarios.add(
        Reply(tool_calls=(ToolCall("weather", {"place": "Oslo"}),)), ToolFault("malformed_arguments")
    )
    chat = chat_at(llm.base_url())
    parts = [part async for part in chat.stream(HELLO, WEATHER)]
    await chat.close()
    (call,) = [part.call for part in parts if isinstance(part, ToolCallPart)]
    assert call.name == "weather"
    with pytest.raises(json.JSONDecodeError):
        json.loads(call.arguments)


async def test_embeddings(llm: LLMockServer) -> None:
    embedder = OpenAIEmbedder(
        base_url=llm.base_url(),
        model="text-embedding-3-small",
        api_key=Secret(KEY),
        dimensions=0,
        settings=EmbeddingSettings(),
    )
    vectors = await embedder.embed(["one", "两"], "passage")
    await embedder.close()
    assert vectors.shape == (2, embedder.width)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_nothing_listens() -> None:
    parts, error = await run(chat_at("http://127.0.0.1:9/v1", max_retries=1))
    assert isinstance(error, errors.ProviderUnavailable)
    assert "Nothing answers at 127.0.0.1:9" in str(error)
    assert [type(part) for part in parts] == [RetryPart]


async def test_nothing_listens_where_no_model_is_named() -> None:
    parts, error = await run(chat_at("http://127.0.0.1:9/v1", model=""))
    assert isinstance(error, errors.ProviderUnavailable)
    assert "Nothing answers at 127.0.0.1:9" in str(error)
    assert "Start the server" in error.hint
    assert parts == []


@asynccontextmanager
async def raw_server(first: bytes) -> AsyncIterator[tuple[str, asyncio.Event, asyncio.Event]]:
    """Sends `first` and then nothing; tells that it was asked, and when the client has gone: llmock tells neither."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + first)
        await writer.drain()
        asked.set()
        while await reader.read(1000):
            pass
        gone.set()
        writer.close()

    running = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with running:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}/v1", asked, gone


async def test_stopping_hangs_up_at_once() -> None:
    async with raw_server(chunk("Hi")) as (url, _, gone):
        chat = chat_at(url)
        parts = chat.stream(HELLO)
        assert await anext(parts) == TextPart("Hi")
        await parts.aclose()
        await asyncio.wait_for(gone.wait(), 5)
        await chat.close()


async def test_cancelling_while_waiting_for_the_first_byte_hangs_up() -> None:
    async with raw_server(b"") as (url, asked, gone):
        chat = chat_at(url)
        task = asyncio.create_task(run(chat))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(gone.wait(), 5)
