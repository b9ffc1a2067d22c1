"""The doctor on healthy and on broken machines: it always gives all rows."""

import asyncio
import json
from pathlib import Path

import pytest

from memory.config import EmbeddingSettings, Home, Settings
from memory.errors import AuthenticationFailed, LocalModelMissing
from memory.provider import factory
from memory.provider.scripted import HashEmbedder
from memory.store import open_store
from orca_tui.doctor import CHECKS, Examination, Row, examine
from tests.cli.conftest import Run, Script

NAMES = [
    *("python", "platform", "terminal", "locale", "home", "database", "config", "sqlite", "fts5", "sqlite_vec"),
    *("store", "embedder", "keys", "chat", "builtin_model", "tokens", "tools", "agents"),
]


@pytest.fixture(autouse=True)
def quick(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    script(["x"])

    async def choices(*_args: object) -> list[factory.ProviderChoice]:
        return [
            factory.ProviderChoice("ollama", "Ollama", "llama\x1b[2J", True, "here"),
            factory.ProviderChoice("siliconflow", "SiliconFlow", "", False, "Set a key."),
            factory.ProviderChoice("demo", "Demo", "demo", True, ""),
        ]

    monkeypatch.setattr(factory, "list_choices", choices)


def examined(home: Home, settings: Settings | None = None, *, env: dict[str, str]) -> Examination:
    return asyncio.run(examine(home, settings, env))


def row(found: Examination, name: str) -> Row:
    [match] = [row for row in found.rows if row.name == name]
    return match


def test_a_fresh_home_is_well_and_nothing_is_made(home: Path) -> None:
    found = examined(Home(home), env={"TERM": "xterm"})
    assert [row.name for row in found.rows] == NAMES
    assert found.ok
    assert row(found, "chat").detail == "provider auto; here: Ollama (llama␛[2J)"
    assert row(found, "embedder").detail.endswith("64 wide")
    assert tuple(map(int, row(found, "sqlite").detail.split("."))) >= (3, 51, 3)
    assert not home.exists()
    assert all("\x1b" not in line for line in found.lines())


def test_a_used_home_tells_what_is_stored(home: Path) -> None:
    store = open_store(Home(home).database)
    session = store.create_session()
    store.add_message(session.id, "user", "hello there")
    store.close()
    (home / "config.toml").write_text("[ui]\nsidebar = false\n")
    found = examined(Home(home), env={})
    assert found.ok
    assert "1 sessions, 1 messages" in row(found, "store").detail
    assert "mode 0600" in row(found, "database").detail


def test_a_database_that_was_emptied_is_told_and_left_for_the_app_to_tell(home: Path) -> None:
    home.mkdir()
    (home / "memory.db").touch()
    (home / "memory.db.before-lifecycle").write_bytes(b"a copy")
    told = row(examined(Home(home), env={}), "store")
    assert told.state == "warn"
    assert "was empty" in told.detail
    assert "memory.db.before-lifecycle" in told.advice
    assert (home / "memory.db").stat().st_size == 0


def broken_config(home: Path) -> None:
    (home / "config.toml").write_text("[llm\n")


def home_is_a_file(home: Path) -> None:
    home.rmdir()
    home.write_text("")


def config_is_a_directory(home: Path) -> None:
    (home / "config.toml").mkdir()


def damaged_database(home: Path) -> None:
    (home / "memory.db").write_bytes(b"\0garbage" * 1000)


def database_is_a_directory(home: Path) -> None:
    (home / "memory.db").mkdir()


def models_is_a_file(home: Path) -> None:
    (home / "models").write_text("x")


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (broken_config, "config"),
        (home_is_a_file, "home"),
        (config_is_a_directory, "config"),
        (damaged_database, "store"),
        (database_is_a_directory, "database"),
        (models_is_a_file, None),
    ],
)
def test_whatever_is_broken_gets_a_row_with_advice(home: Path, damage: object, name: str | None) -> None:
    home.mkdir()
    damage(home)  # type: ignore[operator]
    found = examined(Home(home), env={})
    assert [row.name for row in found.rows] == NAMES
    if name is not None:
        assert not found.ok
        assert row(found, name).state == "fail"
        assert row(found, name).advice


def test_another_embedding_model_than_the_stored_vectors_is_told(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("memory", "add", "Likes tea a great deal").code == 0
    assert run("memory", "maintain").code == 0
    assert row(examined(Home(home), env={}), "vectors") == Row("vectors", "ok", "1; no text waits for one")
    monkeypatch.setattr(factory, "build_embedder", lambda *_args, **_options: HashEmbedder(32, model="other"))
    told = row(examined(Home(home), env={}), "vectors")
    assert told.state == "warn"
    assert (
        told.detail == "those stored are by hash-1, new ones by other; texts without one: 1, found by their words only"
    )
    assert "memory maintain" in told.advice


def test_open_modes_and_unknown_keys_are_warnings(home: Path) -> None:
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    (home / "config.toml").write_text("[ui]\nteme = 1\n[llm]\nmodle = 2\n")
    found = examined(Home(home), env={})
    assert found.ok
    assert row(found, "home").advice == f"Run: chmod 700 {home}"
    assert [row.state for row in found.rows if row.name == "config"] == ["warn", "warn"]


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (AuthenticationFailed("no key", hint="set one"), "no key"),
        (LocalModelMissing("gone"), "gone"),
        (ZeroDivisionError("secret"), "unexpected ZeroDivisionError"),
    ],
)
def test_a_check_that_raises_is_a_row(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, detail: str
) -> None:
    def explode(*_args: object, **_options: object) -> None:
        raise error

    for name in ("build_embedder", "list_choices"):
        monkeypatch.setattr(factory, name, explode)
    found = examined(Home(home), env={})
    assert (row(found, "embedder").state, row(found, "embedder").detail) == ("fail", detail)
    assert row(found, "chat").state == "fail"
    assert [row.name for row in found.rows] == NAMES


def test_an_embedder_that_is_off_is_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "build_embedder", lambda *_args, **_options: None)
    settings = Settings(embedding=EmbeddingSettings(provider="off"))
    assert row(examined(Home(home), settings, env={}), "embedder").state == "warn"


def test_a_terminal_and_a_locale_that_are_poor_are_warnings(home: Path) -> None:
    found = examined(Home(home), env={"TERM": "dumb"})
    assert row(found, "terminal").state == "warn"


def test_the_command_prints_rows_or_json(run: Run, home: Path) -> None:
    result = run("doctor")
    assert result.code == 0
    assert "sqlite_vec" in result.out
    found = json.loads(run("doctor", "--json").out)
    assert found["ok"] is True
    assert [check["name"] for check in found["checks"]] == NAMES
    assert set(found["checks"][0]) == {"name", "state", "detail", "advice"}
    home.mkdir()
    (home / "config.toml").write_text("[llm\n")
    result = run("doctor")
    assert result.code == 1
    assert "FAIL  config" in result.out


def test_every_check_has_a_name() -> None:
    assert len({name for name, _ in CHECKS}) == len(CHECKS)
