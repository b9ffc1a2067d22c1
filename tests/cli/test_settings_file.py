"""Changing one key of the settings file: nothing else in it changes, and it is never half written."""

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.config import Home, Settings
from memory.errors import ConfigError
from memory.settings import load_settings, parse_text
from orca_tui import settings_file
from orca_tui.settings_file import get_value, is_secret, set_value, set_values
from orca_tui.settings_template import TEMPLATE

FILE = """# mine
[llm]   # who answers
provider = "openai" # a server
model   = 'big'
temperature = 0.5

# a blank above
[llm.parameters]
seed = 7

[memory.branches.work]
types = ["project",   # one
         "decision"]
lifetime_days = 9

[ui]
theme = "orca-dark" # dark
sidebar = true # there
"""


def home_with(home: Path, content: str | bytes) -> Home:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_bytes(content.encode() if isinstance(content, str) else content)
    (home / "config.toml").chmod(0o600)
    return Home(home)


def differing(before: str, after: str) -> list[str]:
    old, new = before.split("\n"), after.split("\n")
    assert len(old) == len(new)
    return [line for was, line in zip(old, new, strict=True) if was != line]


def test_a_new_file_explains_every_key_and_is_for_its_owner_only(home: Path) -> None:
    set_value(Home(home), "llm.model", "big")
    config = home / "config.toml"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert load_settings(Home(home), {}).llm.model == "big"
    added = [line for line in config.read_text().splitlines() if line not in TEMPLATE.splitlines()]
    assert added == ['model = "big"']
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_the_template_shows_every_key_with_its_default() -> None:
    shown = re.sub(r"(?m)^# (?=(\w+ = |\[))", "", TEMPLATE)
    data = tomllib.loads(shown)
    own = {("llm", "temperature"), ("llm", "parameters"), ("memory", "branches"), ("keys", "quit")}
    own |= {(section, name) for section in ("personas", "agents", "mcp") for name in data[section]}
    for section, keys in data.items():
        for key, value in keys.items():
            if (section, key) in own:
                continue
            default = getattr(getattr(Settings(), section), key)
            assert (default.reveal() if key == "api_key" else list(default) if value == [] else default) == value
    for section in ("llm", "siliconflow", "embedding", "memory", "ui", "tools"):
        assert set(data[section]) == set(getattr(Settings(), section).__dataclass_fields__)
    assert set(data["memory"]["branches"]["work"]) == set(
        next(iter(Settings().memory.branches.values())).__dataclass_fields__
    )
    parse_text(shown, source="template")


@pytest.mark.parametrize(
    ("key", "text", "line"),
    [
        ("llm.provider", "ollama", 'provider = "ollama" # a server'),
        ("llm.model", 'a "quoted" 名', None),
        ("llm.temperature", "1", "temperature = 1"),
        ("llm.parameters.seed", "8", "seed = 8"),
        ("memory.branches.work.lifetime_days", "0", "lifetime_days = 0"),
        ("ui.sidebar", "false", "sidebar = false # there"),
    ],
)
def test_an_edit_changes_one_line(home: Path, key: str, text: str, line: str | None) -> None:
    set_value(home_with(home, FILE), key, text)
    [changed] = differing(FILE, (home / "config.toml").read_text())
    if line is not None:
        assert changed == line


VALUES: dict[str, Any] = {
    "llm.provider": st.sampled_from(["auto", "ollama", "local", "demo"]),
    "llm.model": st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    "llm.temperature": st.floats(0, 2),
    "llm.parameters.seed": st.integers(0, 10**12),
    "ui.theme": st.text("abc \"'\\#=\x1b\n", max_size=10),
    "ui.sidebar": st.booleans(),
}


@given(st.data())
def test_any_edit_keeps_every_other_line_and_reads_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    home = home_with(tmp_path_factory.getbasetemp() / "edits", FILE)
    key = data.draw(st.sampled_from(sorted(VALUES)))
    value = data.draw(VALUES[key])
    set_value(home, key, str(value).lower() if isinstance(value, bool) else str(value))
    assert get_value(load_settings(home, {}), key) == value
    after = home.config.read_text()
    assert len(differing(FILE, after)) <= 1


def test_a_key_that_is_not_there_is_one_more_line(home: Path) -> None:
    set_value(home_with(home, FILE), "ui.language", "zh")
    lines = (home / "config.toml").read_text().splitlines()
    lines.remove('language = "zh"')
    assert lines == FILE.splitlines()


def test_lists_sections_and_bindings_can_be_set(home: Path) -> None:
    at = home_with(home, FILE)
    set_value(at, "memory.branches.work.types", "fact, event")
    set_value(at, "memory.branches.idle.searched", "false")
    set_value(at, "keys.app.quit", "ctrl+q")
    set_value(at, "llm.parameters.stop", '["a", "b"]')
    set_value(at, "llm.parameters.name", "plain")
    settings = load_settings(at, {})
    assert settings.memory.branches["work"].types == ("fact", "event")
    assert settings.memory.branches["idle"].searched is False
    assert settings.keys == {"app.quit": "ctrl+q"}
    assert settings.llm.parameters == {"seed": 7, "stop": ["a", "b"], "name": "plain"}


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("ui.sidebar", "maybe", "[ui] sidebar must be true or false."),
        ("llm.temperature", "hot", "[llm] temperature must be a number between 0 and 2."),
        ("llm.temperature", "nan", "[llm] temperature must be a number between 0 and 2."),
        ("memory.long_term_top_k", "8.5", "[memory] long_term_top_k must be a whole number between 1 and 20."),
        ("memory.working_share", "0.9", "are 1.40 together"),
        ("llm.provider", "openia", '[llm] provider must be "auto"'),
        ("llm.api_key", "sk-geheim-ß", "[llm] api_key holds a character that cannot go"),
        ("llm.modle", "x", 'There is no setting "llm.modle".'),
        ("llm", "x", "[llm] is a section, not a key."),
        ("keys", "x", "[keys] is a table, not a key."),
        ("", "x", 'There is no setting "".'),
        ("llm.parameters.at", "2024-01-01", "[llm.parameters] at must be text"),
        ("memory.branches.work.types", "[1]", "[memory.branches.work] types must be"),
    ],
)
def test_what_is_not_allowed_is_refused_and_the_file_stays(home: Path, key: str, text: str, said: str) -> None:
    at = home_with(home, FILE)
    with pytest.raises(ConfigError) as caught:
        set_value(at, key, text)
    assert said in str(caught.value)
    assert "geheim" not in f"{caught.value} {caught.value.hint}"
    assert at.config.read_text() == FILE
    assert [path.name for path in home.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("content", ["[llm\n", 'llm = "x"\n', "\xff\xfe", '[ui]\nlanguage = "xx"\n'])
def test_a_file_with_a_mistake_is_never_written_over(home: Path, content: str) -> None:
    at = home_with(home, content)
    before = at.config.read_bytes()
    with pytest.raises(ConfigError):
        set_value(at, "llm.model", "x")
    assert at.config.read_bytes() == before


def test_windows_line_ends_and_the_mark_are_kept(home: Path) -> None:
    content = b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode()
    at = home_with(home, content)
    set_value(at, "llm.model", "x")
    set_value(at, "ui.language", "zh")
    after = at.config.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf#")
    assert after.count(b"\n") == after.count(b"\r\n") == content.count(b"\n") + 1


def test_a_change_by_somebody_else_meanwhile_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = home_with(home, FILE)
    replace, other = settings_file._replace, FILE.replace("temperature = 0.5", "temperature = 0.1")

    def late(target: Path, before: bytes | None, after: bytes) -> bool:
        monkeypatch.setattr(settings_file, "_replace", replace)
        target.write_text(other)
        return replace(target, before, after)

    monkeypatch.setattr(settings_file, "_replace", late)
    set_value(at, "llm.model", "mine")
    settings = load_settings(at, {})
    assert (settings.llm.model, settings.llm.temperature) == ("mine", 0.1)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = home_with(home, FILE)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        set_value(at, "llm.model", "x")
    assert at.config.read_text() == FILE
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_a_linked_file_stays_a_link(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(FILE)
    home.mkdir()
    (home / "config.toml").symlink_to(real)
    set_value(Home(home), "llm.model", "x")
    assert (home / "config.toml").is_symlink()
    assert 'model   = "x"' in real.read_text()


def test_values_are_read_by_dotted_key() -> None:
    settings = parse_text(FILE, source="x")
    assert get_value(settings, "llm.model") == "big"
    assert get_value(settings, "llm.parameters.seed") == 7
    assert get_value(settings, "memory.branches.work.lifetime_days") == 9
    for key in ("llm.nothing", "llm.parameters.nothing", "keys.quit"):
        with pytest.raises(ConfigError):
            get_value(settings, key)


def test_secrets_are_known_by_their_type() -> None:
    assert is_secret("llm.api_key")
    assert is_secret("siliconflow.api_key")
    assert not is_secret("llm.api_key_env")


SERVER = {"llm.base_url": "https://new.example/v1", "llm.api_key": "the-new-key", "memory.user_id": "me"}


def test_several_keys_change_in_one_step(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the new address with the-old-key: whatever ends in between, nothing or all of it has changed."""
    place = home_with(home, FILE.replace("[llm.parameters]", 'api_key = "the-old-key"\n[llm.parameters]'))
    before = place.config.read_bytes()

    def crash(*args: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(settings_file, "_replace", crash)
        with pytest.raises(KeyboardInterrupt):
            set_values(place, SERVER)
    assert place.config.read_bytes() == before
    set_values(place, SERVER)
    settings = load_settings(place, {})
    assert (settings.llm.base_url, settings.llm.api_key.reveal()) == ("https://new.example/v1", "the-new-key")
    assert settings.memory.user_id == "me"
    assert "# who answers" in place.config.read_text()


def test_one_wrong_value_keeps_all_from_being_written(home: Path) -> None:
    place = home_with(home, FILE)
    with pytest.raises(ConfigError):
        set_values(place, {**SERVER, "ui.sidebar": "perhaps"})
    assert place.config.read_text() == FILE


def test_nothing_to_change_leaves_the_file_alone(home: Path) -> None:
    set_values(Home(home), {})
    assert not (home / "config.toml").exists()
