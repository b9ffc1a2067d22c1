"""Every way in which a settings file can be wrong, and what is said about it."""

import os
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.config import Home, Secret, Settings, default_branches
from memory.errors import ConfigError
from memory.settings import load_settings, load_settings_with_warnings, parse_settings
from memory.settings.schema import find_type

KEY = "sk-not-a-real-key-4711"
GOOD = f"""# a good file: every other one is this with one fault
[llm]
provider = "openai"
base_url = "https://api.example.invalid/v1"
model = "chat-large"
api_key = "{KEY}"

[embedding]
provider = "local"
dimensions = 384
timeout = 20

[memory]
long_term_top_k = 8
extract_every = 12

[memory.branches.work]
types = ["project"]

[ui]
theme = "orca-dark"
language = "en"
sidebar = false
"""


def write(home: Path, content: str | bytes, mode: int = 0o600) -> Home:
    home.mkdir(exist_ok=True)
    path = home / "config.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return Home(home)


def swap(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def refusal(home: Home, env: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(home, env or {})
    shown = f"{caught.value} {caught.value.hint}"
    assert KEY not in shown
    assert caught.value.hint
    assert "\x1b" not in shown
    return caught.value


def test_a_good_file_is_read_without_a_warning(home: Path) -> None:
    settings, warnings = load_settings_with_warnings(write(home, GOOD), {})
    assert warnings == []
    assert settings.llm.model == "chat-large"
    assert settings.llm.api_key.reveal() == KEY
    assert settings.embedding.timeout == 20.0
    assert isinstance(settings.embedding.timeout, float)
    assert settings.memory.long_term_top_k == 8
    assert settings.ui.sidebar is False
    assert KEY not in repr(settings)


def test_without_a_file_everything_has_its_default(home: Path) -> None:
    settings, warnings = load_settings_with_warnings(Home(home), {})
    assert warnings == []
    assert settings.llm.provider == "auto"
    assert settings.memory == Settings().memory
    assert not home.exists()


SYNTAX: list[tuple[str, str | bytes, str]] = [
    ("no value", swap("dimensions = 384", "dimensions ="), 'line 10: "dimensions" has no value.'),
    ("duplicate section", GOOD + '\n[memory]\nuser_id = "x"\n', "line 25: the section [memory] appears twice; the"),
    ("duplicate key", swap('model = "chat-large"', 'model = "a"\nmodel = "b"'), 'line 6: "model" appears twice.'),
    ("YAML", f"llm:\n  api_key: {KEY}\n", "line 1: this looks like YAML."),
    ("text without quotes", swap(f'"{KEY}"', KEY), 'line 6: the value of "api_key" is not valid TOML.'),
    ("bare name", "[llm]\n名 = 1\n", "line 2: this is not valid TOML: Invalid statement."),
    ("open string", swap('"chat-large"', '"chat-large'), "line 5: this is not valid TOML"),
    ("open list", GOOD + "\n[keys]\na = [", "is not complete TOML"),
    ("UTF-16", GOOD.encode("utf-16"), "is saved as UTF-16."),
    ("UTF-16 without a mark", GOOD.encode("utf-16-be"), "is saved as UTF-16."),
    ("NUL", swap("chat-large", "chat\0large"), "line 5: the file holds a NUL byte."),
    ("Latin-1", swap("chat-large", "gro\xdf").encode("latin-1"), "line 5: this is not UTF-8 text."),
    ("control character", swap("chat-large", "chat\x1b]0;x"), "line 5: this is not valid TOML"),
    ("deep nesting", "[llm.parameters]\na = " + "[" * 20_000 + "]" * 20_000, "is nested too deeply."),
    ("huge integer", swap("dimensions = 384", "dimensions = " + "9" * 5000), "line 10: the number is too large."),
    ("3 MB", GOOD + "# filler filler filler filler\n" * 100_000, "is 3.0 MB; a settings file is at most 1 MB."),
]


@pytest.mark.parametrize(("content", "said"), [row[1:] for row in SYNTAX], ids=[row[0] for row in SYNTAX])
def test_what_is_no_settings_file_is_refused_with_the_line(home: Path, content: str | bytes, said: str) -> None:
    error = refusal(write(home, content))
    assert str(error).startswith(str(home / "config.toml"))
    assert said in str(error)


VALUES = [
    ("text for a switch", swap("sidebar = false", 'sidebar = "no"'), "line 23: [ui] sidebar must be true or false."),
    ("number for a switch", swap("sidebar = false", "sidebar = 0"), "line 23: [ui] sidebar must be true or false."),
    (
        "fraction for a whole number",
        swap("long_term_top_k = 8", "long_term_top_k = 8.5"),
        "line 14: [memory] long_term_top_k must be a whole number between 1 and 20.",
    ),
    (
        "switch for a number",
        swap("long_term_top_k = 8", "long_term_top_k = true"),
        "[memory] long_term_top_k must be a whole number",
    ),
    ("negative", swap("extract_every = 12", "extract_every = -5"), "[memory] extract_every must be a whole number be"),
    ("NaN", swap("timeout = 20", "timeout = nan"), "line 11: [embedding] timeout must be a number between 0.1 and 600"),
    ("infinity", swap("timeout = 20", "timeout = inf"), "[embedding] timeout must be a number between 0.1 and 600."),
    ("too large for a float", swap("timeout = 20", "timeout = " + "9" * 400), "[embedding] timeout must be a number"),
    ("text for a number", swap("timeout = 20", 'timeout = "20"'), "[embedding] timeout must be a number"),
    ("number for text", swap('"chat-large"', "7"), 'line 5: [llm] model must be text in "quotes".'),
    ("date for text", swap('"chat-large"', "2024-01-01"), 'line 5: [llm] model must be text in "quotes".'),
    ("key of another type", swap(f'"{KEY}"', f'["{KEY}"]'), 'line 6: [llm] api_key must be text in "quotes".'),
    ("key with a letter no header takes", swap(KEY, f"{KEY}é"), "[llm] api_key holds a character that cannot go in"),
    ("address of another scheme", swap("https://api", "file://api"), "[llm] base_url must be an address that begins"),
    ("address with a password", swap("https://api", "https://me:secret@api"), "[llm] base_url must be an address"),
    ("key in the place of a name", GOOD.replace("api_key =", "api_key_env ="), "[llm] api_key_env must be the name of"),
    ("unknown word", swap('language = "en"', 'language = "english"'), 'must be "auto", "en" or "zh".'),
    ("escape in a word", swap('language = "en"', 'language = "\\u001b]0;gone\\u0007"'), "[ui] language must be"),
    ("value for a section", "llm = 3\n", "line 1: [llm] must be a section with keys."),
    ("list of sections", "[[llm]]\n", "[llm] must be a section with keys."),
    ("unknown memory type", swap('["project"]', '["projects"]'), "line 18: [memory.branches.work] types must be"),
    ("text for a list", swap('["project"]', '"project"'), "[memory.branches.work] types must be a list of texts"),
    ("bad branch name", swap("branches.work", 'branches."a b"'), 'line 17: [memory.branches] "a b" is no name for it'),
    ("value for a branch", GOOD + "[memory.branches]\nx = 1\n", "[memory.branches] x must be a section"),
    ("no user", swap("extract_every = 12", 'user_id = ""'), "[memory] user_id must not be empty."),
    (
        "shares",
        swap("extract_every = 12", "working_share = 0.7"),
        "line 13: [memory] working_share, short_term_share and long_term_share are 1.20 together",
    ),
    (
        "parameter that JSON lacks",
        GOOD + "[llm.parameters]\nseed = 07:32:00\n",
        "[llm.parameters] seed must be text, a",
    ),
    ("parameter not a number", GOOD + "[llm.parameters]\na = {b = [nan]}\n", "[llm.parameters] a must be a finite"),
    ("deep parameter", "[llm.parameters]\na = " + "[" * 40 + "]" * 40, "[llm.parameters] a is nested too deeply."),
    ("key binding of another type", "[keys]\nquit = 3\n", 'line 2: [keys] quit must be text in "quotes".'),
]


@pytest.mark.parametrize(("content", "said"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_a_value_that_is_not_allowed_is_refused_with_key_and_line(home: Path, content: str, said: str) -> None:
    assert said in str(refusal(write(home, content)))


def test_a_word_that_is_nearly_right_is_proposed(home: Path) -> None:
    assert refusal(write(home, '[llm]\nprovider = "openia"\n')).hint == 'Did you mean "openai"?'


def test_an_unknown_key_is_a_warning_with_a_proposal(home: Path) -> None:
    content = GOOD + 'teme = "x"\n[memroy]\na = 1\n["\x7f]0;x"]\n'.replace("\x7f", "\\u001b")
    _, warnings = load_settings_with_warnings(write(home, content), {})
    path = home / "config.toml"
    assert warnings[0] == f'{path} line 24: [ui] teme is not a setting. Did you mean "theme"?'
    assert warnings[1] == f'{path} line 25: [memroy] is not a setting. Did you mean "memory"?'
    assert "␛]0;x" in warnings[2]
    assert len(warnings) == 3


def test_a_byte_order_mark_and_windows_line_ends_are_fine(home: Path) -> None:
    content = b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()
    assert load_settings(write(home, content), {}).llm.model == "chat-large"


def test_branches_of_the_file_come_first_and_known_ones_are_changed_in_place(home: Path) -> None:
    content = '[memory.branches.task_event]\nlifetime_days = 3\n[memory.branches."工作"]\ntypes = ["project"]\n'
    branches = load_settings(write(home, content), {}).memory.branches
    assert list(branches) == ["工作", *default_branches()]
    assert branches["task_event"].lifetime_days == 3
    assert branches["task_event"].types == ("event",)


def test_parameters_and_keys_are_free_tables(home: Path) -> None:
    content = '[llm.parameters]\nseed = 7\nstop = ["a", {b = true}]\n[keys]\nquit = "ctrl+q"\n'
    settings = load_settings(write(home, content), {})
    assert settings.llm.parameters == {"seed": 7, "stop": ["a", {"b": True}]}
    assert settings.keys == {"quit": "ctrl+q"}


def test_a_directory_in_the_place_of_the_file(home: Path) -> None:
    (home / "config.toml").mkdir(parents=True)
    assert "is a directory" in str(refusal(Home(home)))


def test_a_pipe_in_the_place_of_the_file_does_not_hang(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "config.toml")
    assert "not a regular file" in str(refusal(Home(home)))


def test_a_file_that_may_not_be_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    error = refusal(write(home, GOOD))
    assert "permission denied" in str(error)
    assert error.hint == f"Run: chmod u+r {home / 'config.toml'}"


def test_a_path_with_a_nul_is_refused() -> None:
    assert "cannot be read" in str(refusal(Home(Path("/tmp/a\0b"))))


def test_a_key_that_others_can_read_is_not_used(home: Path) -> None:
    settings, warnings = load_settings_with_warnings(write(home, GOOD, 0o644), {})
    assert not settings.llm.api_key
    assert settings.llm.model == "chat-large"
    [warning] = warnings
    assert "line 6" in warning
    assert f"chmod 600 {home / 'config.toml'}" in warning
    assert KEY not in warning


def test_a_readable_file_without_a_key_is_fine(home: Path) -> None:
    assert load_settings_with_warnings(write(home, "[ui]\nsidebar = false\n", 0o644), {})[1] == []


def test_the_environment_wins_over_the_file(home: Path) -> None:
    content = GOOD.replace("api_key =", '# api_key =\napi_key_env = "MY_KEY" #')
    env = {
        "ORCA_PROVIDER": "openai",
        "ORCA_BASE_URL": "http://127.0.0.1:9/v1",
        "ORCA_MODEL": "other",
        "ORCA_API_KEY": "from-env\n",
        "SILICONFLOW_API_KEY": "sf-key",
    }
    settings, warnings = load_settings_with_warnings(write(home, content), env)
    assert (settings.llm.base_url, settings.llm.model) == ("http://127.0.0.1:9/v1", "other")
    assert settings.llm.api_key.reveal() == "from-env"
    assert settings.llm.api_key_env == ""
    assert settings.siliconflow.api_key.reveal() == "sf-key"
    assert warnings == []


def test_an_address_from_the_environment_is_used_although_the_file_says_local(home: Path) -> None:
    settings = load_settings(write(home, '[llm]\nprovider = "local"\n'), {"ORCA_BASE_URL": "http://127.0.0.1:9/v1"})
    assert settings.llm.provider == "auto"


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"ORCA_PROVIDER": "openia"}, 'The environment variable ORCA_PROVIDER must be "auto", "openai"'),
        ({"ORCA_BASE_URL": "api"}, "The environment variable ORCA_BASE_URL must be an address"),
        ({"ORCA_API_KEY": f"{KEY}é"}, "The environment variable ORCA_API_KEY holds a character"),
        ({"SILICONFLOW_API_KEY": f"{KEY}\x1b"}, "The environment variable SILICONFLOW_API_KEY holds a character"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(home: Path, env: dict[str, str], said: str) -> None:
    assert said in str(refusal(Home(home), env))


def test_a_variable_that_is_not_set_is_a_warning_and_a_misplaced_key_is_not_shown(home: Path) -> None:
    _, warnings = load_settings_with_warnings(write(home, '[llm]\napi_key_env = "NO_SUCH_VARIABLE"\n'), {})
    assert warnings == ["[llm] reads its key from NO_SUCH_VARIABLE, which is not set."]
    _, warnings = load_settings_with_warnings(write(home, '[llm]\napi_key_env = "a1b2c3d4"\n'), {})
    assert "a1b2c3d4" not in warnings[0]
    assert load_settings_with_warnings(Home(home), {"a1b2c3d4": "x"})[1] == []


def test_parsed_data_is_checked_with_the_name_it_is_given() -> None:
    with pytest.raises(ConfigError, match=r"^project\.toml: \[ui\] sidebar must be"):
        parse_settings({"ui": {"sidebar": 1}}, source="project.toml", env={})


@pytest.mark.parametrize(
    ("path", "expected"),
    [(("llm", "model"), str), (("llm", "api_key"), Secret), (("keys", "quit"), str), (("memory", "enabled"), bool)],
)
def test_the_type_of_a_key_can_be_looked_up(path: tuple[str, ...], expected: type) -> None:
    assert find_type(path) is expected


def test_a_key_that_is_none_gets_a_proposal() -> None:
    with pytest.raises(ConfigError) as caught:
        find_type(("llm", "modle"))
    assert caught.value.hint == 'Did you mean "model"?'
    with pytest.raises(ConfigError):
        find_type(("llm", "model", "x"))


def test_every_number_of_the_schema_has_limits() -> None:
    def check(kind: Any) -> None:
        hints = get_type_hints(kind)
        for field in fields(kind):
            if is_dataclass(hints[field.name]):
                check(hints[field.name])
            elif hints[field.name] in (int, float, float | None):
                assert set(field.metadata) == {"low", "high"}

    check(Settings)


@given(st.one_of(st.text(max_size=200), st.text("[]{}=\"'#.\n abllm_key0-:,\x1b", max_size=200)))
def test_no_text_raises_anything_but_the_named_error(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    home = write(tmp_path_factory.getbasetemp() / "any", content.encode("utf-8", errors="replace"))
    with suppress(ConfigError):
        load_settings(home, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["llm", "memory", "ui", "keys", "embedding", "x"]),
        JSON
        | st.dictionaries(
            st.sampled_from(["model", "api_key", "temperature", "branches", "parameters", "timeout", "sidebar"]), JSON
        ),
    )
)
def test_no_data_raises_anything_but_the_named_error(data: dict[str, Any]) -> None:
    with suppress(ConfigError):
        parse_settings(data, source="x", env={})
