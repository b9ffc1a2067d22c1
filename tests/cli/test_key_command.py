"""`orca-tui key`: into the keyring and out of it, with the settings following; nothing that is printed is a key."""

import io
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from memory.config import Home
from memory.provider import keys
from memory.settings import load_settings
from orca_tui.cli import main

CANARY = "sk-canary-77aa88bb99cc"


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    entries: dict[tuple[str, str], str] = {}
    module = ModuleType("keyring")
    monkeypatch.setattr(module, "get_password", lambda s, e: entries.get((s, e)), raising=False)
    monkeypatch.setattr(module, "set_password", lambda s, e, v: entries.update({(s, e): v}), raising=False)
    monkeypatch.setattr(module, "delete_password", lambda s, e: entries.pop((s, e)), raising=False)
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setattr(keys, "_late", {})
    return entries


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, stdin: str = "") -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    return main(["key", *arguments])


def test_a_key_goes_into_the_keyring_and_out_of_the_file(
    home: Path, ring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "config.toml").write_text('# mine\n[llm]\napi_key = "sk-old-000000000000"\n')
    (home / "config.toml").chmod(0o600)
    assert run(monkeypatch, "set", "llm", stdin=f"{CANARY}\n") == 0
    assert ring == {("orca-tui", "llm"): CANARY}
    text = (home / "config.toml").read_text()
    assert "# mine" in text
    assert "sk-old" not in text
    assert load_settings(Home(home), {}).llm.api_key_keyring == "llm"
    assert run(monkeypatch, "list") == 0
    assert run(monkeypatch, "list", "--json") == 0
    out = capsys.readouterr()
    assert "the system's keyring, entry llm" in out.out
    found = json.loads(out.out[out.out.index("[\n") :])
    assert [row["source"] for row in found if row["section"] == "siliconflow"] == [""]
    assert run(monkeypatch, "remove", "llm") == 0
    assert ring == {}
    assert load_settings(Home(home), {}).llm.api_key_keyring == ""
    assert run(monkeypatch, "remove", "llm") == 1
    out_again = capsys.readouterr()
    assert CANARY not in out.out + out.err + out_again.out + out_again.err + (home / "config.toml").read_text()


def test_another_name_for_another_key(
    home: Path, ring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "set", "embedding", "--name", "work", stdin=CANARY) == 0
    assert list(ring) == [("orca-tui", "work")]
    assert load_settings(Home(home), {}).embedding.api_key_keyring == "work"


@pytest.mark.parametrize(("typed", "words"), [("", "There is no key"), ("two words", "cannot go in a request header")])
def test_what_is_no_key_is_not_kept(
    typed: str,
    words: str,
    ring: dict[tuple[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, "set", "llm", stdin=typed) == 2
    assert words in capsys.readouterr().err
    assert ring == {}


def test_without_a_keyring_it_says_what_else_there_is(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert run(monkeypatch, "set", "llm", stdin=CANARY) == 1
    said = capsys.readouterr().err
    assert "orca-tui[keyring]" in said
    assert CANARY not in said
    assert not (home / "config.toml").exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX argv")
def test_a_key_is_no_argument(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, "set", "llm", CANARY)
    assert CANARY not in capsys.readouterr().err
