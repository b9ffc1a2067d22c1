"""Big pastes, kept beside the editor: the text holds a short token for each, what is sent holds them whole."""

import re
from collections.abc import Iterator

from orca_tui.figures import size_words
from orca_tui.i18n import _

FOLD_BYTES = 64 * 1024
FOLD_LINES = 500
FOLD_LINE_LENGTH = 20_000
"""Characters in one line from which an editor gets slow: it wraps the whole line at every key."""
MAX_BYTES = 5 * 1024 * 1024
"""Largest paste that is taken at all."""


class Pastes:
    """The folded pastes of one draft."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """A token for `text` when it is big, else `text` itself."""
        if not is_big(text):
            return text
        for token, kept in self._texts.items():
            if kept == text:
                return token
        n, size = len(self._texts) + 1, size_words(len(text.encode("utf-8", "replace")))
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines == 1:
            words = _("paste {n}: one line, {size}", n=n, size=size)
        else:
            words = _("paste {n}: {lines} lines, {size}", n=n, lines=f"{lines:,}", size=size)
        token = f"⟦{words}⟧"
        self._texts[token] = text
        return token

    def expand(self, text: str) -> str:
        """`text` with every token replaced by what it stands for."""
        if not self._texts:
            return text
        pattern = "|".join(re.escape(token) for token in self._texts)
        return re.sub(pattern, lambda match: self._texts[match[0]], text)

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Where tokens stand in a line: start and end."""
        for token in self._texts:
            start = line.find(token)
            while start >= 0:
                yield start, start + len(token)
                start = line.find(token, start + len(token))

    def clear(self) -> None:
        """Forget all of them."""
        self._texts.clear()


def is_big(text: str) -> bool:
    """Whether a text is folded: by bytes, by lines, or by one overlong line."""
    if len(text) * 4 <= FOLD_LINE_LENGTH and text.count("\n") < FOLD_LINES:
        return False
    return (
        text.count("\n") >= FOLD_LINES
        or len(text.encode("utf-8", "replace")) > FOLD_BYTES
        or max(map(len, text.split("\n"))) > FOLD_LINE_LENGTH
    )
