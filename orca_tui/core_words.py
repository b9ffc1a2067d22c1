"""What the core says, in the language of the screen: the core itself speaks English.

Its sentences are known by their form: `The server {host} sent nothing for {seconds} seconds.` A form's values are put
into the translation as they are; they stay foreign text, which the caller cleans. Matching takes time linear in the
length of the text, whatever a value holds. A sentence that is not known is shown in English.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from memory.errors import OrcaError
from orca_tui.i18n import language

RETOLD = frozenset(("error", "why", "detail"))
"""Values that may themselves be sentences of the core."""
MOST = 4000
"""Characters; a longer text is no sentence of the core."""
SENTENCES = 12
"""At most so many sentences in a text are looked at one by one."""
DEEPEST = 3
"""So many sentences within one another."""
_BETWEEN = re.compile(r"(?<=[.!?…:]) ")
_NAME = re.compile(r"\{(\w+)\}")
_LINE = re.compile(r" line (\d+)(: |$)")


class Form:
    """A sentence with gaps: the words around them, and their names."""

    def __init__(self, source: str, target: str) -> None:
        pieces = _NAME.split(source)
        self.words, self.names, self.target = pieces[::2], pieces[1::2], target
        self.known = sum(map(len, self.words))
        """Characters that are not a value."""

    def match(self, text: str) -> dict[str, str] | None:
        """The value of each name; `None` when the text has not this form."""
        first, last = self.words[0], self.words[-1]
        end = len(text) - len(last)
        if not self.names:
            return {} if text == first else None
        if len(first) > end or not text.startswith(first) or not text.endswith(last):
            return None
        values: dict[str, str] = {}
        start = len(first)
        for name, following in zip(self.names, [*self.words[1:-1], None], strict=True):
            at = end if following is None else text.find(following, start, end)
            if at < 0 or values.setdefault(name, text[start:at]) != text[start:at]:
                return None
            start = at + len(following or "")
        return values


def core_said(text: str) -> str:
    """`text` translated as far as it is made of sentences that the core says; the rest stays as it is."""
    if language() == "en" or not text or len(text) > MOST:
        return text
    return _said(text, DEEPEST)


def error_said(error: OrcaError, between: str = " ") -> str:
    """What happened and what to do next."""
    sentence, hint = core_said(str(error)), core_said(error.hint)
    if between == " " and sentence.endswith(("。", "：", "！", "？")):
        between = ""
    return f"{sentence}{between}{hint}" if hint else sentence


def row_said(text: str) -> str:
    """A row of the doctor's, part by part; a row that is one sentence as that."""
    parts = [core_said(part) for part in text.split("; ")]
    return core_said(text) if language() == "en" or len(parts) == 1 else "；".join(parts)


def _said(text: str, depth: int) -> str:
    whole = _one(text, depth)
    if whole is not None:
        return whole
    parts = _BETWEEN.split(text)
    if len(parts) == 1 or len(parts) > SENTENCES:
        return text
    return _joined(_pieces(parts, depth))


def _pieces(parts: list[str], depth: int) -> Iterator[str]:
    """The longest known run of parts from each place on, translated; a part that begins none stays."""
    start = 0
    while start < len(parts):
        for end in range(len(parts), start, -1):
            known = _one(" ".join(parts[start:end]), depth)
            if known is not None:
                break
        yield parts[start] if known is None else known
        start = start + 1 if known is None else end


def _joined(pieces: Iterator[str]) -> str:
    """Chinese sentences stand without a blank between them."""
    text = ""
    for piece in pieces:
        text += piece if not text or text.endswith(("。", "：", "！", "？")) else f" {piece}"
    return text


def _one(text: str, depth: int) -> str | None:
    """One sentence translated; `None` when it is not known. The form with the most words of its own decides."""
    if depth == 0:
        return None
    exact, forms = _forms(language())
    if text in exact:
        return exact[text]
    for form in forms:
        values = form.match(text)
        if values is not None:
            return form.target.format(**{name: _value(name, value, depth) for name, value in values.items()})
    return None


def _value(name: str, value: str, depth: int) -> str:
    if name == "said":  # what a server said behind a sentence, or the full stop
        return "。" if value == "." else f"：{value[2:]}" if value.startswith(": ") else value
    if name == "where":  # a file, mostly with a line, and a key of it
        return _LINE.sub(lambda found: f" 第 {found[1]} 行{'：' if found[2] else ''}", value, count=1)
    return _said(value, depth - 1) if name in RETOLD else value


@cache
def _forms(chosen: str) -> tuple[Mapping[str, str], tuple[Form, ...]]:
    """Sentences without a gap, and forms, those with the most words of their own first."""
    table: Mapping[str, str] = import_module(f"orca_tui.i18n_{chosen}.said").SAID
    forms = [Form(source, target) for source, target in table.items() if _NAME.search(source)]
    exact = {source: target for source, target in table.items() if not _NAME.search(source)}
    return exact, tuple(sorted(forms, key=lambda form: -form.known))
