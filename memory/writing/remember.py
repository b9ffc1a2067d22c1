"""Writing long-term memory: branch, near-duplicates, supersession, and review of what is not the user's own word."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from memory.branches import expiry, route_branch
from memory.clock import Clock
from memory.config import MemorySettings
from memory.store.base import Store
from memory.types import LongTermMemory, MemorySource, MemoryStatus, Message, NewMemory, Scope, Session
from memory.writing.extract_rules import Finding, find, find_explicit
from memory.writing.secrets import holds_secret
from memory.writing.trust import typed_text, why_review
from memory.writing.worth import is_near_duplicate

ACTOR = "maintenance"
CONFIRMED = 0.1
"""What saying it again adds to a memory's confidence."""
PAGE = 500
DOUBTED = 0.3
"""Confidence of what waits for review."""


@dataclass(slots=True)
class Written:
    """Ids of what was written."""

    added: list[int] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)


class Rememberer:
    """Writes findings into a store. Blocking: for a thread."""

    def __init__(self, store: Store, clock: Clock, settings: MemorySettings) -> None:
        self._store = store
        self._clock = clock
        self.settings = settings
        """May be replaced."""

    def write(self, session: Session, found: Iterable[tuple[Message, Finding]]) -> Written:
        """Write what was found in messages of a session.

        Only what the user typed becomes active (`writing.trust`). All else waits in the inbox as `pending`, and
        changes nothing that is active. A memory that the user wrote or edited by hand is never changed here.
        """
        written = Written()
        for message, finding in found:
            self._write_one(session, message, finding, written)
        return written

    def _write_one(self, session: Session, message: Message, finding: Finding, written: Written) -> None:
        if holds_secret(finding.content):
            return
        doubt = why_review(message, finding.content)
        status: MemoryStatus = "pending" if doubt else "active"
        same = self._duplicate(session.scope, finding, status)
        if same is not None:
            trusted = not doubt or same.status == "pending"
            if trusted and not self._by_hand(same) and same.source_message_id != message.id:
                changes = self._confirmed(same, finding, session.scope)
                self._store.update_memory(same.id, changes, actor=ACTOR, reason="said again")
                written.updated.append(same.id)
            return
        rival = self._rival(session.scope, finding) if status == "active" else None
        if rival is not None and self._by_hand(rival):
            status, doubt = "pending", "it would replace what was written by hand"
        branch = route_branch(self._source(message), finding.memory_type, finding.content, self.settings.branches)
        new = NewMemory(
            content=finding.content,
            memory_type=finding.memory_type,
            branch=branch,
            source=self._source(message),
            scope=session.scope,
            status=status,
            confidence=DOUBTED if doubt else 0.9 if finding.explicit else 0.7,
            importance=finding.importance,
            expires_at=self._lasts_until(branch, finding),
            topic_key=finding.topic_key,
            source_session=session.id,
            source_message_id=message.id,
        )
        reason = doubt or ("the user asked for it" if finding.explicit else "said in conversation")
        written.added.append(self._store.add_memory(new, actor=ACTOR, reason=reason).id)

    @staticmethod
    def _source(message: Message) -> MemorySource:
        if message.role == "user":
            return "user"
        return "tool" if message.role == "tool" else "agent"

    def _duplicate(self, scope: Scope, finding: Finding, status: MemoryStatus) -> LongTermMemory | None:
        """An active memory that says the same; for what would be pending, a pending one as well."""
        searched: tuple[MemoryStatus, ...] = ("active",) if status == "active" else ("active", "pending")
        hits = self._store.search_text(finding.content, kinds=("long_term",), limit=10, scope=scope, status=searched)
        rows = (self._store.memory(hit.id) for hit in hits)
        threshold = self.settings.near_duplicate
        return next((row for row in rows if is_near_duplicate(row.content, finding.content, threshold)), None)

    def _rival(self, scope: Scope, finding: Finding) -> LongTermMemory | None:
        """The active memory that an explicit topic key would supersede."""
        if finding.topic_key is None:
            return None
        offset = 0
        while rows := self._store.memories(scope=scope, limit=PAGE, offset=offset):
            if found := next((row for row in rows if row.topic_key == finding.topic_key), None):
                return found
            offset += len(rows)
        return None

    def _by_hand(self, row: LongTermMemory) -> bool:
        events = self._store.journal(kind="long_term", item_id=row.id)
        return row.pinned or any(event.actor == "user" for event in events)

    def _lasts_until(self, branch: str, finding: Finding, *, stays: bool = False) -> str | None:
        """What the user asks to be remembered stays until they say otherwise; all else as long as its branch says."""
        return None if finding.explicit or stays else expiry(branch, self.settings.branches, self._clock.now())

    def _confirmed(self, row: LongTermMemory, finding: Finding, scope: Scope) -> dict[str, object]:
        """What changes. The words of a project stay in it: a memory that others see, too, keeps its own."""
        changes: dict[str, object] = {
            "confidence": min(1.0, row.confidence + CONFIRMED),
            "expires_at": self._lasts_until(row.branch, finding, stays=row.expires_at is None),
        }
        same_scope = Scope(row.user_id, row.project, row.agent_id, row.team_id) == scope
        if len(finding.content) > len(row.content) and same_scope:
            changes["content"] = finding.content
        return changes


def findings_of(user: Message) -> list[tuple[Message, Finding]]:
    """What the rules find in a message by the user: in what was typed, and what is asked for in the rest of it."""
    typed = find(typed_text(user))
    asked = [finding for finding in find_explicit(user.content) if finding not in typed]
    return [(user, finding) for finding in (*typed, *asked)]
