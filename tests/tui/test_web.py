"""`orca-tui web`: who gets in, and the whole app in a real browser."""

import asyncio
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

import pytest

from memory.config import Home
from memory.errors import ConfigError
from memory.store import open_store
from orca_tui.cli import web as web_command
from orca_tui.cli.open_app import WEB_DRIVER, terminal_problem

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

from aiohttp.web import AppRunner, SockSite  # noqa: E402
from browser import browser, find_browser  # noqa: E402

from orca_tui.web import make_server  # noqa: E402

TOKEN = "a-token-for-this-run"
ROOT = Path(__file__).parents[2]
APP = shlex.join([sys.executable, str(Path(__file__).with_name("pty_app.py"))])


@asynccontextmanager
async def served(command: str = "false") -> AsyncIterator[int]:
    """The server on a free port."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    runner = AppRunner(await make_server(command, port, TOKEN), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await SockSite(runner, listening).start()
    try:
        yield port
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("path", "headers", "said"),
    [
        ("/", {}, "its token is missing"),
        ("/?token=wrong", {}, "not the one of this run"),
        ("/static/js/textual.js", {}, "its token is missing"),
        ("/", {"Host": "evil.example:{port}", "Cookie": "orca_{port}={token}"}, "answers to no other name"),
        ("/", {"Host": "localhost:{port}", "Cookie": "orca_{port}={token}"}, "answers to no other name"),
        ("/", {"Origin": "http://evil.example", "Cookie": "orca_{port}={token}"}, "Another site"),
        ("/ws", {"Origin": "http://evil.example", "Cookie": "orca_{port}={token}"}, "Another site"),
        ("/ws", {"Cookie": "orca_{port}={token}"}, "Another site"),
        ("/ws", {"Origin": "null", "Cookie": "orca_{port}={token}"}, "Another site"),
        ("/ws", {"Origin": "http://127.0.0.1:{port}"}, "its token is missing"),
        ("/ws", {"Origin": "http://127.0.0.1:{port}", "Cookie": "orca_{port}=wrong"}, "its token is missing"),
    ],
)
async def test_nobody_else_gets_in(path: str, headers: dict[str, str], said: str) -> None:
    async with served() as port, aiohttp.ClientSession() as session:
        given = {name: value.format(port=port, token=TOKEN) for name, value in headers.items()}
        url = f"http://127.0.0.1:{port}{path}"
        async with session.get(url, headers=given, allow_redirects=False) as answer:
            assert answer.status == 403
            assert said in await answer.text()
            assert answer.headers["X-Frame-Options"] == "DENY"


async def test_the_token_goes_into_a_cookie_and_out_of_the_address() -> None:
    async with served() as port, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        url = f"http://127.0.0.1:{port}/?token={TOKEN}"
        async with session.get(url, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            assert "HttpOnly" in answer.headers["Set-Cookie"]
            assert "SameSite=Strict" in answer.headers["Set-Cookie"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
        cookie = {"Cookie": f"orca_{port}={TOKEN}"}
        async with session.get(f"http://127.0.0.1:{port}/", headers=cookie) as answer:
            assert answer.status == 200
            assert TOKEN not in await answer.text()
            assert f"connect-src ws://127.0.0.1:{port};" in answer.headers["Content-Security-Policy"]


def test_the_command_says_what_is_missing(home: Path) -> None:
    arguments = mock.Mock(port=0)
    with (
        mock.patch("importlib.util.find_spec", return_value=None),
        pytest.raises(web_command.MissingExtra, match=r"orca-tui\[web\]"),
    ):
        web_command.run(arguments, Home(home))


def test_a_port_that_is_taken_is_told(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="cannot be used"):
            web_command.run(mock.Mock(port=taken.getsockname()[1]), Home(home))


def test_the_app_draws_for_a_browser_through_pipes(home: Path) -> None:
    assert terminal_problem({"TEXTUAL_DRIVER": WEB_DRIVER}) == ""
    assert "needs a terminal" in terminal_problem({"TERM": "xterm", "TEXTUAL_DRIVER": "x"})
    assert shlex.split(web_command.app_command(Home(Path("/a b"))))[-2:] == ["--home", "/a b"]


def test_it_listens_here_only_and_ends_with_ctrl_c(home: Path) -> None:
    env = {**os.environ, "ORCA_HOME": str(home), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-m", "orca_tui", "web"], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert len(url.partition("token=")[2]) >= 32
        process.send_signal(2)
        _out, errors = process.communicate(timeout=30)
        assert "Traceback" not in errors


@pytest.mark.skipif(find_browser() is None, reason="no Chromium here")
async def test_typing_streaming_and_pruning_in_a_browser(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCA_HOME", str(home))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    program = find_browser()
    assert program is not None
    async with served(APP) as port, browser(program, tmp_path / "profile") as page:
        await page.open(f"http://127.0.0.1:{port}/?token={TOKEN}")
        await page.shows("scripted")
        await page.click(500, 730)  # the composer
        await page.type("Remember that the demo is on 12 May.")
        await page.press("Enter")
        await page.shows("before ")
        assert b"\x1b]52" not in page.received
        await page.shows("Remembered")
        await page.press("F7")
        await page.shows("Active 1")
        folder = os.environ.get("ORCA_PICTURES")
        if folder:
            (Path(folder) / "web.png").write_bytes(await page.picture())
        await page.type("d")
        await page.shows("thrown away")
        store = await asyncio.to_thread(open_store, Home(home).database)
        try:
            async with asyncio.timeout(20):
                while not await asyncio.to_thread(store.memories, status=("trashed",)):  # noqa: ASYNC110 - another process writes it
                    await asyncio.sleep(0)
        finally:
            store.close()
