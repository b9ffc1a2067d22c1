import httpx2
import pytest
from sse_script import FOREVER, GOOD, Naps, Server, answer, collect, collect_until_error, model, stream, text

from memory import errors
from memory.provider.base import ChatOptions, ChatPart, RetryPart


def rate_limited(**headers: str) -> httpx2.Response:
    return answer(429, {"error": {"message": "slow down"}}, **headers)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "0"}, 0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": "86400"}, 60),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        ({"retry_after": "Wed, 01 Jan 2025 00:00:09 GMT", "date": "Wed, 01 Jan 2025 00:00:00 GMT"}, 9),
        ({"retry_after": "Wed, 01 Jan 2025 00:00:09 GMT"}, 0),
    ],
)
async def test_the_wait_is_what_the_server_asks_at_most_a_minute(headers: dict[str, str], seconds: float) -> None:
    naps = Naps()
    parts = await collect(model(Server(rate_limited(**headers), stream(*GOOD)), naps=naps, max_retries=1))
    assert naps.seconds == [seconds]
    assert parts[0] == RetryPart(seconds, "models.example asks to wait (429)")
    assert text(parts) == "Hi there"


@pytest.mark.parametrize("value", ["", "soon", "-5", "nan", "Wed, 99 Jan"])
async def test_without_a_usable_wait_it_grows(value: str) -> None:
    naps = Naps()
    refusals = [rate_limited(retry_after=value) for _ in range(5)]
    await collect(model(Server(*refusals, stream(*GOOD)), naps=naps, max_retries=5))
    for asked, least in zip(naps.seconds, (1, 2, 4, 8, 8), strict=True):
        assert least <= asked <= least * 1.25


@pytest.mark.parametrize(
    "first",
    [
        answer(500, b""),
        answer(503, b"", retry_after="1"),
        httpx2.ConnectError("All connection attempts failed"),
        httpx2.ReadError("reset before the headers"),
        stream(httpx2.ReadError("reset before the first byte")),
    ],
    ids=["500", "503", "refused", "reset", "reset after the headers"],
)
async def test_what_may_pass_is_tried_again_before_the_first_byte(first: httpx2.Response | Exception) -> None:
    naps = Naps()
    server = Server(first, stream(*GOOD))
    parts = await collect(model(server, naps=naps, max_retries=1))
    assert isinstance(parts[0], RetryPart)
    assert parts[0].reason.startswith(("models.example", "The connection", "Nothing answers"))
    assert text(parts) == "Hi there"
    assert len(naps.seconds) == 1
    assert all(body.closed for body in server.bodies)


@pytest.mark.parametrize(
    "only",
    [
        answer(401, b""),
        answer(400, {"error": "no"}),
        answer(429, {"error": {"code": "insufficient_quota"}}),
        httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]"),
        httpx2.ProxyError("407"),
    ],
    ids=["401", "400", "quota", "certificate", "proxy"],
)
async def test_what_will_not_pass_is_not_tried_again(only: httpx2.Response | Exception) -> None:
    naps = Naps()
    with pytest.raises(errors.ProviderError):
        await collect(model(Server(only), naps=naps, max_retries=3))
    assert naps.seconds == []


async def test_after_the_last_try_the_error_is_told() -> None:
    naps = Naps()
    parts: list[ChatPart] = []
    with pytest.raises(errors.RateLimited):
        await collect_until_error(model(Server(*(rate_limited() for _ in range(3))), naps=naps, max_retries=2), parts)
    assert [type(part) for part in parts] == [RetryPart, RetryPart]
    assert len(naps.seconds) == 2


async def test_a_silent_server_is_not_asked_again() -> None:
    server = Server(lambda _: FOREVER)
    with pytest.raises(errors.ProviderTimeout):
        await collect(model(server, max_retries=3, first_byte_timeout=0.02))
    assert len(server.requests) == 1


def refusal(words: str, status: int = 400) -> httpx2.Response:
    return answer(status, {"error": {"message": words}})


SCHEMA = ChatOptions(json_schema={"type": "object"}, temperature=0.0, max_tokens=9)


async def test_a_server_that_knows_no_stream_options_is_asked_without_from_then_on() -> None:
    naps = Naps()
    server = Server(refusal("Unknown field: stream_options", 422), stream(*GOOD), stream(*GOOD))
    chat = model(server, naps=naps)
    assert text(await collect(chat)) == "Hi there"
    assert text(await collect(chat)) == "Hi there"
    assert ["stream_options" in server.sent(number) for number in range(3)] == [True, False, False]
    assert naps.seconds == []


async def test_an_unexplained_refusal_is_tried_once_without_stream_options() -> None:
    server = Server(answer(400, b""), answer(400, b""))
    with pytest.raises(errors.RequestRefused):
        await collect(model(server))
    assert len(server.requests) == 2


async def test_a_server_that_wants_another_name_for_the_limit() -> None:
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server = Server(refusal(words), stream(*GOOD))
    await collect(model(server, max_tokens=9))
    assert server.sent()["max_completion_tokens"] == 9
    assert "max_tokens" not in server.sent()


async def test_a_server_that_takes_no_temperature() -> None:
    server = Server(refusal("Unsupported value: 'temperature' does not support 0"), stream(*GOOD))
    await collect(model(server), SCHEMA)
    assert "temperature" not in server.sent()


async def test_a_temperature_out_of_range_is_told_not_dropped() -> None:
    with pytest.raises(errors.RequestRefused, match="at most 1"):
        await collect(model(Server(refusal("temperature must be at most 1")), temperature=1.5))


async def test_a_schema_is_asked_for_where_the_server_can() -> None:
    server = Server(
        refusal("response_format json_schema is not supported"),
        refusal("response_format is not supported"),
        stream(*GOOD),
    )
    await collect(model(server), SCHEMA)
    assert [server.sent(number).get("response_format", {}).get("type") for number in range(3)] == [
        "json_schema",
        "json_object",
        None,
    ]


async def test_refusals_that_never_end_do_end() -> None:
    server = Server(*(refusal("stream_options response_format max_completion_tokens") for _ in range(20)))
    with pytest.raises(errors.RequestRefused):
        await collect(model(server, parameters={"max_tokens": 5}), SCHEMA)
    assert len(server.requests) < 8
