"""Homes to run the program in, and what must hold in them afterwards, whatever happened meanwhile."""

import json
from contextlib import closing
from pathlib import Path

import apsw

from memory.config import Home
from memory.settings import load_settings
from memory.store import fts, health, migrations, open_store, open_store_or_fallback
from memory.store.connection import APPLICATION_ID
from memory.store.sqlite import SQLiteStore
from memory.types import NewMemory

SESSION = "ab" * 16
OLD_STEPS = 7
"""Migrations that the old database has seen."""
NOW = "2025-03-01T09:00:00.000000+00:00"
OLD_TEXTS = [f"An old message about tide tables, number {number}" for number in range(12)]
LINES = [
    {"id": f"m{number}", "session": "s-demo", "role": role, "content": f"line {number} about the lighthouse", "ts": NOW}
    for number, role in enumerate(["user", "assistant"] * 10)
]


def write_config(home: Path, url: str) -> None:
    """Both models are the server on loopback."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = home / "config.toml"
    config.write_text(
        f'# mine\n[llm]\nprovider = "openai"\nbase_url = "{url}"\nmodel = "scripted"\napi_key = "k"\n'
        f'[embedding]\nprovider = "openai"\nbase_url = "{url}"\nmodel = "vectors"\napi_key = "k"\nbatch_wait = 0.0\n'
    )
    config.chmod(0o600)


def old_database(home: Path) -> None:
    """A database as an earlier version left it, with a session, its index, and a memory."""
    with closing(apsw.Connection(str(home / "memory.db"))) as connection:
        connection.pragma("journal_mode", "wal")
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT")
        for name, sql in migrations.MIGRATIONS[:OLD_STEPS]:
            connection.execute(sql)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (name, NOW))
        connection.pragma("user_version", OLD_STEPS)
        connection.execute(
            "INSERT INTO sessions (id, title, user_id, tip_message_id, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (SESSION, "Tide tables", "default", len(OLD_TEXTS), NOW, NOW),
        )
        for number, text in enumerate(OLD_TEXTS, 1):
            connection.execute(
                "INSERT INTO main_messages (session_id, role, content, timestamp, parent_id) VALUES (?, ?, ?, ?, ?)",
                (SESSION, "user" if number % 2 else "assistant", text, NOW, number - 1 or None),
            )
            fts.put(connection, "message", number, text)
        connection.execute(
            "INSERT INTO long_term_memories (content, memory_type, created_at, updated_at, user_id, branch, source)"
            " VALUES ('The user sails.', 'fact', ?, ?, 'default', 'short_term_fact', 'user')",
            (NOW, NOW),
        )
        fts.put(connection, "long_term", 1, "The user sails.")


def filled(home: Path) -> str:
    """A database of today with a session of 12 messages and three memories; gives the session's id."""
    with closing(open_store(home / "memory.db")) as store:
        session = store.create_session(title="Tide tables")
        for number, text in enumerate(OLD_TEXTS):
            store.add_message(session.id, "assistant" if number % 2 else "user", text)
        for text in ("The user sails.", "The user likes green tea.", "The boat is called Orca."):
            store.add_memory(NewMemory(text, "fact", "short_term_fact", "user"), actor="user")
        return session.id


def assert_sound(home: Path, *, texts: list[str], memories: list[str], damaged: bool = False) -> None:
    """The next start is an ordinary one; these texts and memories are there; all that belongs together is in step.

    `damaged`: the database was from the beginning, and the start may say that it made it anew.
    """
    load_settings(Home(home))
    store, problem = open_store_or_fallback(Home(home))
    with closing(store):
        assert problem is None or (damaged and "was made anew" in str(problem)), problem
        assert isinstance(store, SQLiteStore)
        store.recover_interrupted(lambda owner: False)
        said = [message.content for session in store.sessions(state=None) for message in store.path(session.id)]
        assert [text for text in texts if text not in said] == []
        kept = [memory.content for memory in store.memories(status=None, limit=1000)]
        assert [text for text in memories if text not in kept] == []
    assert health.examine(home / "memory.db").told() == ""
    with closing(apsw.Connection(str(home / "memory.db"))) as connection:
        assert_in_step(connection)
    for path in home.glob("sessions/*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            json.loads(line)


def assert_in_step(connection: apsw.Connection) -> None:
    """Text indexes and vectors hold what the tables do."""
    searched = (
        "state <> 'streaming' AND role IN ('user', 'assistant') AND json_extract(metadata, '$.forgotten') IS NULL"
    )
    for table, condition in (("main_messages", searched), ("short_term_memories", "1"), ("long_term_memories", "1")):
        wanted = connection.execute(f"SELECT id FROM {table} WHERE {condition} ORDER BY id").fetchall()
        assert connection.execute(f"SELECT rowid FROM fts_{table} ORDER BY rowid").fetchall() == wanted
    flagged = connection.execute("SELECT id FROM main_messages WHERE has_embedding = 1 ORDER BY id").fetchall()
    embedded = connection.execute("SELECT item_id FROM embeddings WHERE kind = 'message' ORDER BY item_id").fetchall()
    assert flagged == embedded
    unchecked = connection.execute("SELECT count(*) FROM main_messages WHERE checksum IS NULL").get
    assert unchecked in (0, len(OLD_TEXTS)), "all, or what came from before and no commit has followed"
