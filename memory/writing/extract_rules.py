"""Extraction without a model: what a user says of themselves, what they decide, and what they ask to be remembered.

English and Chinese patterns over single clauses. What comes out are the user's own words, so it is grounded by
construction. `memory.maintenance` uses this where the model is tiny or fails, and for explicit requests always.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory.types import MemoryType
from memory.writing import extract_patterns as patterns
from memory.writing.secrets import holds_secret
from memory.writing.worth import is_small_talk, sentences, typed_part

LOOKED_AT = 20_000
"""Characters of a message that are looked through: nobody types more."""
MAX_CONTENT = 400
"""Characters; a longer clause is no statement worth keeping as one memory."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that could become a long-term memory."""

    content: str
    memory_type: MemoryType
    topic_key: str | None = None
    """Set only where a new value replaces the old one: name, home, reply language …"""
    importance: float = 0.5
    explicit: bool = False
    """The user asked for it to be remembered."""


def find(text: str) -> list[Finding]:
    """What a message by the user says that is worth keeping, in the order of the text."""
    text = typed_part(text[:LOOKED_AT])
    found = list(_explicit(text))
    asked = {finding.content for finding in found}
    if not patterns.TASK.search(text):
        for sentence in sentences(text):
            if patterns.HYPOTHESIS.search(sentence):
                continue
            told = [part for part in patterns.ASKS_WITHIN.split(sentence) if not patterns.REMEMBER.match(_bare(part))]
            clauses = (clause for part in told for clause in _clauses(part))
            found += (f for clause in clauses if (f := classify(clause)) and f.content not in asked)
    return [finding for finding in found if _is_worth(finding.content)]


def find_explicit(text: str) -> list[Finding]:
    """Only what the user asked for to be remembered (“remember that …”, “记住…”)."""
    return [finding for finding in _explicit(typed_part(text[:LOOKED_AT])) if _is_worth(finding.content)]


def classify(clause: str) -> Finding | None:
    """What a single statement is; `None` when no rule knows it, or it is a question."""
    clause = _bare(clause)
    if patterns.QUESTION.search(clause) or clause.endswith((":", "：")):
        return None
    plain = clause.replace("’", "'")
    rule = next((rule for rule in patterns.RULES if rule.pattern.match(plain)), None)
    if rule is None:
        return None
    return Finding(_trimmed(clause), rule.memory_type, _topic_key(rule, plain), rule.importance)


def _topic_key(rule: patterns.Rule, clause: str) -> str | None:
    if rule.memory_type == "constraint":
        if patterns.LANGUAGE.search(clause):
            return "reply_language"
        return "reply_style" if patterns.STYLE.search(clause) else None
    if rule.topic_key is None or "{noun}" not in rule.topic_key:
        return rule.topic_key
    match = patterns.NOUN.search(clause)
    if match is None:
        return None
    noun = patterns.NOUN_ZH.get(match["zh"] or "") or (match["en"] or "").casefold().replace(" ", "_")
    return rule.topic_key.replace("{noun}", noun)


def _explicit(text: str) -> Iterator[Finding]:
    before = ""
    for sentence in sentences(text):
        clauses = [part.strip() for part in patterns.ASKS_WITHIN.split(sentence) if part.strip()]
        for clause in clauses:
            bare = _bare(clause)
            if match := patterns.REMEMBER_IT.fullmatch(bare):
                yield from _asked_for(match["body"].strip() or before)
            elif match := patterns.REMEMBER.match(bare):
                yield from _asked_for(match["en"] or match["zh"])
            before = clause


def _asked_for(body: str) -> Iterator[Finding]:
    body = re.sub(r"^to (?=\w)", "", _trimmed(body.rstrip("?？")), flags=re.IGNORECASE)
    if not body:
        return
    known = classify(body)
    if known is None:
        is_order = re.match(r"(?:use|avoid|run|write|keep|check|ask)\b|不要|别|要|用|每次", body, re.IGNORECASE)
        known = Finding(body, "constraint" if is_order else "fact", importance=0.7)
    yield replace(known, importance=max(known.importance, 0.8), explicit=True)


def _clauses(sentence: str) -> Iterator[str]:
    for part in patterns.CLAUSES.split(sentence):
        pieces = patterns.ZH_NO_SUBJECT.split(part)
        has_subject = pieces[0].lstrip().startswith("我")
        yield pieces[0]
        yield from (f"我{piece}" if has_subject else piece for piece in pieces[1:])


def _bare(clause: str) -> str:
    """A clause without the words that only lead up to it."""
    clause = clause.strip()
    filler = patterns.FILLER.match(clause)
    return clause[filler.end() :] if filler else clause


def _trimmed(text: str) -> str:
    return text.strip(" \t\n,;，；。.!！")


def _is_worth(content: str) -> bool:
    return 3 < len(content) <= MAX_CONTENT and not holds_secret(content) and not is_small_talk(content)
