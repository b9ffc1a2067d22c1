"""Bringing in other programs' exports: nothing twice, every record with an outcome, the source untouched.

Conversations become sessions; what the other program remembered waits in the inbox. Imported words are not looked
through for new memories: nobody typed them here. Each batch is one transaction, so a run can be cancelled at any time
and repeated.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from memory.branches import expiry, route_branch
from memory.clock import Clock
from memory.config import MemorySettings
from memory.errors import ImportRefused, NotFoundError, StoreError
from memory.migration.detecting import opened
from memory.migration.foreign import Fact, Said, Skipped, Source, Talk
from memory.migration.old_sessions import IMPORT, SEEN, digest_of
from memory.store.base import Store
from memory.store.imports import ImportedMessage, ImportMark, ImportPart
from memory.store.sqlite import SQLiteStore
from memory.text import label, repair
from memory.types import LongTermMemory, Scope, Session

BATCH = 500
MAX_FACT = 20_000
"""Characters of a fact."""
_TOLD = 200
"""Skipped records that a report names one by one."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far a run is."""

    talks: int
    messages: int


@dataclass(slots=True)
class ImportReport:
    """What became of an export."""

    source: Source
    path: Path
    dry_run: bool
    talks: int = 0
    """Conversations with a message that was added."""
    talks_known: int = 0
    """Conversations of which everything was here already."""
    messages: int = 0
    """Messages that were added."""
    known: int = 0
    """Messages that had come in before."""
    repaired: int = 0
    """Of the added: those that were not as they should be."""
    facts: int = 0
    """Facts that wait in the inbox now."""
    facts_known: int = 0
    skipped: int = 0
    """Records that were not taken."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why something was skipped or repaired, and how often."""
    named: list[Skipped] = field(default_factory=list)
    """The first of what was skipped outside conversations; foreign text."""
    cancelled: bool = False
    """The run was ended early; what came in stays, and the next run goes on."""


class Importing:
    """Brings exports into a store. Blocking: for a thread."""

    def __init__(
        self,
        store: Store | ImportPart,
        clock: Clock,
        settings: MemorySettings,
        *,
        scope: Scope | None = None,
        progress: Callable[[ImportProgress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Raises `StoreError` when the store takes no imports (plain files)."""
        if not isinstance(store, SQLiteStore):
            raise StoreError(
                "Without the database nothing can be imported.", hint="`orca-tui doctor` tells what is wrong with it."
            )
        self._store = store
        self._clock = clock
        self._settings = settings
        self._scope = scope or Scope(settings.user_id, settings.project or None)
        self._progress = progress
        self._cancelled = cancelled

    def run(self, path: Path, *, source: Source | None = None, dry_run: bool = False) -> ImportReport:
        """Bring in one export. Raises `ImportRefused` when it cannot be read, and leaves of `StoreError`.

        `dry_run`: only tell what would come in.
        """
        with opened(path, source) as reader:
            report = ImportReport(reader.source, path, dry_run)
            for record in reader.records():
                if self._cancelled():
                    report.cancelled = True
                    break
                match record:
                    case Talk():
                        self._talk(record, report)
                    case Fact():
                        self._fact(record, report)
                    case Skipped():
                        _skip(report, record, named=True)
                self._progress(ImportProgress(report.talks + report.talks_known, report.messages + report.known))
        if not report.cancelled and not (report.talks or report.talks_known or report.facts or report.facts_known):
            raise _nothing(report)
        return report

    def _talk(self, talk: Talk, report: ImportReport) -> None:
        for skipped in talk.skipped:
            _skip(report, skipped)
        if not talk.messages:
            _skip(report, Skipped(talk.title or talk.key, "a conversation without a message"), named=True)
            return
        session = self._session(talk, report.source)
        if session is None:
            report.talks_known += 1
            report.known += len(talk.messages)
            return
        names = {said.key: digest_of(report.source, talk.key, said.key) for said in talk.messages}
        added = set[str]()
        messages = iter(_timed(talk, session.created_at))
        while batch := list(islice(messages, BATCH)):
            added |= self._batch(batch, session, names, report)
            if self._cancelled():
                report.cancelled = True
                break
        if added and not report.dry_run and not report.cancelled:
            tip = talk.tip if talk.tip in names else talk.messages[-1].key
            self._store.import_tip(session.id, names[tip], names.values())
        report.talks += bool(added)
        report.talks_known += not added

    def _batch(self, batch: list[Said], session: Session, names: dict[str, str], report: ImportReport) -> set[str]:
        messages = {names[said.key]: self._message(said, session, names, report.source) for said in batch}
        if report.dry_run:
            added = set(messages) - self._store.imported(messages)
        else:
            mark = ImportMark(digest_of(report.source, session.id), str(report.path.absolute()), 0, len(names), True)
            added = self._store.import_messages(mark, {session.id: session}, list(messages.values()))
        report.messages += len(added)
        report.known += len(messages) - len(added)
        for said in batch:
            if said.repairs and names[said.key] in added:
                report.repaired += 1
                report.reasons.update(said.repairs)
        return added

    def _session(self, talk: Talk, source: Source) -> Session | None:
        """The session that a conversation becomes; `None` when it is one that was made here, and still is here."""
        session_id = digest_of(IMPORT, source, talk.key)[:32]
        if source == "orca":
            first = digest_of(source, talk.key, talk.messages[0].key)
            try:
                self._store.session(talk.key)
            except NotFoundError:
                pass
            else:
                if not self._store.imported([first]):
                    return None
            if _is_id(talk.key):
                session_id = talk.key
        times = [said.time for said in talk.messages if said.time]
        begun = talk.time or min(times, default=self._clock.now())
        return Session(
            id=session_id,
            title=label(talk.title, 200) or label(talk.messages[0].content[:400], 60),
            user_id=self._scope.user_id,
            project=self._scope.project,
            agent_id=None,
            model=talk.model,
            tip_message_id=None,
            state="archived" if talk.archived else "open",
            incognito=False,
            created_at=begun,
            updated_at=max([begun, *times]),
            title_by="user",
        )

    def _message(self, said: Said, session: Session, names: dict[str, str], source: Source) -> ImportedMessage:
        content, replaced = repair(said.content)
        if replaced:
            said.repairs = (*said.repairs, "characters that are none were replaced")
        facts: dict[str, object] = {"source": source, "id": said.key}
        if said.repairs:
            facts["repaired"] = list(said.repairs)
        return ImportedMessage(
            digest=names[said.key],
            session_id=session.id,
            role=said.role,
            content=content,
            timestamp=said.time or session.created_at,
            metadata={**said.metadata, IMPORT: facts, **(SEEN if said.role == "user" else {})},
            parent=names.get(said.parent) if said.parent is not None else None,
            state=said.state,
            msg_type=said.msg_type,
        )

    def _fact(self, fact: Fact, report: ImportReport) -> None:
        content = repair(fact.content)[0].strip()
        if not content or len(content) > MAX_FACT:
            reason = f"a fact longer than {MAX_FACT} characters" if content else "an empty fact"
            _skip(report, Skipped(content[:80], reason), named=True)
            return
        digest = digest_of(IMPORT, "fact", self._scope.user_id, content)
        if report.dry_run:
            added = not self._store.imported([digest])
        else:
            row = self._pending(content, fact)
            added = self._store.import_memory(
                digest, row, supersedes=None, merged_from=(), source=None, reason=f"from {fact.origin}"
            )
        report.facts += added
        report.facts_known += not added

    def _pending(self, content: str, fact: Fact) -> LongTermMemory:
        now, branches = self._clock.now(), self._settings.branches
        branch = route_branch("knowledge", fact.memory_type, content, branches)
        return LongTermMemory(
            id=0,
            content=content,
            memory_type=fact.memory_type,
            source_session=None,
            confidence=0.3,
            access_count=0,
            last_accessed=None,
            expires_at=expiry(branch, branches, now),
            created_at=min(fact.time or now, now),
            updated_at=now,
            user_id=self._scope.user_id,
            project=self._scope.project,
            agent_id=None,
            team_id=None,
            branch=branch,
            source="knowledge",
            importance=0.5,
            status="pending",
            pinned=False,
            topic_key=None,
            version=1,
            supersedes=None,
            merged_from=(),
            source_message_id=None,
        )


def _timed(talk: Talk, begun: str) -> Iterator[Said]:
    """Messages with times: one without gets that of the message before it."""
    last = begun
    for said in talk.messages:
        if said.time is None:
            said.time = last
            said.repairs = (*said.repairs, "the time is estimated")
        last = said.time
        yield said


def _skip(report: ImportReport, skipped: Skipped, *, named: bool = False) -> None:
    report.skipped += 1
    report.reasons[skipped.reason] += 1
    if named and len(report.named) < _TOLD:
        report.named.append(skipped)


def _is_id(text: str) -> bool:
    return len(text) == 32 and all(character in "0123456789abcdef" for character in text)


def _nothing(report: ImportReport) -> ImportRefused:
    why = "; ".join(f"{reason} ({count}×)" for reason, count in report.reasons.most_common(3))
    return ImportRefused(
        f"Nothing in {label(report.path.name, 80)} could be imported{f': {why}' if why else ''}.",
        hint="The file was not changed.",
    )
