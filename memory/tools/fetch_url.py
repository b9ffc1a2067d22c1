"""`fetch_url`: reads one page of the web. Off unless `tools.fetch_url` is set; each host is asked for."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from memory.errors import ToolFailed, ToolRefused
from memory.provider.base import ToolSpec
from memory.text import label
from memory.tools import addresses
from memory.tools.base import Decision, PermissionRequest, ToolContext, ToolResult
from memory.tools.page_text import decode, page_text

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 2 * 1024 * 1024
"""Of a page, unpacked; the rest is left out, and the text says so."""
MAX_REDIRECTS = 5
SECONDS = 20.0
"""For the whole call."""
USER_AGENT = "orca-tui"
REASON = "The address goes to a host on the internet, and what it answers comes into the conversation."
"""Why it is asked (English source of `_`)."""
PRIVATE = "The address is on this machine or in a private network. Programs there may act on what they are asked."
"""Why it is asked (English source of `_`)."""

_PORTS = {"http": 80, "https": 443}
_TEXTS = ("application/json", "application/xml", "application/javascript", "application/x-ndjson", "application/yaml")


@dataclass(frozen=True, slots=True)
class _Target:
    url: SplitResult
    host: str
    """As it is written in DNS: lower case, IDNA."""
    port: int

    @property
    def shown(self) -> str:
        """Host, and the port unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.url.scheme] else f"{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """As far as the address itself tells, and so the question."""
        address = addresses.literal(self.host)
        return addresses.is_private(address) if address is not None else addresses.is_local_name(self.host)


class FetchURL:
    """Implements `memory.tools.base.Tool`. `transport` is for tests."""

    name = "fetch_url"
    reaches_outside = True
    spec = ToolSpec(
        name,
        "Fetch one page of the web by GET and return its text. The user is asked for each host.",
        {
            "type": "object",
            "properties": {"url": {"type": "string", "description": "The address, with http:// or https://."}},
            "required": ["url"],
            "additionalProperties": False,
        },
    )

    def __init__(self, transport: "httpx2.AsyncBaseTransport | None" = None) -> None:
        self._transport = transport

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest:  # noqa: ARG002
        """Asked by host; a host of this machine or its network each time. Raises `ToolRefused`, `ToolFailed`."""
        target = _target(arguments.get("url"))
        shown = json.dumps({"url": urlunsplit(target.url)}, ensure_ascii=False, indent=2)
        choices: tuple[Decision, ...] = ("once", "deny") if target.is_private else ("once", "session", "always", "deny")
        return PermissionRequest(self.name, target.shown, shown, PRIVATE if target.is_private else REASON, choices)

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """Fetch it. Redirects are followed on the same host only. Raises `ToolFailed`, `ToolRefused`."""
        target = _target(arguments.get("url"))
        try:
            async with asyncio.timeout(SECONDS):
                return ToolResult(await self._fetch(target))
        except TimeoutError:
            raise ToolFailed(f"{target.shown} did not answer within {SECONDS:g} seconds.") from None

    async def _fetch(self, target: _Target) -> str:
        import httpx2

        client = await asyncio.to_thread(_client, self._transport)
        async with client:
            for _ in range(MAX_REDIRECTS + 1):
                try:
                    answer = await _get(client, target)
                except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
                    raise ToolFailed(f"{target.shown} cannot be read: {type(error).__name__}.") from error
                if isinstance(answer, str):
                    return answer
                target = answer
        raise ToolFailed(f"{target.shown} redirects without end.")


def _target(given: Any) -> _Target:
    """The address, checked. Raises `ToolFailed` for what is none, `ToolRefused` for what is never fetched."""
    try:
        url = urlsplit(str(given).strip())
        host, port = url.hostname or "", url.port
        if addresses.literal(host) is None and not host.isascii():
            host = host.encode("idna").decode("ascii")
    except (ValueError, UnicodeError):
        raise ToolFailed(f"This is not an address: {label(str(given), 200)}") from None
    if url.scheme not in _PORTS or not host or any(char.isspace() or ord(char) < 32 for char in str(given).strip()):
        raise ToolFailed("Only http and https addresses can be fetched.", hint="Call it with a whole address.")
    if url.username is not None or url.password is not None:
        raise ToolRefused("Addresses with a name or a password in them are not fetched.")
    address = addresses.literal(host)
    if address is not None and addresses.is_forbidden(address):
        raise ToolRefused(f"{address} is never asked: it may give away keys of this machine.")
    return _Target(url._replace(fragment=""), host, port or _PORTS[url.scheme])


def _client(transport: "httpx2.AsyncBaseTransport | None") -> "httpx2.AsyncClient":
    """Without cookies, redirects, and the proxies of the environment: what is connected to is what was checked."""
    import httpx2

    from memory.provider.wire import quiet_loggers

    quiet_loggers()
    headers = {"User-Agent": USER_AGENT, "Accept": "text/html, text/*;q=0.9, */*;q=0.5", "Accept-Encoding": "identity"}
    timeout = httpx2.Timeout(SECONDS, connect=10.0)
    return httpx2.AsyncClient(
        headers=headers, follow_redirects=False, trust_env=False, timeout=timeout, transport=transport
    )


async def _get(client: "httpx2.AsyncClient", target: _Target) -> "str | _Target":
    """The text of a page, or where it has moved to on the same host."""
    address = await addresses.resolve(target.host, target.port, allow_private=target.is_private)
    netloc = f"[{address}]" if ":" in address else address
    pinned = target.url._replace(netloc=f"{netloc}:{target.port}")
    request = client.build_request(
        "GET", urlunsplit(pinned), headers={"Host": target.shown}, extensions={"sni_hostname": target.host}
    )
    response = await client.send(request, stream=True)
    try:
        if response.has_redirect_location:
            return _moved(target, response.headers["location"])
        body, is_cut = await _body(response)
    finally:
        await response.aclose()
    text = await asyncio.to_thread(_text, body, response.headers.get("content-type", ""))
    end = f"\n[cut: only the first {MAX_BYTES // 1024**2} MiB were read]" if is_cut else ""
    status = "" if response.status_code < 400 else f"[the server answered {response.status_code}]\n"
    return f"{status}{text}{end}"


def _moved(target: _Target, location: str) -> _Target:
    new = _target(urljoin(urlunsplit(target.url), location))
    if new.host == target.host and (
        new.port == target.port or (target.url.scheme, new.url.scheme) == ("http", "https")
    ):
        return new
    raise ToolFailed(
        f"{target.shown} redirects to another host: {label(urlunsplit(new.url), 500)}",
        hint="Call fetch_url with that address; the user is asked for it.",
    )


async def _body(response: "httpx2.Response") -> tuple[bytes, bool]:
    """At most `MAX_BYTES`, and whether there is more."""
    body = bytearray()
    async with aclosing(response.aiter_bytes(65536)) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > MAX_BYTES:
                return bytes(body[:MAX_BYTES]), True
    return bytes(body), False


def _text(body: bytes, content_type: str) -> str:
    kind, _, rest = content_type.partition(";")
    kind = kind.strip().lower()
    charset = rest.lower().partition("charset=")[2].split(";")[0].strip(" \"'")
    is_html = kind in ("text/html", "application/xhtml+xml") or (not kind and body.lstrip()[:1] == b"<")
    is_text = is_html or not kind or kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))
    if not is_text or b"\0" in body[:4096]:
        raise ToolFailed(f"The address holds no text ({label(kind or 'binary', 60)}, {len(body)} bytes).")
    text = decode(body, charset, is_html=is_html)
    return page_text(text) if is_html else text
