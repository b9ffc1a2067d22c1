"""What the user does with memory by hand: add, edit, pin, archive, merge, review, erase. The user's word is final.

Each method is one act: one transaction, journalled with what was before and why, and taken back by one undo.
"""

from collections.abc import Sequence
from typing import Any

from memory.curation.curator_base import USER, checked, scope_of
from memory.curation.prune import Pruner
from memory.errors import OrcaError, SecretRefused
from memory.types import LongTermMemory, MemorySource, MemoryType, Role, Scope
from memory.writing.secrets import secret_kind

STEP = 0.2
"""What a promotion adds to a memory's importance, and a demotion takes."""
RATING_STEP = 0.1
"""What a rating adds to the confidence of what the reply was given, or takes."""
LEAST_CONFIDENCE = 0.05
EDITABLE = frozenset(("content", "memory_type", "branch", "topic_key", "importance", "confidence", "expires_at"))
"""Fields that `edit` takes."""
_SOURCES: dict[Role, MemorySource] = {"user": "user", "tool": "tool", "assistant": "agent", "system": "system"}


class Curator(Pruner):
    """Changes memory for the user. Synchronous; safe from any thread."""

    def add(
        self,
        content: str,
        memory_type: MemoryType = "fact",
        *,
        scope: Scope | None = None,
        topic_key: str | None = None,
        importance: float = 0.6,
        pinned: bool = False,
        reason: str = "added by hand",
    ) -> LongTermMemory:
        """Remember what the user says, at once and without review. Supersedes what has the same topic key."""
        new = self._new(content, memory_type, "user", scope, topic_key=topic_key, importance=importance, pinned=pinned)
        with self._act():
            return self._told(self._store.add_memory(new, actor=USER, reason=reason))

    def propose(
        self,
        content: str,
        memory_type: MemoryType = "fact",
        *,
        source: MemorySource = "tool",
        scope: Scope | None = None,
        topic_key: str | None = None,
        source_session: str | None = None,
        source_message_id: int | None = None,
        actor: str = "engine",
        reason: str = "",
    ) -> LongTermMemory:
        """Put what a tool, an agent, a file or an API wants remembered into the inbox. It goes nowhere until accepted.

        The same text waits there only once. Raises `SecretRefused` for what seems to hold a key or a password.
        """
        if kind := secret_kind(content):
            raise SecretRefused(f"That seems to hold a secret (a {kind}); it was not kept.", hint="Leave it out.")
        scope = scope or self.default_scope
        waiting = self.all(scope=scope, status=("pending",))
        same = next((row for row in waiting if row.content == content.strip()), None)
        if same is not None:
            return same
        new = self._new(
            content,
            memory_type,
            source,
            scope,
            topic_key=topic_key,
            status="pending",
            confidence=0.3,
            source_session=source_session,
            source_message_id=source_message_id,
        )
        with self._act():
            return self._told(self._store.add_memory(new, actor=actor, reason=reason))

    def edit(self, memory_id: int, *, reason: str = "edited by hand", **changes: Any) -> LongTermMemory:
        """Change fields of `EDITABLE`. What was before stays in the history."""
        if unknown := changes.keys() - EDITABLE:
            raise ValueError(f"cannot edit {', '.join(sorted(unknown))}")
        if "content" in changes:
            changes["content"] = checked(changes["content"])
        if "branch" in changes:
            self._check_branch(changes["branch"])
        return self._update(memory_id, changes, reason)

    def pin(self, memory_id: int) -> LongTermMemory:
        """Let it go into every prompt that has room, and never cool."""
        return self._update(memory_id, {"pinned": True}, "pinned")

    def unpin(self, memory_id: int) -> LongTermMemory:
        """Let it take its chance again."""
        return self._update(memory_id, {"pinned": False}, "unpinned")

    def archive(self, *memory_ids: int) -> list[LongTermMemory]:
        """Keep memories, but out of searches and prompts."""
        return self._set_status(memory_ids, "archived", "archived by hand")

    def trash(self, *memory_ids: int) -> list[LongTermMemory]:
        """Throw memories away; they can be restored."""
        return self._set_status(memory_ids, "trashed", "thrown away")

    def restore(self, memory_id: int) -> LongTermMemory:
        """Make a memory active again; one that was thrown away unread from the inbox goes back there.

        The active memory of the same topic, if there is one, is superseded by it. An expired one lives anew.
        """
        row = self._store.memory(memory_id)
        if row.status in ("active", "pending"):
            return row
        if row.status == "trashed" and self._was_pending(row):
            return self._update(memory_id, {"status": "pending"}, "back to the inbox")
        return self._activate(row, "restored")

    def accept(self, memory_id: int) -> LongTermMemory:
        """Take a memory out of the inbox: from now on it is recalled."""
        return self._activate(self._pending(memory_id), "accepted")

    def reject(self, memory_id: int) -> LongTermMemory:
        """Throw away what waits in the inbox."""
        return self._update(self._pending(memory_id).id, {"status": "trashed"}, "rejected")

    def inbox(self, *, limit: int = 100) -> list[LongTermMemory]:
        """What waits for review, newest first."""
        return self._store.memories(status=("pending",), limit=limit)

    def promote(self, memory_id: int, *, branch: str | None = None) -> LongTermMemory:
        """Hold a memory for more important, and move it to another branch when one is named."""
        return self._weigh(memory_id, STEP, branch, "promoted")

    def demote(self, memory_id: int, *, branch: str | None = None) -> LongTermMemory:
        """Hold a memory for less important, and move it to another branch when one is named."""
        return self._weigh(memory_id, -STEP, branch, "demoted")

    def keep_message(self, message_id: int, memory_type: MemoryType = "fact") -> LongTermMemory:
        """Make a long-term memory of a message."""
        message = self._store.message(message_id)
        session = self._store.session(message.session_id)
        new = self._new(
            message.content,
            memory_type,
            _SOURCES[message.role],
            session.scope,
            importance=0.6,
            source_session=session.id,
            source_message_id=message_id,
        )
        with self._act():
            return self._told(self._store.add_memory(new, actor=USER, reason="kept by hand"))

    def keep_summary(self, summary_id: int, memory_type: MemoryType = "fact") -> LongTermMemory:
        """Make a long-term memory of a summary."""
        summary = self._store.short_term_memory(summary_id)
        session = self._store.session(summary.session_id)
        new = self._new(
            summary.content,
            memory_type,
            "agent",
            session.scope,
            importance=0.6,
            source_session=session.id,
            source_message_id=summary.last_message_id,
        )
        with self._act():
            return self._told(self._store.add_memory(new, actor=USER, reason="kept by hand"))

    def drop_summary(self, summary_id: int) -> None:
        """Take a summary out of its session. Undo brings it back."""
        with self._act():
            self.ledger.remove_summary(summary_id, actor=USER, reason="removed by hand")
        self._changed([])

    def merge(self, memory_ids: Sequence[int], content: str | None = None) -> LongTermMemory:
        """Make one memory of several of the same scope; they stay, superseded and linked.

        `content` is by default the longest of theirs. Raises `OrcaError` when they cannot be one.
        """
        rows = [self._store.memory(one) for one in dict.fromkeys(memory_ids)]
        if len(rows) < 2:
            raise OrcaError("Merging takes two or more memories.")
        if len({scope_of(row) for row in rows}) > 1:
            raise OrcaError("Memories of different projects or users cannot be merged.")
        if any(row.status == "pending" for row in rows):
            raise OrcaError("What waits in the inbox cannot be merged.", hint="Accept it first.")
        best = max(rows, key=lambda row: (len(row.content), row.id))
        topics = {row.topic_key for row in rows}
        new = self._new(
            content or best.content,
            best.memory_type,
            "user" if content or all(row.source == "user" for row in rows) else best.source,
            scope_of(best),
            topic_key=topics.pop() if len(topics) == 1 else None,
            importance=max(row.importance for row in rows),
            confidence=max(row.confidence for row in rows),
            pinned=any(row.pinned for row in rows),
        )
        with self._act():
            merged = self._store.add_memory(new, actor=USER, reason="merged by hand")
            for row in rows:
                self._store.update_memory(
                    row.id, {"status": "superseded"}, actor=USER, reason=f"merged into {merged.id}"
                )
            changes = {
                "merged_from": tuple(sorted(row.id for row in rows)),
                "supersedes": max(row.id for row in rows),
                "version": max(row.version for row in rows) + 1,
            }
            return self._told(self._store.update_memory(merged.id, changes, actor=USER, reason="merged by hand"))

    def erase(self, *memory_ids: int, with_source: bool = False) -> list[str]:
        """Erase memories for good: nothing of their text is left in the database. This cannot be undone.

        `with_source` also blanks the messages that they were taken from, and summaries of these. Gives the files that
        are older copies of the database and may still hold the text.
        """
        rows = [self._store.memory(one) for one in dict.fromkeys(memory_ids)]
        sources = [row.source_message_id for row in rows if row.source_message_id] if with_source else []
        copies = self.ledger.erase([row.id for row in rows], message_ids=sources, actor=USER, reason="erased for good")
        self._changed([row.id for row in rows])
        return copies

    def rate(self, message_id: int, rating: int, note: str = "") -> list[LongTermMemory]:
        """Rate a reply 1 or -1; the confidence of the memories that it was given moves by a step. Gives these.

        Rating again replaces the rating: the same changes nothing, the other also takes the earlier step back.
        """
        if rating not in (-1, 1):
            raise ValueError("a rating is 1 or -1")
        ledger = self.ledger
        given = [i.item_id for i in ledger.injections(message_id) if i.kind == "long_term"]
        with self._act():
            delta = RATING_STEP * (rating - ledger.rating(message_id))
            if not delta:
                return []
            ledger.rate(message_id, rating, note=note, actor=USER)
            rated = []
            for row in self.existing(given):
                confidence = min(1.0, max(LEAST_CONFIDENCE, round(row.confidence + delta, 4)))
                reason = f"reply {message_id} was rated {rating:+d}"
                rated.append(self._store.update_memory(row.id, {"confidence": confidence}, actor=USER, reason=reason))
        self._changed([row.id for row in rated])
        return rated
