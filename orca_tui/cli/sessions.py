"""`orca-tui sessions`: list and show stored conversations. Needs no model."""

from argparse import Namespace
from pathlib import Path

from memory.config import Home
from memory.text import label
from memory.types import Message
from orca_tui.cli import old_file
from orca_tui.cli.stored import open_read
from orca_tui.plain import local_time, plain_print, print_json


def run(arguments: Namespace, home: Home) -> int:
    """Do one of list, show."""
    if arguments.action == "show" and arguments.id.endswith(old_file.SUFFIX):
        old_file.show(Path(arguments.id).expanduser(), as_json=arguments.json)
        return 0
    with open_read(home) as store:
        if arguments.action == "list":
            sessions = store.sessions(limit=arguments.limit)
            if arguments.json:
                print_json(sessions)
            elif not sessions:
                plain_print("No sessions yet.")
            else:
                for session in sessions:
                    title = label(session.title, 80) or "(no title)"
                    mark = "  (incognito)" if session.incognito else ""
                    plain_print(f"{session.id[:8]}  {local_time(session.updated_at)}  {title}{mark}")
            return 0
        session = store.find_session(arguments.id)
        messages = store.path(session.id)
    if arguments.json:
        print_json({"session": session, "messages": messages})
        return 0
    plain_print(
        f"{label(session.title, 200) or '(no title)'}  ({session.id}{', incognito' if session.incognito else ''})"
    )
    for message in messages:
        plain_print(f"\n{local_time(message.timestamp)}  {message.role}{_note(message)}")
        plain_print(message.content)
    return 0


def _note(message: Message) -> str:
    if message.metadata.get("interrupted"):
        return "  (interrupted)"
    return "" if message.state == "complete" else f"  ({message.state})"
