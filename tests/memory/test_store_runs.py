"""Runs of subagents in both stores, and in a database from before."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memory.config import Home
from memory.errors import NotFoundError
from memory.migration.migrate import Migration
from memory.store import migrations, open_store
from memory.store.base import Store
from memory.store.jsonl import JSONLStore
from memory.store.run_store import AGENT_RUN, INTERRUPTED
from memory.store.sqlite import SQLiteStore

Open = Callable[[], Store]
OWNER = {"pid": 1, "host": "h"}


def test_a_run_is_kept_from_beginning_to_end(reopen: Open) -> None:
    store = reopen()
    session = store.create_session()
    message = store.add_message(session.id, "assistant", "x")
    begun = store.add_subagent_run(message.id, "a\x00", "do\ud800 it", parent_run_id=None, owner=OWNER)
    assert (begun.state, begun.content, begun.ended_at, begun.role) == ("running", "", None, "assistant")
    assert (begun.agent_name, begun.task) == ("a\ufffd", "do\ufffd it")
    inner = store.add_subagent_run(message.id, "b", "x", parent_run_id=begun.id, owner=OWNER)
    store.beat_subagent_run(begun.id, {"pid": 2})
    ended = store.end_subagent_run(begun.id, "complete", "Fine.\x00", token_count=5, subtree_tokens=9, truncated=True)
    store = reopen()
    assert store.subagent_run(begun.id) == ended
    assert (ended.state, ended.content, ended.token_count, ended.subtree_tokens) == ("complete", "Fine.\ufffd", 5, 9)
    assert ended.truncated
    assert ended.ended_at is not None
    assert [run.id for run in store.subagent_runs(session.id)] == [begun.id, inner.id]
    assert [run.parent_run_id for run in store.subagent_runs(session.id, message_id=message.id)] == [None, begun.id]
    assert store.subagent_runs(session.id, message_id=999) == []


def test_what_is_not_there_is_told(reopen: Open) -> None:
    store = reopen()
    session = store.create_session()
    message = store.add_message(session.id, "assistant", "x")
    with pytest.raises(NotFoundError):
        store.add_subagent_run(99, "a", "x", parent_run_id=None, owner={})
    with pytest.raises(NotFoundError):
        store.add_subagent_run(message.id, "a", "x", parent_run_id=99, owner={})
    with pytest.raises(NotFoundError):
        store.end_subagent_run(99, "complete", "x", token_count=0, subtree_tokens=0)
    with pytest.raises(NotFoundError):
        store.subagent_run(99)
    with pytest.raises(NotFoundError):
        store.subagent_runs("nothing")


def test_only_runs_whose_owner_is_gone_are_recovered_and_only_once(reopen: Open) -> None:
    store = reopen()
    message = store.add_message(store.create_session().id, "assistant", "x")
    gone, alive, done = (
        store.add_subagent_run(message.id, "a", "x", parent_run_id=None, owner={"name": name}) for name in "gad"
    )
    store.end_subagent_run(done.id, "complete", "x", token_count=0, subtree_tokens=0)
    store = reopen()
    (found,) = store.recover_subagent_runs(lambda owner: owner.get("name") == "a")
    assert (found.id, found.state, found.role, found.content) == (gone.id, "stopped", "system", INTERRUPTED)
    assert store.recover_subagent_runs(lambda owner: owner.get("name") == "a") == []
    assert [store.subagent_run(run.id).state for run in (gone, alive, done)] == ["stopped", "running", "complete"]


def test_a_reply_of_an_agent_is_in_no_search(reopen: Open) -> None:
    store = reopen()
    session = store.create_session()
    reply = store.add_message(session.id, "assistant", "the zyzzyva of the agent", metadata={AGENT_RUN: 1})
    for again in (False, True):
        store = reopen() if again else store
        assert store.search_text("zyzzyva", kinds=("message",)) == []
        assert store.count_waiting(model="m") == 0
        store.update_message(reply.id, content="the zyzzyva of the agent, again")


def test_runs_from_before_have_their_place_in_the_new_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    names = [name for name, _ in migrations.MIGRATIONS]
    with monkeypatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[: names.index("subagent_runs")])
        open_store(path).close()
        connection = apsw.Connection(str(path))
        connection.execute(
            "INSERT INTO sessions (id, user_id, created_at, updated_at) VALUES ('s', 'default', '', '');"
            "INSERT INTO main_messages (id, session_id, role, content, timestamp) VALUES (1, 's', 'assistant', 'x', '')"
        )
        connection.execute(
            "INSERT INTO subagent_messages (parent_msg_id, session_id, agent_name, role, content, timestamp, task,"
            " token_count) VALUES (?, ?, 'old', 'assistant', 'reply', '2026-01-01T00:00:00+00:00', 'task', 7)",
            (1, "s"),
        )
        connection.close()
    store = open_store(path)
    (run,) = store.subagent_runs("s")
    assert (run.agent_name, run.content, run.state, run.token_count, run.subtree_tokens) == (
        *("old", "reply", "complete", 7, 7),
    )
    assert run.started_at == run.ended_at == run.timestamp
    store.close()


def test_runs_of_plain_files_come_into_the_database_once_and_stay_erased(home: Path) -> None:
    files = JSONLStore(home)
    session = files.create_session()
    user = files.add_message(session.id, "user", "/agent a x")
    outer = files.add_subagent_run(user.id, "a", "x", parent_run_id=None, owner=OWNER)
    inner = files.add_subagent_run(user.id, "b", "y", parent_run_id=outer.id, owner=OWNER)
    files.end_subagent_run(inner.id, "failed", "Broken.", role="system", token_count=1, subtree_tokens=1)
    files.end_subagent_run(outer.id, "complete", "Fine.", token_count=2, subtree_tokens=3)
    files.add_message(session.id, "assistant", "Fine.", metadata={AGENT_RUN: outer.id})
    files.close()
    store = SQLiteStore(home / "memory.db")
    other = store.add_message(store.create_session().id, "user", "so that ids differ")
    store.add_subagent_run(other.id, "c", "z", parent_run_id=None, owner=OWNER)
    for _ in range(2):
        Migration(Home(home), store).run()
        runs = store.subagent_runs(session.id)
        assert [(run.agent_name, run.state, run.content) for run in runs] == [
            ("a", "complete", "Fine."),
            ("b", "failed", "Broken."),
        ]
        assert runs[1].parent_run_id == runs[0].id != outer.id
        asked, reply = store.path(session.id)
        assert runs[0].parent_msg_id == asked.id
        assert reply.metadata[AGENT_RUN] == runs[0].id
    store.erase([], message_ids=[asked.id], actor="user")
    Migration(Home(home), store).run()
    assert store.subagent_runs(session.id) == []
    store.close()
