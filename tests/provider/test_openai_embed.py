import asyncio
import base64
import json
import struct
from collections.abc import Callable
from typing import Any

import httpx2
import numpy as np
import pytest
from sse_script import FOREVER, KEY, Server, answer, openai_error, stream

from memory.config import EmbeddingSettings, Secret
from memory.errors import EmbeddingFailed, InvalidVectorError
from memory.provider.openai_embed import OpenAIEmbedder


def embedder(
    server: Server, *, model: str = "some-model", dimensions: int = 3, key: str = KEY, **given: Any
) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        base_url="https://embed.example/v1/",
        model=model,
        api_key=Secret(key),
        key_hint="Set EXAMPLE_API_KEY.",
        dimensions=dimensions,
        settings=EmbeddingSettings(**given),
        transport=server,
    )


def vectors(*rows: Any) -> httpx2.Response:
    return answer(200, {"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})


def by_length(request: httpx2.Request) -> httpx2.Response:
    """A vector that tells the length of its text."""
    return vectors(*([len(text), 1, 0] for text in json.loads(request.content)["input"]))


async def embed(reply: Any, texts: list[str] | None = None, **given: Any) -> Any:
    server = Server(*[reply] * 3) if isinstance(reply, Callable) else Server(reply)
    made = embedder(server, **given)
    try:
        return await made.embed(texts or ["one", "two"], "passage")
    finally:
        await made.close()


async def test_the_request_and_the_vectors() -> None:
    server = Server(vectors([3, 4, 0], [0, 0, -2]))
    made = embedder(server)
    result = await made.embed(["one", "two"], "passage")
    assert result.dtype == np.float32
    assert result.tolist() == [[np.float32(0.6), np.float32(0.8), 0], [0, 0, -1]]
    assert (made.model, made.width) == ("some-model", 3)
    assert server.sent() == {"model": "some-model", "input": ["one", "two"], "encoding_format": "float"}
    assert str(server.requests[0].url) == "https://embed.example/v1/embeddings"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.bodies[0].closed
    await made.close()
    await made.close()


async def test_vectors_are_ordered_by_index() -> None:
    body = {"data": [{"index": 1, "embedding": [0, 1, 0]}, {"index": 0, "embedding": [1, 0, 0]}]}
    assert (await embed(answer(200, body))).tolist() == [[1, 0, 0], [0, 1, 0]]


async def test_without_indexes_the_order_is_that_of_the_texts() -> None:
    body = {"data": [{"embedding": [1, 0, 0]}, {"embedding": [0, 1, 0]}]}
    assert (await embed(answer(200, body))).tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    "row", [[[0, 5, 0]], base64.b64encode(struct.pack("<3f", 0, 5, 0)).decode()], ids=["nested", "base64"]
)
async def test_other_shapes_of_a_vector(row: Any) -> None:
    assert (await embed(vectors(row), ["one"])).tolist() == [[0, 1, 0]]


INVALID = {
    "too wide": [[1, 0, 0], [1, 0, 0, 0]],
    "all too wide": [[1, 0, 0, 0], [1, 0, 0, 0]],
    "empty": [[], []],
    "nan": [[1, 0, 0], [float("nan"), 0, 0]],
    "infinite": [[1, 0, 0], [float("inf"), 0, 0]],
    "null inside": [[1, 0, 0], [None, 0, 0]],
    "null": [[1, 0, 0], None],
    "zero": [[1, 0, 0], [0, 0, 0]],
    "words": [[1, 0, 0], ["a", "b", "c"]],
    "broken base64": [[1, 0, 0], "!!!"],
    "an object": [[1, 0, 0], {"a": 1}],
    "overflow": [[1, 0, 0], [1e308, 1e308, 1e308]],
}


@pytest.mark.parametrize("rows", INVALID.values(), ids=INVALID.keys())
async def test_bad_vectors_are_refused(rows: list[Any]) -> None:
    with pytest.raises(InvalidVectorError):
        await embed(vectors(*rows))


ODD = {
    "one too few": vectors([1, 0, 0]),
    "one too many": vectors([1, 0, 0], [1, 0, 0], [1, 0, 0]),
    "none": answer(200, {"data": []}),
    "index twice": answer(200, {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}),
    "index beyond": answer(200, {"data": [{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [1]}]}),
    "index of words": answer(200, {"data": [{"index": "0", "embedding": [1]}, {"index": "1", "embedding": [1]}]}),
    "no list": answer(200, {"data": None}),
    "a list of words": answer(200, {"data": ["a", "b"]}),
    "an error": answer(200, openai_error("busy")),
    "a web page": stream(b"<html>", content_type="text/html"),
    "nothing": stream(b""),
}


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD.keys())
async def test_answers_that_are_none_can_be_tried_again(reply: httpx2.Response) -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        await embed(reply)
    assert caught.value.hint
    assert "<" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "words", "hint", "wait"),
    [
        (answer(401, openai_error(f"bad key {KEY}")), "refused the key", "EXAMPLE_API_KEY", None),
        (answer(429, b"", retry_after="7"), "too often", "Wait", 7.0),
        (answer(429, b""), "too often", "Wait", None),
        (answer(503, b"", retry_after="2"), "503", "Try again", 2.0),
        (answer(404, openai_error("model x not found")), "no model", "another model", None),
        (answer(307, b"", location="https://evil.example/"), "not followed", "base_url", None),
        (httpx2.ConnectError("refused"), "refused the connection", "network", None),
        (httpx2.ReadError(""), "broke", "network", None),
        (stream(b"{", httpx2.ReadError("")), "broke", "network", None),
    ],
)
async def test_refusals_say_what_to_do_and_how_long_to_wait(
    reply: Any, words: str, hint: str, wait: float | None
) -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        await embed(reply)
    assert words in str(caught.value)
    assert hint in caught.value.hint
    assert caught.value.retry_after == wait
    assert KEY not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("reply", [lambda _: FOREVER, lambda _: stream(FOREVER)], ids=["no headers", "no body"])
async def test_a_silent_server_is_not_waited_for(reply: Any) -> None:
    server = Server(reply)
    with pytest.raises(EmbeddingFailed, match=r"within 0\.02 seconds"):
        await embedder(server, timeout=0.02).embed(["one"], "query")
    assert all(body.closed for body in server.bodies)


async def test_a_key_that_cannot_be_sent() -> None:
    server = Server()
    with pytest.raises(EmbeddingFailed) as caught:
        await embedder(server, key="two words").embed(["one"], "query")
    assert "two words" not in str(caught.value)
    assert server.requests == []


async def test_cancelling_closes_the_body() -> None:
    reply = stream(b"{", FOREVER)
    body = reply.stream
    server = Server(reply)
    made = embedder(server)
    task = asyncio.create_task(made.embed(["one"], "query"))
    await body.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.bodies[0].closed
    await made.close()


async def test_many_texts_go_in_several_requests_in_order() -> None:
    server = Server(*[by_length] * 3)
    made = embedder(server)
    result = await made.embed(["x" * (place + 1) for place in range(70)], "passage")
    assert [len(server.sent(number)["input"]) for number in range(3)] == [32, 32, 6]
    assert np.allclose(result[:, 0] / result[:, 1], np.arange(1, 71), rtol=1e-5)
    await made.close()


@pytest.mark.parametrize(("model", "limit"), [("Pro/BAAI/bge-m3", 8000), ("BAAI/bge-large-zh-v1.5", 500)])
async def test_a_long_text_is_cut_to_what_the_model_takes(model: str, limit: int) -> None:
    server = Server(by_length)
    await embedder(server, model=model).embed(["字" * 100_000], "passage")
    assert len(server.sent()["input"][0]) == limit


@pytest.mark.parametrize(
    "refusal",
    [answer(413, b""), answer(400, openai_error("maximum context length is 8192 tokens"))],
    ids=["413", "400"],
)
async def test_a_text_that_is_too_long_after_all_is_cut_once_more(refusal: httpx2.Response) -> None:
    server = Server(refusal, by_length)
    await embedder(server).embed(["🙂" * 8000], "passage")
    assert len(server.sent()["input"][0]) == 2000


async def test_a_text_that_is_too_long_for_good() -> None:
    with pytest.raises(EmbeddingFailed) as caught:
        await embed(lambda _: answer(413, b""))
    assert "longer texts" in caught.value.hint


@pytest.mark.parametrize("texts", [[], [""], ["one", " \n"]])
async def test_an_empty_text_is_not_sent(texts: list[str]) -> None:
    server = Server()
    with pytest.raises(EmbeddingFailed):
        await embedder(server).embed(texts, "passage")
    assert server.requests == []


async def test_what_cannot_be_encoded_is_replaced() -> None:
    server = Server(by_length)
    await embedder(server).embed(["a\ud83d\x00b"], "passage")
    assert server.sent()["input"] == ["a\ufffd\ufffdb"]


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("Pro/BAAI/bge-m3", "x", "x"),
        ("intfloat/multilingual-e5-small", "query: x", "passage: x"),
        ("nomic-embed-text", "search_query: x", "search_document: x"),
    ],
)
async def test_models_that_tell_queries_from_passages(model: str, query: str, passage: str) -> None:
    server = Server(by_length, by_length)
    made = embedder(server, model=model)
    await made.embed(["x"], "query")
    await made.embed(["x"], "passage")
    assert [server.sent(number)["input"] for number in (0, 1)] == [[query], [passage]]


@pytest.mark.parametrize(
    ("model", "asked", "width", "sent"),
    [
        ("Pro/BAAI/bge-m3", 0, 1024, None),
        ("Pro/BAAI/bge-m3", 1024, 1024, None),
        ("text-embedding-3-small", 0, 1536, None),
        ("text-embedding-3-small", 512, 512, 512),
        ("Qwen/Qwen3-Embedding-8B", 1024, 1024, 1024),
        ("who-knows", 0, 0, None),
    ],
)
async def test_a_width_is_asked_for_only_where_the_model_can_change_it(
    model: str, asked: int, width: int, sent: int | None
) -> None:
    server = Server(vectors([1.0] * (width or 3)))
    made = embedder(server, model=model, dimensions=asked)
    assert made.width == width
    await made.embed(["x"], "query")
    assert server.sent().get("dimensions") == sent
    assert made.width == (width or 3)
    await made.close()
