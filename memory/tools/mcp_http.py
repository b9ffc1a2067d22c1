"""The HTTP client under an MCP connection: its headers, its bounds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memory.config import MCPSettings

if TYPE_CHECKING:
    import httpx2

MAX_BODY = 16 * 1024 * 1024
"""Bytes of one HTTP answer."""


def http_client(settings: MCPSettings, headers: Mapping[str, str]) -> "httpx2.AsyncClient":
    """A client with these headers, whose answers are bounded. Slow the first time: call it in a thread."""
    import httpx2

    from memory.provider.wire import USER_AGENT

    async def bound(response: "httpx2.Response") -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _bounded(response.stream)

    loopback = urlsplit(settings.url).hostname in ("localhost", "127.0.0.1", "::1")
    return httpx2.AsyncClient(
        headers={**headers, "User-Agent": USER_AGENT},
        timeout=httpx2.Timeout(settings.timeout, read=None),
        trust_env=not loopback,
        event_hooks={"response": [bound]},
    )


def _bounded(inner: "httpx2.AsyncByteStream") -> "httpx2.AsyncByteStream":
    """The stream, ended with an error beyond `MAX_BODY`."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> Any:
            size = 0
            async for chunk in inner:
                size += len(chunk)
                if size > MAX_BODY:
                    raise httpx2.ReadError(f"more than {MAX_BODY // 1024**2} MiB in one answer")
                yield chunk

        async def aclose(self) -> None:
            await inner.aclose()

    return Bounded()
