"""Bringing old sessions in: every line has an outcome, nothing comes in twice, and a cut changes nothing."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.config import Home, Settings
from memory.core import Core
from memory.migration.migrate import FileReport, Migration, Report, waiting_files
from memory.migration.old_fields import UnreadableError, read
from memory.migration.old_lines import split_line
from memory.provider.scripted import HashEmbedder
from memory.store import open_store
from memory.store.jsonl import JSONLStore
from memory.store.sqlite import SQLiteStore
from memory.types import Message, NewMemory, Scope

CORPUS = Path(__file__).parents[1] / "data" / "jsonl"
EXPECTED = [json.loads(line) for line in (CORPUS / "expect.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def store(home: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(home / "memory.db")
    yield store
    store.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "old"
    path.mkdir()
    return path


def migrate(home: Path, store: SQLiteStore, source: Path | None = None, **options: Any) -> Report:
    return Migration(Home(home), store, **options).run(source)


def bring(home: Path, store: SQLiteStore, source: Path, *lines: str | bytes | dict[str, Any]) -> FileReport:
    """Write a file with these lines and bring it in."""
    path = source / "talk.jsonl"
    raw = [
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    path.write_bytes(b"".join(line + b"\n" for line in raw))
    return migrate(home, store, path).files[0]


def messages(store: SQLiteStore) -> list[Message]:
    """All messages, session by session, along the path."""
    sessions = sorted(store.sessions(state=None), key=lambda session: session.created_at)
    return [message for session in sessions for message in store.path(session.id)]


def notes(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = message.metadata["import"]
    return found


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case["file"])
def test_every_line_of_the_corpus_has_its_outcome(
    home: Path, store: SQLiteStore, source: Path, case: dict[str, Any]
) -> None:
    path = source / case["file"]
    shutil.copy(CORPUS / case["file"], path)
    before = path.read_bytes()
    report = migrate(home, store, path).files[0]
    assert (report.imported, report.skipped, report.repaired) == (case["imported"], case["skipped"], case["repaired"])
    assert report.already == 0
    assert path.read_bytes() == before
    assert store.stats()["messages"] == case["imported"]
    again = migrate(home, store, path).files[0]
    assert (again.imported, again.already, again.skipped) == (0, case["imported"], case["skipped"])
    assert store.stats()["messages"] == case["imported"]


def test_the_whole_corpus_at_once(home: Path, store: SQLiteStore, source: Path) -> None:
    for case in EXPECTED:
        shutil.copy(CORPUS / case["file"], source / case["file"])
    report = migrate(home, store, source)
    for name in ("imported", "skipped", "repaired"):
        assert report.total(name) == sum(case[name] for case in EXPECTED)
    assert migrate(home, store, source).total("imported") == 0


def corpus(home: Path, store: SQLiteStore, source: Path, name: str) -> list[Message]:
    shutil.copy(CORPUS / name, source / name)
    migrate(home, store, source / name)
    return messages(store)


def test_the_order_of_the_file_counts_and_not_the_clock(home: Path, store: SQLiteStore, source: Path) -> None:
    found = corpus(home, store, source, "17_out_of_order.jsonl")
    assert [notes(message)["id"] for message in found] == ["m003", "m001", "m002", "m005", "m004"]


def test_times_are_utc_and_say_what_was_assumed(home: Path, store: SQLiteStore, source: Path) -> None:
    found = corpus(home, store, source, "18_naive_and_offset_times.jsonl")
    assert [message.timestamp[11:23] for message in found] == [
        *("09:01:00.000", "09:02:00.000", "09:03:00.000", "09:04:00.123", "09:05:00.000", "09:06:00.123")
    ]
    assert [notes(message).get("time") for message in found] == ["assumed", None, None, "assumed", None, None]
    assert notes(found[1])["offset"] == "+08:00"


def test_what_is_missing_is_taken_from_the_neighbours_and_said(home: Path, store: SQLiteStore, source: Path) -> None:
    shutil.copy(CORPUS / "15_missing_fields.jsonl", source)
    migrate(home, store, source)
    sessions = store.sessions()
    assert len(sessions) == 2
    alone = next(message for message in messages(store) if message.content == "no session and no time")
    assert (alone.timestamp[:16], notes(alone)["time"]) == ("2025-03-01T09:02", "estimated")
    nobody = next(message for message in messages(store) if message.content == "no role")
    assert (nobody.role, notes(nobody)["role"]) == ("tool", "unknown")


def test_two_texts_with_one_id_are_both_kept(home: Path, store: SQLiteStore, source: Path) -> None:
    found = corpus(home, store, source, "08_same_id_other_text.jsonl")
    assert [message.content for message in found][1] == "line 1, edited later"
    assert notes(found[1])["same_id_as_line"] == 1


def test_tool_calls_are_data_and_old_words_are_no_news(home: Path, store: SQLiteStore, source: Path) -> None:
    found = corpus(home, store, source, "24_tool_calls.jsonl")
    assert found[1].metadata["tool_calls"][0]["name"] == "shell"
    assert notes(found[2])["orphan"] is True
    assert found[0].metadata["extracted"] is True


def test_texts_come_in_as_they_are(home: Path, store: SQLiteStore, source: Path) -> None:
    found = corpus(home, store, source, "27_escape_in_history.jsonl")
    assert found[0].content == "look \x1b]52;c;eA==\x07 here"
    assert [hit.id for hit in store.search_text("look", kinds=["message"])] == [found[0].id]


def test_rejects_are_kept_byte_for_byte_with_their_lines(home: Path, store: SQLiteStore, source: Path) -> None:
    torn, binary = b'{"role": "user", "content": "cut', b'\xff\xfe{"x": "\x00"'
    report = bring(home, store, source, {"role": "user", "content": "one"}, torn, binary)
    assert report.rejects == source / "talk.jsonl.rejected"
    assert report.rejects.read_bytes() == (
        b"# line 2: not JSON, or cut off\n" + torn + b"\n# line 3: not JSON, or cut off\n" + binary + b"\n"
    )
    assert sorted(path.name for path in source.iterdir()) == ["talk.jsonl", "talk.jsonl.rejected"]


def test_rejects_go_into_the_home_when_the_source_takes_none(
    home: Path, store: SQLiteStore, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(path: Path) -> None:
        if path.parent == source:
            raise PermissionError(13, "Permission denied")
        path.touch(mode=0o600)

    monkeypatch.setattr("memory.migration.rejects.create_private", create)
    report = bring(home, store, source, "no json")
    assert report.rejects is not None
    assert report.rejects.parent == home / "rejected"
    assert b"no json" in report.rejects.read_bytes()
    assert [path.name for path in source.iterdir()] == ["talk.jsonl"]


@pytest.mark.parametrize(
    ("record", "role", "content"),
    [
        ({"sender": "human", "text": "hi"}, "user", "hi"),
        ({"author": {"role": "assistant"}, "content": {"parts": ["a", "b"]}}, "assistant", "a\n\nb"),
        ({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}}, "user", "hi"),
        ({"role": "Developer", "content": "rules"}, "system", "rules"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, "assistant", ""),
        ({"role": "narrator", "content": "once"}, "tool", "once"),
        ({"role": "user", "content": 42}, "user", "42"),
        ({"role": ["user"], "content": "x"}, "tool", "x"),
        ({"from": "gpt", "value": "x", "id": {"a": 1}}, "assistant", "x"),
    ],
)
def test_other_clients_call_things_otherwise(record: dict[str, Any], role: str, content: str) -> None:
    found = read(record)
    assert (found.role, found.content) == (role, content)


@pytest.mark.parametrize(
    "value", ["x", "", True, [], {}, float("nan"), float("inf"), 1e300, -1e18, "0001-01-01", "9999-12-31T23:59:59"]
)
def test_a_time_that_cannot_be_believed_is_none(value: object) -> None:
    assert read({"role": "user", "content": "x", "ts": value}).time is None


def test_a_bom_blank_lines_and_a_missing_last_newline_are_nothing(home: Path, store: SQLiteStore, source: Path) -> None:
    path = source / "bom.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\r\n\n{"role": "user", "content": "one"}\n\n{"role": "user", "content": "two"}')
    report = migrate(home, store, path).files[0]
    assert (report.imported, report.skipped, report.repaired) == (2, 0, 2)  # Only their times are estimated.
    assert [message.content for message in messages(store)] == ["one", "two"]


def test_a_repeated_line_is_one_message_but_words_without_an_id_may_be_said_twice(
    home: Path, store: SQLiteStore, source: Path
) -> None:
    same = {"id": "a", "role": "user", "content": "yes", "ts": 1740819900}
    report = bring(
        home, store, source, same, same, {"role": "user", "content": "yes"}, '{"role":"user","content":"yes"}'
    )
    assert (report.imported, report.skipped, report.rejects) == (3, 1, None)
    assert migrate(home, store, source).total("imported") == 0


def test_what_cannot_be_stored_is_repaired_and_counted(home: Path, store: SQLiteStore, source: Path) -> None:
    report = bring(
        home,
        store,
        source,
        '{"role": "user", "content": "a\\u0000b\\ud800", "ts": 1740819900}',
        b'{"role": "user", "content": "caf\xe9", "ts": 1740819900}',
    )
    assert (report.imported, report.repaired) == (2, 2)
    assert [message.content for message in messages(store)] == ["a\ufffdb\ufffd", "caf\ufffd"]


def test_a_file_that_grew_brings_in_what_is_new_and_leaves_what_the_user_did(
    home: Path, store: SQLiteStore, source: Path
) -> None:
    lines = [{"id": str(n), "role": "user", "content": f"line {n}", "ts": 1740819900 + n} for n in range(5)]
    bring(home, store, source, *lines[:2])
    bring(home, store, source, *lines[:3])
    session = store.sessions()[0]
    assert [message.content for message in store.path(session.id)] == ["line 0", "line 1", "line 2"]
    own = store.add_message(session.id, "user", "mine")
    assert bring(home, store, source, *lines).imported == 2
    assert store.session(session.id).tip_message_id == own.id
    moved = source / "elsewhere"
    moved.mkdir()
    shutil.move(source / "talk.jsonl", moved)
    assert migrate(home, store, source).total("imported") == 0


def test_files_that_only_share_a_name_stay_apart(home: Path, store: SQLiteStore, source: Path) -> None:
    for name in ("a", "b"):
        (source / name).mkdir()
        line = {"id": "1", "session": "main", "role": "user", "content": f"from {name}"}
        (source / name / "talk.jsonl").write_text(json.dumps(line))
    migrate(home, store, source)
    assert len(store.sessions()) == 2


def test_a_dry_run_writes_nothing(home: Path, store: SQLiteStore, source: Path) -> None:
    shutil.copy(CORPUS / "02_truncated_middle_line.jsonl", source)
    before = store.stats()
    for target in (store, None):
        report = Migration(Home(home), target, dry_run=True).run(source)
        assert (report.total("imported"), report.total("skipped")) == (5, 1)
    assert store.stats() == before
    assert store.import_marks() == []
    assert len(list(source.iterdir())) == 1
    migrate(home, store, source)
    assert Migration(Home(home), store, dry_run=True).run(source).total("already") == 5


def test_a_file_that_cannot_be_read_does_not_stop_the_others(
    home: Path, store: SQLiteStore, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "b.jsonl").write_text('{"role": "user", "content": "x"}')
    (source / "a.jsonl").write_text("x")
    opened = Path.open

    def refuse(self: Path, *rest: Any, **options: Any) -> Any:
        if self.name == "a.jsonl":
            raise PermissionError(13, "Permission denied")
        return opened(self, *rest, **options)

    monkeypatch.setattr(Path, "open", refuse)
    report = migrate(home, store, source)
    assert [file.problem for file in report.files] == ["Permission denied", ""]
    assert report.total("imported") == 1
    assert migrate(home, store, source / "missing.jsonl").files[0].problem


def test_the_scope_of_the_user_is_given(home: Path, store: SQLiteStore, source: Path) -> None:
    (source / "a.jsonl").write_text('{"role": "user", "content": "x"}')
    migrate(home, store, source, scope=Scope("ann", "harbour"))
    assert store.sessions()[0].scope == Scope("ann", "harbour")


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=80)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["role", "content", "ts", "id", "type", "tool_calls", "message"]), inner)
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_line_raises_and_every_byte_is_somewhere(line: bytes) -> None:
    line = line.replace(b"\n", b"")
    pieces = split_line(line)
    assert b"".join(piece.raw for piece in pieces).translate(None, b" \t\r,") == line.translate(None, b" \t\r,")
    for piece in pieces:
        if piece.record is not None:
            with suppress(UnreadableError):
                read(piece.record)


RUNNER = """
import os, signal, sys
from pathlib import Path
from memory.config import Home
from memory.migration.migrate import Migration
from memory.store.sqlite import SQLiteStore

home, source, left = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
def progress(_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
store = SQLiteStore(home / "memory.db")
Migration(Home(home), store, batch=4, progress=progress).run(source)
"""


def contents(path: Path) -> list[list[Any]]:
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    found = [
        connection.execute(query).fetchall()
        for query in (
            "SELECT id, session_id, role, content, timestamp, metadata, parent_id FROM main_messages ORDER BY id",
            "SELECT id, tip_message_id, created_at, updated_at FROM sessions ORDER BY id",
            "SELECT * FROM imported_items ORDER BY digest",
            "SELECT source, path, size, lines, finished FROM imports ORDER BY source",
            "SELECT term, doc FROM fts_main_messages_vocabulary ORDER BY term",
        )
    ]
    connection.close()
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("batches", [1, 2, 3, 5])
def test_a_run_that_is_killed_goes_on_as_if_nothing_was(home: Path, source: Path, tmp_path: Path, batches: int) -> None:
    for name in ("00_clean", "02_truncated_middle_line", "15_missing_fields", "31_interleaved_writers"):
        shutil.copy(CORPUS / f"{name}.jsonl", source)
    with SQLiteContext(tmp_path / "clean") as clean:
        migrate(tmp_path / "clean", clean, source, batch=4)
    rejects = {path.name: path.read_bytes() for path in source.glob("*.rejected")}
    for path in source.glob("*.rejected"):
        path.unlink()
    home.mkdir()
    command = [sys.executable, "-c", RUNNER, str(home), str(source), str(batches)]
    killed = subprocess.run(command, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with SQLiteContext(home) as store:
        migrate(home, store, source, batch=4)
    assert contents(home / "memory.db") == contents(tmp_path / "clean" / "memory.db")
    assert {path.name: path.read_bytes() for path in source.glob("*.rejected")} == rejects
    assert not list(source.glob("*.partial"))


class SQLiteContext:
    def __init__(self, home: Path) -> None:
        self._store = SQLiteStore(home / "memory.db")

    def __enter__(self) -> SQLiteStore:
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()


def fill_files(home: Path) -> JSONLStore:
    """What a time without a database leaves: a fork, a chosen path, memories that follow each other."""
    files = JSONLStore(home)
    session = files.create_session(title="In between", scope=Scope("ann"))
    question = files.add_message(session.id, "user", "When is high tide?")
    answer = files.add_message(session.id, "assistant", "At noon", state="streaming")
    files.update_message(answer.id, content="At noon.", state="complete", metadata={"model": "m"})
    files.add_message(session.id, "assistant", "At six.", parent_id=question.id)
    files.update_session(session.id, tip_message_id=answer.id)
    files.add_short_term(session.id, "tides", first_message_id=question.id, last_message_id=answer.id)
    files.add_memory(NewMemory("lives in Paris", "fact", "b", "user", topic_key="home"), actor="user")
    files.add_memory(
        NewMemory(
            *("lives in Rome", "fact", "b", "user"),
            topic_key="home",
            source_session=session.id,
            source_message_id=question.id,
        ),
        actor="user",
    )
    return files


def test_what_the_fallback_has_kept_comes_in_whole(home: Path) -> None:
    files = fill_files(home)
    here = files.sessions()[0]
    expected = [(message.role, message.content, message.timestamp) for message in files.path(here.id)]
    files.close()
    with SQLiteContext(home) as store:
        older = store.create_session()
        store.add_message(older.id, "user", "so that ids differ")
        store.add_memory(NewMemory("lives in Oslo", "fact", "b", "user", topic_key="home"), actor="user")
        assert waiting_files(Home(home), store) == 2  # The session and the memories.
        report = migrate(home, store)
        assert [report.total(name) for name in ("imported", "skipped", "summaries", "memories")] == [3, 0, 1, 2]
        session = store.session(here.id)
        assert (session.title, session.user_id, session.created_at) == (here.title, "ann", here.created_at)
        path = store.path(here.id)
        assert [(message.role, message.content, message.timestamp) for message in path] == expected
        assert path[-1].metadata["model"] == "m"
        (summary,) = store.short_term(here.id)
        assert (summary.first_message_id, summary.last_message_id) == (path[0].id, path[1].id)
        (active,) = store.memories()
        assert (active.content, active.source_message_id) == ("lives in Rome", path[0].id)
        assert active.version == 2
        before = store.stats()
        again = migrate(home, store)
        assert [again.total(name) for name in ("imported", "summaries", "memories")] == [0, 0, 0]
        assert store.stats() | {"bytes": 0} == before | {"bytes": 0}
        assert waiting_files(Home(home), store) == 0


def test_a_second_time_without_a_database_adds_to_the_first(home: Path) -> None:
    files = fill_files(home)
    session = files.sessions()[0]
    files.close()
    with SQLiteContext(home) as store:
        migrate(home, store)
    files = JSONLStore(home)
    files.add_message(session.id, "user", "And low tide?")
    rome = files.memories()[0]
    files.update_memory(rome.id, {"content": "lives in Ostia"}, actor="user")
    files.close()
    with SQLiteContext(home) as store:
        assert waiting_files(Home(home), store) == 2
        assert migrate(home, store).total("imported") == 1
        assert [message.content for message in store.path(session.id)][-2:] == ["At noon.", "And low tide?"]
        assert [memory.content for memory in store.memories()] == ["lives in Ostia"]


def test_what_was_erased_does_not_come_back(home: Path) -> None:
    fill_files(home).close()
    with SQLiteContext(home) as store:
        migrate(home, store)
        (memory,) = store.memories()
        store.erase([memory.id], actor="user")
    files = JSONLStore(home)
    files.update_memory(files.memories()[0].id, {"content": "lives in Ostia"}, actor="user")
    files.close()
    with SQLiteContext(home) as store:
        migrate(home, store)
        assert store.memories() == []


def test_a_damaged_line_of_ours_is_rejected(home: Path) -> None:
    files = fill_files(home)
    session = files.sessions()[0]
    files.close()
    path = home / "sessions" / f"{session.id}.jsonl"
    with path.open("ab") as file:
        file.write(b'{"orca":1,"kind":"mess')
    renamed = path.with_name("renamed.jsonl")
    path.rename(renamed)
    with SQLiteContext(home) as store:
        report = migrate(home, store, renamed).files[0]
        assert (report.imported, report.skipped) == (3, 1)
        assert report.rejects is not None
        assert b'{"orca":1,"kind":"mess\n' in report.rejects.read_bytes()


async def test_the_core_says_what_is_wrong_and_what_waits(home: Path) -> None:
    place = Home(home)
    place.ensure()
    place.database.write_bytes(b"this is no database, and it is longer than a header " * 10)
    core = Core.open(place, Settings(), embedder=HashEmbedder())
    assert "damaged" in str(core.problems[0])
    await core.start()
    session = core.store.create_session()
    core.store.add_message(session.id, "user", "kept in a file")
    await core.close()
    place.database.unlink()
    core = Core.open(place, Settings(), embedder=HashEmbedder())
    await core.start()
    assert core.problems == []
    assert core.waiting_files == 1
    await core.close()
    store = open_store(place.database)
    assert isinstance(store, SQLiteStore)
    migrate(home, store)
    assert waiting_files(place, store) == 0
    store.close()


def test_import_marks_tell_how_far_a_file_was_read(home: Path, store: SQLiteStore, source: Path) -> None:
    shutil.copy(CORPUS / "00_clean.jsonl", source)
    seen: list[tuple[int, int, int]] = []
    migrate(home, store, source, batch=4, progress=lambda at: seen.append((at.file, at.files, at.lines)))
    assert seen == [(1, 1, 4), (1, 1, 6)]
    (mark,) = store.import_marks()
    assert (Path(mark.path), mark.lines, mark.finished) == (source / "00_clean.jsonl", 6, True)
    assert mark.size == (source / "00_clean.jsonl").stat().st_size
