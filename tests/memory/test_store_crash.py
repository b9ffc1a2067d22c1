"""Processes that die, and processes and threads that write at once: what was acknowledged is there."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memory.store import open_store

WRITER = """
import sys
from pathlib import Path
import numpy as np
from memory.store import open_store
from memory.types import NewMemory

store = open_store(Path(sys.argv[1]))
session = store.create_session(title=sys.argv[2])
print(session.id, flush=True)
for number in range(int(sys.argv[3])):
    message = store.add_message(session.id, "user", f"message token{number} of {sys.argv[2]}")
    store.add_memory(NewMemory(f"fact token{number}", "fact", "b", "user", topic_key="topic"), actor="user")
    store.put_embeddings([("message", message.id)], np.random.default_rng(number).normal(size=(1, 8)), model="m")
    print(message.id, flush=True)
"""


@pytest.fixture
def path(home: Path) -> Path:
    return home / "memory.db"


def start(path: Path, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check_whole(path: Path) -> None:
    """The file is sound, and the indexes hold exactly what the tables do."""
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    assert connection.pragma("foreign_key_check") is None
    for table in ("main_messages", "long_term_memories"):
        connection.execute(f"INSERT INTO fts_{table} (fts_{table}) VALUES ('integrity-check')")
        ids = connection.execute(f"SELECT id FROM {table} ORDER BY id").fetchall()
        assert connection.execute(f"SELECT rowid FROM fts_{table} ORDER BY rowid").fetchall() == ids
    flagged = connection.execute("SELECT id FROM main_messages WHERE has_embedding = 1 ORDER BY id").fetchall()
    embedded = connection.execute("SELECT item_id FROM embeddings WHERE kind = 'message' ORDER BY item_id").fetchall()
    assert flagged == embedded
    connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("acknowledged", [1, 7, 20])
def test_kill_loses_nothing_that_was_acknowledged(path: Path, acknowledged: int) -> None:
    with start(path, "killed", 10_000) as writer:
        assert writer.stdout is not None
        session_id = writer.stdout.readline().strip()
        ids = [int(writer.stdout.readline()) for _ in range(acknowledged)]
        writer.send_signal(signal.SIGKILL)
        ids += [int(line) for line in writer.stdout if line.endswith("\n")]
    store = open_store(path)
    stored = store.path(session_id)
    assert [message.id for message in stored][: len(ids)] == ids
    assert len(stored) <= len(ids) + 1
    assert [hit.id for hit in store.search_text(f"token{acknowledged - 1}", kinds=["message"])] == [
        ids[acknowledged - 1]
    ]
    active = store.memories(limit=10)
    assert len(active) == 1
    assert active[0].version >= len(ids)
    store.close()
    check_whole(path)


def test_two_processes_start_at_once_and_write_together(path: Path) -> None:
    writers = [start(path, name, 60) for name in ("first", "second")]
    outputs = [writer.communicate(timeout=120)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [len(output) for output in outputs] == [61, 61]
    store = open_store(path)
    for session_id, *ids in outputs:
        assert [str(message.id) for message in store.path(session_id)] == ids
    assert store.stats() | {"bytes": 0} == {
        "sessions": 2,
        "messages": 120,
        "short_term": 0,
        "long_term": 120,
        "embeddings": 120,
        "bytes": 0,
    }
    assert len(store.memories()) == 1
    store.close()
    check_whole(path)


def test_many_starts_on_an_empty_home(path: Path) -> None:
    code = "import sys, pathlib, memory.store as s; s.open_store(pathlib.Path(sys.argv[1])).close()"
    starts = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [process.wait(timeout=120) for process in starts] == [0] * 4
    check_whole(path)


def test_threads_share_one_store(path: Path) -> None:
    store = open_store(path)

    def work(session_id: str) -> None:
        for number in range(25):
            message = store.add_message(session_id, "user", f"harbour {number}")
            assert store.message(message.id) == message
            assert store.path(session_id)[-1] == message
            assert len(store.search_text("harbour", kinds=["message"], session_id=session_id)) == number + 1

    sessions = [store.create_session().id for _ in range(6)]
    with ThreadPoolExecutor(len(sessions)) as pool:
        for done in [pool.submit(work, session_id) for session_id in sessions]:
            done.result()
    assert store.stats()["messages"] == 150
    store.close()
    check_whole(path)
