"""Every fault of the chat server, through the whole core, on real connections.

For each: the error that the user reads, the text that is kept, the state of the stored reply, how often the server was
asked (only before the first byte is anything tried again), that no connection and no task is left, and that the next
turn works. What each of many wordings of a refusal means is in `tests/provider/test_openai_errors.py`; shapes of
broken streams in `test_openai_broken.py`, `test_openai_stream.py` and `test_sse.py`; waits in `test_openai_retry.py`.

| fault | test here |
| --- | --- |
| name not found, proxy, certificate | `tests/provider/test_openai_errors.py` (no network in tests) |
| refused, TLS to a plain server | `test_no_connection` |
| 401, 403, 404, 400, 413, 422, quota | `test_faults[…]`; context too long also `test_a_prompt_that_is_too_long` |
| 429, 500, 502, 503, 529 | `test_what_passes_is_waited_out`, `test_faults[500 for good]` |
| no first byte, stall in the stream, stop by the user | `test_faults[silence…]`, `test_stopping` |
| reset, end without a finish mark | `test_faults[reset…]`, `[end…]` |
| broken SSE | `test_odd_streams_are_read`, `test_faults[broken event]` |
| error in a 200, HTML, empty, 204, wrong type, bad gzip | `test_faults[…]` |
| length, content filter, missing usage | `test_why_a_reply_ends` |
| redirect to another host | `test_a_redirect_never_sees_the_key` |
| endless stream | `test_an_endless_stream_is_cut` |
| escapes, markup, secrets in the error text | `test_what_the_server_says_is_cleaned` |
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memory import errors
from memory.config import LLMSettings, Secret, Settings
from memory.core import Core
from memory.events import TurnEvent, TurnFailed, TurnFinished, Waiting
from memory.provider import chunks
from memory.provider.openai_chat import OpenAIChat
from tests.faults.talking_server import DONE, GOOD, HANG, RESET, Piece, delta, head, refusal, reply, talking
from tests.helpers import events_of, opened, until

KEY = "sk-canary-0a1b2c3d4e5f"
HI = delta("Half an answ")
ERROR = {"error": {"message": "upstream died", "type": "server_error"}}


async def no_wait(_seconds: float) -> None:
    """Instead of sleeping before a retry."""


def chat_at(url: str, **given: Any) -> OpenAIChat:
    settings = LLMSettings(**{"max_retries": 2, "first_byte_timeout": 5.0, "idle_timeout": 5.0, **given})
    return OpenAIChat(base_url=url, model="m", api_key=Secret(KEY), settings=settings, sleep=no_wait)


async def ask(core: Core, session: str | None = None, text: str = "Please tell me all") -> list[TurnEvent]:
    return await events_of(core.engine.start(session or core.store.create_session().id, text))


def said(event: TurnFailed) -> str:
    return f"{event.error} {event.error.hint} {event.error!r}"


Case = tuple[list[list[Piece]], type[errors.OrcaError], str, str, int]
"""Script, error, words of the message or hint, text that is kept, requests."""

FAULTS: dict[str, Case] = {
    "401": ([refusal(401, ERROR)], errors.AuthenticationFailed, "refused the key", "", 1),
    "403": ([refusal(403, ERROR)], errors.AuthenticationFailed, "refused the key", "", 1),
    "404": ([refusal(404, b"nothing here")], errors.RequestRefused, "base_url", "", 1),
    "400": ([refusal(400, {"error": "top_k must be positive"})], errors.RequestRefused, "top_k", "", 1),
    "413": ([refusal(413, b"too big")], errors.RequestRefused, "413", "", 1),
    "422": ([refusal(422, {"detail": "temperature"})], errors.RequestRefused, "temperature", "", 1),
    "429 quota": (
        [refusal(429, {"error": {"code": "insufficient_quota", "message": "no more"}})],
        errors.RateLimited,
        "quota",
        "",
        1,
    ),
    "429 for good": ([refusal(429, ERROR)] * 3, errors.RateLimited, "too often", "", 3),
    "500 for good": ([refusal(500, ERROR)] * 3, errors.ServerFailed, "500", "", 3),
    "silence before the headers": ([[HANG]], errors.ProviderTimeout, "sent nothing", "", 1),
    "silence after the headers": ([reply(HANG)], errors.ProviderTimeout, "nothing for", "", 1),
    "silence in the stream": ([reply(HI, HANG)], errors.ProviderTimeout, "no data", "Half an answ", 1),
    "reset before the first byte": ([[RESET]] * 3, errors.ProviderUnavailable, "broke", "", 3),
    "reset in the stream": ([reply(HI, RESET)], errors.StreamCut, "", "Half an answ", 1),
    "end without a finish mark": ([reply(HI)], errors.StreamCut, "", "Half an answ", 1),
    "error in the stream": (
        [reply(HI, b"data: " + json.dumps(ERROR).encode() + b"\n\n")],
        errors.ServerFailed,
        "upstream died",
        "Half an answ",
        1,
    ),
    "broken event": ([reply(HI, b"data: {half\n\n", DONE)], errors.BadReply, "", "Half an answ", 1),
    "a web page": ([[head(200, "text/html"), b"<!DOCTYPE html><script>"]], errors.BadReply, "", "", 1),
    "nothing at all": ([reply()], errors.BadReply, "", "", 1),
    "204": ([[head(204)]], errors.BadReply, "", "", 1),
    "another type": ([[head(200, "text/plain"), b"Not found"]], errors.BadReply, "", "", 1),
    "bad gzip": ([[head(content_encoding="gzip"), b"no gzip at all"]], errors.BadReply, "", "", 1),
    "an error in a 200": ([refusal(200, ERROR)], errors.ServerFailed, "upstream died", "", 1),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_faults(home: Path, name: str) -> None:
    script, kind, words, kept, requests = FAULTS[name]
    short = 0.3 if name.startswith("silence") else 5.0
    async with talking(*script, GOOD) as server:
        chat = chat_at(server.url, first_byte_timeout=short, idle_timeout=short)
        async with opened(home, chat, start=False) as core:
            before = asyncio.all_tasks()
            session = core.store.create_session()
            events = await ask(core, session.id)
            failed = events[-1]
            assert isinstance(failed, TurnFailed)
            assert type(failed.error) is kind
            assert words in said(failed)
            assert failed.error.hint
            assert KEY not in said(failed)
            user, answer = core.store.path(session.id)
            assert user.content == "Please tell me all"
            assert (answer.content, answer.state) == (kept, "failed")
            assert len(server.requests) == requests
            await until(lambda: server.open == 0)
            await core.maintenance.settled()
            left = {task for task in asyncio.all_tasks() - before if "maintenance" not in task.get_name()}
            assert {task for task in left if "serve" not in repr(task)} == set()
            server.script[:] = [GOOD]
            assert isinstance((await ask(core, session.id, "Again, please"))[-1], TurnFinished)
        await until(lambda: server.open == 0)


async def not_tls(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers a TLS greeting as a plain server does."""
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


@pytest.mark.parametrize("secure", [False, True], ids=["refused", "tls"])
async def test_no_connection(home: Path, secure: bool) -> None:
    server = await asyncio.start_server(not_tls, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1] if secure else 9
    chat = chat_at(f"http{'s' if secure else ''}://127.0.0.1:{port}/v1", max_retries=1)
    async with server, opened(home, chat, start=False) as core:
        failed = (await ask(core))[-1]
        assert isinstance(failed, TurnFailed)
        assert type(failed.error) is errors.ProviderUnavailable
        assert ("No secure connection" if secure else "refused the connection") in str(failed.error)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
@pytest.mark.parametrize("after", [{}, {"retry_after": "7"}, {"retry_after": "Wed, 01 Jan 2031 00:00:07 GMT"}])
async def test_what_passes_is_waited_out(home: Path, status: int, after: dict[str, str]) -> None:
    more = {**after, "date": "Wed, 01 Jan 2031 00:00:00 GMT"}
    async with (
        talking(refusal(status, ERROR, **more), GOOD) as server,
        opened(home, chat_at(server.url), start=False) as core,
    ):
        events = await ask(core)
        [waiting] = [event for event in events if isinstance(event, Waiting)]
        assert waiting.seconds == 7 if after else 1 <= waiting.seconds <= 1.25
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].message.content == "All well."
        assert len(server.requests) == 2


async def test_a_prompt_that_is_too_long_is_asked_once_more_shorter(home: Path) -> None:
    too_long = {"error": {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}}
    async with talking(refusal(400, too_long), GOOD) as server, opened(home, chat_at(server.url), start=False) as core:
        assert isinstance((await ask(core))[-1], TurnFinished)
        server.script[:] = [refusal(400, too_long)] * 2
        failed = (await ask(core))[-1]
        assert isinstance(failed, TurnFailed)
        assert type(failed.error) is errors.ContextTooLong
        assert "context_window" in failed.error.hint


@pytest.mark.parametrize("held", [[HANG], reply(HANG), reply(HI, HANG)], ids=["no headers", "no byte", "in the stream"])
async def test_stopping_hangs_up_and_keeps_what_came(home: Path, held: list[Piece]) -> None:
    async with talking(held) as server, opened(home, chat_at(server.url), start=False) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Please tell me all")
        running = asyncio.create_task(events_of(turn))
        await asyncio.wait_for(server.hanging.wait(), 20)
        if HI in held:
            await until(lambda: core.store.path(session.id)[-1].role == "assistant")
        turn.stop()
        events = await asyncio.wait_for(running, 20)
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].finish_reason == "stopped"
        assert events[-1].message.state == "stopped"
        assert events[-1].message.content in ("Half an answ", "")
        await until(lambda: server.open == 0)


ODD: dict[str, list[Piece]] = {
    "carriage returns": [delta("All").replace(b"\n", b"\r\n"), delta(" well."), delta(finish="stop")],
    "comments": [b": wait\n\n", delta("All well."), b":\n\n", delta(finish="stop")],
    "no space": [delta("All well.").replace(b"data: ", b"data:"), delta(finish="stop")],
    "byte order mark": [b"\xef\xbb\xbf" + delta("All well."), delta(finish="stop")],
    "an event in many lines": [
        b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "All well."}}]}\n\n',
        delta(finish="stop"),
    ],
    "one byte at a time": [bytes([byte]) for byte in delta("All well.") + delta(finish="stop") + DONE],
    "no done mark": [delta("All well."), delta(finish="stop")],
    "events of other names": [b'event: ping\ndata: {"type": "ping"}\n\n', delta("All well."), delta(finish="stop")],
    "usage alone": [delta("All well."), delta(finish="stop"), b'data: {"choices": [], "usage": null}\n\n', DONE],
}


@pytest.mark.parametrize("name", ODD)
async def test_odd_streams_are_read(home: Path, name: str) -> None:
    async with talking(reply(*ODD[name])) as server, opened(home, chat_at(server.url), start=False) as core:
        done = (await ask(core))[-1]
        assert isinstance(done, TurnFinished), done
        assert done.message.content == "All well."
        assert done.message.state == "complete"


async def test_a_long_line_and_split_characters(home: Path) -> None:
    text = "水" * 300_000 + "👩‍💻"
    raw = delta(text) + delta(finish="stop") + DONE
    pieces = [raw[at : at + 7001] for at in range(0, len(raw), 7001)]
    async with talking(reply(*pieces)) as server, opened(home, chat_at(server.url), start=False) as core:
        done = (await ask(core))[-1]
        assert isinstance(done, TurnFinished)
        assert done.message.content == text


@pytest.mark.parametrize("reason", ["length", "content_filter", "stop"])
async def test_why_a_reply_ends(home: Path, reason: str) -> None:
    async with (
        talking(reply(HI, delta(finish=reason))) as server,
        opened(home, chat_at(server.url), start=False) as core,
    ):
        done = (await ask(core))[-1]
        assert isinstance(done, TurnFinished)
        assert (done.finish_reason, done.message.content) == (reason, "Half an answ")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_never_sees_the_key(home: Path, status: int) -> None:
    async with talking(GOOD) as elsewhere:
        target = elsewhere.url.replace("127.0.0.1", "localhost") + "/chat/completions"
        async with (
            talking(refusal(status, b"", location=target)) as server,
            opened(home, chat_at(server.url), start=False) as core,
        ):
            failed = (await ask(core))[-1]
            assert isinstance(failed, TurnFailed)
            assert type(failed.error) is errors.RequestRefused
            assert "not followed" in str(failed.error)
            assert KEY in server.requests[0].headers["authorization"]
        assert elsewhere.requests == []


async def test_an_endless_stream_is_cut(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_BYTES", 300_000)
    async with (
        talking(reply(*[delta("x" * 1000)] * 1000)) as server,
        opened(home, chat_at(server.url), start=False) as core,
    ):
        failed = (await ask(core))[-1]
        assert isinstance(failed, TurnFailed)
        assert type(failed.error) is errors.BadReply
        assert 0 < len(failed.message.content) <= 300_000
        await until(lambda: server.open == 0)


async def test_what_the_server_says_is_cleaned(home: Path) -> None:
    words = f"\x1b]52;c;aGk=\x07 [@click=app.quit]x[/] {KEY} sk-other-key-123456 Bearer abcdef123456 " + "w " * 900
    async with (
        talking(refusal(400, {"error": {"message": words}})) as server,
        opened(home, chat_at(server.url), start=False) as core,
    ):
        failed = (await ask(core))[-1]
        assert isinstance(failed, TurnFailed)
        told = said(failed)
        for secret in (KEY, "sk-other", "abcdef123456"):
            assert secret not in told
        assert "\x1b" not in told
        assert "[@click=app.quit]" in told, "shown as it is; no widget reads it as markup"
        assert len(str(failed.error)) < 400


async def test_the_key_goes_to_its_server_only_and_nothing_else_with_it(home: Path) -> None:
    async with talking(GOOD) as server, opened(home, chat_at(server.url), settings=Settings(), start=False) as core:
        await ask(core)
        [request] = [one for one in server.requests if one.path.endswith("/chat/completions")]
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["user-agent"] == "orca-tui"
        assert not [name for name in request.headers if name.startswith("x-stainless")]
        assert KEY not in json.dumps(request.body)
