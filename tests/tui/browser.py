"""A headless Chromium, driven through its debugging protocol: just enough to open a page, type and look."""

import asyncio
import base64
import itertools
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
LIMIT = 30.0
KEYS = {"Enter": 13, "Escape": 27, "F7": 118, "F10": 121}


def find_browser() -> str | None:
    """Where a Chromium is, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page, and what came over its WebSockets."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._session: str | None = None
        self.received = b""
        self._news = asyncio.Event()

    async def listen(self) -> None:
        """Take what the browser says until it is gone."""
        async for message in self._socket:
            event = message.json()
            if "id" in event:
                self._waiting.pop(event["id"]).set_result(event)
            elif event.get("method") == "Network.webSocketFrameReceived":
                frame = event["params"]["response"]
                text = frame["payloadData"]
                self.received += base64.b64decode(text) if frame["opcode"] == 2 else text.encode()
                self._news.set()

    async def ask(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol; gives its result."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        call = {"id": number, "method": method, "params": parameters}
        await self._socket.send_json(call | ({"sessionId": self._session} if self._session else {}))
        answer = await asyncio.wait_for(self._waiting[number], LIMIT)
        assert "error" not in answer, answer
        return answer["result"]

    async def open(self, url: str) -> None:
        """A page of its own at `url`."""
        target = (await self.ask("Target.createTarget", url="about:blank", width=1200, height=800))["targetId"]
        attached = await self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        await self.ask("Network.enable")
        await self.ask("Page.enable")
        await self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.ask("Page.navigate", url=url)

    async def shows(self, text: str) -> None:
        """Wait until the app has drawn `text`; what was drawn before the last call does not count."""
        async with asyncio.timeout(LIMIT):
            while text.encode() not in re.sub(rb"\x1b\[[\d;]*m", b"", self.received):
                self._news.clear()
                await self._news.wait()
        self.received = b""

    async def click(self, x: int, y: int) -> None:
        """Click at a place of the page, in pixels."""
        for kind in ("mousePressed", "mouseReleased"):
            await self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def type(self, text: str) -> None:
        """Type letters."""
        for letter in text:
            await self.ask("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            await self.ask("Input.dispatchKeyEvent", type="keyUp", key=letter)

    async def press(self, key: str) -> None:
        """Press a key that is no letter."""
        text = {"text": "\r"} if key == "Enter" else {}
        code = KEYS[key]
        await self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    async def picture(self) -> bytes:
        """What the page looks like, as a PNG."""
        return base64.b64decode((await self.ask("Page.captureScreenshot"))["data"])


@asynccontextmanager
async def browser(program: str, folder: Path) -> AsyncIterator[Page]:
    """A browser with a profile of its own in `folder`."""
    process = await asyncio.create_subprocess_exec(
        program,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
        start_new_session=True,
    )
    assert process.stderr is not None
    listening = None
    drained = None
    try:
        async with asyncio.timeout(LIMIT):
            while (found := re.search(rb"ws://\S+", line := await process.stderr.readline())) is None:
                assert line, "the browser ended"
        drained = asyncio.create_task(process.stderr.read())
        async with aiohttp.ClientSession() as session, session.ws_connect(found[0].decode(), max_msg_size=0) as socket:
            page = Page(socket)
            listening = asyncio.create_task(page.listen())
            yield page
            await socket.close()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # it may be a script that started the browser
        await process.wait()
        for task in (listening, drained):
            if task is not None:
                await asyncio.wait({task})
