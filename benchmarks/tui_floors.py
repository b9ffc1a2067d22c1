"""The least that a chat program in Textual can do, to measure orca against: run as `tui_floors.py bare|line PORT`.

`bare` is Textual's own parts: a Markdown widget that streams, and an input. `line` draws rows through the line API,
with plain text, at 30 frames a second. Neither stores, remembers, highlights or checks anything.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Segment, Strip
from textual.widgets import Input, Markdown

FRAME = 1 / 30


async def tokens(port: int, prompt: str) -> AsyncIterator[str]:
    """What the server streams."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    while line := await reader.readline():
        if line.startswith(b"data: {") and (choices := json.loads(line[6:])["choices"]):
            yield choices[0]["delta"].get("content") or ""
    writer.close()


class Floor(App[None]):
    """What both have in common."""

    CSS = "VerticalScroll, Rows { height: 1fr; }"

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.value = ""
        self.run_worker(self.reply(event.value))

    async def reply(self, prompt: str) -> None:
        raise NotImplementedError


class Bare(Floor):
    """Textual's Markdown."""

    def compose(self) -> ComposeResult:
        yield VerticalScroll()
        yield Input(placeholder="message")

    async def reply(self, prompt: str) -> None:
        log = self.query_one(VerticalScroll)
        log.anchor()
        markdown = Markdown()
        await log.mount(markdown)
        stream = Markdown.get_stream(markdown)
        async for token in tokens(self.port, prompt):
            await stream.write(token)
        await stream.stop()


class Rows(ScrollView, can_focus=False):
    """Lines of plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = [""]
        self.dirty = False

    def on_mount(self) -> None:
        self.set_interval(FRAME, self.frame)

    def feed(self, text: str) -> None:
        width = max(20, self.size.width - 2)
        for part in text.splitlines(keepends=True):
            line = self.rows.pop() + part.rstrip("\n")
            self.rows += [line[at : at + width] for at in range(0, max(1, len(line)), width)]
            if part.endswith("\n"):
                self.rows.append("")
        self.dirty = True

    def frame(self) -> None:
        if self.dirty:
            self.dirty = False
            self.virtual_size = Size(self.size.width - 2, len(self.rows))
            self.scroll_end(animate=False, immediate=True)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        place = y + self.scroll_offset.y
        text = self.rows[place] if place < len(self.rows) else ""
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(self.size.width, self.rich_style)


class Line(Floor):
    """The line API."""

    def compose(self) -> ComposeResult:
        yield Rows()
        yield Input(placeholder="message")

    async def reply(self, prompt: str) -> None:
        rows = self.query_one(Rows)
        async for token in tokens(self.port, prompt):
            rows.feed(token)


if __name__ == "__main__":
    {"bare": Bare, "line": Line}[sys.argv[1]](int(sys.argv[2])).run()
