import ssl
from typing import Any

import httpx2
import pytest
from sse_script import (
    BASE_URL,
    GOOD,
    HELLO,
    KEY,
    Server,
    answer,
    collect,
    model,
    openai_error,
    stream,
    text,
)

from memory import errors
from memory.provider import wire

HTML = b"<!DOCTYPE html><html><script>alert(1)</script></html>"


REFUSALS: dict[str, tuple[int, Any, type[errors.ProviderError], str, str]] = {
    # name: status, body, error, words of the message, words of the hint
    "401": (
        401,
        openai_error(f"Incorrect API key provided: {KEY}."),
        errors.AuthenticationFailed,
        "refused the key (401)",
        "EXAMPLE_API_KEY",
    ),
    "401 with another key": (
        401,
        openai_error("Bad key: sk-proj-abcdefgh1234"),
        errors.AuthenticationFailed,
        "Bad key: …",
        "EXAMPLE_API_KEY",
    ),
    "403": (403, {"message": "forbidden"}, errors.AuthenticationFailed, "forbidden", "EXAMPLE_API_KEY"),
    "402": (402, openai_error("Insufficient Balance"), errors.RequestRefused, "Insufficient Balance", "balance"),
    "403 without balance": (
        403,
        {"code": 30001, "message": "Sorry, your account balance is insufficient_balance"},
        errors.RequestRefused,
        "403",
        "balance",
    ),
    "404 model": (
        404,
        openai_error("The model `x` does not exist", "model_not_found"),
        errors.ModelNotFound,
        "test-model",
        "Choose another model",
    ),
    "404 ollama": (
        404,
        {"error": 'model "x" not found, try pulling it first'},
        errors.ModelNotFound,
        "no model",
        "Choose another model",
    ),
    "400 siliconflow": (
        400,
        {"code": 20012, "message": "Model does not exist. Please check it carefully.", "data": None},
        errors.ModelNotFound,
        "does not exist",
        "Choose",
    ),
    "404 page": (404, HTML, errors.RequestRefused, "404", "/v1"),
    "400 context": (
        400,
        openai_error("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
        errors.ContextTooLong,
        "too long",
        "context_window",
    ),
    "400 llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        errors.ContextTooLong,
        "too long",
        "context_window",
    ),
    "400 siliconflow length": (
        400,
        {"code": 20015, "message": "length of prompt_tokens (9) must be less than max_seq_len (8)."},
        errors.ContextTooLong,
        "max_seq_len",
        "context_window",
    ),
    "413 context": (
        413,
        openai_error("prompt is too long: 9 tokens > 8 maximum"),
        errors.ContextTooLong,
        "too long",
        "context_window",
    ),
    "413": (413, HTML, errors.RequestRefused, "413", "parameters"),
    "400": (400, openai_error("top_k must be positive"), errors.RequestRefused, "top_k must be positive", "parameters"),
    "422 fastapi": (
        422,
        {"detail": [{"loc": ["body", "n"], "msg": "value is not a valid integer"}]},
        errors.RequestRefused,
        "not a valid integer",
        "parameters",
    ),
    "429": (
        429,
        openai_error("Rate limit reached: 9 tokens of context length", kind="tokens"),
        errors.RateLimited,
        "too often (429)",
        "Wait",
    ),
    "429 quota": (
        429,
        openai_error("You exceeded your current quota", "insufficient_quota"),
        errors.RateLimited,
        "quota",
        "balance",
    ),
    "500 page": (500, HTML, errors.ServerFailed, "500 Internal Server Error", "Try again"),
    "502 empty": (502, b"", errors.ServerFailed, "502 Bad Gateway", "Try again"),
    "503 loading": (503, openai_error("Loading model"), errors.ServerFailed, "Loading model", "Try again"),
    "529": (529, {"error": "overloaded"}, errors.ServerFailed, "529", "Try again"),
    "408": (408, b"", errors.ServerFailed, "408", "Try again"),
    "body of odd shape": (400, [1, {"a": [2]}, None], errors.RequestRefused, "400", "parameters"),
    "body of no text": (400, b"\xff\xfe\x00", errors.RequestRefused, "400", "parameters"),
}


@pytest.mark.parametrize("case", REFUSALS.values(), ids=REFUSALS.keys())
async def test_refusals(case: tuple[int, Any, type[errors.ProviderError], str, str]) -> None:
    status, body, kind, words, hint = case
    server = Server(*(answer(status, body, x_request_id="req-1") for _ in range(3)))
    with pytest.raises(errors.ProviderError) as caught:
        await collect(model(server))
    error = caught.value
    assert type(error) is kind
    assert words in str(error)
    assert hint in error.hint
    for said in (str(error), error.hint, repr(error)):
        assert KEY not in said
        assert "<html" not in said
    assert all(body.closed for body in server.bodies)


async def test_a_key_that_is_missing_is_told_from_one_that_is_refused() -> None:
    with pytest.raises(errors.AuthenticationFailed, match="wants a key"):
        await collect(model(Server(answer(401, b"")), key=""))


async def test_an_unknown_model_is_answered_with_those_that_are_there() -> None:
    there = {"data": [{"id": f"model-{number}"} for number in range(9)] + [{"id": "evil\x1b[2J"}]}
    server = Server(answer(404, openai_error("no such model", "model_not_found")), answer(200, there))
    with pytest.raises(errors.ModelNotFound) as caught:
        await collect(model(server))
    assert "It has: model-0, model-1, model-2, model-3, model-4 …" in caught.value.hint


async def test_a_servers_words_are_cleaned_and_short() -> None:
    server = Server(answer(400, openai_error("\x1b]52;c;aGk=\x07[red]" + "word " * 500)))
    with pytest.raises(errors.RequestRefused) as caught:
        await collect(model(server))
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("target", ["https://evil.example/v1/chat/completions?key=1", "/v1/chat/completions/"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(status: int, target: str) -> None:
    server = Server(stream(b"", status=status, location=target))
    with pytest.raises(errors.RequestRefused, match="not followed") as caught:
        await collect(model(server))
    assert target.partition("?")[0] in str(caught.value)
    assert "base_url" in caught.value.hint
    assert len(server.requests) == 1
    assert server.bodies[0].closed


async def test_an_endless_error_page_is_not_read_to_its_end() -> None:
    server = Server(stream(*[b"x" * 65536] * 1000, status=400))
    with pytest.raises(errors.RequestRefused):
        await collect(model(server))
    assert server.bodies[0].sent <= wire.MAX_ERROR_BYTES // 65536 + 1
    assert server.bodies[0].closed


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


UNREACHABLE: dict[str, tuple[Exception, str, str]] = {
    "refused": (httpx2.ConnectError("All connection attempts failed"), "refused the connection", "base_url"),
    "dns": (httpx2.ConnectError("[Errno -2] Name or service not known"), "was not found", "network"),
    "certificate": (httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] expired"), "certificate", "clock"),
    "tls": (httpx2.ConnectError("[SSL: WRONG_VERSION_NUMBER] wrong version"), "No secure connection", "https://"),
    "raw tls": (ssl.SSLError("tlsv1 alert"), "No secure connection", "https://"),
    "connect time-out": (httpx2.ConnectTimeout(""), "in time", "network"),
    "proxy": (httpx2.ProxyError("407 Proxy Authentication Required"), "proxy", "HTTPS_PROXY"),
    "reset": (httpx2.ReadError(""), "broke", "network"),
    "gone": (httpx2.RemoteProtocolError("Server disconnected without sending a response."), "broke", "network"),
}


@pytest.mark.parametrize(("raised", "words", "hint"), UNREACHABLE.values(), ids=UNREACHABLE.keys())
async def test_no_connection(raised: Exception, words: str, hint: str) -> None:
    with pytest.raises(errors.ProviderUnavailable) as caught:
        await collect(model(Server(raised)))
    assert words in str(caught.value)
    assert hint in caught.value.hint
    assert "models.example" in str(caught.value)


@pytest.mark.parametrize("base_url", ["models.example/v1", "ftp://models.example", "http://[bad", "http://a b/v1", "x"])
async def test_an_address_that_is_none(base_url: str) -> None:
    chat = model(Server(httpx2.UnsupportedProtocol("no")), base_url=base_url)
    with pytest.raises(errors.ProviderUnavailable) as caught:
        await collect(chat)
    assert "base_url" in caught.value.hint


@pytest.mark.parametrize("key", ["sk-with\nnewline", "sk-ünïcode", "two words"])
async def test_a_key_that_cannot_be_sent_is_not_sent(key: str) -> None:
    server = Server()
    with pytest.raises(errors.AuthenticationFailed) as caught:
        await collect(model(server, key=key))
    assert key not in str(caught.value) + repr(caught.value.__cause__)
    assert server.requests == []


async def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy.example")
    chat = model(Server())
    chat._transport = None
    with pytest.raises(errors.ProviderUnavailable, match="proxy"):
        await collect(chat)


async def test_parameters_that_are_no_json() -> None:
    with pytest.raises(errors.RequestRefused) as caught:
        await collect(model(Server(), parameters={"x": object()}))
    assert "llm.parameters" in caught.value.hint


async def test_no_model_configured_and_none_told() -> None:
    with pytest.raises(errors.ModelNotFound) as caught:
        await collect(model(Server(answer(404, b"")), model=""))
    assert "llm.model" in caught.value.hint


async def test_a_closed_model_opens_again_when_it_is_asked() -> None:
    server = Server(stream(*GOOD), stream(*GOOD))
    chat = model(server)
    assert text(await collect(chat)) == "Hi there"
    assert text([part async for part in chat.stream(HELLO)]) == "Hi there"
    assert str(server.requests[1].url).startswith(BASE_URL)
    await chat.close()
