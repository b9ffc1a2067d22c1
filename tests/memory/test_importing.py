"""Exports of ChatGPT, Claude, Elia and orca itself: what comes in and what does not, and nothing twice."""

import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.clock import SystemClock
from memory.config import MemorySettings
from memory.errors import ImportRefused, OrcaError
from memory.migration import export_files, session_export
from memory.migration.importing import Importing, ImportReport
from memory.store import open_store
from memory.store.base import Store
from memory.store.jsonl import JSONLStore
from memory.tokens import TokenCounter

Run = Callable[..., ImportReport]
HOSTILE = "\x1b]0;pwned\x07 [bold]x[/] \u202eabc \x00 \ud800"


@pytest.fixture
def database(home: Path) -> Iterator[Store]:
    store = open_store(home / "memory.db")
    yield store
    store.close()


@pytest.fixture
def run(database: Store) -> Run:
    def work(path: Path, **options: Any) -> ImportReport:
        cancelled = options.pop("cancelled", lambda: False)
        importing = Importing(database, SystemClock(), MemorySettings(), cancelled=cancelled)
        return importing.run(path, **options)

    return work


def node(key: str, parent: str | None, role: str, text: Any, **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    facts = {"author": {"role": role}, "create_time": 1750000000.5, "content": content, "metadata": {}}
    return {"id": key, "parent": parent, "children": [], "message": {**facts, **more}}


def tree(*nodes: dict[str, Any], tip: str, **more: Any) -> dict[str, Any]:
    return {
        "title": "Knots", "create_time": 1750000000.0, "current_node": tip, "conversation_id": "c-1",
        "mapping": {"root": {"id": "root", "parent": None, "message": None}, **{n["id"]: n for n in nodes}},
        **more,
    }  # fmt: skip


KNOTS = tree(
    node("s", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
    node("q", "s", "user", "How do I tie a bowline?"),
    node(
        "t", "q", "assistant", {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "A loop first."}]}
    ),
    node("a1", "t", "assistant", "Make a loop.", metadata={"model_slug": "gpt-5"}),
    node("a2", "q", "assistant", "Watch a video."),
    node(
        "q2",
        "a1",
        "user",
        {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "Like this?"]},
    ),
    node("m", "q2", "assistant", "User sails.", recipient="bio"),
    node("a3", "m", "assistant", "Just so."),
    tip="a3",
)


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def texts(store: Store, session_id: str) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in store.path(session_id)]


def test_chatgpt_keeps_path_forks_thoughts_and_memories(tmp_path: Path, run: Run, database: Store) -> None:
    path = write(tmp_path / "conversations.json", [KNOTS])
    before = path.read_bytes()
    report = run(path)
    assert (report.source, report.talks, report.messages, report.facts) == ("chatgpt", 1, 6, 1)
    (session,) = database.sessions()
    assert (session.title, session.title_by) == ("Knots", "user")
    assert texts(database, session.id) == [
        ("user", "How do I tie a bowline?"),
        ("assistant", "Make a loop."),
        ("user", "[image asset]\n\nLike this?"),
        ("assistant", "→ bio\n\n```\nUser sails.\n```"),
        ("assistant", "Just so."),
    ]
    question, answer, *_rest = database.path(session.id)
    assert answer.metadata["reasoning"] == "A loop first."
    assert answer.metadata["model"] == "gpt-5"
    assert question.metadata["extracted"] is True
    assert question.token_count == TokenCounter().count_message("user", question.content)
    assert question.timestamp.startswith("2025-06-15T15:06:40")
    fork = [m for m in database.messages(session.id) if m.content == "Watch a video."]
    assert [m.parent_id for m in fork] == [question.id]
    (fact,) = database.memories(status=("pending",))
    assert (fact.content, fact.source) == ("User sails.", "knowledge")
    assert database.memories() == []
    again = run(path)
    assert (again.talks, again.talks_known, again.messages, again.known, again.facts) == (0, 1, 0, 6, 0)
    assert path.read_bytes() == before


def test_an_export_that_has_grown_goes_on_where_it_ended(tmp_path: Path, run: Run, database: Store) -> None:
    path = write(tmp_path / "conversations.json", [tree(node("q", "root", "user", "One?"), tip="q")])
    run(path)
    write(path, [tree(node("q", "root", "user", "One?"), node("a", "q", "assistant", "Two."), tip="a")])
    assert run(path).messages == 1
    (session,) = database.sessions()
    assert texts(database, session.id) == [("user", "One?"), ("assistant", "Two.")]


def test_trees_that_are_none(tmp_path: Path, run: Run, database: Store) -> None:
    ring = tree(node("x", "y", "user", "ring x"), node("y", "x", "assistant", "ring y"), tip="nowhere")
    lost = tree(node("l", "gone", "user", "lost"), tip="l", conversation_id="c-2")
    odd = {"mapping": {"a": 7, "b": {"message": "text"}, "c": {"message": {"author": None, "content": []}}}}
    path = write(tmp_path / "conversations.json", [ring, lost, odd, 5, None, {"mapping": {}}])
    report = run(path)
    assert report.messages == 3
    assert report.reasons["it is no conversation"] == 2
    assert report.reasons["a conversation without a message"] == 2
    assert len(database.sessions()) == 2


def test_claude_with_attachments_tools_and_memories(tmp_path: Path, run: Run, database: Store) -> None:
    talk = {
        "uuid": "u-1", "name": "Bread", "created_at": "2026-01-02T03:04:05.678Z",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "How long?", "created_at": "2026-01-02T03:04:06Z",
             "attachments": [{"file_name": "dough.txt", "extracted_content": "flour ``` water"}],
             "files": [{"file_name": "a.png"}]},
            {"uuid": "2", "sender": "assistant", "text": "", "content": [
                {"type": "thinking", "thinking": "Rye or wheat?"}, {"type": "text", "text": "Forty minutes."},
                {"type": "tool_use", "name": "timer", "input": {"min": 40}}]},
            {"uuid": "3", "sender": "robot", "text": "?"},
            {"uuid": "4", "sender": "human", "text": "Thanks for that"},
        ],
    }  # fmt: skip
    place = tmp_path / "export.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("conversations.json", json.dumps([talk]))
        archive.writestr(
            "projects.json", json.dumps([{"uuid": "p", "name": "Bakery", "prompt_template": "Use grams.", "docs": []}])
        )
        memory = {
            "conversations_memory": "# Work\n- Bakes rye bread\n\nLives by the sea",
            "project_memories": {"p": "Oven is small"},
        }
        archive.writestr("memories.json", json.dumps([memory]))
    report = run(place)
    assert (report.source, report.messages, report.facts) == ("claude", 3, 4)
    assert report.reasons == {"a role that is not known": 1, "the time is estimated": 2}
    (session,) = database.sessions()
    question, answer, thanks = database.path(session.id)
    assert question.content == "How long?\n\n[dough.txt]\n````\nflour ``` water\n````\n\n[a.png]"
    assert answer.content.startswith("Forty minutes.\n\n→ timer")
    assert answer.metadata["reasoning"] == "Rye or wheat?"
    assert thanks.parent_id == answer.id
    pending = {memory.content for memory in database.memories(status=("pending",))}
    assert pending == {"Bakery: Use grams.", "Bakes rye bread", "Lives by the sea", "Bakery: Oven is small"}
    assert run(place).messages == 0


def test_elia_is_read_from_a_copy(tmp_path: Path, run: Run, database: Store) -> None:
    path = tmp_path / "elia.sqlite"
    elia = sqlite3.connect(path)
    elia.executescript(
        "CREATE TABLE chat (id INTEGER PRIMARY KEY, model TEXT, title TEXT, started_at DATETIME, archived BOOLEAN);"
        "CREATE TABLE message (id INTEGER PRIMARY KEY, chat_id INTEGER, role TEXT, content TEXT, timestamp DATETIME,"
        " meta JSON, parent_id INTEGER, model TEXT);"
        "INSERT INTO chat VALUES (1, 'gpt-4o', 'Tides', '2026-01-02 03:04:05.000000', 1);"
        "INSERT INTO message VALUES (1, 1, 'system', 'Be brief.', '2026-01-02 03:04:05', '{}', NULL, NULL),"
        " (2, 1, 'user', 'Why tides?', '2026-01-02 03:04:06', '{}', NULL, NULL),"
        " (3, 1, 'assistant', 'The moon.', NULL, '{}', 2, 'gpt-4o'), (4, 1, 'assistant', '', NULL, '{}', NULL, NULL);"
    )
    elia.close()
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    report = run(path)
    assert (report.source, report.messages, report.repaired, report.skipped) == ("elia", 3, 1, 1)
    (session,) = database.sessions(state="archived")
    assert session.title == "Tides"
    assert texts(database, session.id)[1:] == [("user", "Why tides?"), ("assistant", "The moon.")]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == files
    assert run(path).messages == 0


def test_elias_json(tmp_path: Path, run: Run, database: Store) -> None:
    chat = {
        "title": "Tides",
        "id": 7,
        "messages": [{"id": 1, "role": "user", "content": "Why?", "timestamp": "2026-01-02"}],
    }
    assert run(write(tmp_path / "chat.json", chat)).messages == 1
    assert database.sessions()[0].title == "Tides"


def talked(store: Store) -> str:
    session = store.create_session(title=HOSTILE)
    question = store.add_message(session.id, "user", f"question {HOSTILE}")
    calls = [{"id": "1", "name": "look", "arguments": "{}"}]
    store.add_message(session.id, "assistant", "", metadata={"tool_calls": calls, "stream": {"pid": 1, "host": "h"}})
    store.add_message(session.id, "tool", "found", metadata={"tool_call_id": "1", "tool": "look", "state": "done"})
    store.add_message(session.id, "assistant", "answer")
    store.add_message(session.id, "assistant", "fork", parent_id=question.id)
    return session.id


def test_our_own_json_comes_back_as_it_was(tmp_path: Path, run: Run, database: Store) -> None:
    other = open_store(tmp_path / "other" / "memory.db")
    session_id = talked(other)
    wanted = [(m.role, m.content, m.timestamp, m.state) for m in other.messages(session_id)]
    path = tmp_path / "session.json"
    session_export.write(path, session_export.as_json(other, session_id, SystemClock()))
    assert "stream" not in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert run(path).messages == 5
    assert [(m.role, m.content, m.timestamp, m.state) for m in database.messages(session_id)] == wanted
    assert [m.content for m in database.path(session_id)] == [m.content for m in other.path(session_id)]
    assert run(path).messages == 0
    importing = Importing(other, SystemClock(), MemorySettings())
    report = importing.run(path)
    assert (report.messages, report.talks_known) == (0, 1), "a session that is here is not doubled"
    other.close()


def test_markdown_holds_the_path_and_no_escape(database: Store) -> None:
    session_id = talked(database)
    page = session_export.as_markdown(database, session_id)
    assert "fork" in page
    assert "answer" not in page
    assert not {"\x1b", "\u202e", "\x07"} & set(page)
    assert session_export.file_name(database.session(session_id), "md").endswith(".md")


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    session_export.write(path, "one")
    with pytest.raises(OrcaError, match="there already"):
        session_export.write(path, "two")
    assert path.read_text() == "one"
    session_export.write(path, "two", replace=True)
    assert path.read_text() == "two"
    with pytest.raises(OrcaError, match="cannot be written"):
        session_export.write(tmp_path / "missing" / "page.md", "x")
    assert [file.name for file in tmp_path.iterdir()] == ["page.md"]


def test_a_dry_run_changes_nothing(tmp_path: Path, run: Run, database: Store) -> None:
    path = write(tmp_path / "conversations.json", [KNOTS])
    report = run(path, dry_run=True)
    assert (report.talks, report.messages, report.facts) == (1, 6, 1)
    assert database.stats()["messages"] == 0
    assert database.memories(status=None) == []


def test_a_cancelled_run_goes_on_with_the_next(tmp_path: Path, run: Run, database: Store) -> None:
    talks = [
        tree(node(f"q{n}", "root", "user", f"Question {n}"), tip=f"q{n}", conversation_id=f"c{n}") for n in range(9)
    ]
    path = write(tmp_path / "conversations.json", talks)
    asked = iter([False] * 6 + [True] * 99)
    report = run(path, cancelled=lambda: next(asked))
    assert report.cancelled
    assert 0 < report.messages < 9
    assert report.messages + run(path).messages == 9


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"[",
        b"{}",
        b"[]",
        b"null",
        b'{"mapping":',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"SQLite format 3\x00" + b"x" * 90,
    ],
)
def test_what_is_no_export_is_refused(tmp_path: Path, run: Run, database: Store, content: bytes) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(content)
    with pytest.raises(ImportRefused) as caught:
        run(path)
    assert caught.value.hint
    assert path.read_bytes() == content
    assert database.stats()["messages"] == 0


def test_what_is_damaged_at_the_end_costs_the_rest_only(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([KNOTS, KNOTS])[:-40], "utf-8")
    report = run(path)
    assert report.messages == 6
    assert report.reasons["it is no valid JSON"] == 1


def test_bombs_are_bounded(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + " " * 5_000_000 + "]")
    with pytest.raises(ImportRefused, match="larger"):
        run(bomb)
    monkeypatch.setattr(export_files, "MAX_BYTES", 10)
    with pytest.raises(ImportRefused, match="larger"):
        run(write(tmp_path / "conversations.json", [KNOTS]))


@pytest.mark.parametrize("damage", [slice(0, 30), slice(10, None), slice(0, -10)])
def test_damaged_zips(tmp_path: Path, run: Run, damage: slice) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([KNOTS] * 3))
    path.write_bytes(path.read_bytes()[damage])
    with pytest.raises(ImportRefused):
        run(path)


def test_the_wrong_program_is_told(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path / "conversations.json", [KNOTS])
    with pytest.raises(ImportRefused, match="ChatGPT"):
        run(path, source="claude")
    with pytest.raises(ImportRefused, match="no file"):
        run(tmp_path / "missing.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImportRefused):
        run(tmp_path / "empty")


def test_hostile_texts_come_in_as_data(tmp_path: Path, run: Run, database: Store) -> None:
    path = tmp_path / "conversations.json"
    talk = tree(node("q", "root", "user", HOSTILE), tip="q", title=HOSTILE, create_time="x" * 9999, conversation_id=5)
    path.write_text(json.dumps([talk]), "utf-8")
    assert run(path).messages == 1
    (session,) = database.sessions()
    assert not {"\x1b", "\u202e", "\x07"} & set(session.title)
    assert database.path(session.id)[0].content.startswith("\x1b]0;")


def test_plain_files_take_no_imports(home: Path) -> None:
    store = JSONLStore(home)
    with pytest.raises(OrcaError):
        Importing(store, SystemClock(), MemorySettings())
    store.close()
