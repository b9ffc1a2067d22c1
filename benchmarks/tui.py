"""How the whole app feels in a terminal, beside the least that Textual can do (`tui_floors.py`), in the same run.

    python benchmarks/tui.py                # about 3 minutes; prints a Markdown table
    python benchmarks/tui.py --tokens 500   # smaller

Programs take turns, so that a busy machine is unfair to none; the ratios tell more than the figures. Linux only.
"""

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tui_terminal import Terminal

ROOT = Path(__file__).parents[1]
RATE = 1_000
WAIT = 120.0
LATE = 45.0
"""Seconds after a reply's end that its last sentence is waited for; one that is not seen then counts as this late."""
LOST = 5.0
"""Seconds after which a key that is not seen counts as this slow."""
LAST = "Thatisall"
READY = {"orca": "or / for commands", "bare": "message", "line": "message"}
MARKS = [chr(0x2460 + n) for n in range(140)]
"""Typed one at a time: no other text holds them, so each can be told on the screen."""
TEXT = (
    "## What changes at night\n\nThe **harbour** keeps its `tide tables` in a drawer: 潮汐表放在抽屉里。\n\n"
    "- first point\n- second, with `code`\n\n"
    "```python\ndef rows(text: str) -> list[str]:\n    return text.split()\n```\n\n"
    "| hours | height |\n| ---: | ---: |\n| 0 | 3.1 m |\n| 6 | 0.9 m |\n\n> quoted, with *emphasis*\n\n"
)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    tokens: int = 10_000
    messages: int = 10_000
    idle: float = 10.0
    rounds: int = 3


def serve(count: int, tell: Connection) -> None:
    """A model server whose replies are `count` tokens of Markdown at `RATE`; tells its port, then each reply's end."""
    asyncio.run(_serve(count, tell))


async def _serve(count: int, tell: Connection) -> None:
    words = [f"{word} " if "\n" not in word else word for word in TEXT.replace(" ", " \x00").split("\x00")]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        sizes = (line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        body = await reader.readexactly(int(next(sizes, b"0")))
        if not head.startswith(b"POST"):
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{"data":[{"id":"m"}]}')
        elif b'"max_tokens"' in body or b'"max_completion_tokens"' in body:  # a title, or what is to be remembered
            writer.write(HEAD + _chunk("NONE") + _chunk("", "stop") + b"data: [DONE]\n\n")
        else:
            writer.write(HEAD)
            begin = time.monotonic()
            for number, word in enumerate(itertools.islice(itertools.cycle(words), count)):
                writer.write(_chunk(word))
                if (ahead := begin + number / RATE - time.monotonic()) > 0.002:
                    await writer.drain()
                    await asyncio.sleep(ahead)
            writer.write(_chunk(f"\n\n{LAST}") + _chunk("", "stop") + b"data: [DONE]\n\n")
            await writer.drain()
            tell.send(time.monotonic())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    tell.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _chunk(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    data = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


class Bench:
    """Starts the programs and measures them."""

    def __init__(self, size: Size, folder: Path, port: int, told: Connection) -> None:
        self.size, self.folder, self.port, self.told = size, folder, port, told
        self._homes = itertools.count()

    def start(self, name: str, home: Path | None = None, *arguments: str) -> Terminal:
        """A program, not waited for."""
        if name != "orca":
            return Terminal([sys.executable, str(ROOT / "benchmarks" / "tui_floors.py"), name, str(self.port)], {})
        home = home or self.home()
        return Terminal([sys.executable, "-m", "orca_tui", *arguments], self._env(home))

    def home(self, *, embedding: str = "auto") -> Path:
        """A new home whose model is the server's."""
        found = self.folder / f"home{next(self._homes)}"
        found.mkdir(mode=0o700)
        (found / "config.toml").write_text(
            f'[llm]\nprovider = "openai"\nbase_url = "http://127.0.0.1:{self.port}/v1"\nmodel = "m"\n'
            f'[embedding]\nprovider = "{embedding}"\n[ui]\nlanguage = "en"\n',
            "utf-8",
        )
        (found / "config.toml").chmod(0o600)
        return found

    def _env(self, home: Path) -> Mapping[str, str]:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        return {"ORCA_HOME": str(home), "PYTHONPATH": path}

    def opened(self, name: str) -> Mapping[str, float]:
        """Start, idle, memory."""
        terminal = self.start(name)
        try:
            terminal.wait_for(READY[name], WAIT)
            terminal.send(MARKS[0])
            ready = terminal.wait_for(MARKS[0], WAIT) - terminal.began
            terminal.send("\x7f")
            time.sleep(min(5.0, self.size.idle))  # what a pause of typing brings is over
            before = terminal.cpu()
            time.sleep(self.size.idle)
            idle = 100 * (terminal.cpu() - before) / self.size.idle
            return {"interactive s": ready, "idle CPU %": idle, "RSS MB": terminal.memory()}
        finally:
            terminal.close()

    def streamed(self, name: str) -> Mapping[str, float]:
        """A reply, with typing meanwhile."""
        terminal = self.start(name)
        try:
            terminal.wait_for(READY[name], WAIT)
            time.sleep(1.0)
            before = terminal.cpu()
            terminal.send("tell me")
            terminal.wait_for("tell me", WAIT)
            terminal.forget()
            terminal.send("\r")
            echoes = []
            for mark in MARKS[1:]:
                time.sleep(0.2)
                if self.told.poll():
                    break
                echoes.append(_answer(terminal, mark, mark))
            end = self.told.recv()
            try:
                lag = max(0.0, terminal.wait_for(LAST, LATE) - end)
            except TimeoutError:  # a program that falls behind, on a busy machine
                lag = LATE
            return {"lag s": lag, "CPU s": terminal.cpu() - before, "key p95 ms": 1000 * _p95(echoes)}
        finally:
            terminal.close()

    def long_session(self) -> Mapping[str, float]:
        """A stored session, opened; pages up."""
        home = self.home(embedding="off")
        told = self.folder / "long.jsonl"
        lines = ({"role": ("user", "assistant")[n % 2], "content": f"{n}. {TEXT}"} for n in range(self.size.messages))
        told.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        env = {**os.environ, **self._env(home)}
        orca = [sys.executable, "-m", "orca_tui"]
        subprocess.run([*orca, "migrate", str(told)], env=env, check=True, capture_output=True)
        listed = subprocess.run([*orca, "sessions", "list", "--json"], env=env, check=True, capture_output=True)
        found = json.loads(listed.stdout)[0]["id"]
        terminal = self.start("orca", home, "--session", found)
        try:
            terminal.wait_for("quoted", WAIT)
            terminal.send(MARKS[0])
            ready = terminal.wait_for(MARKS[0], WAIT) - terminal.began
            terminal.send("\x1b[<0;40;5M\x1b[<0;40;5m")  # a click into the transcript
            time.sleep(0.5)
            pages = []
            for _page in range(max(1, min(10, self.size.messages // 4))):
                terminal.forget()
                pages.append(_answer(terminal, "\x1b[5~", "m", raw=True))
                time.sleep(0.1)
            return {"long: open s": ready, "long: PageUp p95 ms": 1000 * _p95(pages), "long: RSS MB": terminal.memory()}
        finally:
            terminal.close()


def _answer(terminal: Terminal, keys: str, text: str, *, raw: bool = False) -> float:
    """Seconds until `text` is written after `keys`; `LOST` when it never is."""
    begin = terminal.send(keys)
    try:
        return terminal.wait_for(text, LOST, raw=raw) - begin
    except TimeoutError:
        return LOST


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))] if values else 0.0


def measure(size: Size) -> str:
    """Everything, as a Markdown table of medians; ratios are orca to the better floor."""
    told, tell = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(size.tokens, tell), daemon=True)
    server.start()
    found: dict[str, dict[str, list[float]]] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="orca-bench-") as folder:
            bench = Bench(size, Path(folder), told.recv(), told)
            for _round in range(size.rounds):
                for work in (bench.opened, bench.streamed):
                    for name in READY:
                        for what, value in work(name).items():
                            found.setdefault(what, {}).setdefault(name, []).append(value)
            for what, value in bench.long_session().items():
                found[what] = {"orca": [value]}
    finally:
        server.kill()
        server.join()
    return _table(found)


def _table(found: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    lines = ["| what | orca | bare Textual | line API | orca : better floor |", "| --- | ---: | ---: | ---: | ---: |"]
    for what, programs in found.items():
        middle = {name: statistics.median(values) for name, values in programs.items()}
        floors = [value for name, value in middle.items() if name != "orca"]
        ratio = f"{middle['orca'] / min(floors):.2f}" if floors and min(floors) > 0 else "–"
        cells = [f"{middle[name]:.3g}" if name in middle else "–" for name in READY]
        lines.append(f"| {what} | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The whole app in a terminal, beside the least that Textual can do.")
    for name, default in vars(Size()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    print(measure(Size(**vars(parser.parse_args(argv)))))


if __name__ == "__main__":
    main()
