"""The stand-ins: a script that plays as written, a demo that says what it is, an embedder that is exact."""

import asyncio

import pytest

from memory.errors import ServerFailed
from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    FinishPart,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolCallPart,
    UsagePart,
)
from memory.provider.scripted import DemoChat, HashEmbedder, ScriptedChat
from memory.types import ContextWindow, Usage

ASK = [ChatMessage("user", "hello")]


async def text_of(model: ScriptedChat | DemoChat, messages: list[ChatMessage] = ASK) -> str:
    return "".join([part.text async for part in model.stream(messages) if isinstance(part, TextPart)])


async def test_plays_replies_in_order_and_repeats_the_last() -> None:
    model = ScriptedChat(["one  two\n三四", "last"])
    assert [await text_of(model) for _ in range(3)] == ["one  two\n三四", "last", "last"]
    assert model.requests == [tuple(ASK)] * 3


async def test_calls_end_in_a_finish_that_says_so() -> None:
    call = ToolCallPart(ToolCall("1", "look", "{}"))
    parts = [part async for part in ScriptedChat([lambda messages: ["Hm.", call]]).stream(ASK)]
    assert parts == [TextPart("Hm."), call, FinishPart("tool_calls")]


async def test_text_comes_in_several_parts_and_ends_with_a_finish() -> None:
    parts = [part async for part in ScriptedChat(["a b 你好"]).stream(ASK)]
    assert len(parts) > 4
    assert parts[-1] == FinishPart("stop")


async def test_steps_are_played_as_written() -> None:
    called: list[str] = []

    async def later() -> None:
        called.append("awaited")

    steps = [
        ReasoningPart("hm"),
        lambda: called.append("called"),
        later,
        "text",
        UsagePart(Usage(1, 2)),
        FinishPart("length"),
    ]
    parts = [part async for part in ScriptedChat([steps]).stream(ASK)]
    assert parts == [ReasoningPart("hm"), TextPart("text"), UsagePart(Usage(1, 2)), FinishPart("length")]
    assert called == ["called", "awaited"]


async def test_a_reply_can_depend_on_the_request() -> None:
    assert await text_of(ScriptedChat([lambda messages: messages[-1].content.upper()])) == "HELLO"


async def test_errors_come_in_mid_stream() -> None:
    model = ScriptedChat([["half", ServerFailed("gone")]])
    parts = []
    stream = model.stream(ASK)
    parts.append(await anext(stream))
    with pytest.raises(ServerFailed):
        await anext(stream)
    assert parts == [TextPart("half")]
    assert model.cancelled == 0


async def test_a_gate_holds_the_stream_and_closing_it_is_counted() -> None:
    gate = asyncio.Event()
    model = ScriptedChat([["before", gate, "after"]])
    stream = model.stream(ASK)
    assert await anext(stream) == TextPart("before")
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    assert await waiting == TextPart("after")
    await stream.aclose()
    assert model.cancelled == 1


async def test_tells_what_it_was_given() -> None:
    model = ScriptedChat([""], window=ContextWindow(100, "configured"), name="x", tiny=True)
    assert (model.name, model.tiny, await model.context_window()) == ("x", True, ContextWindow(100, "configured"))
    assert [part async for part in model.stream(ASK, ChatOptions(max_tokens=3))] == [FinishPart("stop")]
    assert model.options == [ChatOptions(max_tokens=3)]
    await model.close()
    await model.close()
    assert model.closed


def test_an_empty_script_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ScriptedChat([])


@pytest.mark.parametrize(("asked", "says"), [("hi", "demo"), ("你好，你是谁？", "演示")])
async def test_the_demo_says_that_it_is_one_in_the_users_language(asked: str, says: str) -> None:
    model = DemoChat(pace=0)
    for turns in range(1, 5):
        told = await text_of(model, [ChatMessage("user", asked)] * turns)
        assert says in told[:40]
    assert model.tiny


async def test_the_demo_tells_how_to_set_a_model_up() -> None:
    told = await text_of(DemoChat(pace=0), [ChatMessage("user", "hi")] * 2)
    for way in ("SILICONFLOW_API_KEY", "Ollama", "llm.base_url", "orca-tui model add builtin"):
        assert way in told


async def test_the_demo_ends_properly() -> None:
    parts = [part async for part in DemoChat(pace=0).stream(ASK)]
    assert isinstance(parts[-2], UsagePart)
    assert parts[-2].usage.estimated
    assert parts[-1] == FinishPart("stop")


async def test_hashed_texts_that_share_words_are_near() -> None:
    embedder = HashEmbedder(256)
    vectors = await embedder.embed(
        ["the whale swims", "a whale swims far", "tax forms", "鲸鱼在游泳", "鲸鱼游走了"], "passage"
    )
    assert vectors.shape == (5, 256)
    assert vectors.dtype == "float32"
    near = vectors @ vectors.T
    assert near.diagonal() == pytest.approx(1.0, abs=1e-5)
    assert near[0, 1] > near[0, 2] + 0.2
    assert near[3, 4] > near[3, 2] + 0.2
    assert ((await embedder.embed(["tax forms"], "query"))[0] == vectors[2]).all()
    await embedder.close()


@pytest.mark.parametrize("text", ["", " ", "\ud800", "a" * 10_000])
async def test_every_text_has_a_unit_vector(text: str) -> None:
    vectors = await HashEmbedder(8).embed([text], "passage")
    assert (vectors[0] ** 2).sum() == pytest.approx(1.0, abs=1e-5)


def test_a_vector_needs_a_width() -> None:
    with pytest.raises(ValueError, match="at least one"):
        HashEmbedder(0)
