"""The HTTP client that all online providers share: who may be asked, what is sent along, how much is read.

Redirects are never followed (a key must not travel to another host), the proxies of the environment are used but for
servers on this machine, and beside the key only the headers that the request needs leave this machine.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.provider.endpoint import OPENAI_HOST, Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2

    Transport = httpx2.AsyncBaseTransport

MAX_ERROR_BYTES = 256 * 1024
MAX_ANSWER_BYTES = 64 * 1024 * 1024
USER_AGENT = "orca-tui"

_NEEDED = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
_OPENAI_ONLY = {"openai-organization", "openai-project"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response. `headers` has lower-case names."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def open_client(
    endpoint: Endpoint, *, connect_timeout: float, transport: "Transport | None" = None
) -> "httpx2.AsyncClient":
    """A client for one server; slow the first time (imports, certificates): call it in a thread.

    Time-outs other than `connect_timeout` (seconds) are the caller's. Raises `ImportError` or `ValueError` when the
    proxy settings of the environment cannot be used.
    """
    import httpx2

    quiet_loggers()
    local_http = endpoint.is_loopback and endpoint.base_url.startswith("http://")
    return httpx2.AsyncClient(
        auth=_signer(endpoint),
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=connect_timeout, pool=connect_timeout),
        trust_env=not endpoint.is_loopback,
        verify=not local_http,  # there, nothing is ever encrypted, and reading the certificates takes the longest
        event_hooks={"response": [_bound_error_body]},
        transport=transport,
    )


def quiet_loggers() -> None:
    """Keep addresses, headers and request bodies out of every log, whatever the environment asks for."""
    for name in ("httpx2", "httpcore2", "openai"):
        logging.getLogger(name).setLevel(logging.WARNING)


async def ask(
    client: "httpx2.AsyncClient", method: str, url: str, *, body: Any = None, limit: int = MAX_ANSWER_BYTES
) -> Answer:
    """Send one request and read its whole answer. Raises httpx2's errors, and `ValueError` beyond `limit` bytes."""
    async with client.stream(method, url, json=body) as response:
        content = bytearray()
        async with aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                content += chunk
                if len(content) > limit:
                    raise ValueError(f"an answer of more than {limit} bytes")
        return Answer(response.status_code, dict(response.headers), bytes(content))


def _signer(endpoint: Endpoint) -> "Callable[[httpx2.Request], httpx2.Request]":
    """Cleans the headers of a request and puts the key in: the one place where it is revealed."""
    keep = _NEEDED | _OPENAI_ONLY if endpoint.hostname == OPENAI_HOST else _NEEDED

    def sign(request: "httpx2.Request") -> "httpx2.Request":
        for name in list(request.headers):
            if name.lower() not in keep:
                del request.headers[name]
        request.headers["User-Agent"] = USER_AGENT
        key = endpoint.key()
        if key:
            request.headers["Authorization"] = f"Bearer {key}"
        return request

    return sign


async def _bound_error_body(response: "httpx2.Response") -> None:
    """An error's body is read whole by the SDK: let no server make that endless."""
    import httpx2

    if response.status_code < 300 or not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    inner = response.stream

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> "AsyncIterator[bytes]":
            size = 0
            async for chunk in inner:
                yield chunk
                size += len(chunk)
                if size > MAX_ERROR_BYTES:
                    return

        async def aclose(self) -> None:
            await inner.aclose()

    response.stream = Bounded()
