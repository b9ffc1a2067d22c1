import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from memory.config import Home
from memory.errors import AuthenticationFailed, StoreFullError
from memory.provider.base import FinishPart, RetryPart
from memory.store import open_store
from memory.types import Message
from tests.cli.conftest import Run, Script


def stored(home: Path) -> list[Message]:
    store = open_store(Home(home).database)
    try:
        return [message for session in store.sessions() for message in store.path(session.id)]
    finally:
        store.close()


def test_the_answer_goes_to_stdout_and_all_is_stored(run: Run, script: Script, home: Path) -> None:
    model = script(["**Hello** there."])
    result = run("ask", "hi", "you")
    assert (result.code, result.out, result.err) == (0, "**Hello** there.\n", "")
    assert [(m.role, m.content, m.state) for m in stored(home)] == [
        ("user", "hi you", "complete"),
        ("assistant", "**Hello** there.", "complete"),
    ]
    assert model.closed


def test_a_question_can_come_through_a_pipe(run: Run, script: Script, home: Path) -> None:
    script(["ok\n"])
    result = run("ask", stdin="第一行\nsecond\xff line\n".encode("utf-8", "replace") + b"\xff")
    assert (result.code, result.out) == (0, "ok\n")
    assert stored(home)[0].content.startswith("第一行\nsecond")
    assert run("ask", "-", stdin="again").code == 0


def test_an_answer_in_a_pipe_is_as_it_came(run: Run, script: Script) -> None:
    script(["a \x1b]52;c;aGk=\x07 [/x] List<int> <b>x</b> 2*3*4"])
    assert run("ask", "hi").out == "a \x1b]52;c;aGk=\x07 [/x] List<int> <b>x</b> 2*3*4\n"


def test_on_a_terminal_no_escape_byte_comes_out(run: Run, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    script([["a \x1b", "]52;c;aGk=", "\x07 \x1b[3", "1mred\r", "\n[/x] ", "👩", "\u200d", "👧 List<int>"]])
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    assert run("ask", "hi").out == "a ␛]52;c;aGk=␇ red\n[/x] 👩\u200d👧 List<int>\n"


def test_json_gives_every_event_on_a_line_without_an_unseen_character(run: Run, script: Script) -> None:
    reply = "你好 \x1b[2J\x9b\u2028\u202e\U000e0041"
    script([reply])
    result = run("ask", "--json", "hi")
    assert "你好" in result.out
    assert all(line.isprintable() for line in result.out.split("\n"))
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [events[0]["event"], events[1]["event"], events[-1]["event"]] == [
        "message_stored",
        "context_built",
        "turn_finished",
    ]
    assert "".join(e["text"] for e in events if e["event"] == "text_delta") == reply
    assert events[-1]["message"]["content"] == reply
    assert events[1]["report"]["by_meaning"] is True
    assert len({event["turn_id"] for event in events}) == 1


def test_a_failure_is_told_in_two_lines_and_keeps_what_arrived(run: Run, script: Script, home: Path) -> None:
    script([["half a", AuthenticationFailed("The key was \x1b[2J refused.", hint="Set another key.")]])
    result = run("ask", "hi")
    assert result.code == 1
    assert result.out == "half a\n"
    assert result.err == "orca-tui: The key was ␛[2J refused.\nSet another key.\n"
    assert [(m.content, m.state) for m in stored(home)] == [("hi", "complete"), ("half a", "failed")]


def test_a_failure_in_json_is_an_event(run: Run, script: Script) -> None:
    script([[AuthenticationFailed("no", hint="do")]])
    result = run("ask", "--json", "hi")
    event = json.loads(result.out.splitlines()[-1])
    assert result.code == 1
    assert event["event"] == "turn_failed"
    assert event["error"] == {"kind": "AuthenticationFailed", "title": "Model", "message": "no", "hint": "do"}


def test_waiting_and_a_cut_reply_are_told_on_stderr(run: Run, script: Script) -> None:
    script([[RetryPart(3.0, "Too many requests."), "cut", FinishPart("length")]])
    result = run("ask", "hi")
    assert result.out == "cut\n"
    assert "Too many requests. Trying again in 3 s." in result.err
    assert "greatest length" in result.err


@pytest.mark.parametrize(
    ("reason", "told"), [("length", "greatest length"), ("content_filter", "content filter"), ("tool_calls", "a tool")]
)
def test_a_reply_that_is_not_simply_whole_says_so(run: Run, script: Script, reason: str, told: str) -> None:
    script([["as far as it came", FinishPart(reason)]])
    result = run("ask", "hi")
    assert (result.code, result.out) == (0, "as far as it came\n")
    assert told in result.err


@pytest.mark.parametrize(("reason", "told"), [("stop", "answered nothing"), ("tool_calls", "asked for a tool")])
def test_an_answer_of_nothing_is_a_failure(run: Run, script: Script, reason: str, told: str) -> None:
    script([[FinishPart(reason)]])
    result = run("ask", "hi")
    assert (result.code, result.out) == (1, "")
    assert told in result.err


def test_a_reply_that_could_not_be_stored_is_told(run: Run, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **kwargs: Any) -> Message:
        raise StoreFullError("The disk is full.")

    script(["all of it"])
    monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
    monkeypatch.setattr("memory.store.sqlite.SQLiteStore.update_message", full)
    result = run("ask", "hi")
    assert (result.code, result.out) == (1, "all of it\n")
    assert "The disk is full." in result.err
    assert "was not stored" in result.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_turn_and_keeps_the_text(
    run: Run, script: Script, home: Path, number: signal.Signals, code: int
) -> None:
    script([["so far ", lambda: os.kill(os.getpid(), number), *["more "] * 50, "end"]])
    result = run("ask", "hi")
    assert result.code == code
    assert result.out.startswith("so far ")
    reply = stored(home)[1]
    assert reply.state == "stopped"
    assert result.out.rstrip("\n") == reply.content


def test_a_closed_pipe_ends_quietly_and_keeps_the_text(
    run: Run, script: Script, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(["one two three"])

    def closed(self: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("orca_tui.cli.entry._forget_stdout", lambda: None)
    monkeypatch.setattr("orca_tui.plain.PlainWriter.write", lambda self, piece: closed(self))
    result = run("ask", "hi")
    assert (result.code, result.err) == (0, "")
    assert stored(home)[0].content == "hi"


def test_a_session_goes_on(run: Run, script: Script, home: Path) -> None:
    model = script(["one", "two"])
    run("ask", "first")
    session = stored(home)[0].session_id
    assert run("ask", "--session", session[:8], "second").out == "two\n"
    assert [m.content for m in stored(home)] == ["first", "one", "second", "two"]
    assert "first" in [message.content for message in model.requests[1]]


def test_an_unknown_session_is_a_failure(run: Run, script: Script) -> None:
    script(["x"])
    result = run("ask", "--session", "ffffffff", "hi")
    assert result.code == 1
    assert "ffffffff" in result.err


def test_the_model_can_be_chosen_for_once(run: Run, monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    from memory.provider import factory

    model, seen = script(["x"]), []

    async def build(settings: object, *_args: object) -> object:
        seen.append(settings.llm.model)  # type: ignore[attr-defined]
        return model

    monkeypatch.setattr(factory, "build_chat_model", build)
    run("ask", "--model", "other", "hi")
    assert seen == ["other"]


def test_without_memory_nothing_is_recalled(run: Run, script: Script) -> None:
    script(["The harbour is at Kiel.", "x", "y"])
    run("ask", "Where is the harbour of my boat?")
    result = run("ask", "--json", "--no-memory", "Where is the harbour of my boat?")
    [built] = [json.loads(line) for line in result.out.splitlines() if "context_built" in line]
    assert all(not tier["items"] for tier in built["report"]["tiers"] if tier["tier"] != "working")


@pytest.mark.parametrize(("argv", "stdin"), [(("ask",), b""), (("ask", "  "), b""), (("ask", "-"), b" \n")])
def test_nothing_to_ask_is_wrong_usage(run: Run, argv: tuple[str, ...], stdin: bytes) -> None:
    result = run(*argv, stdin=stdin)
    assert result.code == 2
    assert "nothing to ask" in result.err


def test_on_a_terminal_nothing_is_waited_for(run: Run) -> None:
    assert run("ask", terminal=True).code == 2


def test_too_much_to_ask_is_wrong_usage(run: Run) -> None:
    assert "larger than 5 MB" in run("ask", stdin=b"x" * 5_000_001).err
