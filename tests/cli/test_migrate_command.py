"""`orca-tui migrate`: what it says, and what it leaves alone."""

import json
import shutil
from pathlib import Path

import pytest

from memory.store.jsonl import JSONLStore
from tests.cli.conftest import Run

CORPUS = Path(__file__).parents[1] / "data" / "jsonl"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "old"
    path.mkdir()
    for name in ("00_clean", "15_missing_fields"):
        shutil.copy(CORPUS / f"{name}.jsonl", path)
    return path


def test_counts_reasons_and_rejects_are_told(run: Run, source: Path) -> None:
    result = run("migrate", str(source))
    assert result.code == 0
    assert "00_clean.jsonl: 6 imported, 0 repaired, 0 skipped\n" in result.out
    assert "15_missing_fields.jsonl: 3 imported, 2 repaired, 1 skipped\n" in result.out
    assert "      1  no text\n" in result.out
    assert f"What could not be read is in {source / '15_missing_fields.jsonl.rejected'}\n" in result.out
    assert result.out.endswith("Came in from 2 files: 9 messages (2 repaired); 0 were there already, 1 skipped.\n")
    again = run("migrate", str(source))
    assert "Came in from 2 files: 0 messages (0 repaired); 9 were there already, 1 skipped.\n" in again.out
    assert len(json.loads(run("sessions", "list", "--json").out)) == 3


def test_json_tells_the_same(run: Run, source: Path) -> None:
    found = json.loads(run("migrate", str(source / "15_missing_fields.jsonl"), "--json").out)
    assert (found["imported"], found["repaired"], found["skipped"], found["dry_run"]) == (3, 2, 1, False)
    assert found["reasons"]["no text"] == 1
    (file,) = found["files"]
    assert file["rejects"] == str(source / "15_missing_fields.jsonl.rejected")
    assert file["lines"] == 4


def test_a_dry_run_makes_nothing(run: Run, source: Path, home: Path) -> None:
    result = run("migrate", str(source), "--dry-run")
    assert result.out.endswith(
        "Would come in from 2 files: 9 messages (2 repaired); 0 were there already, 1 skipped.\n"
    )
    assert not (home / "memory.db").exists()
    assert len(list(source.iterdir())) == 2


def test_without_a_path_it_looks_at_home(run: Run, home: Path) -> None:
    assert run("migrate").out == "There are no session files to bring in.\n"
    files = JSONLStore(home)
    files.add_message(files.create_session().id, "user", "kept in a file")
    files.close()
    assert "Came in from 1 file: 1 messages" in run("migrate").out


@pytest.mark.parametrize("name", ["nothing.jsonl", "empty"])
def test_a_path_without_files_is_a_failure(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    result = run("migrate", str(tmp_path / name))
    assert result.code == 1
    assert result.err.startswith("orca-tui: ")


def test_an_old_file_is_shown_where_it_lies(run: Run, source: Path, home: Path) -> None:
    path = source / "15_missing_fields.jsonl"
    result = run("sessions", "show", str(path))
    assert "2025-03-01 09:04  user\nline 4 of a made-up talk about tide tables\n" in result.out
    assert result.err == "orca-tui: Line 3: no text.\n"
    found = json.loads(run("sessions", "show", str(path), "--json").out)
    assert [message["role"] for message in found] == ["user", "tool", "user"]
    assert not (home / "memory.db").exists()
    assert run("sessions", "show", str(source / "missing.jsonl")).code == 1


def test_files_stand_in_for_a_damaged_database_until_it_is_gone(run: Run, home: Path) -> None:
    files = JSONLStore(home)
    session = files.create_session(title="In between")
    files.add_message(session.id, "user", "kept in a file")
    files.close()
    (home / "memory.db").write_bytes(b"this is not a database " * 100)
    listed = run("sessions", "list")
    assert "In between" in listed.out
    assert "plain files" in listed.err
    assert run("migrate").code == 1
    (home / "memory.db").unlink()
    assert run("sessions", "list").out == "No sessions yet.\n"
    waiting = next(row for row in json.loads(run("doctor", "--json").out)["checks"] if row["name"] == "store")
    assert (waiting["state"], waiting["advice"]) == ("warn", "Bring them in: orca-tui migrate")
    run("migrate")
    assert "In between" in run("sessions", "list").out
