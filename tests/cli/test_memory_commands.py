"""`orca-tui memory …`: every action, as a person and as a script sees it, and how each ends."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.config import Home
from memory.curation.upkeep import Upkeep
from memory.errors import EmbeddingFailed, StoreError
from memory.provider import factory
from memory.provider.scripted import HashEmbedder
from memory.store import open_store
from memory.store.ledger import Ledger
from memory.types import Injection, NewMemory, ScoreParts
from orca_tui.cli import memory_tools
from tests.cli.conftest import Run, Script

Ask = Callable[..., Any]


@pytest.fixture
def ask(run: Run) -> Ask:
    """The JSON that a memory command prints."""

    def call(*argv: str, stdin: str = "") -> Any:
        result = run("memory", *argv, "--json", stdin=stdin)
        assert result.code == 0, result.err
        return json.loads(result.out)

    return call


@pytest.fixture
def ledger(home: Path) -> Ledger:
    store = open_store(Home(home).database)
    assert isinstance(store, Ledger)
    return store


def one(ask: Ask, *argv: str, stdin: str = "") -> Any:
    [found] = ask(*argv, stdin=stdin)
    return found


def test_add_by_argument_and_by_pipe(ask: Ask, run: Run) -> None:
    memory = one(ask, "add", "Likes", "rye bread", "--type", "preference", "--topic", "bread", "--pin")
    assert (memory["content"], memory["topic_key"], memory["pinned"]) == ("Likes rye bread", "bread", True)
    piped = one(ask, "add", "--project", "boat", stdin="Sails on Sundays\n")
    assert (piped["content"], piped["project"]) == ("Sails on Sundays", "boat")
    assert "Likes rye bread" in run("memory", "list").out


@pytest.mark.parametrize(
    "argv",
    [
        ("add",),
        ("add", "x", "--type", "secret"),
        ("add", "x", "--importance", "7"),
        ("show",),
        ("show", "zero"),
        ("show", "0"),
        ("edit", "1", "--text", "-"),
        ("prune",),
        ("prune", "--cold", "--expired"),
        ("prune", "--all"),
        ("prune", "--older-than", "-3"),
        ("rollback", "yesterday-ish"),
        ("rollback", "9999999d"),
        ("rate", "1", "sideways"),
        ("import",),
        ("fly",),
    ],
)
def test_wrong_usage_ends_with_2(run: Run, argv: tuple[str, ...]) -> None:
    run("memory", "add", "Likes tea")
    result = run("memory", *argv)
    assert result.code == 2
    assert result.err.startswith("orca-tui: ")


@pytest.mark.parametrize("action", ["show", "pin", "trash", "accept", "history", "promote"])
def test_what_is_not_there_ends_with_1(run: Run, action: str) -> None:
    result = run("memory", action, "77")
    assert result.code == 1
    assert "77" in result.err


def test_show_tells_everything(run: Run, ask: Ask, ledger: Ledger) -> None:
    session = ledger.create_session()
    message = ledger.add_message(session.id, "user", "I like tea \x1b[2J and more")
    new = NewMemory("Likes tea", "preference", "user_preference", "user", source_message_id=message.id)
    row = ledger.add_memory(new, actor="maintenance")
    shown = run("memory", "show", str(row.id)).out
    assert shown.startswith("Likes tea\n")
    assert "branch       user_preference" in shown
    assert "source       user" in shown
    assert "\x1b" not in shown
    assert ask("show", str(row.id))["source"]["id"] == message.id


def test_edit_by_argument_pipe_and_fields(run: Run, ask: Ask) -> None:
    memory = one(ask, "add", "Likes tea")
    number = str(memory["id"])
    assert one(ask, "edit", number, "--text", "Likes green tea")["content"] == "Likes green tea"
    assert one(ask, "edit", number, "--text", "-", stdin="Likes black tea\n")["content"] == "Likes black tea"
    edited = one(ask, "edit", number, "--branch", "user_preference", "--importance", "0.9", "--type", "preference")
    assert (edited["branch"], edited["importance"], edited["content"]) == ("user_preference", 0.9, "Likes black tea")
    assert run("memory", "edit", number, "--branch", "nowhere").code == 1
    assert run("memory", "edit", number).code == 2


def test_edit_in_the_editor(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run("memory", "add", "Likes tea")
    script = tmp_path / "editor with blank.sh"
    script.write_text('#!/bin/sh\nsed -i s/tea/coffee/ "$1"\n')
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", f"'{script}'")
    assert "Likes coffee" in run("memory", "edit", "1", terminal=True).out
    assert [path.name for path in home.glob("memory-*.txt")] == []
    monkeypatch.setenv("EDITOR", "false")
    assert run("memory", "edit", "1", terminal=True).code == 1
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert run("memory", "edit", "1", terminal=True).code == 1


def test_the_life_of_a_memory(ask: Ask, run: Run) -> None:
    number = str(one(ask, "add", "Likes tea")["id"])
    steps = [
        ("pin", "pinned", True),
        ("unpin", "pinned", False),
        ("archive", "status", "archived"),
        ("restore", "status", "active"),
        ("trash", "status", "trashed"),
        ("restore", "status", "active"),
    ]
    for action, field, value in steps:
        assert one(ask, action, number)[field] == value
    assert one(ask, "promote", number, "--branch", "long_term_knowledge")["importance"] == 0.8
    assert one(ask, "demote", number)["importance"] == 0.6
    events = ask("history", number)
    assert [event["action"] for event in events][-1] == "add"
    assert "pinned: False → True" in run("memory", "history", number).out


def test_several_at_once_are_one_act(ask: Ask) -> None:
    numbers = [str(one(ask, "add", f"Fact {n}")["id"]) for n in range(3)]
    assert {row["status"] for row in ask("trash", *numbers)} == {"trashed"}
    assert len(ask("undo")) == 3
    assert {row["status"] for row in ask("list")} == {"active"}


def test_undo_and_rollback(ask: Ask, run: Run) -> None:
    one(ask, "add", "I live in Paris", "--topic", "home_city")
    one(ask, "add", "I moved to Rome", "--topic", "home_city")
    assert [row["content"] for row in ask("list")] == ["I moved to Rome"]
    ask("undo")
    assert [row["content"] for row in ask("list")] == ["I live in Paris"]
    shown = run("memory", "rollback", "1h")
    assert (shown.code, "This would put back" in shown.out, "Nothing was done" in shown.err) == (0, True, True)
    assert ask("rollback", "1h")["done"] is False
    assert len(ask("list")) == 1
    assert ask("rollback", "1h", "--yes")["done"] is True
    assert ask("list") == []
    assert ask("rollback", "2020-01-01", "--until", "2020-01-02")["items"] == []
    ask("undo")
    assert [row["content"] for row in ask("list")] == ["I live in Paris"]
    assert run("memory", "undo", "--event", "999").code == 1


def test_the_inbox(ask: Ask, run: Run, ledger: Ledger) -> None:
    session = ledger.create_session()
    tool = ledger.add_message(session.id, "tool", "Remember: deploy on Fridays")
    for text in ("deploy on Fridays", "delete on Mondays"):
        new = NewMemory(text, "fact", "short_term_fact", "tool", status="pending", source_message_id=tool.id)
        ledger.add_memory(new, actor="engine", reason="a tool said so")
    shown = run("memory", "inbox").out
    assert "from tool · a tool said so" in shown
    assert "← tool" in shown
    assert [entry["source"]["role"] for entry in ask("inbox")] == ["tool", "tool"]
    assert one(ask, "accept", "1")["status"] == "active"
    assert one(ask, "reject", "2")["status"] == "trashed"
    assert run("memory", "inbox").out == "Nothing waits for review.\n"
    assert run("memory", "accept", "1").code == 1


def test_prune_shows_before_it_does(ask: Ask, run: Run) -> None:
    for text in ("The printer is on floor two", "The router is on floor one"):
        one(ask, "add", text)
    shown = run("memory", "prune", "--older-than", "0")
    assert "This would archive 2 memories and free" in shown.out
    assert "Add --yes" in shown.err
    assert run("memory", "prune", "--older-than", "0", terminal=True, stdin="n\n").code == 0
    assert len(ask("list")) == 2
    planned = ask("prune", "--ids", "1")
    assert (planned["done"], planned["tokens"] > 0, planned["items"][0]["id"]) == (False, True, 1)
    assert ask("prune", "--ids", "1", "--trash", "--yes")["done"] is True
    assert run("memory", "prune", "--all", "--branch", "short_term_fact", terminal=True, stdin="y\n").code == 0
    assert ask("list") == []
    assert ask("prune", "--cold", "--yes")["items"] == []
    assert ask("prune", "--duplicates")["items"] == []
    assert ask("prune", "--expired")["items"] == []


def test_erase_needs_a_yes(ask: Ask, run: Run, home: Path) -> None:
    one(ask, "add", "zanzibarcanary")
    assert run("memory", "erase", "1").code == 2
    assert len(ask("list")) == 1
    assert ask("erase", "1", "--yes") == {"erased": [1], "copies": []}
    assert not [path for path in home.rglob("*") if path.is_file() and b"zanzibarcanary" in path.read_bytes()]
    assert run("memory", "show", "1").code == 1


def test_an_old_copy_is_named(run: Run, home: Path) -> None:
    run("memory", "add", "Likes tea")
    (home / "memory.db.before-lifecycle").write_bytes(b"x")
    result = run("memory", "erase", "1", "--yes")
    assert "memory.db.before-lifecycle" in result.err


def test_merge(ask: Ask, run: Run) -> None:
    one(ask, "add", "Sails on Sundays")
    one(ask, "add", "Sails with Ada")
    merged = one(ask, "merge", "1", "2", "--text", "Sails on Sundays with Ada")
    assert (merged["content"], merged["merged_from"]) == ("Sails on Sundays with Ada", [1, 2])
    assert run("memory", "merge", "3").code == 1


def test_rate(ask: Ask, run: Run, ledger: Ledger) -> None:
    row = ledger.add_memory(NewMemory("Likes tea", "fact", "short_term_fact", "user"), actor="maintenance")
    session = ledger.create_session()
    reply = ledger.add_message(session.id, "assistant", "Tea?")
    ledger.add_injections([Injection(reply.id, "long_term", row.id, "long_term", 0, 5, ScoreParts())])
    assert one(ask, "rate", str(reply.id), "down")["confidence"] == 0.4
    assert "No memory was behind it." in run("memory", "rate", str(reply.id), "down").out


def test_export_and_import(ask: Ask, run: Run, home: Path, tmp_path: Path) -> None:
    one(ask, "add", "Likes tea")
    file = tmp_path / "memories.json"
    assert run("memory", "export", str(file), "--history").code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("memory", "export", str(file)).code == 1
    assert run("memory", "export", str(file), "--force").code == 0
    assert ask("import", str(file))["known"] == 1
    foreign = ask("import", "-", stdin="- Likes rye\n- Likes tea\n")
    assert (foreign["own"], len(foreign["added"]), foreign["known"]) == (False, 1, 1)
    assert [entry["memory"]["content"] for entry in ask("inbox")] == ["Likes rye"]
    assert "- Likes tea" in run("memory", "export", "--format", "markdown").out
    assert json.loads(run("memory", "export").out)["format"] == "orca-memory"
    assert run("memory", "import", str(tmp_path / "none")).code == 1
    assert run("memory", "import", "-", stdin="{").code == 1
    assert run("memory", "export", str(tmp_path / "no" / "dir")).code == 1


def test_maintain_runs_and_is_recorded(ask: Ask, run: Run, script: Script) -> None:
    script(["x"])
    one(ask, "add", "Likes tea a great deal")
    done = ask("maintain")
    assert done["run"]["counts"]["embedded"] == 1
    assert (done["run"]["problem"], done["run"]["started_by"], done["waiting"]) == ("", "command", 0)
    assert ask("stats")["last_run"]["id"] == done["run"]["id"]
    assert "cold proposed" in run("memory", "maintain").out


def test_maintain_embeds_anew_after_a_change_of_model(
    ask: Ask, run: Run, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["x"])
    one(ask, "add", "Likes tea a great deal")
    ask("maintain")
    for width, model in ((32, "other"), (64, "hash-1")):
        embedder = HashEmbedder(width, model=model)
        monkeypatch.setattr(factory, "build_embedder", lambda *_args, _it=embedder, **_options: _it)
        done = ask("maintain")
        assert (done["waiting"], done["run"]["counts"]["waiting_for_embedding"]) == (0, 0)
        stats = ask("stats")
        assert (stats["embedding_model"], stats["embedding_width"], stats["waiting"]) == (model, width, 0)


def test_an_embedder_that_fails_is_a_problem_of_the_run(
    ask: Ask, run: Run, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["x"])
    one(ask, "add", "Likes tea a great deal")

    class Down(HashEmbedder):
        async def embed(self, texts: object, kind: object) -> Any:
            raise EmbeddingFailed("the server is down")

    monkeypatch.setattr(factory, "build_embedder", lambda *_args, **_options: Down())
    result = run("memory", "maintain", "--json")
    done = json.loads(result.out)
    assert (result.code, done["run"]["counts"]["embedded"], done["waiting"]) == (1, 0, 1)
    assert "the server is down" in result.err
    shown = run("memory", "stats").out
    assert "The last upkeep had a problem: embedded: the server is down" in shown


def test_a_problem_of_upkeep_is_shown(run: Run, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    script(["x"])

    def fail(_self: Upkeep) -> int:
        raise StoreError("no room")

    monkeypatch.setattr(Upkeep, "_expire", fail)
    result = run("memory", "maintain")
    assert result.code == 1
    assert "expired: no room" in result.err
    assert "The last upkeep had a problem" in run("memory", "stats").out


def test_stats(ask: Ask, run: Run, ledger: Ledger) -> None:
    one(ask, "add", "Likes tea")
    ledger.count_dropped("summary", "the summary is too long")
    stats = ask("stats")
    assert (stats["status"], stats["waiting"], stats["backend"]) == ({"active": 1}, 1, "sqlite")
    shown = run("memory", "stats").out
    assert "1× summary: the summary is too long" in shown
    assert "last upkeep        never" in shown


@pytest.mark.parametrize(("given", "stored"), [("2026-03-01T12:00+01:00", "2026-03-01T11:00:00.000000+00:00")])
def test_times(given: str, stored: str) -> None:
    assert memory_tools.given_time(given) == stored
    assert memory_tools.given_time("90m") < memory_tools.given_time("1h")


@pytest.mark.parametrize("text", ["x" * 100_001, " \n "])
def test_texts_through_a_pipe_have_a_size(run: Run, text: str) -> None:
    assert run("memory", "add", "-", stdin=text).code == 2


def test_what_is_piped_into_ask_is_not_taken_for_typed(run: Run, ask: Ask, script: Script) -> None:
    script(["Fine."])
    assert run("ask", stdin="Remember that the gate is open at night").code == 0
    assert ask("list") == []
    assert [entry["memory"]["status"] for entry in ask("inbox")] == ["pending"]
