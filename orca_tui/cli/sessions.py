"""`orca-tui sessions`: what is done with stored conversations. Needs no model, but for searching by meaning."""

from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from memory.config import Home
from memory.text import label
from memory.types import Message, Session, SessionState
from orca_tui.cli import old_file
from orca_tui.cli.stored import open_read
from orca_tui.cli.traces import print_runs
from orca_tui.plain import local_time, plain_print, print_json

if TYPE_CHECKING:
    from memory.store.base import Store


def run(arguments: Namespace, home: Home) -> int:
    """Do what `arguments.action` says."""
    match arguments.action:
        case "list" | "show":
            return _read(arguments, home)
        case "search":
            arguments.query = [*arguments.query, "kind:message,summary"]
            name = "memory"
        case _:
            name = "sessions_change"
    code: int = import_module(f"orca_tui.cli.{name}").run(arguments, home)
    return code


def _read(arguments: Namespace, home: Home) -> int:
    if arguments.action == "show" and arguments.id.endswith(old_file.SUFFIX):
        old_file.show(Path(arguments.id).expanduser(), as_json=arguments.json)
        return 0
    with open_read(home) as store:
        if arguments.action == "list":
            _list(arguments, store)
        else:
            _show(arguments, store)
    return 0


def _list(arguments: Namespace, store: "Store") -> None:
    state: SessionState | None = None if arguments.state == "any" else arguments.state
    sessions = store.sessions(state=state, limit=arguments.limit)
    if arguments.json:
        print_json(sessions)
    elif not sessions:
        plain_print("No sessions yet." if state == "open" else "There are none.")
    for session in () if arguments.json else sessions:
        plain_print(line_of(session))


def line_of(session: Session) -> str:
    """A session in one line: id, time, title, and what is not usual about it."""
    marks = [*(["incognito"] if session.incognito else []), *([session.state] if session.state != "open" else [])]
    title = label(session.title, 80) or "(no title)"
    noted = f"  ({', '.join(marks)})" if marks else ""
    return f"{session.id[:8]}  {local_time(session.updated_at)}  {title}{noted}"


def _show(arguments: Namespace, store: "Store") -> None:
    session = store.find_session(arguments.id)
    messages = store.path(session.id)
    runs = store.subagent_runs(session.id) if arguments.traces else []
    if arguments.json:
        print_json({"session": session, "messages": messages} | ({"runs": runs} if arguments.traces else {}))
        return
    plain_print(
        f"{label(session.title, 200) or '(no title)'}  ({session.id}{', incognito' if session.incognito else ''})"
    )
    for message in messages:
        plain_print(f"\n{local_time(message.timestamp)}  {message.role}{_note(message)}")
        plain_print(message.content)
        print_runs(runs, message.id)


def _note(message: Message) -> str:
    if message.metadata.get("interrupted"):
        return "  (interrupted)"
    return "" if message.state == "complete" else f"  ({message.state})"
