"""Files for a message: paths as they are typed or pasted, reading them, and what an earlier message was sent with.

Functions block; call them in a thread.
"""

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from memory.errors import AttachmentError
from memory.turns.attachments import Attachment, attachment_of, load_attachment
from memory.writing.trust import ATTACHMENTS, PASTED
from orca_tui.outgoing import Attached, Outgoing

if TYPE_CHECKING:
    from memory.store.attachments import AttachmentFiles
    from memory.types import Message

MOST_PATH = 4096
"""Characters of a pasted text that may be a path."""
LOOKED_AT, SHOWN = 5000, 200
"""How many names of a directory are looked at, and offered."""
_BLOCK = re.compile(r"File `[^\n]*`:\n(`{3,})[^\n]*\n(.*)\n\1", re.DOTALL)


def paths_in(text: str) -> list[Path]:
    """The files that a typed argument names: one path as it stands, or several, quoted where they hold blanks."""
    whole = path_of(text)
    if whole is not None:
        return [whole]
    try:
        words = shlex.split(text)
    except ValueError:
        words = [text]
    return [Path(word).expanduser() for word in words]


def path_of(text: str) -> Path | None:
    """The existing file that a text names, and nothing else: as typed, quoted, with escaped blanks, or a `file:` URL
    (what terminals give for a dropped file)."""
    text = text.strip()
    if not text or len(text) > MOST_PATH or "\n" in text or "\x00" in text:
        return None
    candidates = [text, text.strip("\"'"), re.sub(r"\\(.)", r"\1", text)]
    if text.startswith("file://"):
        with suppress(ValueError):
            candidates = [unquote(urlsplit(text).path)]
    for one in candidates:
        with suppress(OSError, ValueError, RuntimeError):
            path = Path(one).expanduser()
            if path.is_file():
                return path.absolute()
    return None


def pasted_path(text: str) -> Path | None:
    """The file that a pasted text is the path of. A bare word is a word, whatever lies in the current directory."""
    looks_so = text.strip().lstrip("\"'").startswith(("/", "~", "./", "../", "file://")) or re.match(
        r"\s*\w:[\\/]", text
    )
    return path_of(text) if looks_so else None


def read(paths: Sequence[Path]) -> list[Attached]:
    """Read files. Raises `AttachmentError` for the first that cannot go along."""
    return [Attached(load_attachment(path), path.expanduser().absolute()) for path in paths]


def read_again(paths: Sequence[str]) -> tuple[list[Attached], list[AttachmentError]]:
    """Read the files of a draft: those that are still there, and why the others cannot go along."""
    found: list[Attached] = []
    problems: list[AttachmentError] = []
    for path in paths:
        try:
            found += read([Path(path)])
        except AttachmentError as error:
            problems.append(error)
    return found, problems


def completions(typed: str) -> list[str]:
    """What a typed path may go on as: whole paths, written like what was typed; directories end in `/`."""
    head, slash, start = typed.rpartition("/")
    folder = Path(head + slash or ".")
    names: list[str] = []
    with suppress(OSError, ValueError, RuntimeError):
        for count, entry in enumerate(folder.expanduser().iterdir()):
            if count >= LOOKED_AT:
                break
            name = entry.name
            if name.startswith(start) and (start.startswith(".") or not name.startswith(".")) and "\n" not in name:
                with suppress(OSError):
                    names.append(f"{head}{slash}{name}{'/' if entry.is_dir() else ''}")
    return sorted(names)[:SHOWN]


def written_of(message: "Message", files: "AttachmentFiles") -> Outgoing:
    """A stored message as it was sent: its text, and its files apart from it. Raises `AttachmentError` when a picture
    is gone."""
    facts = message.metadata.get(ATTACHMENTS)
    known = [fact for fact in facts if isinstance(fact, dict)] if isinstance(facts, list) else []
    spans = message.metadata.get(PASTED)
    texts = sum(1 for fact in known if fact.get("kind") == "text")
    blocks = [tuple(span) for span in spans[-texts:]] if isinstance(spans, list) and texts else []
    end = min((start for start, _end in blocks), default=len(message.content))
    quoted = iter(message.content[start:stop] for start, stop in blocks)
    found = [Attached(_attachment(fact, quoted, files)) for fact in known]
    pasted = tuple(message.content[a:b] for a, b in (spans or ()) if b <= end) if isinstance(spans, list) else ()
    return Outgoing(message.content[:end].rstrip("\n") if blocks else message.content, pasted, tuple(found))


def _attachment(fact: "dict[str, object]", quoted: "object", files: "AttachmentFiles") -> Attachment:
    name = str(fact.get("name") or "file")
    if fact.get("kind") == "image":
        return attachment_of(name, files.load(str(fact.get("sha256") or "")))
    block = _BLOCK.fullmatch(next(quoted, ""))  # type: ignore[call-overload]
    return attachment_of(name, (block[2] if block else "").encode())
