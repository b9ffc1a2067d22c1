"""Any OpenAI-compatible server as a `ChatModel`.

The official SDK makes the request; the stream is read here, because servers bend its shape (`memory.provider.chunks`)
and because time-outs, retries and the end of a reply are ours to judge. The SDK is imported in a thread at the first
use: it takes half a second.
"""

import asyncio
import importlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

from memory.config import LLMSettings, Secret
from memory.errors import ModelNotFound, OrcaError, ProviderError, ProviderTimeout, RequestRefused
from memory.provider import http_errors, server_info, wire
from memory.provider.base import ChatMessage, ChatOptions, ChatPart, RetryPart
from memory.provider.chunks import ReplyReader
from memory.provider.dialect import Dialect
from memory.provider.endpoint import Endpoint
from memory.provider.http_errors import Failure
from memory.text import label
from memory.types import ContextWindow

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

GRACE = 5.0
"""Seconds to wait for the token counts once the server has said why the reply ends."""
DRAIN = 0.1
"""Seconds to read on after the end, so that the connection can be used again."""
MAX_BACKOFF = 8.0

Sleep = Callable[[float], Awaitable[None]]


class OpenAIChat:
    """A chat model behind `{base_url}/chat/completions`. An empty `model` takes the first that the server has.

    `key_hint` is told when the key is refused; `transport` and `sleep` are for tests.
    """

    tiny = False

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: Secret,
        settings: LLMSettings,
        key_hint: str = "Set api_key or api_key_env under [llm] in config.toml.",
        transport: "httpx2.AsyncBaseTransport | None" = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._endpoint = Endpoint(base_url, api_key, key_hint)
        self._model = model
        self._settings = settings
        self._transport = transport
        self._sleep = sleep
        self._dialect = Dialect()
        self._window: ContextWindow | None = None
        self._opening = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._sdk: AsyncOpenAI | None = None

    @property
    def name(self) -> str:
        """The model's name; the server's, until the first use when none was configured."""
        return self._model or self._endpoint.host

    async def context_window(self) -> ContextWindow:
        """What the server serves, bounded by the configured size; else the configured, else an estimated one."""
        if self._window is None:
            self._window = await self._ask_window()
        return self._window

    async def warm_up(self) -> None:
        """Load the SDK and open the client, so that the first reply comes sooner. Sends nothing."""
        await self._open_sdk()

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncGenerator[ChatPart, None]:
        """Answer, part by part; see `ChatModel.stream`."""
        sdk = await self._open_sdk()
        model = await self._resolve_model()
        options = options or ChatOptions()
        tries = 0
        while True:
            body = self._dialect.body(self._settings, options)
            wired = self._dialect.messages(messages)
            async with AsyncExitStack() as stack:
                opened = await self._request(stack, sdk, model, wired, body)
                if not isinstance(opened, Failure):
                    async with aclosing(self._read(*opened, model)) as parts:
                        async for part in parts:
                            yield part
                    self._forget_guess()
                    return
            if self._dialect.adapt(opened, {**body, "messages": wired}):
                continue
            if "tools" in body:
                http_errors.check_tools(opened, self._endpoint, model)
            if not opened.again or tries >= self._settings.max_retries:
                raise await self._enriched(opened.error)
            wait = _backoff(tries) if opened.wait is None else opened.wait
            tries += 1
            yield RetryPart(wait, opened.reason)
            await self._sleep(wait)

    async def close(self) -> None:
        """Let go of the connections. Safe to call twice."""
        http, self._http, self._sdk = self._http, None, None
        if http is not None:
            await http.aclose()

    async def _request(
        self, stack: AsyncExitStack, sdk: "AsyncOpenAI", model: str, messages: Any, body: dict[str, Any]
    ) -> "tuple[AsyncIterator[bytes], bytes] | Failure":
        """Send, and wait for the first bytes of a reply; `stack` closes the response."""
        import openai

        http_errors.check_key(self._endpoint)
        deadline = asyncio.get_running_loop().time() + self._settings.first_byte_timeout
        try:
            async with asyncio.timeout_at(deadline):
                opened = await sdk.chat.completions.create(model=model, messages=messages, stream=True, extra_body=body)
                await stack.enter_async_context(opened)
                chunks = opened.response.aiter_bytes()
                await stack.enter_async_context(aclosing(chunks))
                return chunks, await anext(chunks, b"")
        except openai.APIStatusError as error:
            return http_errors.from_status(
                error.status_code, error.response.content, error.response.headers, self._endpoint, model
            )
        except TimeoutError:
            seconds = self._settings.first_byte_timeout
            raise ProviderTimeout(
                f"{self._endpoint.host} sent nothing for {seconds:g} seconds.",
                hint="Try again; a slow server needs a larger llm.first_byte_timeout.",
            ) from None
        except _transport_errors() as error:
            cause = error.__cause__ if isinstance(error, openai.APIError) and error.__cause__ else error
            return http_errors.from_exception(cause, self._endpoint)
        except (TypeError, ValueError):
            raise RequestRefused(
                "The request cannot be written as JSON.", hint="Look at [llm.parameters] in config.toml."
            ) from None

    async def _read(self, chunks: AsyncIterator[bytes], data: bytes, model: str) -> AsyncGenerator[ChatPart, None]:
        """The parts of an opened reply whose first bytes are `data`."""
        reply = ReplyReader(self._endpoint, model)
        try:
            while data and not reply.done:
                for part in reply.feed(data):
                    yield part
                if not reply.done:
                    data = await self._more(chunks, reply)
            for part in reply.finish():
                yield part
        except ProviderError:
            for part in reply.held():
                yield part
            raise
        await _drain(chunks)

    async def _more(self, chunks: AsyncIterator[bytes], reply: ReplyReader) -> bytes:
        """The next bytes; empty at the end of the body, or when nothing more is needed and nothing comes."""
        idle = self._settings.idle_timeout
        if not reply.spoke:
            idle = max(idle, self._settings.first_byte_timeout)
        try:
            async with asyncio.timeout(min(GRACE, idle) if reply.complete else idle):
                return await anext(chunks, b"")
        except TimeoutError:
            if reply.complete:
                return b""
            raise ProviderTimeout(
                f"{self._endpoint.host} fell silent: no data for {idle:g} seconds.",
                hint="What had arrived is kept. Try again.",
            ) from None
        except _transport_errors() as error:
            if reply.complete:
                return b""
            if reply.spoke:
                raise reply.cut() from None
            raise http_errors.from_exception(error, self._endpoint).error from None

    async def _open_http(self) -> "httpx2.AsyncClient":
        async with self._opening:
            if self._http is None:
                try:
                    self._http = await asyncio.to_thread(
                        wire.open_client,
                        self._endpoint,
                        connect_timeout=self._settings.connect_timeout,
                        transport=self._transport,
                    )
                except (ImportError, ValueError):
                    raise http_errors.bad_proxy(self._endpoint) from None
            return self._http

    async def _open_sdk(self) -> "AsyncOpenAI":
        http = await self._open_http()
        if self._sdk is None:
            try:
                self._sdk = await asyncio.to_thread(_make_sdk, self._endpoint.base_url, http)
            except _transport_errors() as error:
                raise http_errors.from_exception(error, self._endpoint).error from None
        return self._sdk

    async def _resolve_model(self) -> str:
        if not self._model:
            http_errors.check_key(self._endpoint)
            info = await server_info.list_models(await self._open_http(), self._endpoint)
            self._model = info.first_for_chat()
            if not self._model:
                raise info.problem or ModelNotFound(
                    f"No model is configured, and {self._endpoint.host} does not say which it has.",
                    hint="Set llm.model in config.toml.",
                )
        return self._model

    async def _ask_window(self) -> ContextWindow:
        configured = self._settings.context_window
        try:
            model = await self._resolve_model()
            served = await server_info.served_window(await self._open_http(), self._endpoint, model)
        except OrcaError:
            served = None
        if configured and (served is None or configured <= served.tokens or served.source == "estimated"):
            return ContextWindow(configured, "configured")
        return served or server_info.estimated_window(self._model)

    def _forget_guess(self) -> None:
        """Ollama tells the size it serves once the model is loaded: ask again after a reply."""
        if self._endpoint.is_ollama and self._window is not None and self._window.source != "served":
            self._window = None

    async def _enriched(self, error: ProviderError) -> ProviderError:
        """For an unknown model: what the server has instead."""
        if isinstance(error, ModelNotFound):
            info = await server_info.list_models(await self._open_http(), self._endpoint)
            names = [label(model.id, 60) for model in info.models[:5]]
            if names:
                more = " …" if len(info.models) > len(names) else ""
                error.hint = f"{error.hint} It has: {', '.join(names)}{more}".strip()
        return error


def _make_sdk(base_url: str, http: "httpx2.AsyncClient") -> "AsyncOpenAI":
    """The SDK over our client, which holds the key and signs by itself. Slow the first time."""
    openai = importlib.import_module("openai")
    wire.quiet_loggers()
    sdk: AsyncOpenAI = openai.AsyncOpenAI(
        base_url=base_url, api_key="set-when-sent", http_client=http, max_retries=0, timeout=http.timeout
    )
    _ = sdk.chat.completions.create
    return sdk


def _transport_errors() -> tuple[type[Exception], ...]:
    """What the SDK and the HTTP library raise for a broken connection."""
    import anyio
    import httpx2
    import openai

    return (openai.APIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, anyio.EndOfStream, OSError)


def _backoff(tries: int) -> float:
    """Seconds before the next try: 1, 2, 4, 8, and up to a quarter more so that clients do not march in step."""
    return float(min(2.0**tries, MAX_BACKOFF) * (1 + random.random() / 4))  # noqa: S311


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read what is left of a finished body; nothing that happens here matters any more."""
    ignored: tuple[type[Exception], ...] = (TimeoutError, *_transport_errors())
    try:
        async with asyncio.timeout(DRAIN):
            for _ in range(16):
                if not await anext(chunks, b""):
                    return
    except ignored:
        return
