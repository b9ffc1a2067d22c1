"""Stored messages → transcript entries. Pure; what a reply's state means to a person is said here."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from memory import errors
from memory.errors import OrcaError
from orca_tui.core_words import core_said
from orca_tui.i18n import _
from orca_tui.render.entry import Call, CallOutcome, Entry

if TYPE_CHECKING:
    from memory.store.base import Store
    from memory.types import Message, SubagentRun


def key_of(message: "Message") -> str:
    """The transcript key of a message."""
    return str(message.id)


Places = Mapping[int, tuple[int, int]]
"""By message: its place among those that stand beside it, and how many they are (`memory.turns.forks.places`)."""
ALONE = (0, 0)


def entries_of(messages: "Iterable[Message]", places: Places = MappingProxyType({})) -> list[Entry]:
    """The entries of a path, oldest first; a failed reply is followed by its error, a call is one entry with its
    result."""
    asked: dict[str, str] = {}
    found: list[Entry] = []
    for message in messages:
        if message.role == "assistant":
            asked = dict(calls_of(message))
        found += entries_of_one(message, asked, places.get(message.id, ALONE))
    return found


def read_path(store: "Store", session_id: str) -> "tuple[list[Message], list[Entry]]":
    """A session's path and its entries; for a thread, since there may be many thousands. Raises `StoreError`."""
    messages = store.path(session_id)
    return messages, entries_of(messages)


def calls_of(message: "Message") -> Iterator[tuple[str, str]]:
    """Id and arguments of the tools that a reply asked for."""
    calls = message.metadata.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            yield str(call.get("id") or ""), str(call.get("arguments") or "")


def entries_of_one(
    message: "Message", asked: Mapping[str, str] | None = None, fork: tuple[int, int] = ALONE
) -> list[Entry]:
    """One message as an entry, and the stored error after a failed one. A failed reply without text is its error.

    `asked`: arguments by call, for a tool's result.
    """
    if message.role == "tool":
        return [call_entry(message, (asked or {}).get(str(message.metadata.get("tool_call_id") or ""), ""))]
    error = stored_error(message)
    if message.state == "failed" and error is not None and not message.content:
        return [replace(error, fork=fork)]
    shown = Entry(
        key_of(message),
        message.role,
        message.content,
        state="interrupted" if message.metadata.get("interrupted") else message.state,
        timestamp=message.timestamp,
        reasoning=str(message.metadata.get("reasoning") or ""),
        note=note_of(message),
        model=str(message.metadata.get("model") or ""),
        fork=fork,
        files=files_of(message),
    )
    return [shown] if error is None else [shown, error]


def files_of(message: "Message") -> tuple[tuple[str, int], ...]:
    """Name and bytes of the files that went with a message."""
    if message.role != "user" or not message.metadata:
        return ()
    from memory.writing.trust import ATTACHMENTS

    files = message.metadata.get(ATTACHMENTS)
    found = [file for file in files if isinstance(file, Mapping)] if isinstance(files, list) else []
    return tuple(
        (str(file.get("name") or ""), size if isinstance(size := file.get("size"), int) else 0) for file in found
    )


def call_entry(message: "Message", arguments: str) -> Entry:
    """A tool's call with its stored result."""
    facts = message.metadata
    state = str(facts.get("state") or "")
    outcome: CallOutcome | None = next((known for known in get_args(CallOutcome) if known == state), None)
    call = Call(arguments, outcome or "", message.token_count)
    title = str(facts.get("tool") or "")
    return Entry(key_of(message), "tool", message.content, timestamp=message.timestamp, title=title, call=call)


def running_entry(key: str, name: str, arguments: str) -> Entry:
    """A tool's call that has no result yet."""
    return Entry(key, "tool", "", title=name, call=Call(arguments, "running"))


def run_key(run_id: int) -> str:
    """The transcript key of a subagent's run."""
    return f"run-{run_id}"


def run_entry(run: "SubagentRun") -> Entry:
    """A subagent's run: its task, how it goes, what it wrote."""
    outcomes: dict[str, CallOutcome] = {"running": "running", "complete": "done", "failed": "failed"}
    task = json.dumps({"task": run.task}, ensure_ascii=False)
    call = Call(task, outcomes.get(run.state, "cancelled"), run.token_count)
    return Entry(run_key(run.id), "tool", run.content, timestamp=run.timestamp, title=run.agent_name, call=call)


def note_of(message: "Message", finish_reason: str = "") -> str:
    """What is to be said below a reply that is not simply whole; empty otherwise."""
    if not message.metadata and not finish_reason and message.state == "complete":
        return ""
    from memory.types import WITHOUT_MEMORY

    ended = _ending_of(message, finish_reason)
    plain = _("without memory") if message.metadata.get(WITHOUT_MEMORY) else ""
    return " · ".join(filter(None, (plain, ended)))


def _ending_of(message: "Message", finish_reason: str) -> str:
    reason = finish_reason or str(message.metadata.get("finish_reason") or "")
    if message.metadata.get("interrupted"):
        return _("interrupted: orca ended while this was being written · /retry asks again")
    if message.state == "stopped":
        return _("stopped · what had arrived is kept · /retry asks again")
    if message.state == "failed":
        return _("incomplete · /retry asks again")
    if reason == "length":
        return _("cut: the model reached its longest reply")
    if reason == "content_filter":
        return _("cut: the server's content filter ended it")
    if reason == "tool_calls" and not message.metadata.get("tool_calls"):
        return _("the model also asked for a tool; orca has none to offer yet")
    return ""


def error_entry(key: str, error: OrcaError, timestamp: str) -> Entry:
    """An error as a block of its own."""
    return Entry(
        f"{key}-error",
        "error",
        core_said(str(error)),
        state="complete",
        timestamp=timestamp,
        title=_(error.title),
        note=core_said(error.hint) or _("/retry asks again · F2 chooses another model"),
    )


def notice_entry(key: str, text: str, timestamp: str = "") -> Entry:
    """A remark by orca itself."""
    return Entry(key, "notice", text, state="complete", timestamp=timestamp)


def stored_error(message: "Message") -> Entry | None:
    """The error that a failed reply was stored with."""
    told = message.metadata.get("error")
    if not isinstance(told, Mapping) or message.state != "failed":
        return None
    kind = getattr(errors, str(told.get("type")), OrcaError)
    kind = kind if isinstance(kind, type) and issubclass(kind, OrcaError) else OrcaError
    error = kind(str(told.get("message") or ""), hint=str(told.get("hint") or ""))
    return error_entry(key_of(message), error, message.timestamp)


def agent_task(question: "Message") -> tuple[str, str] | None:
    """Name and task when a message of the user's was one for an agent."""
    from memory.store.run_store import AGENT_TASK
    from memory.turns.agent_turn import typed

    name = question.metadata.get(AGENT_TASK)
    return (name, question.content.removeprefix(typed(name, ""))) if isinstance(name, str) and name else None
