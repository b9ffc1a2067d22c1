"""What the store on plain files has left: its sessions and memories, as they are brought into the database."""

from collections.abc import Iterator
from pathlib import Path

from memory.migration.old_sessions import IMPORT, OldSessionFile, Outcome, digest_of, file_key
from memory.store.imports import ImportedMessage
from memory.store.jsonl.log import MEMORIES, SESSIONS, is_ours
from memory.store.jsonl.state import State, parse_line
from memory.types import LongTermMemory, Message, Scope, Session, ShortTermMemory, SubagentRun

OWN = "orca"
"""Digests of what orca itself wrote begin with it: ids of our own do not depend on the file."""


class OwnFile:
    """One file of ours. Iterate once over `outcomes`; the rest is known behind it."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError` when the file cannot be read."""
        self.path = path
        self.key = file_key(path)
        self.lines = 0
        """Lines that have been read."""
        self.sessions: dict[str, Session] = {}
        self._state = State()

    def outcomes(self) -> Iterator[Outcome]:
        """What cannot be read, and then the messages. Raises `OSError`."""
        stem = self._owner()
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                self.lines = number
                try:
                    if line.strip():
                        self._state.apply(stem, line)
                except ValueError as error:
                    yield Outcome(number, None, line.rstrip(b"\r\n"), str(error))
        self.sessions = self._state.sessions
        for message in sorted(self._state.messages.values(), key=lambda message: message.id):
            yield Outcome(0, self._imported(message), b"")

    def tips(self) -> Iterator[tuple[str, str, list[str]]]:
        """Of each session: its id, the digest of its tip, and those of all its messages."""
        for session in self.sessions.values():
            if session.tip_message_id is not None:
                seen = [item for item, found in self._state.messages.items() if found.session_id == session.id]
                yield (
                    session.id,
                    message_digest(session.id, session.tip_message_id),
                    [message_digest(session.id, item) for item in seen],
                )

    def summaries(self) -> list[tuple[str, ShortTermMemory, str | None, str | None]]:
        """Summaries, each with its digest and those of the first and last message that it covers."""
        found = []
        for summary in self._state.summaries.values():
            first, last = (
                None if end is None else message_digest(summary.session_id, end)
                for end in (summary.first_message_id, summary.last_message_id)
            )
            found.append((digest_of(OWN, self.key, "short_term", str(summary.id)), summary, first, last))
        return found

    def runs(self) -> list[tuple[str, SubagentRun]]:
        """Runs of subagents, callers first, each with the digest of the message that called for it."""
        runs = sorted(self._state.runs.values(), key=lambda run: run.id)
        return [(message_digest(run.session_id, run.parent_msg_id), run) for run in runs]

    def memories(self) -> list[LongTermMemory]:
        """Long-term memories, the first written first."""
        return sorted(self._state.memories.values(), key=lambda memory: memory.id)

    def memory_digest(self, memory_id: int) -> str:
        """Names a long-term memory of this file."""
        return digest_of(OWN, self.key, "long_term", str(memory_id))

    def _owner(self) -> str:
        """The session that the file was written for, also when it was renamed since."""
        with self.path.open("rb") as file:
            for line in file:
                try:
                    found = parse_line(line)
                except ValueError:
                    continue
                return str(found.get("id" if found.get("kind") == "session" else "session_id"))
        return self.path.stem

    def _imported(self, message: Message) -> ImportedMessage:
        facts = {"file": self.path.name, "id": str(message.id)}
        return ImportedMessage(
            digest=message_digest(message.session_id, message.id),
            session_id=message.session_id,
            role=message.role,
            content=message.content,
            timestamp=message.timestamp,
            metadata={**message.metadata, IMPORT: facts},
            parent=None if message.parent_id is None else message_digest(message.session_id, message.parent_id),
            state=message.state,
            msg_type=message.msg_type,
            token_count=message.token_count,
        )


def open_file(path: Path, scope: Scope | None = None) -> OldSessionFile | OwnFile:
    """A file of lines, whoever wrote it. Raises `OSError`."""
    return OwnFile(path) if is_ours(path) else OldSessionFile(path, scope)


def message_digest(session_id: str, message_id: int) -> str:
    """Names a message that the store on plain files has written."""
    return digest_of(OWN, session_id, str(message_id))


def own_files(home: Path) -> list[Path]:
    """The files in a home that the store on plain files has written, memories last. Raises `OSError`."""
    sessions = [path for path in sorted((home / SESSIONS).glob("*.jsonl")) if path.is_file()]
    memories = home / MEMORIES
    return [path for path in (*sessions, memories) if path.is_file() and path.stat().st_size and is_ours(path)]
