"""The gist of a turn without a model: the first sentence of the question and the key sentence of the answer."""

import re

from memory.store.search import terms
from memory.text import language_of
from memory.writing.worth import sentences, typed_part

MAX_WORDS = 30
"""Longest summary in words, outside Chinese."""
MAX_CHARACTERS = 50
"""Longest summary in characters, in Chinese."""

_MARKDOWN = re.compile(r"^\s*(?:#+|[-*+]|\d+[.)]|>)\s+|[*_`~]{1,3}|!?\[([^\]]*)\]\([^)]*\)", re.MULTILINE)
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)


def gist(question: str, answer: str) -> str:
    """A summary of a turn in its own words, at most 30 words, or 50 characters in Chinese; never empty for a turn."""
    asked = _first(typed_part(question) or question)
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


def _first(text: str) -> str:
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
