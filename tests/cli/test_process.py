"""The real process: start-up, terminals, pipes. Each test starts an interpreter, so there are few."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "orca_tui"]


def start(*argv: str, home: Path, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*PROGRAM, *argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "ORCA_HOME": str(home), **(env or {})},
    )


def test_without_a_terminal_there_is_one_line_and_no_escape_byte(home: Path) -> None:
    done = start(home=home)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"orca-tui ask" in done.stderr
    assert b"\x1b" not in done.stderr
    assert not home.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_draw_gets_one_line(home: Path, term: str) -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        PROGRAM,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "ORCA_HOME": str(home), "TERM": term},
    )
    os.close(theirs)
    assert process.wait(timeout=60) == 2
    said = os.read(ours, 10_000)
    os.close(ours)
    assert said.count(b"\n") == 1
    assert b"\x1b" not in said
    assert b"TERM=" in said


SCRIPTED = """
import sys
from memory.provider import factory
from memory.provider.scripted import ScriptedChat

async def build(*_):
    return ScriptedChat(["Hello \\x1b[2J 你好"], tiny=True)

factory.build_chat_model = build
factory.build_embedder = lambda *_: None
from orca_tui.cli import main
sys.exit(main(["ask"]))
"""


def test_a_question_through_a_pipe_is_answered(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPTED],
        input=b"hi",
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "ORCA_HOME": str(home)},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "Hello \x1b[2J 你好\n"


def test_a_reader_that_leaves_is_no_failure(home: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "config", "show"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "ORCA_HOME": str(home)},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_an_output_that_knows_no_chinese_is_no_failure(home: Path) -> None:
    env = {"ORCA_MODEL": "模型", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = start("config", "get", "llm.model", home=home, env=env)
    assert (done.returncode, done.stdout) == (0, b"??\n")


LOADED = """
import sys
{act}
heavy = {{"textual", "rich", "tomlkit", "openai", "httpx2", "numpy", "apsw", "pydantic", "asyncio", "memory.store"}}
print(sorted(heavy & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "act",
    [
        "import orca_tui.cli",
        "from orca_tui.cli import main\ntry: main(['--help'])\nexcept SystemExit: print()",
        "from memory.settings import load_settings; from memory.config import Home; load_settings(Home.find())",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(home: Path, act: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(act=act)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "ORCA_HOME": str(home)},
    )
    assert done.stdout.splitlines()[-1] == "[]"
