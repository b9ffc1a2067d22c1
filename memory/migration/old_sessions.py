"""Old session files, read where they lie: their messages in order, and what became of every line.

The file is only read. What a message gets here is the same whenever the file is read, also when it has grown.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.clock import to_iso
from memory.migration.old_fields import Found, UnreadableError, read
from memory.migration.old_lines import Piece, split_line
from memory.store.imports import ImportedMessage
from memory.types import Scope, Session

BOM = b"\xef\xbb\xbf"
IMPORT = "import"
"""Key in the metadata of a message that was brought in: where it came from, and what was repaired or assumed."""
SEEN = {"extracted": True}
"""Old words are not looked through for new memories: nobody typed them here."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a line, or of a part of one."""

    line: int
    """From 1."""
    message: ImportedMessage | None
    raw: bytes
    reason: str = ""
    """Why there is no message."""
    repairs: tuple[str, ...] = ()
    is_repeat: bool = False
    """The same message as before: nothing is lost by leaving it out."""


@dataclass(slots=True)
class _Talk:
    """What has been read of one session so far."""

    session: Session
    last: str | None = None
    """Digest of the newest message."""
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By the id in the file: the line and the digest of the first message with it."""
    repeats: dict[str, int] = field(default_factory=dict)
    """How often a message without an id has been seen."""
    calls: set[str] = field(default_factory=set)
    """Ids of the tools that were called."""


class OldSessionFile:
    """One file of lines. Iterate once over `outcomes`; `sessions` holds the sessions met so far, by id."""

    def __init__(self, path: Path, scope: Scope | None = None) -> None:
        """Raises `OSError` when the file cannot be read."""
        self.path = path
        self.sessions: dict[str, Session] = {}
        self.lines = 0
        """Lines that have been read."""
        self.key = file_key(path)
        self._scope = scope or Scope()
        self._talks: dict[str, _Talk] = {}
        self._time: str | None = None

    def outcomes(self) -> Iterator[Outcome]:
        """What becomes of each line, in order. Raises `OSError`."""
        for number, piece in _pieces(self.path):
            self.lines = number
            if piece.record is None:
                yield Outcome(number, None, piece.raw, piece.reason)
                continue
            try:
                found = read(piece.record)
            except UnreadableError as error:
                yield Outcome(number, None, piece.raw, str(error))
                continue
            if piece.repair:
                found.repairs.append(piece.repair)
            yield self._outcome(number, piece.raw, found)

    def _outcome(self, number: int, raw: bytes, found: Found) -> Outcome:
        talk = self._talk(found)
        if found.time is None:
            found.time = self._neighbour_time()
            found.facts["time"] = "estimated"
            found.repairs.append("the time is estimated")
        self._time = found.time
        digest = digest_of(self.key, talk.session.id, found.id or "", found.role, found.content)
        if found.id is None:
            digest = self._counted(talk, digest)
        elif found.id in talk.texts:
            first_line, first = talk.texts[found.id]
            if digest == first or digest in talk.repeats:
                return Outcome(number, None, raw, "the same message again", is_repeat=True)
            talk.repeats[digest] = 1
            found.facts["same_id_as_line"] = first_line
            found.repairs.append("another text has the same id")
        else:
            talk.texts[found.id] = (number, digest)
        self._note_calls(talk, found)
        return Outcome(number, self._message(number, talk, digest, found), raw, repairs=tuple(found.repairs))

    def _counted(self, talk: _Talk, digest: str) -> str:
        """Without an id, the same words may well be said twice."""
        times = talk.repeats[digest] = talk.repeats.get(digest, 0) + 1
        return digest if times == 1 else digest_of(digest, str(times))

    def _note_calls(self, talk: _Talk, found: Found) -> None:
        calls = found.extra.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, Mapping):
                talk.calls.add(str(call.get("id")))
        answered = found.extra.get("tool_call_id")
        if answered is not None and str(answered) not in talk.calls:
            found.facts["orphan"] = True
            found.repairs.append("the result of a tool that nobody called")

    def _message(self, number: int, talk: _Talk, digest: str, found: Found) -> ImportedMessage:
        time = found.time or ""
        facts: dict[str, Any] = {"file": self.path.name, "line": number, **found.facts}
        if found.id is not None:
            facts["id"] = found.id
        if found.repairs:
            facts["repaired"] = list(found.repairs)
        message = ImportedMessage(
            digest,
            talk.session.id,
            found.role,
            found.content,
            time,
            {**found.extra, IMPORT: facts, **(SEEN if found.role == "user" else {})},
            talk.last,
        )
        talk.last = digest
        return message

    def _talk(self, found: Found) -> _Talk:
        name = found.session or self.path.stem
        if name not in self._talks:
            time = found.time or self._neighbour_time()
            session_id = digest_of(self.key, name)[:32]
            scope = self._scope
            session = Session(
                session_id, "", scope.user_id, scope.project, scope.agent_id, None, None, "open", False, time, time
            )
            self._talks[name] = _Talk(session)
            self.sessions[session_id] = session
        return self._talks[name]

    def _neighbour_time(self) -> str:
        """For a message without a time: that before it, else the first in the file, else when the file was changed."""
        if self._time is not None:
            return self._time
        for _, piece in _pieces(self.path):
            try:
                time = read(piece.record).time if piece.record is not None else None
            except UnreadableError:
                continue
            if time is not None:
                return time
        return to_iso(datetime.fromtimestamp(self.path.stat().st_mtime, UTC))


def digest_of(*parts: str) -> str:
    """Names an item by what it is made of: 64 hexadecimal characters."""
    lengths = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(lengths.encode("utf-8", "surrogatepass")).hexdigest()


def file_key(path: Path) -> str:
    """Names a file by its name and its first line that is not blank: wherever it lies, and however it grows."""
    with path.open("rb") as file:
        first = next((line.strip() for line in file if line.strip()), b"")
    return digest_of(path.name, hashlib.sha256(first.removeprefix(BOM)).hexdigest())


def _pieces(path: Path) -> Iterator[tuple[int, Piece]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            for piece in split_line(line.removeprefix(BOM) if number == 1 else line):
                yield number, piece
