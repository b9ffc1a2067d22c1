"""What the sidebar shows of memory: what the newest reply was given, or what the first one would be. Blocking reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.errors import NotFoundError
from memory.store.base import Store
from memory.types import (
    WITHOUT_MEMORY,
    ContextItem,
    ContextReport,
    Injection,
    Message,
    Role,
    Session,
    TierUse,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A report, and what is to be known to read it."""

    report: ContextReport
    of_reply: bool = False
    """Whether short-term and long-term tier hold what the newest reply was given; else what the next one would be."""
    is_earlier: bool = False
    """Whether that reply is one that was picked, and not the newest."""
    without_memory: bool = False
    """Whether that reply was asked for without memory."""
    summaries: int = 0
    """How many of this session there are."""
    all_above: bool = False
    """Whether the turns of all of them are in working memory, word for word."""
    origins: Mapping[int, str] = field(default_factory=dict)
    """Id of a message of another session → that session's title; foreign text."""


def picture(store: Store, report: ContextReport, session_id: str | None, reply: Message | None, live: bool) -> Picture:
    """`report` says what `reply` is given while its turn is `live`, else what the next reply would be given.

    Raises leaves of `StoreError`.
    """
    if reply is not None and not live:
        report = _with_given(store, report, store.injections(reply.id))
    working, *recalled = report.tiers
    summaries = store.short_term(session_id) if session_id is not None else []
    shown = {item.id for item in working.items}
    return Picture(
        report,
        of_reply=live or reply is not None,
        without_memory=reply is not None and bool(reply.metadata.get(WITHOUT_MEMORY)),
        summaries=len(summaries),
        all_above=all(summary.last_message_id in shown for summary in summaries),
        origins=_origins(store, session_id, [item for use in recalled for item in use.items]),
    )


def _with_given(store: Store, report: ContextReport, injections: Sequence[Injection]) -> ContextReport:
    working, short, long = report.tiers
    given = [item for injection in injections if (item := _item(store, injection)) is not None]
    now_short, now_long = _use(short, given), _use(long, given)
    tokens = report.prompt_tokens + now_short.used - short.used + now_long.used - long.used
    return replace(report, prompt_tokens=tokens, tiers=(working, now_short, now_long))


def _use(use: TierUse, given: Sequence[ContextItem]) -> TierUse:
    items = tuple(item for item in given if item.tier == use.tier)
    return TierUse(use.tier, sum(item.tokens for item in items), use.budget, items, 0)


def _item(store: Store, given: Injection) -> ContextItem | None:
    """As it is now; `None` when it is gone."""
    try:
        if given.kind == "long_term":
            memory = store.memory(given.item_id)
            return _as_item(given, memory.content, memory.updated_at, branch=memory.branch)
        if given.kind == "short_term":
            summary = store.short_term_memory(given.item_id)
            return _as_item(given, summary.content, summary.updated_at)
        message = store.message(given.item_id)
        return _as_item(given, message.content, message.timestamp, role=message.role)
    except NotFoundError:
        return None


def _as_item(
    given: Injection, text: str, when: str, *, role: Role | None = None, branch: str | None = None
) -> ContextItem:
    return ContextItem(given.tier, given.kind, given.item_id, text, given.tokens, when, role, branch, given.parts)


def _origins(store: Store, session_id: str | None, items: Sequence[ContextItem]) -> dict[int, str]:
    found: dict[int, str] = {}
    sessions: dict[str, Session] = {}
    for item in items:
        if item.kind != "message":
            continue
        try:
            origin = store.message(item.id).session_id
            if origin != session_id:
                sessions[origin] = sessions.get(origin) or store.session(origin)
                found[item.id] = sessions[origin].title
        except NotFoundError:
            pass
    return found
