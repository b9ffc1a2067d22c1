import json
from pathlib import Path

import pytest

from memory.config import Home
from memory.settings import load_settings
from tests.cli.conftest import Run

KEY = "sk-not-a-real-key-4711"


def test_a_value_is_set_and_read_back(run: Run, home: Path) -> None:
    result = run("config", "set", "llm.model", "big")
    assert (result.code, result.out, result.err) == (0, "", "llm.model is set.\n")
    assert run("config", "get", "llm.model").out == "big\n"
    assert run("config", "get", "memory.extract_every", "--json").out == "20\n"
    assert run("config", "get", "ui.sidebar").out == "true\n"
    assert run("config", "path").out == f"{home / 'config.toml'}\n"


def test_everything_in_force_is_shown_with_keys_masked(run: Run, home: Path) -> None:
    run("config", "set", "llm.api_key", "-", stdin=f"{KEY}\n")
    run("config", "set", "llm.parameters.seed", "7")
    shown = run("config", "show").out
    assert 'llm.api_key = "…"' in shown
    assert 'siliconflow.api_key = ""' in shown
    assert "llm.parameters.seed = 7" in shown
    assert 'memory.branches.task_event.types = ["event"]' in shown
    found = json.loads(run("config", "show", "--json").out)
    assert found["llm"]["api_key"] == "…"
    assert found["llm"]["temperature"] is None
    assert KEY not in shown + json.dumps(found) + run("config", "get", "llm").out
    assert run("config", "get", "llm.api_key").out == '"…"\n'


def test_a_key_is_read_from_stdin_only(run: Run, home: Path) -> None:
    result = run("config", "set", "siliconflow.api_key", KEY)
    assert result.code == 2
    assert KEY not in result.err
    assert "orca-tui config set siliconflow.api_key -" in result.err
    assert not (home / "config.toml").exists()
    for argv in (("siliconflow.api_key", "-"), ("siliconflow.api_key",)):
        assert run("config", "set", *argv, stdin=f"{KEY}\n").err == "siliconflow.api_key is set.\n"
        assert load_settings(Home(home), {}).siliconflow.api_key.reveal() == KEY


def test_a_key_typed_on_a_terminal_is_not_echoed(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: f" {KEY} ")
    assert run("config", "set", "llm.api_key", "-", terminal=True).code == 0
    assert load_settings(Home(home), {}).llm.api_key.reveal() == KEY


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("set", "llm.modle", "x"), 'Did you mean "model"?'),
        (("set", "ui.sidebar", "maybe"), "[ui] sidebar must be true or false."),
        (("set", "ui.sidebar"), "There is no value."),
        (("set", "llm", "x"), "is a section"),
        (("get", "llm.nothing"), "There is no setting"),
        (("get", "keys.nothing"), "is not set"),
    ],
)
def test_mistakes_end_with_2_and_change_nothing(run: Run, home: Path, argv: tuple[str, ...], said: str) -> None:
    result = run("config", *argv)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not (home / "config.toml").exists()


def test_warnings_go_to_stderr(run: Run, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[ui]\nteme = 1\n")
    result = run("config", "get", "ui.theme")
    assert result.out == "orca-dark\n"
    assert 'Did you mean "theme"?' in result.err
