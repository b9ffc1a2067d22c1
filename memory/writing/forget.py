"""“Forget what I said about …”: what the user asks to be forgotten leaves memory and prompts. Undo brings it back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.store.base import Store
from memory.store.ledger import Ledger
from memory.store.search import terms
from memory.types import LongTermMemory, Message, Scope, Session
from memory.writing.worth import sentences

USER = "user"
MOST = 20
"""Memories and messages that one request takes at most; when more match, it is too vague and nothing is done."""

_REQUEST = re.compile(
    r"(?:please |ok(?:ay)?,? |now |can you |could you )*(?:forget|erase|delete|remove) "
    r"(?:(?:everything|all|anything|what)(?: that)? (?:i|i've|i have|you) (?:ever )?"
    r"(?:said|told you|mentioned|wrote|know|remember|stored)(?: to you)? (?:about|on|regarding)"
    r"|(?:everything|all|what)(?: you (?:know|remember|stored))? about|that(?= i\b| i'm| my\b| we\b| our\b)"
    r"|(?:the|your|my) memor(?:y|ies) (?:about|of|on)) (?P<en>\S[^\n]*)"
    r"|(?:请|帮我|麻烦)*你?(?:忘掉|忘记|忘了|(?:删掉|删除)(?=.*(?:说过|关于|记忆)))(?P<zh>[^\n]+)"
    r"|(?:请|帮我|麻烦)*你?(?:把|将)(?P<zh2>[^\n]+?)(?:忘掉|忘记|忘了)(?:吧|了)?",
    re.IGNORECASE,
)
_ZH_LEAD = re.compile(
    r"^(?:我?(?:之前|刚才|以前|上次)?(?:跟你|对你|和你)?(?:说过?的?|告诉(?:过)?你的?|提到?过?的?))?(?:所有|一切)?(?:关于|有关)?(?:我的?)?"
)
_ZH_TAIL = re.compile(r"(?:的)?(?:事情?|记忆|内容|话|一切|那些?|所有)?(?:吧|了|都)?$")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a request took."""

    subject: str
    memories: tuple[LongTermMemory, ...]
    messages: tuple[Message, ...]


def asked_to_forget(text: str) -> str:
    """What the user wants forgotten; empty when the text is no such request."""
    for sentence in sentences(text):
        bare = sentence.strip(" \t.。!！,，")
        if match := _REQUEST.fullmatch(bare):
            if match["en"]:
                return match["en"].strip(" .。!！,，\"'“”")
            subject = _ZH_LEAD.sub("", match["zh"] or match["zh2"], count=1)
            return _ZH_TAIL.sub("", subject).strip(" ，。！“”「」")
    return ""


def forget(store: Store, session: Session, request: Message, reply: Message) -> Forgotten | None:
    """Do what the user's message asks: memories go to the trash, messages stay in the conversation but reach no prompt
    and no search. One act. `None` when it asks for nothing, nothing matches, or far too much does.
    """
    subject = asked_to_forget(request.content)
    wanted = frozenset(terms(subject))
    if not wanted or not isinstance(store, Ledger):
        return None
    memories = [row for row in _memories(store, subject, session.scope) if wanted <= set(terms(row.content))]
    sources = {row.source_message_id for row in memories}
    messages = [
        message
        for message in _messages(store, subject, session)
        if message.id in (request.id, reply.id) or message.id in sources or wanted <= set(terms(message.content))
    ]
    if not memories and all(message.id >= request.id for message in messages):
        return None
    if len(memories) > MOST or len(messages) > 2 * MOST:
        store.count_dropped("forget", "too much matches")
        return None
    reason = f"asked to in message {request.id}"
    with store.act():
        for row in memories:
            store.update_memory(row.id, {"status": "trashed"}, actor=USER, reason=reason)
        for message in messages:
            store.mark_forgotten(message.id, True, actor=USER, reason=reason)
        for hit in store.search_text(subject, kinds=("short_term",), limit=5 * MOST, scope=session.scope):
            if wanted <= set(terms(store.short_term_memory(hit.id).content)):
                store.remove_summary(hit.id, actor=USER, reason=reason)
    return Forgotten(subject, tuple(memories), tuple(messages))


def _memories(store: Ledger, subject: str, scope: Scope) -> Iterator[LongTermMemory]:
    hits = store.search_text(
        subject, kinds=("long_term",), limit=3 * MOST, scope=scope, status=("active", "expired", "pending")
    )
    for hit in hits:
        yield store.memory(hit.id)


def _messages(store: Ledger, subject: str, session: Session) -> list[Message]:
    """Candidates: of this conversation all, of the others what the text search finds."""
    found = {message.id: message for message in store.path(session.id)}
    for hit in store.search_text(subject, kinds=("message",), limit=5 * MOST, scope=session.scope):
        if hit.id not in found:
            found[hit.id] = store.message(hit.id)
    return list(found.values())
