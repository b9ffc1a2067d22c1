"""`orca-tui sessions rename|archive|unarchive|delete|restore|export`."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import SystemClock
from memory.config import Home
from memory.errors import ConfigError, OrcaError
from memory.text import label
from memory.types import Session, SessionState
from orca_tui.cli.memory_tools import may_go_on
from orca_tui.cli.sessions import line_of
from orca_tui.cli.stored import drop_files, open_read
from orca_tui.plain import complain, plain_print, print_json

if TYPE_CHECKING:
    from memory.migration.session_export import ExportFormat
    from memory.store.base import Store

STATES: dict[str, SessionState] = {
    "archive": "archived",
    "unarchive": "open",
    "delete": "trashed",
    "restore": "open",
}


def run(arguments: Namespace, home: Home) -> int:
    """Do one of the actions that change sessions, or write one to a file."""
    with open_read(home) as store:
        match arguments.action:
            case "rename":
                title = label(" ".join(arguments.title), 120)
                if not title:
                    raise ConfigError("The title is empty.")
                _tell(arguments, [store.update_session(store.find_session(arguments.id).id, title=title)])
            case "export":
                _export(arguments, store)
            case "delete" if arguments.erase:
                return _erase(arguments, store, home)
            case action:
                found = [store.find_session(one) for one in arguments.ids]
                _tell(arguments, [store.update_session(session.id, state=STATES[action]) for session in found])
    return 0


def _tell(arguments: Namespace, sessions: list[Session]) -> None:
    if arguments.json:
        print_json(sessions)
        return
    for session in sessions:
        plain_print(line_of(session))
    if arguments.action == "delete":
        plain_print("`orca-tui sessions restore ID` brings it back; with --erase it is gone for good.")


def _erase(arguments: Namespace, store: "Store", home: Home) -> int:
    from memory.store.ledger import Ledger

    if not isinstance(store, Ledger):
        raise OrcaError(
            "Without the database nothing can be erased for good.",
            hint="`orca-tui doctor` tells what is wrong with it.",
        )
    found = [store.find_session(one) for one in arguments.ids]
    if not arguments.json:
        for session in found:
            plain_print(line_of(session))
    done = may_go_on(arguments, "Erase for good, with every message? Memories made from them stay.")
    copies: list[str] = []
    for session in found if done else ():
        copies = store.erase_session(session.id, actor="user")
    if done:
        drop_files(home, store)
    if arguments.json:
        print_json({"done": done, "erased": [session.id for session in found if done], "older_copies": copies})
    elif done:
        plain_print("Erased for good.")
    if copies:
        complain(f"Older copies may still hold the text: {', '.join(label(copy) for copy in copies)}")
    return 0


def _export(arguments: Namespace, store: "Store") -> None:
    from memory.migration import session_export

    session = store.find_session(arguments.id)
    kind: ExportFormat = arguments.format or "md"
    if arguments.file not in (None, "-") and not arguments.format:
        kind = session_export.SUFFIXES.get(Path(arguments.file).suffix.lower(), "md")
    text = session_export.text_of(store, session.id, kind, SystemClock())
    if arguments.file == "-":
        plain_print(text, end="")
        return
    path = Path(arguments.file or session_export.file_name(session, kind)).expanduser()
    session_export.write(path, text, replace=arguments.force)
    if arguments.json:
        print_json({"file": str(path.absolute()), "format": kind, "bytes": path.stat().st_size})
    else:
        sys.stderr.write(f"Written: {label(str(path))}\n")
