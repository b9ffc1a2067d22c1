"""The gist of a turn without a model: the first sentence of the question and the key sentence of the answer."""

import math
import re
from collections.abc import Callable

from memory.store.search import terms
from memory.text import language_of
from memory.writing.worth import sentences, typed_part

MAX_WORDS = 30
"""Longest summary in words, outside Chinese."""
MAX_CHARACTERS = 50
"""Longest summary in characters, in Chinese."""
_LOOKED_AT = 60_000
"""Characters of an answer in which key sentences are looked for."""
_TRIED = 60
"""Sentences that are tried for a longer summary, the weightiest first."""

_MARKDOWN = re.compile(r"^\s*(?:#+|[-*+]|\d+[.)]|>)\s+|[*_`~]{1,3}|!?\[([^\]]*)\]\([^)]*\)", re.MULTILINE)
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)


def gist(question: str, answer: str) -> str:
    """A summary of a turn in its own words, at most 30 words, or 50 characters in Chinese; never empty for a turn."""
    asked = first_sentence(typed_part(question) or question)
    told = _key_sentence(answer, question)
    if language_of(question) == "zh":
        head = _clip(asked, 20)
        return f"{head}：{_clip(told, MAX_CHARACTERS - len(head) - 1)}" if told else head
    head = _clip_words(asked, 12)
    return f"{head} — {_clip_words(told, MAX_WORDS - len(head.split()) - 1)}" if told else head


def fits(summary: str) -> bool:
    """Whether a summary is short enough."""
    if language_of(summary) == "zh":
        return len(summary) <= MAX_CHARACTERS
    return len(summary.split()) <= MAX_WORDS


def tidy(text: str) -> str:
    """A model's answer as one line: without Markdown, quotation marks around it, and further lines."""
    lines = [line.strip() for line in _plain(text).splitlines() if line.strip()]
    return lines[0].strip(" \"'“”「」") if lines else ""


def _plain(text: str) -> str:
    return _MARKDOWN.sub(lambda match: match[1] or "", _FENCE.sub(" ", text))


def first_sentence(text: str) -> str:
    """The first sentence that says something, without Markdown."""
    found = sentences(_plain(text))
    return next((sentence for sentence in found if len(terms(sentence)) > 1), found[0] if found else text.strip())


def _key_sentence(answer: str, question: str) -> str:
    """The sentence of the answer that shares most with the question; of equals the first."""
    found = [sentence for sentence in sentences(_plain(answer)) if terms(sentence)]
    wanted = set(terms(question))
    return max(found, key=lambda sentence: len(wanted & set(terms(sentence))), default="")


def _clip(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: max(0, limit - 1)].rstrip("，,、 ") + "…"


def _clip_words(text: str, limit: int) -> str:
    words = text.split()
    if len(words) <= limit:
        return _clip(" ".join(words), 12 * limit)
    return _clip(" ".join(words[:limit]).rstrip(",;:"), 12 * limit - 1) + "…"


def key_sentences(question: str, answer: str, fitting: Callable[[str], bool]) -> str:
    """The sentences of an answer that say most about the question, in their order, as many as are `fitting`; the first
    one and those at the end count for more. Empty when not even one fits.
    """
    found = [sentence for sentence in sentences(_plain(answer[:_LOOKED_AT])) if terms(sentence)]
    wanted = set(terms(question))

    def weight(at: int) -> float:
        said = set(terms(found[at]))
        place = 0.5 if at == 0 or at >= len(found) - 2 else 0.0
        return len(said & wanted) / math.sqrt(1 + len(said)) + place

    chosen: list[int] = []
    for at in sorted(range(len(found)), key=weight, reverse=True)[:_TRIED]:
        if fitting(_joined_by_space([found[place] for place in sorted((*chosen, at))])):
            chosen.append(at)
    return _joined_by_space([found[place] for place in sorted(chosen)])


def _joined_by_space(parts: list[str]) -> str:
    return " ".join(" ".join(part.split()) for part in parts)
