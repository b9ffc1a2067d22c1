import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from sse_script import FOREVER, GOOD, Server, answer, collect, model, stream

from memory import errors
from memory.provider import server_info
from memory.types import ContextWindow

OLLAMA = "http://127.0.0.1:11434/v1"


def site(**pages: Any) -> Callable[[httpx2.Request], Any]:
    """Answers by path; what is missing is 404."""

    def reply(request: httpx2.Request) -> Any:
        page = pages.get(request.url.path.strip("/").replace("/", "_"))
        return answer(404, b"") if page is None else page if isinstance(page, Exception) else answer(200, page)

    return reply


async def window(reply: Any, *, model_name: str = "test-model", **given: Any) -> ContextWindow:
    chat = model(Server(*[reply] * 9), model=model_name, **given)
    try:
        first = await chat.context_window()
        assert await chat.context_window() == first
        return first
    finally:
        await chat.close()


@pytest.mark.parametrize(
    "field", ["context_length", "max_model_len", "context_window", "max_context_length", "loaded_context_length"]
)
async def test_the_servers_list_of_models(field: str) -> None:
    models = {"data": [{"id": "other", field: 1000}, {"id": "test-model", field: 32_768}]}
    assert await window(site(v1_models=models)) == ContextWindow(32_768, "served")


async def test_a_bare_list() -> None:
    assert await window(site(v1_models=[{"id": "test-model", "context_length": 4096}])) == ContextWindow(4096, "served")


@pytest.mark.parametrize("size", [None, 0, -1, True, "8192", 5, 10**12, [8192]])
async def test_a_size_that_cannot_be_is_not_believed(size: Any) -> None:
    models = {"data": [{"id": "test-model", "context_length": size}]}
    assert await window(site(v1_models=models)) == ContextWindow(8192, "estimated")


@pytest.mark.parametrize(
    "models", [{"data": None}, {"data": [None, 3, {"id": None}, {"id": 5}]}, [], "x", None, {"error": "no"}]
)
async def test_odd_lists_are_no_error(models: Any) -> None:
    assert (await window(site(v1_models=models))).source == "estimated"


@pytest.mark.parametrize(
    ("configured", "served", "expected"),
    [
        (0, 32_768, ContextWindow(32_768, "served")),
        (8000, 32_768, ContextWindow(8000, "configured")),
        (64_000, 32_768, ContextWindow(32_768, "served")),
        (64_000, None, ContextWindow(64_000, "configured")),
    ],
)
async def test_the_smaller_of_configured_and_served_counts(
    configured: int, served: Any, expected: ContextWindow
) -> None:
    models = {"data": [{"id": "test-model", "context_length": served}]}
    assert await window(site(v1_models=models), context_window=configured) == expected


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4", 8_192),
        ("o3-mini", 200_000),
        ("deepseek-ai/DeepSeek-V3", 65_536),
        ("Qwen/Qwen3-8B", 32_768),
        ("meta-llama/Llama-3.2-3B", 131_072),
        ("who-knows", 8_192),
    ],
)
async def test_a_guess_by_name_is_marked(name: str, tokens: int) -> None:
    assert await window(site(), model_name=name) == ContextWindow(tokens, "estimated")


@pytest.mark.parametrize(
    "reply", [httpx2.ConnectError("refused"), httpx2.ReadError("reset"), answer(200, b"{broken"), answer(500, b"")]
)
async def test_a_server_that_does_not_answer_is_no_error(reply: Any) -> None:
    chat = model(Server(*[reply] * 3))
    assert await chat.context_window() == ContextWindow(8192, "estimated")
    await chat.close()


async def test_a_server_that_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_info, "TIMEOUT", 0.02)
    chat = model(Server(lambda _: FOREVER))
    assert await chat.context_window() == ContextWindow(8192, "estimated")
    await chat.close()


async def test_a_key_that_cannot_be_sent_is_no_error_here() -> None:
    assert (await window(site(), key="two words")).source == "estimated"


SHOW = {"model_info": {"llama.context_length": 131_072}, "parameters": 'stop "<|eot|>"\nnum_ctx    16384\n'}
LIST = {"data": [{"id": "llama3.2:latest", "owned_by": "library"}]}


@pytest.mark.parametrize("base_url", [OLLAMA, "https://ollama.example/v1"])
@pytest.mark.parametrize("name", ["llama3.2", "llama3.2:latest"])
async def test_ollama_tells_what_it_serves_not_what_the_model_could(base_url: str, name: str) -> None:
    running = {"models": [{"model": "llama3.2:latest", "context_length": 4096}]}
    reply = site(v1_models=LIST, api_ps=running, api_show=SHOW)
    assert await window(reply, base_url=base_url, model_name=name) == ContextWindow(4096, "served")


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        (SHOW, ContextWindow(16_384, "served")),
        ({**SHOW, "parameters": "num_ctx 999999"}, ContextWindow(131_072, "served")),
        ({**SHOW, "parameters": None}, ContextWindow(4096, "estimated")),
        ({"model_info": {"x.context_length": 2048}}, ContextWindow(2048, "estimated")),
        ({}, ContextWindow(4096, "estimated")),
        ({"model_info": [], "parameters": 3}, ContextWindow(4096, "estimated")),
    ],
)
async def test_ollama_with_the_model_not_loaded(show: Any, expected: ContextWindow) -> None:
    reply = site(v1_models=LIST, api_ps={"models": None}, api_show=show)
    assert await window(reply, base_url=OLLAMA, model_name="llama3.2") == expected


async def test_ollama_is_asked_again_once_the_model_is_loaded() -> None:
    def pages(running: list[Any]) -> Callable[[httpx2.Request], Any]:
        return site(v1_models=LIST, api_ps={"models": running}, api_show={})

    loaded = [{"name": "llama3.2:latest", "context_length": 32_768}]
    server = Server(*[pages([])] * 3, stream(*GOOD), *[pages(loaded)] * 2)
    chat = model(server, base_url=OLLAMA, model="llama3.2")
    assert await chat.context_window() == ContextWindow(4096, "estimated")
    await collect(chat)
    assert await chat.context_window() == ContextWindow(32_768, "served")
    await chat.close()


async def test_llama_cpp_tells_what_it_serves() -> None:
    models = {"data": [{"id": "test-model", "owned_by": "llamacpp", "context_length": 131_072}]}
    props = {"default_generation_settings": {"n_ctx": 4096}}
    assert await window(site(v1_models=models, props=props)) == ContextWindow(4096, "served")


async def test_without_a_model_the_servers_first_for_chat_is_taken() -> None:
    models = {"data": [{"id": "bge-m3"}, {"id": "text-embedding-3"}, {"id": "real-model"}, {"id": "other"}]}
    server = Server(answer(200, models), stream(*GOOD))
    chat = model(server, model="")
    assert chat.name == "models.example"
    await collect(chat)
    assert chat.name == "real-model"
    assert json.loads(server.requests[1].content)["model"] == "real-model"


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (httpx2.ConnectError("All connection attempts failed"), errors.ProviderUnavailable, "Nothing answers at"),
        (httpx2.ConnectTimeout(""), errors.ProviderUnavailable, "did not accept a connection"),
        (TimeoutError(), errors.ProviderTimeout, "did not say which models it has"),
        (lambda _: answer(401, {"error": "no"}), errors.AuthenticationFailed, "refused the key"),
        (lambda _: answer(503, b"busy"), errors.ServerFailed, "503"),
        (lambda _: answer(404, b""), errors.ModelNotFound, "does not say which it has"),
        (lambda _: answer(200, {"data": []}), errors.ModelNotFound, "does not say which it has"),
    ],
)
async def test_why_no_model_can_be_chosen(reply: Any, error: type[errors.ProviderError], words: str) -> None:
    chat = model(Server(*[reply] * 2), model="")
    assert (await chat.context_window()).source == "estimated"
    with pytest.raises(error, match=words) as caught:
        await collect(chat)
    assert caught.value.hint
    await chat.close()
