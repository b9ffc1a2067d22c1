"""Damaged databases are found, put aside untouched and made anew; backups are made, verified and restored."""

import random
import shutil
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from homes import OLD_TEXTS, assert_in_step, filled

from memory.clock import SystemClock
from memory.config import Home
from memory.errors import BackupError, StoreBusyError, StoreDamaged
from memory.store import backups, health, migrations, open_store, open_store_or_fallback
from memory.store.attachments import AttachmentFiles
from memory.store.backup import back_up, restore, verify
from memory.store.connection import PAGE_SIZE
from memory.store.jsonl import JSONLStore
from memory.store.salvage import salvage
from orca_tui.cli import main

Damage = Callable[[bytearray], None]
MANY = 400
"""Messages, some of them longer than a page."""


@pytest.fixture
def database(home: Path) -> Path:
    """Several sessions, many pages, vectors."""
    rng = random.Random(1)
    with closing(open_store(home / "memory.db")) as store:
        for at in range(4):
            session = store.create_session(title=f"会话 {at}")
            ids = []
            for number in range(MANY // 4):
                tail = "长" * rng.randint(0, 9000 if number % 20 == 0 else 200)
                ids.append(store.add_message(session.id, "user", f"harbour {at} {number} {tail}").id)
            store.add_short_term(session.id, f"summary {at}")
            vectors = np.random.default_rng(at).normal(size=(len(ids), 8))
            store.put_embeddings([("message", number) for number in ids], vectors, model="m")
    return home / "memory.db"


def header(content: bytearray) -> None:
    content[:100] = b"\xff" * 100


def first_page(content: bytearray) -> None:
    content[100 : PAGE_SIZE - 100] = b"\xee" * (PAGE_SIZE - 200)


def half(content: bytearray) -> None:
    del content[len(content) // 2 :]


def zero_pages(content: bytearray) -> None:
    middle = len(content) // PAGE_SIZE // 2
    content[middle * PAGE_SIZE : (middle + 3) * PAGE_SIZE] = bytes(3 * PAGE_SIZE)


def flipped(content: bytearray) -> None:
    rng = random.Random(2)
    for _ in range(200):
        content[rng.randrange(PAGE_SIZE, len(content))] ^= 0xFF


DAMAGES = {"header": (header, MANY), "first page": (first_page, MANY), "half": (half, 20), "zeros": (zero_pages, 200)}
DAMAGES["flipped"] = (flipped, MANY - 60)


@pytest.mark.parametrize("name", DAMAGES)
def test_what_can_be_read_is_saved_and_the_damaged_file_kept(database: Path, name: str) -> None:
    damage, least = DAMAGES[name]
    content = bytearray(database.read_bytes())
    damage(content)
    database.write_bytes(content)
    found = salvage(database, SystemClock())
    assert found.aside is not None
    assert (found.aside / "memory.db").read_bytes() == content
    assert found.kept["main_messages"] >= least
    assert (name in ("header", "first page")) == (found.kept["main_messages"] == MANY)
    assert health.examine(database).ok
    with closing(open_store(database)) as store:
        paths = [store.path(session.id) for session in store.sessions(limit=10)]
        assert sum(map(len, paths)) == found.kept["main_messages"]
        assert store.search_text("harbour", kinds=["message"])
        assert store.count_waiting(model="m") >= found.kept["main_messages"]
    with closing(apsw.Connection(str(database))) as connection:
        assert_in_step(connection)


def test_a_start_with_a_damaged_database_makes_it_anew_and_says_what_is_lost(database: Path) -> None:
    content = bytearray(database.read_bytes())
    header(content)
    zero_pages(content)
    database.write_bytes(content)
    store, problem = open_store_or_fallback(Home(database.parent))
    with closing(store):
        assert problem is not None
        assert "made anew" in str(problem)
        assert "broken-" in str(problem)
        assert store.stats()["messages"] > MANY // 2
    store, problem = open_store_or_fallback(Home(database.parent))
    store.close()
    assert problem is None


def test_what_is_no_database_at_all_is_left_and_files_take_its_place(home: Path) -> None:
    home.mkdir()
    (home / "memory.db").write_bytes(b"not a database" * 5000)
    store, problem = open_store_or_fallback(Home(home))
    with closing(store):
        assert isinstance(store, JSONLStore)
        assert problem is not None
        assert "orca-tui recover" in problem.hint
    assert (home / "memory.db").read_bytes() == b"not a database" * 5000


def test_a_damaged_database_that_is_open_elsewhere_is_not_touched(database: Path) -> None:
    with closing(open_store(database)), pytest.raises(StoreBusyError):
        salvage(database, SystemClock())


@pytest.mark.parametrize("log", ["junk", "of another database"])
def test_a_log_that_is_not_ours_costs_nothing_that_is_in_the_file(
    home: Path, database: Path, tmp_path: Path, log: str
) -> None:
    texts = all_texts(database)
    content = b"junk" * 4096
    if log != "junk":
        other = tmp_path / "other"
        filled(other)
        with closing(open_store(other / "memory.db")) as store:
            store.add_message(store.sessions()[0].id, "user", "in the log alone")
            content = (other / "memory.db-wal").read_bytes()
    database.with_name("memory.db-wal").write_bytes(content)
    store, _told = open_store_or_fallback(Home(home))
    store.close()
    if not health.examine(database).ok:
        salvage(database, SystemClock())
    lost = [text for text in texts if text not in all_texts(database)]
    assert len(lost) == 0 if log == "junk" else len(lost) < MANY // 10, "SQLite itself copies a foreign log's pages in"
    assert health.examine(database).ok


def all_texts(database: Path) -> list[str]:
    with closing(open_store(database)) as store:
        return [message.content for session in store.sessions() for message in store.path(session.id)]


def test_one_flipped_letter_is_found_and_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SQLite's own check does not see it."""
    filled(home)
    content = bytearray((home / "memory.db").read_bytes())
    at = content.index(b"number 7")
    content[at] ^= 0x01
    (home / "memory.db").write_bytes(content)
    found = health.examine(home / "memory.db")
    assert found.structure == ()
    assert found.rows == {"main_messages": [8]}
    main(["doctor"])
    assert "1 rows of main_messages are not what was written" in capsys.readouterr().out
    with pytest.raises(BackupError, match="not what was written"):
        back_up(home / "memory.db", home / "copy.db")
    assert main(["recover"]) == 1
    assert "Rows that may be garbled: 1" in capsys.readouterr().out
    assert health.examine(home / "memory.db").ok


def test_text_that_is_no_text_any_more_is_named_as_damage(home: Path) -> None:
    session = filled(home)
    content = bytearray((home / "memory.db").read_bytes())
    content[content.index(b"number 7")] = 0xFF
    (home / "memory.db").write_bytes(content)
    with closing(open_store(home / "memory.db")) as store, pytest.raises(StoreDamaged, match="damaged") as caught:
        store.path(session)
    assert "orca-tui recover" in caught.value.hint


def test_every_way_of_writing_leaves_a_checksum(home: Path) -> None:
    session = filled(home)
    with closing(open_store(home / "memory.db")) as store:
        store.add_short_term(session, "They spoke of tides.")
        store.update_message(2, content="changed")
        store.update_memory(1, {"content": "The user sails a lot."}, actor="user")
    assert health.examine(home / "memory.db").ok
    with closing(apsw.Connection(str(home / "memory.db"))) as connection:
        for table in ("main_messages", "short_term_memories", "long_term_memories"):
            assert connection.execute(f"SELECT count(*) FROM {table} WHERE checksum IS NULL").get == 0
        connection.execute("UPDATE main_messages SET content = 'by another program' WHERE id = 1")
    with closing(open_store(home / "memory.db")) as store:
        store.add_message(session, "user", "and on")
    assert health.examine(home / "memory.db").ok


def test_backup_and_restore_bring_everything_back(database: Path, tmp_path: Path) -> None:
    home, kept = database.parent, tmp_path / "kept.db"
    with closing(open_store(database)) as store:
        store.add_message(store.sessions()[0].id, "user", "still in the log")
        made = back_up(database, kept)  # while it is open
        assert made.counts == {key: count for key, count in store.stats().items() if key != "bytes"}
        with pytest.raises(StoreBusyError, match="open in another window"):
            restore(database, kept, SystemClock())
        store.add_message(store.sessions()[0].id, "user", "after the backup")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    before = database.read_bytes()
    done = restore(database, kept, SystemClock())
    assert done.aside is not None
    assert (done.aside / "memory.db").read_bytes() == before
    with closing(open_store(database)) as store:
        assert {key: count for key, count in store.stats().items() if key != "bytes"} == made.counts
        vector = np.random.default_rng(0).normal(size=(1, 8))[0]
        assert store.search_vector(vector, model="m", kinds=["message"], limit=1)[0].score > 0.99
    shutil.rmtree(home)
    restore(database, kept, SystemClock())
    with closing(open_store(database)) as store:
        assert store.stats()["messages"] == MANY + 1


@pytest.mark.parametrize("kind", ["missing", "other program", "damaged", "newer", "garbage"])
def test_what_is_no_good_backup_is_refused_and_changes_nothing(home: Path, tmp_path: Path, kind: str) -> None:
    filled(home)
    copy = tmp_path / "copy.db"
    back_up(home / "memory.db", copy)
    if kind == "missing":
        copy.unlink()
    elif kind == "garbage":
        copy.write_bytes(b"x" * 5000)
    elif kind == "damaged":
        copy.write_bytes(copy.read_bytes().replace(b"number 7", b"number 6"))
    else:
        with closing(apsw.Connection(str(copy))) as connection:
            pragma = (
                "application_id = 7" if kind == "other program" else f"user_version = {len(migrations.MIGRATIONS) + 1}"
            )
            connection.execute(f"PRAGMA {pragma}")
    before = (home / "memory.db").read_bytes()
    with pytest.raises(BackupError) as caught:
        restore(home / "memory.db", copy, SystemClock())
    assert caught.value.hint
    assert (home / "memory.db").read_bytes() == before
    assert [path.name for path in home.iterdir()] == ["memory.db"]


def test_files_that_went_with_messages_are_backed_up_too(home: Path, tmp_path: Path) -> None:
    filled(home)
    name = AttachmentFiles(Home(home).attachments).save(b"a picture")
    back_up(home / "memory.db", tmp_path / "usb" / "kept.db")
    back_up(home / "memory.db", tmp_path / "usb" / "later.db")
    shutil.rmtree(home)
    restore(home / "memory.db", tmp_path / "usb" / "kept.db", SystemClock())
    assert AttachmentFiles(Home(home).attachments).load(name) == b"a picture"


def test_the_command_line(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(home)
    assert main(["backup"]) == 0
    assert main(["backup", str(tmp_path)]) == 0
    (first,) = backups.existing(home / "memory.db")
    assert verify(first).counts["messages"] == len(OLD_TEXTS)
    assert main(["backup", str(first)]) == 1
    assert "replaces nothing" in capsys.readouterr().err
    assert main(["recover"]) == 0
    assert main(["restore", str(first), "--json"]) == 0
    assert main(["restore", str(home / "memory.db")]) == 1


def test_a_backup_a_day_and_only_the_newest_are_kept(home: Path) -> None:
    filled(home)
    database = home / "memory.db"

    class Clock(SystemClock):
        day = 1

        def now(self) -> str:
            return f"2026-03-{self.day:02}T12:00:00.000000+00:00"

    clock = Clock()
    assert backups.back_up_if_due(database, clock, 0) is None
    for day in range(1, 6):
        clock.day = day
        assert backups.back_up_if_due(database, clock, 3) is not None
        assert backups.back_up_if_due(database, clock, 3) is None, "once a day"
        with closing(open_store(database)) as store:
            store.create_session()
        database.touch()
    assert [path.name for path in backups.existing(database)] == [
        f"memory-202603{day:02}-120000.db" for day in (5, 4, 3)
    ]
    clock.day = 9
    with pytest.raises(BackupError, match="left off"):
        backups.back_up_if_due(database, clock, 3, lambda: True)
    assert not list((home / "backups").glob("*.partial"))
