"""A session as a file: JSON with everything, which orca can import again, or Markdown to be read."""

import json
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from memory.clock import Clock
from memory.errors import OrcaError
from memory.migration.orca_json import FORMAT, VERSION
from memory.store.base import Store
from memory.store.files import PRIVATE_FILE, flush
from memory.text import clean, label
from memory.types import Message, Session

ExportFormat = Literal["md", "json"]
SUFFIXES: dict[str, ExportFormat] = {".md": "md", ".markdown": "md", ".json": "json"}
_LEFT_OUT = frozenset(("stream",))
"""Keys of metadata that say which process wrote a reply."""
_BAD_IN_NAMES = re.compile(r"[\\/:*?\"<>|\s.]+")
_NAME_BYTES = 80


def as_json(store: Store, session_id: str, clock: Clock) -> str:
    """The session with the messages of all its forks, and its summaries. Raises `NotFoundError`."""
    session = store.session(session_id)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": clock.now(),
        "session": asdict(session),
        "messages": [_row(message) for message in store.messages(session_id)],
        "summaries": [asdict(summary) for summary in store.short_term(session_id)],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_markdown(store: Store, session_id: str) -> str:
    """The path on the screen as a page. Raises `NotFoundError`."""
    session = store.session(session_id)
    path = store.path(session_id)
    facts = [f"{session.created_at[:16].replace('T', ' ')} UTC", session.model or ""]
    lines = [f"# {label(session.title, 200) or session.id}", "", " · ".join(filter(None, facts)), ""]
    for message in path:
        lines += [f"## {_heading(message, session)}", "", _body(message), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def text_of(store: Store, session_id: str, kind: ExportFormat, clock: Clock) -> str:
    """The session in a format. Raises `NotFoundError`."""
    return as_json(store, session_id, clock) if kind == "json" else as_markdown(store, session_id)


def file_name(session: Session, kind: ExportFormat) -> str:
    """A name for the file, out of title and date; safe on every system."""
    title = _BAD_IN_NAMES.sub("-", label(session.title, 80)).strip("-") or session.id[:8]
    while len(title.encode("utf-8", "replace")) > _NAME_BYTES:
        title = title[:-1]
    return f"{title.strip('-')}-{session.updated_at[:10]}.{kind}"


def write(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file that only its owner can read; it appears when it is whole.

    Raises `OrcaError` when it is there already (unless `replace`), or cannot be written.
    """
    partial: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=".orca-", suffix=".partial", dir=path.parent)
        partial = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        partial.chmod(PRIVATE_FILE)
        flush(partial)
        if replace:
            partial.replace(path)
        else:
            _appear(partial, path)
    except FileExistsError as error:
        raise OrcaError(f"{label(str(path))} is there already.", hint="Choose another name, or replace it.") from error
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"
        raise OrcaError(
            f"{label(str(path))} cannot be written: {reason}.", hint="Choose another place; nothing is lost."
        ) from error
    finally:
        if partial is not None:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _appear(partial: Path, path: Path) -> None:
    """Give a file its name unless there is another of this name. Raises `FileExistsError`."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        if path.exists():
            raise FileExistsError(path) from None
        partial.replace(path)


def _row(message: Message) -> dict[str, Any]:
    row = asdict(message)
    del row["session_id"], row["has_embedding"]
    row["metadata"] = {name: value for name, value in message.metadata.items() if name not in _LEFT_OUT}
    return row


def _heading(message: Message, session: Session) -> str:
    names = {
        "user": "User",
        "assistant": label(str(message.metadata.get("model") or session.model or "Assistant"), 60),
        "system": "System",
        "tool": f"Tool: {label(str(message.metadata.get('tool') or '?'), 60)}",
    }
    state = "" if message.state == "complete" else f" ({message.state})"
    return f"{names[message.role]} · {message.timestamp[:16].replace('T', ' ')}{state}"


def _body(message: Message) -> str:
    text = clean(message.content).strip("\n")
    calls: Sequence[Any] = message.metadata.get("tool_calls") or ()
    asked = [f"→ {label(str(call.get('name')), 60)} {_fenced(str(call.get('arguments')))}" for call in calls]
    if message.role == "tool":
        text = _fenced(text)
    return "\n\n".join(filter(None, (text, *asked)))


def _fenced(text: str) -> str:
    text = clean(text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"\n{fence}\n{text}\n{fence}"
