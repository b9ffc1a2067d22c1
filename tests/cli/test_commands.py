"""Sessions, memories, models, usage errors: what is printed, and how it ends."""

import json
import logging
import stat
from pathlib import Path
from typing import get_args

import pytest

import orca_tui.cli.sessions
from memory.config import Home
from memory.errors import StoreError
from memory.provider import model_files
from memory.store import open_store
from memory.types import MemoryStatus, MemoryType, NewMemory
from orca_tui.cli.memory_parser import STATUSES, TYPES
from tests.cli.conftest import Run, Script


@pytest.fixture
def session(home: Path) -> str:
    """A stored conversation with foreign text in it, and three memories."""
    store = open_store(Home(home).database)
    session = store.create_session(title="tides \x1b]0;x\x07")
    store.add_message(session.id, "user", "When is high tide in Kiel?")
    store.add_message(session.id, "assistant", "At noon\x1b[2J.", state="stopped", metadata={"interrupted": True})
    store.add_memory(NewMemory("Likes rye bread", "preference", "user_preference", "user"), actor="user")
    store.add_memory(NewMemory("Sails on Sundays\nwith \x07Ada", "fact", "short_term_fact", "user"), actor="user")
    store.add_memory(NewMemory("From a page", "fact", "general_memory", "tool", status="pending"), actor="user")
    store.close()
    return session.id


def test_sessions_are_listed(run: Run, session: str) -> None:
    result = run("sessions", "list")
    assert result.out.startswith(session[:8])
    assert result.out.endswith("tides ␛]0;x␇\n")
    [found] = json.loads(run("sessions", "list", "--json").out)
    assert found["id"] == session


def test_an_incognito_session_is_marked(run: Run, home: Path) -> None:
    store = open_store(Home(home).database)
    hidden = store.create_session(title="hidden", incognito=True)
    store.add_message(hidden.id, "user", "Nobody's business")
    store.close()
    assert run("sessions", "list").out.endswith("hidden  (incognito)\n")
    assert run("sessions", "show", hidden.id).out.startswith(f"hidden  ({hidden.id}, incognito)\n")


def test_a_session_is_shown_by_the_start_of_its_id(run: Run, session: str) -> None:
    result = run("sessions", "show", session[:6])
    assert "user\nWhen is high tide in Kiel?\n" in result.out
    assert "assistant  (interrupted)\nAt noon\x1b[2J.\n" in result.out
    found = json.loads(run("sessions", "show", "--json", session).out)
    assert [message["role"] for message in found["messages"]] == ["user", "assistant"]


def test_nothing_stored_is_no_failure(run: Run, home: Path) -> None:
    assert run("sessions", "list").out == "No sessions yet.\n"
    assert run("memory", "list").out == "Nothing is remembered yet.\n"
    assert json.loads(run("memory", "list", "--json").out) == []
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()} == {0o600}


@pytest.mark.parametrize("wanted", ["ffffffff", "abc", ""])
def test_a_session_that_is_not_there_is_a_failure(run: Run, session: str, wanted: str) -> None:
    result = run("sessions", "show", wanted)
    assert result.code == 1
    assert result.err.startswith("orca-tui: ")


def test_memories_are_listed_by_branch_and_status(run: Run, session: str) -> None:
    result = run("memory", "list")
    assert "Sails on Sundays with ␇Ada" in result.out
    assert "From a page" not in result.out
    assert "Likes rye bread" in run("memory", "list", "--branch", "user_preference").out
    assert run("memory", "list", "--branch", "task_event").out == "Nothing is remembered yet.\n"
    assert "fact · general_memory · pending" in run("memory", "list", "--status", "pending").out
    found = json.loads(run("memory", "list", "--status", "any", "--json").out)
    assert {memory["content"] for memory in found} >= {"Likes rye bread", "From a page"}
    assert len(json.loads(run("memory", "list", "--json", "--limit", "1").out)) == 1


def test_a_search_finds_messages_and_memories(run: Run, session: str, script: Script) -> None:
    script(["x"])
    result = run("memory", "search", "high", "tide")
    assert f"user · session {session[:8]}" in result.out
    hits = json.loads(run("memory", "search", "--json", "rye bread").out)
    assert hits[0]["text"] == "Likes rye bread"
    assert hits[0]["kind"] == "long_term"


def test_a_search_that_had_no_vector_says_so(
    run: Run, session: str, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["x"])
    assert run("memory", "search", "rye bread").err == ""
    monkeypatch.setattr("memory.manager.COLD_WAIT", 0.0)
    result = run("memory", "search", "rye bread")
    assert "Likes rye bread" in result.out
    assert result.err == "orca-tui: Found by words only: the query could not be embedded in time.\n"


def test_a_search_without_an_embedder_is_by_words(
    run: Run, session: str, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["x"])
    monkeypatch.setattr("memory.provider.factory.build_embedder", lambda *_args, **_options: None)
    assert "Likes rye bread" in run("memory", "search", "rye").out
    assert run("memory", "search", "zzzz").out == "Nothing found.\n"


def test_models_are_listed_added_once_and_removed(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No model is installed." in run("model", "list").out
    entries = json.loads(run("model", "list", "--json").out)
    assert entries["installed"] == []
    assert entries["catalogue"][0]["name"] == model_files.BUILTIN.name
    calls = []

    def fake(at: Home, source: str, *, name: str | None, sha256: str | None, progress: object) -> object:
        calls.append((source, name, sha256))
        for done in range(0, 101, 10):
            progress(done, 100)  # type: ignore[operator]
        return model_files.ModelFile("small", tmp_path, 5_000_000, "", "", "x")

    monkeypatch.setattr(model_files, "add", fake)
    result = run("model", "add", "https://h.invalid/small.gguf", "--name", "small", "--sha256", "00")
    assert result.code == 0
    assert calls == [("https://h.invalid/small.gguf", "small", "00")]
    assert result.out == ""
    assert "small is ready (5 MB)." in result.err
    assert 2 <= result.err.count("%") <= 5
    monkeypatch.setattr(model_files, "find", lambda *_args: None)
    run("model", "add", "builtin", "--if-missing")
    assert len(calls) == 1


def test_a_model_that_is_not_there_cannot_be_removed(run: Run) -> None:
    result = run("model", "remove", "nothing")
    assert result.code == 1
    assert "orca-tui model list" in result.err


@pytest.mark.parametrize(
    "argv",
    [
        ("nope",),
        ("sessions",),
        ("sessions", "show"),
        ("memory", "list", "--limit", "0"),
        ("memory", "list", "--limit", "x"),
        ("--theme=\x1b]52;c;eA==\x07",),
        ("ask", "--jso", "x"),
        ("config", "set"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_where_help_is(run: Run, argv: tuple[str, ...]) -> None:
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert "--help" in result.err
    assert len(result.err.splitlines()) == 2


@pytest.mark.parametrize("argv", [("--help",), ("ask", "--help"), ("memory", "list", "--help"), ("--version",)])
def test_help_and_version_end_with_0(run: Run, argv: tuple[str, ...]) -> None:
    result = run(*argv)
    assert result.code == 0
    assert "orca-tui" in result.out


def test_the_home_can_be_named_before_and_after_the_command(run: Run, tmp_path: Path) -> None:
    for argv in (
        ("--home", "{}", "config", "path"),
        ("config", "path", "--home", "{}"),
        ("config", "--home", "{}", "path"),
    ):
        result = run(*(word.format(tmp_path / "x") for word in argv))
        assert result.out == f"{tmp_path / 'x' / 'config.toml'}\n"


def test_a_home_that_cannot_be_made_is_wrong_configuration(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("sessions", "list", "--home", str(tmp_path / "file" / "x"))
    assert result.code == 2
    assert "--home DIR" in result.err


def test_a_damaged_database_is_told_and_left_alone(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "memory.db").write_bytes(b"this is not a database " * 100)
    result = run("sessions", "list")
    assert (result.code, result.out) == (0, "No sessions yet.\n")
    assert (
        f"is damaged or not a database. Until it can be opened, orca keeps everything in plain files: {home}"
        in result.err
    )
    assert len(result.err.splitlines()) == 2
    assert (home / "memory.db").read_bytes() == b"this is not a database " * 100


def test_a_broken_configuration_ends_with_2(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[llm\n")
    for argv in (("ask", "hi"), ("config", "show"), ("memory", "search", "x")):
        result = run(*argv)
        assert (result.code, result.out) == (2, "")
        assert "line 1" in result.err


def test_an_unexpected_error_is_logged_without_secrets(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orca_tui.cli.entry._forget_stdout", lambda: None)
    monkeypatch.setenv("SOME_API_KEY", "canary-4711")

    def explode(*_args: object) -> int:
        local = "another-local-value"
        raise ZeroDivisionError(f"with canary-4711 {len(local)}")

    monkeypatch.setattr(orca_tui.cli.sessions, "run", explode)
    result = run("sessions", "list")
    assert result.code == 1
    assert result.err == f"orca-tui: An unexpected error (ZeroDivisionError). It is described in {home / 'orca.log'}.\n"
    log = (home / "orca.log").read_text()
    assert "ZeroDivisionError: with …" in log
    assert "canary-4711" not in log
    assert stat.S_IMODE((home / "orca.log").stat().st_mode) == 0o600


def test_a_full_disk_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("orca_tui.cli.entry._forget_stdout", lambda: None)
    monkeypatch.setattr(orca_tui.cli.sessions, "run", explode)
    result = run("sessions", "list")
    assert result.code == 1
    assert "(OSError: No space left on device)" in result.err


def test_warnings_of_libraries_go_to_the_log(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICONFLOW_API_KEY", "canary-4711")

    def warn(*_args: object) -> int:
        logging.getLogger("some.library").warning("refused %s", "canary-4711 \x1b[2J")
        logging.getLogger("some.library").info("not this")
        return 0

    monkeypatch.setattr(orca_tui.cli.sessions, "run", warn)
    assert run("sessions", "list").err == ""
    log = (home / "orca.log").read_text()
    assert log.endswith("WARNING some.library: refused … ␛[2J\n")
    assert "not this" not in log


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 0), (StoreError("gone", hint="look"), 1)]
)
def test_other_ends_have_their_codes(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def explode(*_args: object) -> int:
        raise error

    monkeypatch.setattr("orca_tui.cli.entry._forget_stdout", lambda: None)
    monkeypatch.setattr(orca_tui.cli.sessions, "run", explode)
    assert run("sessions", "list").code == code


def test_the_statuses_are_those_of_the_core() -> None:
    assert get_args(MemoryStatus) == STATUSES
    assert get_args(MemoryType) == TYPES
