"""`orca-tui sessions …` and `orca-tui import`."""

import json
from pathlib import Path

import pytest

from memory.store.attachments import AttachmentFiles
from tests.cli.conftest import Run, Script

HOSTILE = "\x1b]0;pwned\x07 [red]x[/] \u202e"


def begun(run: Run, script: Script, *texts: str) -> list[str]:
    """One session a text; gives their ids, in this order."""
    script(["An answer."])
    for text in texts:
        assert run("ask", text).code == 0
    found = json.loads(run("sessions", "list", "--json").out)
    return [session["id"] for session in reversed(found)]


def states(run: Run) -> dict[str, str]:
    return {s["id"]: s["state"] for s in json.loads(run("sessions", "list", "--state", "any", "--json").out)}


def test_archive_delete_and_restore(run: Run, script: Script) -> None:
    first, second = begun(run, script, "about tides", "about boats")
    assert run("sessions", "archive", first[:8]).code == 0
    assert run("sessions", "delete", second[:8]).code == 0
    assert states(run) == {first: "archived", second: "trashed"}
    assert run("sessions", "list").out == "No sessions yet.\n"
    assert first[:8] in run("sessions", "list", "--state", "archived").out
    assert run("sessions", "unarchive", first[:8]).code == 0
    assert run("sessions", "restore", second[:8], "--json").code == 0
    assert set(states(run).values()) == {"open"}
    assert run("sessions", "archive", "ffff").code == 1


def test_a_session_is_renamed(run: Run, script: Script) -> None:
    (first,) = begun(run, script, "about tides")
    assert run("sessions", "rename", first[:8], "The", "tides").code == 0
    assert "The tides" in run("sessions", "list").out
    assert run("sessions", "rename", first[:8], " ").code == 2
    assert run("sessions", "rename", first[:8], HOSTILE).code == 0
    assert "\x1b" not in run("sessions", "list").out


def test_erasing_asks(run: Run, script: Script) -> None:
    (first,) = begun(run, script, "about tides")
    refused = run("sessions", "delete", first[:8], "--erase")
    assert "Nothing was done" in refused.err
    assert states(run) == {first: "open"}
    assert run("sessions", "delete", first[:8], "--erase", "--yes").code == 0
    assert states(run) == {}


def test_erasing_takes_the_files_along(run: Run, script: Script, home: Path) -> None:
    (first,) = begun(run, script, "about tides")
    files = AttachmentFiles(home / "attachments")
    files.save(b"a picture")
    assert run("sessions", "delete", first[:8], "--erase", "--yes").code == 0
    assert not list((home / "attachments").iterdir())


def test_search_takes_filters(run: Run, script: Script) -> None:
    (first,) = begun(run, script, "about tides and the moon")
    found = json.loads(run("sessions", "search", "tides", "role:user", "--json").out)
    assert [(hit["session_id"], hit["role"]) for hit in found] == [(first, "user")]
    told = run("sessions", "search", "tides", "rol:user")
    assert "no filter 'rol'" in told.err
    assert run("memory", "search", "tides", "until:2001").out == "Nothing found.\n"
    assert run("sessions", "search", "tides", "session:ffff").code == 1


def test_what_is_exported_comes_back(run: Run, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (first,) = begun(run, script, "about tides")
    assert run("sessions", "export", first[:8]).code == 0
    (page,) = tmp_path.glob("*.md")
    assert "about tides" in page.read_text("utf-8")
    assert run("sessions", "export", first[:8], "tides.json").code == 0
    assert run("sessions", "export", first[:8], "tides.json").code == 1
    assert run("sessions", "export", first[:8], "tides.json", "--force", "--json").code == 0
    assert json.loads(run("sessions", "export", first[:8], "-", "--format", "json").out)["format"] == "orca-session"
    assert run("sessions", "delete", first[:8], "--erase", "--yes").code == 0
    dry = json.loads(run("import", "tides.json", "--dry-run", "--json").out)
    assert (dry["messages"], dry["dry_run"]) == (2, True)
    assert states(run) == {}
    assert run("import", "tides.json").code == 0
    assert states(run) == {first: "open"}
    again = json.loads(run("import", "tides.json", "--from", "orca", "--json").out)
    assert (again["messages"], again["known"]) == (0, 2)
    assert run("import", "tides.json", "--from", "claude").code == 1
    assert run("import", "missing.zip").code == 1
    assert run("import", "tides.json", "--from", "word").code == 2
