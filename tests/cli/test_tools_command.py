"""Tools and subagents on the command line: traces, permission on a terminal, none in a pipe."""

import asyncio
import json
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.config import Home
from memory.settings import load_settings
from memory.store import open_store
from memory.tools.base import Decision, PermissionRequest
from orca_tui.allowing import allow
from orca_tui.cli import approving
from tests.cli.conftest import Run, Script
from tests.memory.agent_support import CALLS, call

REQUEST = PermissionRequest(
    "read_file",
    "/a\x1b[2J",
    '{"path": "\u202e' + "x" * 9000 + 'end"}',
    "Because.",
    ("once", "session", "always", "deny"),
)


@pytest.fixture
def session(home: Path) -> str:
    """A conversation whose reply called an agent that called another."""
    store = open_store(Home(home).database)
    session = store.create_session(title="work")
    store.add_message(session.id, "user", "Do it")
    asks = store.add_message(session.id, "assistant", "I let it be done.")
    outer = store.add_subagent_run(asks.id, "coder", "write\nit", parent_run_id=None, owner={})
    inner = store.add_subagent_run(asks.id, "critic", "judge it", parent_run_id=outer.id, owner={})
    store.end_subagent_run(inner.id, "failed", "No\x1b[2J server.", role="system", token_count=5, subtree_tokens=5)
    store.end_subagent_run(outer.id, "complete", "Done.\nReally.", token_count=20, subtree_tokens=25, truncated=True)
    store.close()
    return session.id


def test_traces_are_shown_below_their_message(run: Run, session: str) -> None:
    result = run("sessions", "show", session, "--traces")
    lines = [line[line.index("  ") :] if line[:2] == "20" else line for line in result.out.splitlines()]
    tail = lines[lines.index("I let it be done.") + 1 :]
    assert [line.split("  ")[-1].strip() for line in tail] == [
        "",
        "coder (run 1): complete, cut, 20 tokens, 25 with those that it called",
        "task: write it",
        "Done.",
        "Really.",
        "",
        "critic (run 2): failed, 5 tokens",
        "task: judge it",
        "No\x1b[2J server.",
    ]
    assert "coder" not in run("sessions", "show", session).out


def test_traces_come_as_json_too(run: Run, session: str) -> None:
    found = json.loads(run("sessions", "show", session, "--traces", "--json").out)
    assert [(each["agent_name"], each["parent_run_id"], each["state"]) for each in found["runs"]] == [
        ("coder", None, "complete"),
        ("critic", 1, "failed"),
    ]
    assert "runs" not in json.loads(run("sessions", "show", session, "--json").out)


def test_in_a_pipe_nobody_is_asked_and_the_model_is_told(run: Run, script: Script, home: Path) -> None:
    model = script([["Let me see.", call("memory_save", text="The user has a cat."), CALLS], "I may not."])
    result = run("ask", "What do you see?")
    assert (result.code, result.out) == (0, "Let me see.\n\nI may not.\n")
    assert "nobody can be asked here" in model.requests[1][-1].content
    store = open_store(Home(home).database)
    assert store.memories(status=None) == []
    store.close()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal on which something can be typed: the other end of stdin."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield ours
    os.close(ours)


@pytest.mark.parametrize(
    ("typed", "decision"),
    [("o\n", "once"), ("s\n", "session"), ("Always\n", "always"), ("d\n", "deny"), ("\n", "deny"), ("yes\n", "deny")],
)
async def test_on_a_terminal_the_whole_call_is_shown_and_a_line_is_read(
    terminal: int, typed: str, decision: Decision, capsys: pytest.CaptureFixture[str]
) -> None:
    os.write(terminal, typed.encode())
    assert await approving.ask(REQUEST) == decision
    shown = capsys.readouterr().err
    assert "The model wants to use read_file on /a␛[2J. Because." in shown
    assert '{"path": "<U+202E>xx' in shown
    assert 'xxend"}' in shown
    assert "characters …]" in shown
    assert "\x1b" not in shown


async def test_a_question_on_the_terminal_can_be_cancelled(terminal: int) -> None:
    asking = asyncio.create_task(approving.ask(REQUEST))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    os.write(terminal, b"o\n")
    assert await approving.ask(REQUEST) == "once"


def test_what_is_allowed_for_always_is_written_once_and_keeps_comments(home: Path) -> None:
    place = Home(home)
    place.ensure()
    place.config.write_text('# mine\n[tools]\nallow = ["memory_save"] # these\n', encoding="utf-8")
    place.config.chmod(0o600)
    for entry in ('read_file:/a "b"', 'read_file:/a "b"', "fetch_url:example.org"):
        allow(place, entry)
    assert load_settings(place).tools.allow == ("memory_save", 'read_file:/a "b"', "fetch_url:example.org")
    assert "# mine" in place.config.read_text(encoding="utf-8")
