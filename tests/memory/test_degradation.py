"""What is missing, and what orca does then: every row of the table, and that doctor and stats tell the truth in it."""

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from helpers import FakeClock, events_of, opened, say, until

from memory.config import EmbeddingSettings, Home, LLMSettings, Settings
from memory.core import Core
from memory.curation.overview import Overview, overview
from memory.errors import StoreOpenError
from memory.events import TurnFailed
from memory.provider.scripted import HashEmbedder, ScriptedChat
from memory.store import connection, extension
from memory.types import NewMemory
from orca_tui.cli import main
from orca_tui.doctor import Row, examine

BEES = "The bees live behind the old mill."
QUESTION = "Where do the bees live?"
WIDTH = 8
CLOSED = "http://127.0.0.1:9/v1"
"""Where nothing listens."""
GARBAGE = b"\0garbage" * 1000


async def doctor(home: Path, settings: Settings, env: dict[str, str] | None = None) -> dict[str, Row]:
    """The doctor's rows by name."""
    found = await examine(Home(home), settings, env or {"TERM": "xterm"})
    return {row.name: row for row in found.rows}


def stats(core: Core) -> Overview:
    return overview(core.curator)


def notes(core: Core) -> str:
    return " ".join(stats(core).limits)


def keep(core: Core, text: str = BEES) -> None:
    core.store.add_memory(NewMemory(text, "fact", "short_term_fact", "user"), actor="user")


async def answered(core: Core, model: ScriptedChat, text: str = QUESTION) -> str:
    """The request of a turn that went well, as one text."""
    await say(core, core.store.create_session().id, text)
    return "\n".join(message.content for message in model.requests[-1])


# sqlite-vec


async def test_without_sqlite_vec_vectors_are_compared_exactly(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connection._tell_once.cache_clear()
    monkeypatch.setattr(extension, "library", lambda: None)
    settings = Settings(embedding=EmbeddingSettings(batch_wait=0.0))
    clock = FakeClock()
    for _ in range(2):
        model = ScriptedChat(["Fine."], tiny=True)
        async with opened(home, model, settings=settings, clock=clock) as core:
            keep(core)
            await until(lambda core=core: core.queue.status == "idle" and not stats(core).waiting)
            assert BEES in await answered(core, model)
            found = await core.manager.look_up(QUESTION)
            assert found.by_meaning
            assert "sqlite-vec is not loaded" in notes(core)
    row = (await doctor(home, settings))["sqlite_vec"]
    assert (row.state, row.detail) == ("warn", "sqlite-vec is not installed")
    told = [record for record in caplog.records if "sqlite-vec is not installed" in record.message]
    assert len(told) == 1, "said once"
    monkeypatch.undo()
    async with opened(home, settings=settings) as core:
        assert "sqlite-vec" not in notes(core)


# the embedding API


@dataclass
class Server:
    """Embeds on loopback, or fails as it is told."""

    url: str = ""
    status: int = 200
    value: float = 1.0
    width: int = WIDTH
    asked: list[str] = field(default_factory=list)

    def answer(self, texts: list[str]) -> tuple[int, bytes]:
        self.asked += texts
        if self.status != 200:
            return self.status, b'{"error": {"message": "not now"}}'
        rows = [{"index": at, "embedding": [self.value] * self.width} for at in range(len(texts))]
        return 200, json.dumps({"data": rows}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = told.answer(body["input"])
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        told.url = f"http://127.0.0.1:{http.server_port}/v1"
        yield told
        http.shutdown()
        thread.join()


def embedding_at(url: str) -> Settings:
    chosen = EmbeddingSettings(provider="openai", base_url=url, model="m", dimensions=WIDTH, batch_wait=0.0)
    return Settings(embedding=chosen)


def no_key(_server: Server) -> Settings:
    return Settings(embedding=EmbeddingSettings(provider="siliconflow", batch_wait=0.0))


def down(_server: Server) -> Settings:
    return embedding_at(CLOSED)


def broken(**wrong: Any) -> Callable[[Server], Settings]:
    def set_up(server: Server) -> Settings:
        for name, value in wrong.items():
            setattr(server, name, value)
        return embedding_at(server.url)

    return set_up


def open_core(home: Path, settings: Settings, model: ScriptedChat) -> Core:
    place = Home(home)
    place.ensure()
    return Core.open(place, settings, clock=FakeClock(), chat=model, env={})


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (no_key, "no key"),
        (down, "127.0.0.1:9"),
        (broken(status=429), "127.0.0.1"),
        (broken(status=500), "127.0.0.1"),
        (broken(width=5), "5 wide; 8 are expected"),
        (broken(value=float("nan")), "zero or not finite"),
        (broken(value=0.0), "zero or not finite"),
    ],
    ids=["no key", "down", "429", "500", "wrong width", "NaN", "zero"],
)
async def test_without_embeddings_words_serve_and_vectors_come_later(
    home: Path, server: Server, caplog: pytest.LogCaptureFixture, fault: Callable[[Server], Settings], words: str
) -> None:
    caplog.set_level(logging.WARNING)
    settings, model = fault(server), ScriptedChat(["Fine, and good to know."], tiny=True)
    core = open_core(home, settings, model)
    keep(core)
    await core.start(warm_up=False)
    await until(lambda: core.queue.problem)
    assert BEES in await answered(core, model), "found by its words"
    assert core.queue.status == "paused" or "set aside" in core.queue.problem, "the mark in the status bar"
    assert core.store.stats()["embeddings"] == 0
    assert not any(m.has_embedding for s in core.store.sessions() for m in core.store.path(s.id))
    assert re.search("embed", caplog.text)
    assert "no vectors yet" in notes(core)
    waiting = stats(core).waiting
    assert waiting > 0
    await core.close()

    rows = await doctor(home, settings)
    assert rows["embedder"].state == "fail"
    assert words in rows["embedder"].detail
    assert rows["embedder"].advice
    assert rows["vectors"].state == "warn"
    assert rows["vectors"].detail == f"texts without one: {waiting}; until it works, all are found by words only"

    server.status, server.value, server.width = 200, 1.0, WIDTH
    core = open_core(home, embedding_at(server.url), model)
    await core.start(warm_up=False)
    await until(lambda: stats(core).waiting == 0)
    assert all(m.has_embedding for s in core.store.sessions() for m in core.store.path(s.id))
    assert stats(core).limits == []
    await core.close()
    rows = await doctor(home, embedding_at(server.url))
    assert (rows["embedder"].state, rows["vectors"].state) == ("ok", "ok")


async def test_vectors_of_another_width_than_those_stored_are_told(home: Path, server: Server) -> None:
    settings = Settings(embedding=EmbeddingSettings(provider="openai", base_url=server.url, model="m", batch_wait=0.0))
    core = open_core(home, settings, ScriptedChat(["Fine."], tiny=True))
    keep(core)
    await core.start(warm_up=False)
    await until(lambda: stats(core).waiting == 0 and stats(core).embedding_width == WIDTH)
    await core.close()
    server.width = 5
    row = (await doctor(home, settings))["vectors"]
    assert row.state == "fail"
    assert row.detail.startswith(f"those stored are {WIDTH} wide, new ones 5")
    assert "dimensions" in row.advice


# a model that answers


@pytest.mark.parametrize(
    ("llm", "state", "words"),
    [
        (LLMSettings(provider="siliconflow"), "warn", "provider siliconflow"),
        (
            LLMSettings(provider="openai", base_url=CLOSED, model="m", max_retries=0),
            "fail",
            "127.0.0.1:9",
        ),
    ],
    ids=["no key", "down"],
)
async def test_without_a_model_everything_but_chatting_works(
    home: Path, llm: LLMSettings, state: str, words: str
) -> None:
    settings = Settings(llm=llm, embedding=EmbeddingSettings(provider="off"))
    place = Home(home)
    place.ensure()
    core = Core.open(place, settings, clock=FakeClock(), env={})
    await core.start(warm_up=False)
    session = core.store.create_session()
    (*_, failed) = await events_of(core.engine.start(session.id, QUESTION))
    assert isinstance(failed, TurnFailed)
    assert failed.error.hint
    assert core.store.path(session.id)[0].content == QUESTION
    memory = core.curator.add(BEES)
    core.curator.pin(memory.id)
    assert [hit.text for hit in await core.manager.search(QUESTION, kinds=("long_term",))] == [BEES]
    core.curator.undo()
    assert not core.store.memory(memory.id).pinned
    assert stats(core).status == {"active": 1}
    await core.close()
    row = (await doctor(home, settings))["chat"]
    assert row.state == state
    assert words in row.detail
    assert row.advice


# SQLite


@pytest.fixture
def damaged(home: Path) -> Path:
    """A database that cannot be opened."""
    home.mkdir(mode=0o700)
    path = home / "memory.db"
    path.write_bytes(GARBAGE)
    path.chmod(0o600)
    return path


def content(path: Path) -> bytes:
    return path.read_bytes()


def put_aside(path: Path) -> None:
    path.rename(path.with_suffix(".damaged"))


async def test_without_sqlite_plain_files_serve_and_the_database_is_left_alone(home: Path, damaged: Path) -> None:
    settings, model = Settings(embedding=EmbeddingSettings(batch_wait=0.0)), ScriptedChat(["Fine."], tiny=True)
    async with opened(home, model, settings=settings) as core:
        (problem,) = core.problems
        assert isinstance(problem, StoreOpenError)
        assert "plain files" in str(problem)
        await say(core, core.store.create_session().id, "Remember that the bees live behind the old mill.")
        assert "bees live behind the old mill" in await answered(core, model)
        await until(lambda: not stats(core).waiting)
        seen = stats(core)
        assert (seen.backend, seen.status, seen.embedding_model) == ("jsonl", {"active": 1}, HashEmbedder().model)
        assert "The database could not be opened" in notes(core)
        assert "no vectors yet" not in notes(core)
    assert content(damaged) == GARBAGE
    row = (await doctor(home, settings))["store"]
    assert row.state == "fail"
    assert f"everything is kept in {home / 'sessions'}" in row.detail

    put_aside(damaged)
    async with opened(home, settings=settings) as core:
        assert core.problems == []
        assert core.waiting_files > 0, "the next good start offers to bring them in"
        assert notes(core) == "There are no vectors yet: texts are found by their words only."
    row = (await doctor(home, settings))["store"]
    assert row.state == "warn"
    assert row.advice == "Bring them in: orca-tui migrate"


# a terminal


async def test_without_a_terminal_one_line_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "orca-tui ask" in told.err
    assert "\x1b" not in told.err
    row = (await doctor(home, Settings(), {"TERM": "dumb"}))["terminal"]
    assert (row.state, row.advice) == ("warn", "Only the app needs one.")
