"""The web server behind `orca-tui web`: textual-serve with a lock on its door. Imports aiohttp: import it late."""

import hmac
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web
from textual_serve.server import Server

MAX_WINDOWS = 8
"""Browser windows at a time; each is a process."""
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
    "img-src 'self' data:; connect-src {socket}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""Nothing is fetched from anywhere else, fonts included."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Door:
    """Lets in who has the token, from this address only."""

    def __init__(self, port: int, token: str) -> None:
        self._host = f"127.0.0.1:{port}"
        self._token = token.encode()
        self._cookie = f"orca_{port}"
        self._windows = 0

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Every request passes here."""
        if request.headers.get("Host", "") != self._host:
            raise web.HTTPForbidden(text=f"This server is http://{self._host} and answers to no other name.")
        origin = request.headers.get("Origin")
        is_socket = request.path == "/ws"
        if origin != f"http://{self._host}" and (is_socket or origin is not None):
            raise web.HTTPForbidden(text="Another site may not talk to this server.")
        if request.path == "/" and "token" in request.query:
            return self._let_in(request.query["token"])
        if not self._is_token(request.cookies.get(self._cookie, "")):
            raise web.HTTPForbidden(text="Open the address that orca-tui web printed; its token is missing here.")
        return await self._socket(request, handler) if is_socket else await handler(request)

    async def dress(self, _request: web.Request, response: web.StreamResponse) -> None:
        """Headers of every answer."""
        response.headers.update(HEADERS)
        response.headers["Content-Security-Policy"] = POLICY.format(socket=f"ws://{self._host}")

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _let_in(self, given: str) -> web.StreamResponse:
        """The token goes from the address into a cookie, so that it is not in the history or a bookmark."""
        if not self._is_token(given):
            raise web.HTTPForbidden(text="This token is not the one of this run.")
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(self._cookie, given, httponly=True, samesite="Strict", path="/")
        return answer

    async def _socket(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self._windows >= MAX_WINDOWS:
            raise web.HTTPServiceUnavailable(text=f"There are {MAX_WINDOWS} windows open already; close one.")
        self._windows += 1
        try:
            return await handler(request)
        finally:
            self._windows -= 1


class _Served(Server):
    """textual-serve's own server without its greeting."""

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the address with its token was said."""

    async def application(self, door: Door) -> web.Application:
        """Its application, behind the door."""
        inner = await self._make_app()
        inner.middlewares.append(door.check)
        inner.on_response_prepare.append(door.dress)
        return inner


async def make_server(command: str, port: int, token: str) -> web.Application:
    """What serves `command` (as a shell reads it) on 127.0.0.1:`port` to who has `token`."""
    logging.getLogger("textual-serve").setLevel(logging.ERROR)
    served = _Served(command, host="127.0.0.1", port=port, title="orca", public_url=f"http://127.0.0.1:{port}")
    return await served.application(Door(port, token))
