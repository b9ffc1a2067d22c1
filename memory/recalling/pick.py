"""Choosing what recall brings: summaries of this session, memories, and messages of earlier conversations.

Blocking; `memory.manager` runs it in a thread. What comes out is in order of rank and not yet cut to the budget.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from memory.branches import searched_branches
from memory.config import MemorySettings
from memory.recalling.prompt import Entry, entry_line, is_sent, request_text
from memory.recalling.query_vector import QueryVector
from memory.recalling.ranking import relevant
from memory.recalling.recall import Filters, Found, Recall
from memory.store.base import Store
from memory.store.search import terms
from memory.tokens import TokenCounter
from memory.types import (
    ContextItem,
    ItemKind,
    LongTermMemory,
    Message,
    Scope,
    ScoreParts,
    Session,
    ShortTermMemory,
    Tier,
)
from memory.writing.secrets import masked
from memory.writing.trust import is_foreign
from memory.writing.worth import is_grounded, is_small_talk, sentences

QUERY_LIMIT = 1500
"""Characters of a message that are looked up; more of a long paste only blurs the query."""
MOST_USED = 2
"""Memories that go without a query vector."""
WITH_NEIGHBOURS = 5
"""Of so many of the first messages, the turns before and after go too, as far as the budget takes them."""
ENTRY_SHARE = 3
"""One recalled text takes at most this part of its tier's budget."""
PASSAGES = 2
"""Passages of earlier conversations for each of the `top_k` places: a turn says less than a memory, in fewer tokens."""
NEIGHBOUR_SHARE = 8
"""The same for a turn that goes because of the one beside it."""
MIN_ENTRY_TOKENS = 40
REPEATED = 0.75
"""Share of a memory's terms in its message from which it counts as the same words."""
MUCH_LONGER = 2
"""A message so many times as long as a memory made from it says more than the memory."""
STANDING_SHARE = 2
"""Standing instructions and pinned memories take at most this part of the places."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One candidate for the memory block."""

    item: ContextItem
    entry: Entry
    sources: frozenset[int]
    """Messages that say the same verbatim; when all of them are in the prompt, this need not go."""
    is_foreign: bool = False
    """It holds text that nobody typed here."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where a prompt is made: what was said in other forks of the session is not to come up in this one."""

    session: Session
    path: frozenset[int]
    """Ids of all messages of the chosen path."""

    def is_beside(self, message: Message) -> bool:
        """Whether a message belongs to another fork."""
        return message.session_id == self.session.id and message.id not in self.path


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of one prompt."""

    text: str
    vector: QueryVector | None
    small_talk: bool

    @classmethod
    def of(cls, text: str) -> "Asked":
        """A message as a query, without its vector."""
        return cls(text[:QUERY_LIMIT], None, is_small_talk(text))


class Picker:
    """Chooses candidates from the store. Stateless but for what it is given."""

    def __init__(self, store: Store, recall: Recall, counter: TokenCounter, settings: MemorySettings) -> None:
        self._store = store
        self._recall = recall
        self._counter = counter
        self.settings = settings
        """May be replaced."""

    def short_term(self, here: Here, asked: Asked | None, shown: Collection[int], budget: int) -> list[Pick]:
        """Summaries of this path whose turns are not all in `shown` (message ids): the best for the query first.

        Without a query vector the newest first. At most `short_term_top_k`.
        """
        session = here.session
        of_path = [row for row in self._store.short_term(session.id) if _sources(row) <= here.path]
        rows = [row for row in of_path if not _covered(row, shown)]
        if asked and asked.vector and rows:
            filters = Filters(session_id=session.id)
            ranked = self._recall.find(asked.text, asked.vector, kinds=("short_term",), filters=filters)
            place = {found.hit.id: found for found in ranked}
            known = [place[row.id] for row in rows if row.id in place]
            found = sorted(known, key=lambda f: -f.hit.parts.total)
            found += [self._unranked(row) for row in rows if row.id not in place]
        else:
            found = [self._unranked(row) for row in rows]
        return [self._pick(f, "short_term", budget // ENTRY_SHARE) for f in found[: self.settings.short_term_top_k]]

    def long_term(
        self, here: Here | None, scope: Scope, asked: Asked | None, shown: Collection[int], budget: int
    ) -> list[Pick]:
        """Memories and earlier messages that are about the query; those in `shown` (message ids) are left out."""
        branches = searched_branches(self.settings.branches)
        known = self._store.memories(scope=scope, branches=branches, limit=1000)
        found = self._relevant(here, scope, asked, branches) if asked and not asked.small_talk else []
        query = self._recall.query(asked.text if asked else "")
        top_k = self.settings.long_term_top_k
        most = max(1, top_k // STANDING_SHARE)
        have = {f.key for f in found}
        ranked = [
            *found,
            *(f for row in known if _is_standing(row) and (f := self._recall.rank(row, query)).key not in have),
        ]
        pinned = [f for f in ranked if isinstance(f.row, LongTermMemory) and f.row.pinned][:most]
        rules = [f for f in ranked if f.key not in have][: most - len(pinned)]
        chosen = list({f.key: f for f in (*pinned, *found)}.values())
        if asked is None or (asked.vector is None and not asked.small_talk):
            used = sorted(known, key=lambda row: (row.access_count, row.confidence, row.updated_at), reverse=True)
            have = {f.key for f in chosen}
            more = [f for row in used if (f := self._recall.rank(row, query)).key not in have]
            chosen += more[: max(0, MOST_USED - len(chosen))]
        chosen = _merged([f for f in chosen if not _is_shown(f.row, shown)])
        chosen, free = _places(chosen, top_k)
        chosen += [f for f in rules if f.key not in {c.key for c in chosen}][:free]
        picks = [self._pick(f, "long_term", budget // ENTRY_SHARE, asked) for f in chosen]
        around = self._around(chosen, shown, here)
        return picks + [self._pick(f, "long_term", budget // NEIGHBOUR_SHARE, asked) for f in around]

    def _relevant(self, here: Here | None, scope: Scope, asked: Asked, branches: tuple[str, ...]) -> list[Found]:
        filters = Filters(exclude_session=here.session.id if here else None, scope=scope, branches=branches)
        found = self._recall.find(asked.text, asked.vector, kinds=("message", "long_term"), filters=filters)
        if here:
            own = Filters(session_id=here.session.id)
            own_found = self._recall.find(asked.text, asked.vector, kinds=("message",), filters=own)
            found += [f for f in own_found if f.hit.id in here.path]
        same = _folded(asked.text)
        dropped = self._dropped_sources(scope)
        known = asked.vector.background if asked.vector else None
        able = [f for f in found if _folded(f.hit.text) != same and _may_go(f.row) and f.key not in dropped]
        fits = relevant([f.hit.parts for f in able], asked.text, known)
        return sorted((f for f, fit in zip(able, fits, strict=True) if fit), key=lambda f: -f.hit.parts.total)

    def _dropped_sources(self, scope: Scope) -> set[tuple[str, int]]:
        """Messages that said what was later superseded or thrown away; to bring them would bring it back."""
        gone = self._store.memories(scope=scope, status=("superseded", "trashed"), limit=1000)
        return {("message", row.source_message_id) for row in gone if row.source_message_id}

    def _around(self, chosen: Sequence[Found], shown: Collection[int], here: Here | None) -> list[Found]:
        """The turns before and after the first messages that were chosen, without those that go already."""
        have = {f.hit.id for f in chosen if f.hit.kind == "message"} | set(shown)
        around: list[Found] = []
        hits = [(f, f.row) for f in chosen if isinstance(f.row, Message)]
        for found, message in hits[:WITH_NEIGHBOURS]:
            for other in (self._recall.before(message), self._recall.after(message)):
                if other and other.id not in have and _may_go(other) and not (here and here.is_beside(other)):
                    have.add(other.id)
                    hit = replace(
                        found.hit, id=other.id, text=other.content, timestamp=other.timestamp, role=other.role
                    )
                    parts = ScoreParts(context=found.hit.parts.total, total=found.hit.parts.total)
                    around.append(Found(replace(hit, parts=parts), other))
        return around

    def _unranked(self, row: ShortTermMemory) -> Found:
        return self._recall.rank(row, self._recall.query(""))

    def _pick(self, found: Found, tier: Tier, limit: int, asked: Asked | None = None) -> Pick:
        limit = max(MIN_ENTRY_TOKENS, limit)
        text = masked(request_text(found.row)) if isinstance(found.row, Message) else found.hit.text
        entry = Entry(_origin(found.row), tier, found.hit.timestamp[:10], self.excerpt(text, asked, limit))
        item = ContextItem(
            tier=tier,
            kind=found.hit.kind,
            id=found.hit.id,
            text=entry.text,
            tokens=self._counter.count(entry_line(entry) + "\n"),
            timestamp=found.hit.timestamp,
            role=found.hit.role,
            branch=found.hit.branch,
            parts=found.hit.parts,
        )
        foreign = isinstance(found.row, Message) and is_foreign(found.row)
        return Pick(item, entry, _sources(found.row), foreign)

    def excerpt(self, text: str, asked: Asked | None, limit: int) -> str:
        """At most `limit` tokens of a text, from the sentence on that has most of the query's terms."""
        if len(text) <= limit or self._counter.count(text) <= limit:
            return text
        wanted = set(terms(asked.text)) if asked else set()
        parts = sentences(text)
        best = max(range(len(parts)), key=lambda i: (len(wanted & set(terms(parts[i]))), -i), default=0)
        body = text[text.index(parts[best]) :] if best else text
        return ("… " if best else "") + self._counter.truncate(body, limit - 4) + " …"


def _origin(row: Message | ShortTermMemory | LongTermMemory) -> str:
    if isinstance(row, Message):
        return row.role
    return row.source if isinstance(row, LongTermMemory) else "summary"


def _sources(row: Message | ShortTermMemory | LongTermMemory) -> frozenset[int]:
    if isinstance(row, Message):
        return frozenset({row.id})
    if isinstance(row, LongTermMemory):
        return frozenset({row.source_message_id} if row.source_message_id else ())
    return frozenset(i for i in (row.first_message_id, row.last_message_id) if i)


def _covered(row: ShortTermMemory, shown: Collection[int]) -> bool:
    sources = _sources(row)
    return bool(sources) and all(source in shown for source in sources)


def _is_shown(row: Message | ShortTermMemory | LongTermMemory, shown: Collection[int]) -> bool:
    return any(source in shown for source in _sources(row))


def _is_standing(row: Message | ShortTermMemory | LongTermMemory) -> bool:
    """Pinned memories and standing instructions apply whatever the question is."""
    return isinstance(row, LongTermMemory) and (row.pinned or row.memory_type == "constraint")


def _may_go(row: Message | ShortTermMemory | LongTermMemory) -> bool:
    return not isinstance(row, Message) or (is_sent(row) and not is_small_talk(row.content))


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def _places(found: Sequence[Found], top_k: int) -> tuple[list[Found], int]:
    """The first `top_k` memories and, for each of these places, `PASSAGES` passages; with how many are left over.

    A message beside another belongs to the same passage and shares its place.
    """
    chosen: list[Found] = []
    ids: set[int] = set()
    parents: set[int] = set()
    memories = passages = 0
    for one in found:
        if isinstance(one.row, Message):
            joins = one.row.id in parents or one.row.parent_id in ids
            if not joins and passages == PASSAGES * top_k:
                continue
            passages += not joins
            ids.add(one.row.id)
            parents.add(one.row.parent_id or 0)
        elif memories == top_k:
            continue
        else:
            memories += 1
        chosen.append(one)
    return chosen, top_k - memories


def _merged(found: Sequence[Found]) -> list[Found]:
    """By source: of a message and a memory that repeats its words one goes; of equal texts the first stays.

    The message goes when it hardly says more, else the memory does. One that was reworded says something of its own.
    """
    messages = {f.hit.id: f for f in found if f.hit.kind == "message"}
    dropped: set[tuple[ItemKind, int]] = set()
    for one in found:
        source = messages.get(one.row.source_message_id or 0) if isinstance(one.row, LongTermMemory) else None
        if source and is_grounded(one.hit.text, source.hit.text, share=REPEATED):
            longer = len(source.hit.text) > MUCH_LONGER * len(one.hit.text)
            dropped.add(one.key if longer and not _is_standing(one.row) else source.key)
    kept = {_folded(f.hit.text): f for f in reversed(found) if f.key not in dropped}
    return [f for f in found if kept.get(_folded(f.hit.text)) is f]
