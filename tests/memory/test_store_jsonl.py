"""The store on plain files: lines that are torn, disks that fail, processes that die or write at once."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memory.config import Home
from memory.errors import StoreBusyError, StoreError, StoreFullError, StoreOpenError
from memory.store import open_store_or_fallback
from memory.store.jsonl import JSONLStore
from memory.types import Injection, NewMemory, ScoreParts

WRITER = """
import sys
from pathlib import Path
from memory.store.jsonl import JSONLStore
from memory.types import NewMemory

store = JSONLStore(Path(sys.argv[1]))
session = store.create_session(title=sys.argv[2])
print(session.id, flush=True)
for number in range(int(sys.argv[3])):
    message = store.add_message(session.id, "user", f"message token{number} of {sys.argv[2]}")
    store.add_memory(NewMemory(f"fact token{number}", "fact", "b", "user", topic_key="topic"), actor="user")
    print(message.id, flush=True)
"""


def start(home: Path, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, str(home), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def session_lines(home: Path, session_id: str) -> list[dict[str, object]]:
    text = (home / "sessions" / f"{session_id}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.skipif(os.name != "posix", reason="POSIX modes")
def test_all_files_are_for_their_owner_only(home: Path) -> None:
    before = os.umask(0)
    try:
        store = JSONLStore(home)
        session = store.create_session()
        store.add_short_term(session.id, "sum")
        store.close()
    finally:
        os.umask(before)
    modes = {path.relative_to(home).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}
    assert modes == {
        "sessions": 0o700,
        f"sessions/{session.id}.jsonl": 0o600,
        "memories.jsonl": 0o600,
        "sessions.lock": 0o600,
    }


def test_a_line_a_change_and_nothing_is_ever_rewritten(home: Path) -> None:
    store = JSONLStore(home)
    session = store.create_session()
    reply = store.add_message(session.id, "assistant", "part", state="streaming")
    path = home / "sessions" / f"{session.id}.jsonl"
    before = path.read_bytes()
    store.update_message(reply.id, content="part\nand more", state="complete")
    assert path.read_bytes().startswith(before)
    lines = session_lines(home, session.id)
    assert [line["kind"] for line in lines] == ["session", "message", "message"]
    assert lines[-1]["content"] == "part\nand more"
    store.close()


def test_everything_is_there_after_opening_again(home: Path) -> None:
    store = JSONLStore(home)
    session = store.create_session(title="kept")
    message = store.add_message(session.id, "user", "the harbour is open", metadata={"usage": {"n": 1}})
    fork = store.add_message(session.id, "assistant", "yes")
    store.add_message(session.id, "assistant", "no", parent_id=message.id)
    store.update_session(session.id, tip_message_id=fork.id)
    old = store.add_memory(NewMemory("lives in Paris", "fact", "b", "user", topic_key="home"), actor="user")
    new = store.add_memory(NewMemory("lives in Rome", "fact", "b", "user", topic_key="home"), actor="user")
    store.touch_memories([new.id])
    summaries = [store.add_short_term(session.id, f"summary {n}") for n in range(3)]
    store.keep_short_term(session.id, 1)
    store.put_embeddings([("message", message.id), ("long_term", new.id)], np.eye(2, 8), model="m")
    store.update_message(message.id, content="the harbour is closed")

    def facts(of: JSONLStore) -> list[object]:
        return [
            *(of.sessions(), of.path(session.id), of.memories(status=None), of.short_term(session.id), of.journal()),
            *(of.stats(), of.search_text("harbour", kinds=["message"]), of.waiting_for_embedding(model="m")),
            of.search_vector(np.eye(2, 8)[1], model="m", kinds=["long_term", "message"]),
        ]

    before = facts(store)
    store.close()
    again = JSONLStore(home)
    assert facts(again) == before
    assert [message.id for message in again.path(session.id)] == [message.id, fork.id]
    assert again.memory(old.id).status == "superseded"
    assert again.add_short_term(session.id, "next").id == summaries[-1].id + 1
    again.close()


def test_a_torn_last_line_costs_itself_only(home: Path) -> None:
    store = JSONLStore(home)
    session = store.create_session()
    kept = store.add_message(session.id, "user", "kept")
    store.close()
    path = home / "sessions" / f"{session.id}.jsonl"
    with path.open("ab") as file:
        file.write(b'{"orca":1,"kind":"message","id":2,"session_id":"')
    again = JSONLStore(home)
    after = again.add_message(session.id, "assistant", "after the tear")
    assert [message.content for message in again.path(session.id)] == ["kept", "after the tear"]
    again.close()
    third = JSONLStore(home)
    assert third.path(session.id) == [kept, after]
    assert third.capabilities()["damaged_lines"] == 1
    third.close()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[1]",
        b"\xff\xfe",
        b'{"orca":1}',
        b'{"orca":1,"kind":"message","id":"x"}',
        b'{"orca":1,"kind":"memory","short_term":7}',
        b'{"orca":1,"kind":"memory","gone":[[]]}',
        b'{"orca":1,"kind":"vectors","model":"m","items":[1],"vectors":"AAAA"}',
        b'{"orca":1,"kind":"vectors","model":"m","items":[["message",1,"x"]],"vectors":"AAAAAAAA!"}',
        b'{"orca":1,"kind":"touched","ids":[{}],"at":"now"}',
        b'{"orca":1,"kind":"session","id":"../../etc/x"}',
        b'{"orca":1,"kind":"injections","items":[{"parts":3}]}',
        b'{"a":' * 100_000,
    ],
)
def test_no_line_keeps_the_store_from_opening(home: Path, line: bytes) -> None:
    store = JSONLStore(home)
    session = store.create_session()
    message = store.add_message(session.id, "user", "kept")
    store.add_memory(NewMemory("kept too", "fact", "b", "user"), actor="user")
    store.close()
    for name in (f"sessions/{session.id}.jsonl", "memories.jsonl", "vectors.jsonl"):
        with (home / name).open("ab") as file:
            file.write(line + b"\n")
    again = JSONLStore(home)
    assert again.path(session.id) == [message]
    assert [memory.content for memory in again.memories()] == ["kept too"]
    again.close()


def test_a_line_from_before_a_field_was_there_has_its_default(home: Path) -> None:
    store = JSONLStore(home)
    session = store.create_session()
    reply = store.add_message(session.id, "assistant", "reply")
    given = Injection(reply.id, "message", 7, "working", 1, 12, ScoreParts(vector=0.5, total=0.5))
    store.add_injections([given])
    store.close()
    path = home / "memories.jsonl"
    path.write_text(path.read_text().replace('"coverage":0.0,', ""))
    again = JSONLStore(home)
    assert again.injections(reply.id) == [given]
    again.close()


def test_a_session_without_its_first_line_still_has_its_messages(home: Path) -> None:
    store = JSONLStore(home)
    session = store.create_session(title="lost")
    store.add_message(session.id, "user", "kept")
    store.close()
    path = home / "sessions" / f"{session.id}.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first[:-9] + b"\n" + rest)
    again = JSONLStore(home)
    assert [message.content for message in again.path(session.id)] == ["kept"]
    again.close()


def test_files_of_other_programs_are_left_alone(home: Path) -> None:
    (home / "sessions").mkdir(parents=True)
    foreign = home / "sessions" / "old.jsonl"
    foreign.write_text('{"id": "m1", "role": "user", "content": "hello"}\n')
    before = foreign.read_bytes()
    store = JSONLStore(home)
    store.add_message(store.create_session().id, "user", "mine")
    assert store.stats()["sessions"] == 1
    assert store.capabilities()["damaged_lines"] == 0
    store.close()
    assert foreign.read_bytes() == before


def test_two_stores_see_each_other_at_once(home: Path) -> None:
    first, second = JSONLStore(home), JSONLStore(home)
    session = first.create_session()
    one = first.add_message(session.id, "user", "from the first")
    two = second.add_message(session.id, "assistant", "from the second")
    assert (two.parent_id, two.id) == (one.id, one.id + 1)
    assert [message.content for message in first.path(session.id)] == ["from the first", "from the second"]
    assert len(first.search_text("second", kinds=["message"])) == 1
    first.close()
    assert second.message(two.id) == two
    second.close()


def test_processes_write_together(home: Path) -> None:
    writers = [start(home, name, 40) for name in ("first", "second")]
    outputs = [writer.communicate(timeout=120)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    store = JSONLStore(home)
    for session_id, *ids in outputs:
        assert [str(message.id) for message in store.path(session_id)] == ids
    assert store.stats()["messages"] == store.stats()["long_term"] == 80
    assert len(store.memories()) == 1
    assert store.capabilities()["damaged_lines"] == 0
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("acknowledged", [1, 15])
def test_kill_loses_nothing_that_was_acknowledged(home: Path, acknowledged: int) -> None:
    with start(home, "killed", 10_000) as writer:
        assert writer.stdout is not None
        session_id = writer.stdout.readline().strip()
        ids = [int(writer.stdout.readline()) for _ in range(acknowledged)]
        writer.send_signal(signal.SIGKILL)
        ids += [int(line) for line in writer.stdout if line.endswith("\n")]
    store = JSONLStore(home)
    stored = store.path(session_id)
    assert [message.id for message in stored][: len(ids)] == ids
    assert len(stored) <= len(ids) + 1
    store.add_message(session_id, "user", "and on")
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="flock")
def test_a_store_held_by_another_is_busy(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr("memory.store.jsonl.lock.TIMEOUT", 0.05)
    store = JSONLStore(home)
    session = store.create_session()
    with (home / "sessions.lock").open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StoreBusyError) as caught:
            store.add_message(session.id, "user", "waiting")
        assert caught.value.hint
        assert store.path(session.id) == []
    store.add_message(session.id, "user", "now it goes")
    store.close()


@pytest.mark.parametrize(
    ("call", "error", "leaf"),
    [
        ("write", errno.ENOSPC, StoreFullError),
        ("write", errno.EDQUOT, StoreFullError),
        ("write", errno.EIO, StoreError),
        ("fsync", errno.ENOSPC, StoreFullError),
        ("fsync", errno.EIO, StoreError),
        ("short", 0, StoreFullError),
    ],
)
def test_a_disk_that_fails_refuses_the_write_and_keeps_the_rest(
    home: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: int, leaf: type[StoreError]
) -> None:
    store = JSONLStore(home)
    session = store.create_session()
    before = store.add_message(session.id, "user", "before")
    path = home / "sessions" / f"{session.id}.jsonl"
    content = path.read_bytes()
    write = os.write

    def broken(file: int, data: bytes = b"") -> int:
        if call == "short" and len(data) > 8:
            return write(file, data[:20])
        if call == "short" or (call == "write" and len(data) <= 8):
            return write(file, data)
        raise OSError(error, os.strerror(error))

    with monkeypatch.context() as patch:
        patch.setattr("memory.store.jsonl.lines.os." + ("fsync" if call == "fsync" else "write"), broken)
        with pytest.raises(leaf) as caught:
            store.add_message(session.id, "user", "does not fit")
        assert caught.value.hint
        assert store.path(session.id) == [before]
    assert path.read_bytes() == content
    after = store.add_message(session.id, "user", "after")
    store.close()
    again = JSONLStore(home)
    assert again.path(session.id) == [before, after]
    again.close()


def test_a_home_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreOpenError) as caught:
        JSONLStore(tmp_path / "file")
    assert caught.value.hint


def test_files_take_the_place_of_a_database_that_cannot_be_opened(home: Path) -> None:
    place = Home(home)
    place.ensure()
    damaged = b"this is no database, and it is longer than a header " * 10
    place.database.write_bytes(damaged)
    store, problem = open_store_or_fallback(place)
    assert problem is not None
    assert str(place.root / "sessions") in str(problem)
    assert problem.hint
    assert store.capabilities()["backend"] == "jsonl"
    store.add_message(store.create_session().id, "user", "kept")
    store.close()
    assert place.database.read_bytes() == damaged
    place.database.unlink()
    store, problem = open_store_or_fallback(place)
    assert problem is None
    assert store.capabilities()["backend"] == "sqlite"
    store.close()


def test_when_neither_can_be_used_the_database_is_what_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreOpenError, match=r"memory\.db"):
        open_store_or_fallback(Home(tmp_path / "file"))


def test_a_missing_library_is_a_database_that_cannot_be_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apsw", None)
    store, problem = open_store_or_fallback(Home(home))
    assert problem is not None
    assert "pip install" in problem.hint
    assert store.capabilities()["backend"] == "jsonl"
    store.close()
