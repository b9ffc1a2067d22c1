"""`fetch_url`: what is asked, where it goes, and what comes back. Name look-ups are scripted; pages over loopback."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from memory.errors import ToolFailed, ToolRefused
from memory.tools import addresses, fetch_url
from memory.tools.base import PermissionRequest
from memory.tools.fetch_url import MAX_BYTES, PRIVATE, REASON, FetchURL
from memory.tools.page_text import decode, page_text
from tests.memory.tool_context import context

PUBLIC = "93.184.216.34"
HTML = "text/html; charset=utf-8"


class Web(httpx2.AsyncBaseTransport):
    """Answers by path; remembers what was asked."""

    def __init__(self, pages: dict[str, httpx2.Response | Callable[[], httpx2.Response]]) -> None:
        self.pages = pages
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        found = self.pages[request.url.path]
        return found if isinstance(found, httpx2.Response) else found()


def page(text: str | bytes, kind: str = HTML, status: int = 200) -> httpx2.Response:
    body = text.encode() if isinstance(text, str) else text
    return httpx2.Response(status, headers={"content-type": kind}, content=body)


def moved(where: str) -> httpx2.Response:
    return httpx2.Response(302, headers={"location": where})


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What the names lead to; loopback is not looked up here."""
    known = {"example.com": [PUBLIC], "xn--fsq.com": [PUBLIC]}

    async def getaddrinfo(self: Any, host: str, port: int, **how: Any) -> list[Any]:
        if addresses.literal(host) is not None:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        if host not in known:
            raise socket.gaierror("not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in known[host]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return known


async def fetch(url: str, pages: dict[str, Any] | None = None) -> str:
    return (await FetchURL(Web(pages or {})).run({"url": url}, context())).text


def asked(url: str) -> PermissionRequest:
    return FetchURL().permission({"url": url}, context())


def test_each_host_is_asked_for_with_the_whole_address() -> None:
    request = asked("https://Example.com/a?q=1#part")
    assert (request.target, request.reason) == ("example.com", REASON)
    assert '"https://Example.com/a?q=1"' in request.arguments
    assert request.choices == ("once", "session", "always", "deny")
    assert asked("http://example.com:8080/").target == "example.com:8080"
    assert asked("https://中.com/").target == "xn--fiq.com"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::1]:8000/", "http://10.1.2.3", "http://localhost:11434/api", "http://nas.local/"],
)
def test_this_machine_and_its_network_are_asked_for_each_time(url: str) -> None:
    request = asked(url)
    assert request.reason == PRIVATE
    assert request.choices == ("once", "deny")


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://example.com/", "file:///etc/passwd", "example.com", "", "http://", "http://[::1", "http://a b/"),
        *("javascript:alert(1)", "http://example.com:99999/", "http://ex\nample.com/"),
    ],
)
def test_what_is_no_address_of_the_web_is_not_asked_for(url: str) -> None:
    with pytest.raises(ToolFailed):
        asked(url)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00:ec2::254]/",
            "http://100.100.100.200/",
            "http://0.0.0.0/",
        ),
        *("http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[fe80::1]/", "http://224.0.0.1/"),
        "https://user:word@example.com/",
    ],
)
def test_metadata_and_link_local_addresses_are_never_asked(url: str) -> None:
    with pytest.raises(ToolRefused):
        asked(url)


@pytest.mark.parametrize(
    "leads_to",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("::1", "fd00::1", "fe80::1%eth0", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    ],
)
async def test_a_name_that_leads_inside_is_refused(names: dict[str, list[str]], leads_to: str) -> None:
    names["evil.example"] = [PUBLIC, leads_to]
    web = Web({"/": page("secret")})
    with pytest.raises(ToolRefused, match=r"evil\.example"):
        await FetchURL(web).run({"url": "http://evil.example/"}, context())
    assert web.requests == []


async def test_a_proxy_that_gives_a_stand_in_for_every_name_is_used(names: dict[str, list[str]]) -> None:
    names["news.example"] = ["198.18.0.7"]
    assert await fetch("http://news.example/", {"/": page("hi", "text/plain")}) == "hi"


async def test_what_is_connected_to_is_what_was_looked_up(names: dict[str, list[str]]) -> None:
    """A second look-up could tell another address: there is none."""
    web = Web({"/a": page("hi", "text/plain")})
    assert (await FetchURL(web).run({"url": "https://example.com/a?q=1"}, context())).text == "hi"
    (request,) = web.requests
    assert str(request.url) == f"https://{PUBLIC}/a?q=1"
    assert request.headers["host"] == "example.com"
    assert request.extensions["sni_hostname"] == "example.com"
    assert request.headers["user-agent"] == "orca-tui"
    assert set(request.headers) <= {"host", "user-agent", "accept", "accept-encoding", "connection"}


async def test_a_redirect_on_the_same_host_is_followed() -> None:
    pages = {"/a": moved("/b"), "/b": moved("https://example.com/c"), "/c": page("there", "text/plain")}
    assert await fetch("http://example.com/a", pages) == "there"


@pytest.mark.parametrize(
    "where", ["http://other.example/x?a=1", "//other.example/x?a=1", "http://example.com:81/x?a=1"]
)
async def test_a_redirect_to_another_host_is_shown_and_not_followed(where: str) -> None:
    with pytest.raises(ToolFailed, match=r"another host: http://.*/x\?a=1"):
        await fetch("http://example.com/a", {"/a": moved(where)})


@pytest.mark.parametrize("where", ["http://169.254.169.254/", "file:///etc/passwd"])
async def test_a_redirect_to_what_is_never_asked(where: str) -> None:
    with pytest.raises(ToolFailed):
        await fetch("http://example.com/a", {"/a": moved(where)})


async def test_redirects_in_a_circle_end() -> None:
    with pytest.raises(ToolFailed, match="without end"):
        await fetch("http://example.com/a", {"/a": lambda: moved("/a")})


async def test_a_page_is_its_words() -> None:
    html = (
        "<html><head><title>Harbour</title><style>p{}</style><script>alert('<p>x')</script></head><body>"
        "<h1>Fuel &amp; water</h1><p>One\n  two <b>three</b></p><ul><li>first<li>second</ul>"
        "<pre>a\n  b</pre><table><tr><td>1<td>2</table><noscript>no</noscript><p>港口</body>"
    )
    text = await fetch("http://example.com/", {"/": page(html)})
    assert text == "Harbour\n\nFuel & water\n\nOne two three\n\n- first\n- second\n\na\n  b\n\n | 1 | 2\n\n港口"


@pytest.mark.parametrize(
    "html", ["<p>a<p", "<<<", "<script>never closed", "</p></div>", "<!--", "<![CDATA[x", "&#x110000;"]
)
def test_broken_markup_is_taken_as_it_comes(html: str) -> None:
    assert isinstance(page_text(html), str)


@pytest.mark.parametrize("piece", ["<a ", "<!--", "<", '<a b="', "<![CDATA[", "<?", "<script>", "</a", "&", "<svg>"])
def test_signs_without_an_end_take_linear_time(piece: str) -> None:
    """The standard parser alone takes minutes for some of them."""
    began = time.process_time()
    page_text(piece * 50_000)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("港口".encode("gbk"), "text/html; charset=gb2312"),
        ('<meta charset="gbk">港口'.encode("gbk"), "text/html"),
        ("港口".encode("utf-16"), "text/plain; charset=UTF-16"),
        ("\ufeff港口".encode(), "text/html"),
        ("港口".encode(), "text/html; charset=no-such-thing"),
        ("港口".encode(), ""),
    ],
)
async def test_charsets(body: bytes, kind: str) -> None:
    if "UTF-16" in kind:
        assert decode(body, "UTF-16", is_html=False) == "港口"
    else:
        assert await fetch("http://example.com/", {"/": page(body, kind)}) == "港口"


async def test_json_comes_as_it_is() -> None:
    assert await fetch("http://example.com/", {"/": page('{"a": "<p>"}', "application/json")}) == '{"a": "<p>"}'


@pytest.mark.parametrize(
    ("body", "kind"), [(b"\x89PNG", "image/png"), (b"a\0b", "text/plain"), (b"MZ", "application/zip")]
)
async def test_what_is_no_text_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(ToolFailed, match="no text"):
        await fetch("http://example.com/", {"/": page(body, kind)})


async def test_a_status_is_told() -> None:
    text = await fetch("http://example.com/", {"/": page("<p>gone", status=404)})
    assert text == "[the server answered 404]\ngone"


class Endless(httpx2.AsyncByteStream):
    def __init__(self) -> None:
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.sent += 65536
            yield b"x" * 65536


async def test_a_page_without_end_is_cut() -> None:
    stream = Endless()
    answer = httpx2.Response(200, headers={"content-type": "text/plain"}, stream=stream)
    text = await fetch("http://example.com/", {"/": answer})
    assert text.endswith("[cut: only the first 2 MiB were read]")
    assert len(text) < MAX_BYTES + 100
    assert stream.sent < MAX_BYTES + 3 * 65536


async def test_a_host_that_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(fetch_url, "SECONDS", 0.05)
    with pytest.raises(ToolFailed, match=r"did not answer within 0\.05 seconds"):
        await FetchURL(Silent()).run({"url": "http://example.com/"}, context())


async def test_a_host_that_is_not_there() -> None:
    with pytest.raises(ToolFailed, match="was not found"):
        await fetch("http://nowhere.example/")


async def test_over_a_real_connection_to_an_address_that_was_shown_as_private() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        body = b"<p>" + request.split(b"\r\n")[1]
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(
            body
        )
        writer.write(head + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        result = await FetchURL().run({"url": f"http://127.0.0.1:{port}/"}, context())
    assert result.text == f"Host: 127.0.0.1:{port}"
    assert result.is_foreign
