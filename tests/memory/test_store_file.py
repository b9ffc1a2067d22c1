"""The database as a file: who may read it, what is refused, how its schema grows."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from memory.config import Home
from memory.errors import StoreBusyError, StoreDamaged, StoreError, StoreFullError, StoreOpenError
from memory.store import emptied, files, migrations, open_store, open_store_or_fallback
from memory.store.failures import translated
from memory.store.sqlite import SQLiteStore


@pytest.fixture
def path(home: Path) -> Path:
    return home / "memory.db"


def fill(path: Path) -> str:
    store = open_store(path)
    session = store.create_session(title="kept")
    store.add_message(session.id, "user", "harbour")
    store.close()
    return session.id


def snapshot(directory: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in directory.iterdir()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="POSIX modes")
def test_all_files_are_for_their_owner_only(path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_store(path)
        store.create_session()
        assert mode(path.parent) == 0o700
        assert {entry.name: mode(entry) for entry in path.parent.iterdir()} == {
            "memory.db": 0o600,
            "memory.db-wal": 0o600,
            "memory.db-shm": 0o600,
        }
        store.close()
        path.chmod(0o644)
        open_store(path).close()
        assert mode(path) == 0o600
    finally:
        os.umask(before)


def test_settings_of_the_file_and_the_connections(path: Path) -> None:
    store = SQLiteStore(path)
    with store._db.write() as writer:
        assert writer.pragma("journal_mode") == "wal"
        assert writer.pragma("synchronous") == 2
        assert writer.pragma("secure_delete") == 1
        assert writer.pragma("page_size") == 16384
    with store._db.read() as reader:
        assert [reader.pragma(name) for name in ("foreign_keys", "trusted_schema", "query_only")] == [1, 0, 1]
        assert reader.pragma("application_id") == int.from_bytes(b"ORCA")
        with pytest.raises(apsw.Error):
            reader.execute("DELETE FROM sessions")
    store.close()


def test_only_one_sqlite_and_no_numpy_is_loaded(path: Path) -> None:
    code = """
import sys
from pathlib import Path
from memory.store import open_store
assert "apsw" not in sys.modules
store = open_store(Path(sys.argv[1]))
store.add_message(store.create_session().id, "user", "hello")
store.search_text("hello", kinds=["message"])
print(sorted({"sqlite3", "numpy", "sqlite_vec", "apsw"} & set(sys.modules)))
store.close()
"""
    shown = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "['apsw']"


@pytest.mark.parametrize("content", [b"not a database at all" * 50, b"\0" * 40_000], ids=["text", "zeros"])
def test_what_is_no_database_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    before = snapshot(path.parent)
    with pytest.raises(StoreOpenError, match="damaged") as caught:
        open_store(path)
    assert caught.value.hint
    assert snapshot(path.parent) == before


@pytest.mark.parametrize("damage", ["truncated", "header", "schema"])
def test_a_damaged_database_is_refused_and_left_as_it_is(path: Path, damage: str) -> None:
    fill(path)
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        del content[len(content) // 2 :]
    elif damage == "header":
        content[:16] = b"\xff" * 16
    else:
        content[100:16_000] = b"\xee" * 15_900
    path.write_bytes(content)
    with pytest.raises(StoreOpenError, match="damaged") as caught:
        open_store(path)
    assert caught.value.hint
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir(parents=True)
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = snapshot(path.parent)
    with pytest.raises(StoreOpenError, match="another program") as caught:
        open_store(path)
    assert caught.value.hint
    assert snapshot(path.parent) == before


@pytest.mark.parametrize(
    "change", ["INSERT INTO migrations VALUES ('from_the_future', '2030')", "PRAGMA user_version = 99"]
)
def test_a_newer_database_is_refused_and_left_as_it_is(path: Path, change: str) -> None:
    fill(path)
    connection = apsw.Connection(str(path))
    connection.execute(change)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreOpenError, match="newer version") as caught:
        open_store(path)
    assert "Upgrade" in caught.value.hint
    assert path.read_bytes() == before


def test_a_link_or_a_directory_is_refused(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    target = tmp_path / "elsewhere.db"
    path.symlink_to(target)
    with pytest.raises(StoreOpenError, match="not a file"):
        open_store(path)
    assert not target.exists()
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreOpenError, match="not a file"):
        open_store(path)


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreOpenError, match="cannot be") as caught:
        open_store(tmp_path / "file" / "memory.db")
    assert caught.value.hint


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.touch(mode=0o600)
    store = open_store(path)
    assert store.stats()["sessions"] == 0
    store.close()


def test_every_migration_is_recorded_once(path: Path) -> None:
    fill(path)
    open_store(path).close()
    connection = apsw.Connection(str(path))
    names = [name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY rowid")]
    assert names == [name for name, _ in migrations.MIGRATIONS]
    assert connection.pragma("user_version") == len(names)
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["memory.db"]


def test_a_migration_happens_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = fill(path)
    with monkeypatch.context() as patch:
        broken = (*migrations.MIGRATIONS, ("broken", "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);"))
        patch.setattr(migrations, "MIGRATIONS", broken)
        with pytest.raises(StoreError):
            open_store(path)
    store = open_store(path)
    assert store.session(session_id).title == "kept"
    assert store.capabilities()["schema_version"] == len(migrations.MIGRATIONS)
    store.close()
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").get == 0
    connection.close()


def test_a_database_is_copied_before_its_schema_changes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = fill(path)
    grown = (*migrations.MIGRATIONS, ("moods", "CREATE TABLE moods (x TEXT) STRICT"))
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", grown)
        store = open_store(path)
        assert store.session(session_id).title == "kept"
        assert store.capabilities()["schema_version"] == len(grown)
        store.close()
    copy = path.with_name("memory.db.before-moods")
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["memory.db", copy.name]
    if os.name == "posix":
        assert mode(copy) == 0o600
    with pytest.raises(StoreOpenError, match="newer version"):
        open_store(path)
    copy.replace(path)
    store = open_store(path)
    assert store.session(session_id).title == "kept"
    store.close()


def test_a_full_disk_refuses_the_write_and_keeps_the_rest(path: Path) -> None:
    store = SQLiteStore(path)
    session = store.create_session()
    store.add_message(session.id, "user", "before")
    with store._db.write() as writer:
        pages = writer.pragma("page_count")
        writer.pragma("max_page_count", pages)
    with pytest.raises(StoreFullError) as caught:
        store.add_message(session.id, "user", "too much " * 20_000)
    assert caught.value.hint
    assert [message.content for message in store.path(session.id)] == ["before"]
    with store._db.write() as writer:
        writer.pragma("max_page_count", 1_000_000)
    store.add_message(session.id, "user", "after")
    assert [message.content for message in store.path(session.id)] == ["before", "after"]
    store.close()


@pytest.mark.parametrize(
    ("error", "leaf"),
    [
        (apsw.FullError, StoreFullError),
        (apsw.BusyError, StoreBusyError),
        (apsw.LockedError, StoreBusyError),
        (apsw.NotADBError, StoreDamaged),
        (apsw.CorruptError, StoreDamaged),
        (apsw.CantOpenError, StoreOpenError),
        (apsw.ReadOnlyError, StoreOpenError),
        (apsw.IOError, StoreError),
        (apsw.ConstraintError, StoreError),
        (apsw.ConnectionClosedError, StoreError),
        (apsw.SQLError, StoreError),
        (OverflowError, StoreError),
    ],
)
def test_every_error_of_sqlite_has_a_name(path: Path, error: type[Exception], leaf: type[StoreError]) -> None:
    with pytest.raises(StoreError) as caught, translated(path):
        raise error("details")
    assert type(caught.value) is leaf
    assert isinstance(caught.value.__cause__, error)


def test_a_database_held_by_another_is_busy_for_writing_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.store.connection.BUSY_TIMEOUT", 0.05)
    session_id = fill(path)
    store = open_store(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError) as caught:
        store.add_message(session_id, "user", "waiting")
    assert caught.value.hint
    assert len(store.path(session_id)) == 1
    other.execute("ROLLBACK")
    store.add_message(session_id, "user", "now it goes")
    other.close()
    store.close()


def test_a_database_that_was_emptied_is_told_with_its_copies(home: Path, path: Path) -> None:
    fill(path)
    (home / "memory.db.before-lifecycle").write_bytes(path.read_bytes())
    (home / "memory.bak").write_bytes(b"")
    path.write_bytes(b"")
    store, problem = open_store_or_fallback(Home(home))
    store.close()
    assert problem is not None
    assert "memory.db was empty" in str(problem)
    assert "memory.db.before-lifecycle" in problem.hint
    assert "memory.bak" not in problem.hint
    store, problem = open_store_or_fallback(Home(home))
    store.close()
    assert problem is None


def test_an_emptied_database_without_copies_is_told_as_well(home: Path, path: Path) -> None:
    home.mkdir(exist_ok=True)
    path.touch()
    problem = emptied(Home(home))
    assert problem is not None
    assert "backup" in problem.hint
    assert path.stat().st_size == 0


def test_a_new_or_living_database_is_none_that_was_emptied(
    home: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert emptied(Home(home)) is None
    fill(path)
    assert emptied(Home(home)) is None
    path.write_bytes(b"")
    path.with_name("memory.db-wal").write_bytes(b"what was committed last")
    assert emptied(Home(home)) is None
    path.with_name("memory.db-wal").unlink()
    # Another process is at its first start: it fills the file while this one looks.
    monkeypatch.setattr(files.time, "sleep", lambda seconds: path.write_bytes(b"SQLite format 3"))
    assert emptied(Home(home)) is None
