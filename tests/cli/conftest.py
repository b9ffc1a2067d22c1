"""The command line in-process: a scripted model and a quick embedder stand in for the real ones."""

import io
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from memory.provider import factory
from memory.provider.scripted import HashEmbedder, Reply, ScriptedChat
from orca_tui.cli import main


@dataclass
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]
Script = Callable[[Iterable[Reply]], ScriptedChat]


class Pipe(io.TextIOWrapper):
    """A stdin with bytes in it, which may say that it is a terminal."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line; `stdin` is what comes through the pipe or is typed on the terminal."""

    def call(*argv: str, stdin: str | bytes = b"", terminal: bool = False) -> Result:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        pipe = Pipe(io.BytesIO(raw), "utf-8", errors="replace")
        pipe.terminal = terminal
        monkeypatch.setattr(sys, "stdin", pipe)
        capsys.readouterr()
        try:
            code = main(argv)
        except SystemExit as error:
            code = int(error.code or 0)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        assert "\x1b" not in captured.err
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Set what the model answers; the model is returned."""

    def use(replies: Iterable[Reply]) -> ScriptedChat:
        model = ScriptedChat(replies, tiny=True)

        async def build(*_args: Any, **_options: Any) -> ScriptedChat:
            return model

        monkeypatch.setattr(factory, "build_chat_model", build)
        monkeypatch.setattr(factory, "build_embedder", lambda *_args, **_options: HashEmbedder())
        return model

    return use
