"""What the lines add up to: everything that is stored, in memory. The same code reads old lines and new ones."""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from memory.store.filters import Filter
from memory.store.jsonl.checks import checked
from memory.store.jsonl.log import MARK, MEMORIES, VECTORS
from memory.store.jsonl.text_index import TextIndex
from memory.store.jsonl.vectors import Entry, VectorTable, digest
from memory.store.messages import is_searched
from memory.store.rows import to_json
from memory.types import (
    ITEM_KINDS,
    Injection,
    ItemKind,
    LongTermMemory,
    MemoryEvent,
    Message,
    Scope,
    ScoreParts,
    Session,
    ShortTermMemory,
    SubagentRun,
)

Line = Mapping[str, Any]
_OWN = {MEMORIES.removesuffix(".jsonl"), VECTORS.removesuffix(".jsonl")}


def to_line(kind: str, facts: Mapping[str, Any]) -> bytes:
    """A line of ours, without its end."""
    return MARK + to_json({"kind": kind, **facts}).encode()[1:]


def parse_line(line: bytes) -> Line:
    """Read a line back. Raises `ValueError` when it is none of ours."""
    try:
        found = json.loads(line)
    except RecursionError as error:
        raise ValueError("the line is nested too deep") from error
    if not isinstance(found, dict) or found.get("orca") != 1:
        raise ValueError("the line is not one of ours")
    return found


class State:
    """Tables by id, and the indexes over them. Not safe from several threads."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.messages: dict[int, Message] = {}
        self.summaries: dict[int, ShortTermMemory] = {}
        self.memories: dict[int, LongTermMemory] = {}
        self.events: list[MemoryEvent] = []
        self.injections: dict[int, list[Injection]] = {}
        self.runs: dict[int, SubagentRun] = {}
        self.run_owners: dict[int, Mapping[str, Any]] = {}
        """Who writes a run that is on its way."""
        self.vectors = VectorTable()
        self.texts: dict[ItemKind, TextIndex] = {kind: TextIndex() for kind in ITEM_KINDS}
        self._last: dict[str, int] = {}

    def next_id(self, kind: str) -> int:
        """An id that no item of this kind has or had."""
        return self._last.get(kind, 0) + 1

    def apply(self, stem: str, line: bytes) -> None:
        """Take in one line of the file `stem`. Raises `ValueError` when it is damaged; nothing is taken in then."""
        try:
            self._take(stem, parse_line(line))
        except (TypeError, LookupError, AttributeError, OverflowError) as error:
            raise ValueError(f"the line is damaged: {error}") from error

    def _take(self, stem: str, found: Line) -> None:
        kind = found.get("kind")
        owner = str(found.get("id" if kind == "session" else "session_id"))
        if kind in ("session", "message", "run") and (stem in _OWN or owner != stem):
            raise ValueError("the line belongs to another session")
        match kind:
            case "session":
                self.sessions[stem] = checked(Session, found)
            case "message":
                self._take_message(checked(Message, {**found, "has_embedding": False}), _time(found))
            case "run":
                self._take_run(checked(SubagentRun, found), found.get("owner"))
            case "memory":
                self._take_memory(found)
            case "touched":
                self._take_touched(found)
            case "injections":
                self._take_injections(found)
            case "vectors":
                self._take_vectors(found)
            case _:
                raise ValueError("the line is of an unknown kind")

    def text_of(self, kind: ItemKind, item_id: int) -> str | None:
        """The text of an item; `None` when it is gone."""
        tables: dict[ItemKind, Mapping[int, Message | ShortTermMemory | LongTermMemory]] = {
            "message": self.messages,
            "short_term": self.summaries,
            "long_term": self.memories,
        }
        item = tables[kind].get(item_id)
        return None if item is None else item.content

    def shown(self, message: Message) -> Message:
        """A message as callers get it."""
        return replace(message, has_embedding=self.vectors.has(("message", message.id), self.vectors.current))

    def passes(self, kind: ItemKind, item_id: int, where: Filter) -> bool:
        """Whether a search may find an item."""
        if kind == "long_term":
            memory = self.memories[item_id]
            return (
                (where.branches is None or memory.branch in where.branches)
                and (where.status is None or memory.status in where.status)
                and sees(where.scope, memory)
                and where.only.passes(memory.updated_at)
            )
        item = self.messages[item_id] if kind == "message" else self.summaries[item_id]
        session = self.sessions[item.session_id]
        if where.session_id is None and (session.incognito or session.state == "trashed"):
            return False
        if isinstance(item, Message):
            fits = where.only.passes(item.timestamp, item.role)
        else:
            fits = where.only.passes(item.updated_at)
        return (
            where.session_id in (None, session.id)
            and where.exclude_session != session.id
            and sees(where.scope, session)
            and fits
        )

    def _take_message(self, message: Message, at: str) -> None:
        before = self.messages.get(message.id)
        self.messages[message.id] = message
        self._last["message"] = max(self._last.get("message", 0), message.id)
        if before is not None and before.content != message.content:
            self.vectors.forget(("message", message.id))
        if not is_searched(message.role, message.state, message.metadata):
            self.texts["message"].remove(message.id)
        elif before is None or (before.content, before.state) != (message.content, message.state):
            self.texts["message"].put(message.id, message.content)
        # Without its first line (damaged), a session still has its messages.
        session = self.sessions.get(message.session_id) or _lost_session(message)
        tip = session.tip_message_id if before else message.id
        self.sessions[session.id] = replace(session, tip_message_id=tip, updated_at=at)

    def _take_run(self, run: SubagentRun, owner: Any) -> None:
        self.runs[run.id] = run
        self.run_owners[run.id] = owner if isinstance(owner, dict) else {}
        self._last["run"] = max(self._last.get("run", 0), run.id)

    def _take_memory(self, line: Line) -> None:
        summaries = [checked(ShortTermMemory, row) for row in _rows(line, "short_term")]
        memories = [checked(LongTermMemory, _with_tuple(row)) for row in _rows(line, "long_term")]
        events = [checked(MemoryEvent, row) for row in _rows(line, "events")]
        gone = [int(item_id) for item_id in line.get("gone", ())]
        for item_id in gone:
            if self.summaries.pop(item_id, None):
                self.texts["short_term"].remove(item_id)
                self.vectors.forget(("short_term", item_id))
        for summary in summaries:
            self.summaries[summary.id] = summary
            self._index("short_term", summary.id, summary.content)
        for memory in memories:
            before = self.memories.get(memory.id)
            self.memories[memory.id] = memory
            if before is None or before.content != memory.content:
                self.vectors.forget(("long_term", memory.id))
                self._index("long_term", memory.id, memory.content)
        self.events += events
        if events:
            self._last["event"] = max(self._last.get("event", 0), *(event.id for event in events))

    def _index(self, kind: ItemKind, item_id: int, text: str) -> None:
        self.texts[kind].put(item_id, text)
        self._last[kind] = max(self._last.get(kind, 0), item_id)

    def _take_touched(self, line: Line) -> None:
        at = _time(line)
        for item_id in line.get("ids", ()):
            if memory := self.memories.get(item_id):
                self.memories[item_id] = replace(memory, access_count=memory.access_count + 1, last_accessed=at)

    def _take_injections(self, line: Line) -> None:
        given = [
            checked(Injection, {**row, "parts": checked(ScoreParts, row.get("parts") or {})})
            for row in _rows(line, "items")
        ]
        for injection in given:
            self.injections.setdefault(injection.message_id, []).append(injection)

    def _take_vectors(self, line: Line) -> None:
        import numpy as np

        model, keys = str(line.get("model")), line.get("items") or []
        matrix = np.frombuffer(base64.b64decode(str(line.get("vectors"))), dtype="<f4").astype(np.float32)
        matrix = matrix.reshape(len(keys), -1) if keys else matrix.reshape(0, 0)
        if not np.isfinite(matrix).all():
            raise ValueError("a vector is not finite")
        for (kind, item_id, text_digest), vector in zip(keys, matrix, strict=True):
            text = self.text_of(kind, item_id) if kind in ITEM_KINDS else None
            if text is not None and digest(text) == text_digest:
                self.vectors.put((kind, item_id), Entry(model, vector))
        self.vectors.current = model


def sees(scope: Scope | None, item: Session | LongTermMemory) -> bool:
    """A scope sees its user's own, and of that what is tied to no project, agent or team, or to the same."""
    if scope is None:
        return True
    if item.user_id != scope.user_id:
        return False
    ties = [(item.project, scope.project), (item.agent_id, scope.agent_id)]
    if isinstance(item, LongTermMemory):
        ties.append((item.team_id, scope.team_id))
    return all(tied is None or tied == own for tied, own in ties)


def _rows(line: Line, name: str) -> Iterable[Mapping[str, Any]]:
    rows = line.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{name} is not a list of rows")
    return rows


def _time(line: Line) -> str:
    if isinstance(at := line.get("at"), str):
        return at
    raise ValueError("the line has no time")


def _with_tuple(row: Mapping[str, Any]) -> dict[str, Any]:
    merged = row.get("merged_from")
    return {**row, "merged_from": tuple(merged) if isinstance(merged, list | tuple) else merged}


def _lost_session(message: Message) -> Session:
    at = message.timestamp
    return Session(message.session_id, "", Scope().user_id, None, None, None, None, "open", False, at, at)
