"""Text as the index sees it: which terms it holds, and which of them a query looks for. Pure; no database here.

Both sides are cut the same way. Text is folded (NFKC, case, Latin accents), then:
- words of scripts that write blanks become one term each, English ones as their stem;
- words held together by `- . : @ _ ' + # &`, or that begin with a dot or end in `++` or `#`, give their parts and the
  whole: `foo-bar` → foo, bar, foo-bar; `C++` → c, c++; `.env` → env, .env;
- runs of Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese give single characters and pairs of neighbours.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

from memory.store.stems import stem
from memory.store.stopwords import CHINESE_CHARACTERS, ENGLISH, KOREAN_PARTICLES

MAX_TERM = 64
"""Characters; longer words are cut on both sides, and so still find each other."""
MAX_QUERY = 20_000
"""Characters of a query that are looked at."""
MAX_QUERY_TERMS = 256
"""Different terms of a query that are looked at."""

_UNSPACED = (
    "\u1100-\u11ff\u2e80-\u2fd5\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003fffd\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede\u1000-\u1049\u1780-\u17d3"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0963\u0981-\u0dd6\u0dd8-\u0df3"
    "\u0f71-\u0f84\u200c\u200d"
)
"""Vowel signs and accents, which are part of a word though they are no letters."""
_JOINTS = "-.:@_'+#&"

_RUN = re.compile(f"([{_UNSPACED}]+)")
_WORD = re.compile(rf"(?:(?<![\w.])\.)?[\w{_MARKS}]+(?:[-.:@'+#&][\w{_MARKS}]+)*(?:\+\+|#)?")
_JOINT = re.compile(f"[{_JOINTS}]+")
_LATIN_ACCENT = re.compile("[\u0300-\u036f]")
_ASCII_WORD = re.compile("[a-z]+")
_HIRAGANA = re.compile("[\u3041-\u309f]")


def index_text(text: str) -> str:
    """All terms of a text, in order, with blanks between: what goes into the full-text index."""
    found: list[str] = []
    for at, piece in enumerate(_RUN.split(_fold(text))):
        if at % 2:  # as `_characters`, for long texts without a call for each sign
            found.append(piece[0])
            found.extend(f"{before}{character} {character}" for before, character in pairwise(piece))
        else:
            found.extend(term for term, _ in _words(piece))
    return " ".join(found)


def terms(text: str) -> list[str]:
    """The different terms of a text that say something, in order; stop words are left out. May be empty."""
    return list(dict.fromkeys(term for term, is_stop in _terms(text) if not is_stop))


def query_terms(query: str) -> list[str]:
    """The terms to look for: `terms` of the query, or its stop words when it holds nothing else.

    Only the first `MAX_QUERY` characters and `MAX_QUERY_TERMS` terms count.
    """
    found = dict(_terms(query[:MAX_QUERY]))
    wanted = [term for term, is_stop in found.items() if not is_stop] or list(found)
    return wanted[:MAX_QUERY_TERMS]


def is_unspaced(text: str) -> bool:
    """Whether a text holds characters of a script that writes no blanks."""
    return _RUN.search(text) is not None


def terms_of_word(word: str) -> set[str]:
    """All terms that a word gives, also those that say nothing."""
    return {term for term, _ in _terms(word)}


def match_query(wanted: Iterable[str]) -> str:
    """An FTS5 expression for any of the terms. Each is quoted: nothing in a term is an operator."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)


def _terms(text: str) -> Iterator[tuple[str, bool]]:
    """Every term with whether it is a stop word."""
    for at, piece in enumerate(_RUN.split(_fold(text))):
        yield from _characters(piece) if at % 2 else _words(piece)


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    if not folded.isascii():
        folded = _LATIN_ACCENT.sub("", unicodedata.normalize("NFKD", folded))
        folded = unicodedata.normalize("NFKC", folded)
    return folded


def _words(piece: str) -> Iterator[tuple[str, bool]]:
    for match in _WORD.finditer(piece):
        whole = match[0]
        parts = [part for part in _JOINT.split(whole) if part]
        for part in parts:
            yield _normal(part), part in ENGLISH
        if parts and whole != parts[0]:
            yield whole[:MAX_TERM], all(part in ENGLISH for part in parts)


def _normal(word: str) -> str:
    return stem(word[:MAX_TERM]) if _ASCII_WORD.fullmatch(word) else word[:MAX_TERM]


def _characters(run: str) -> Iterator[tuple[str, bool]]:
    before = ""
    for character in run:
        if before:
            yield before + character, _says_nothing(before) and _says_nothing(character)
        yield character, _says_nothing(character) or _HIRAGANA.match(character) is not None
        before = character


def _says_nothing(character: str) -> bool:
    return character in CHINESE_CHARACTERS or character in KOREAN_PARTICLES
