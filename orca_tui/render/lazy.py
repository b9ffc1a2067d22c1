"""Lines that go on in a paragraph of a quotation or a list without its mark. The parser and a long block that is laid
out line by line must agree on them, so both ask here."""

import re

SIGNS = re.compile(r"^(?:[\s>]|[*+-](?=\s|$)|\d{1,9}[.)](?=\s|$))*")
"""The marks of quotations and lists at the beginning of a line."""
_STARTS = re.compile(r" {0,3}(?:[>|]|#{1,6}(?:\s|$)|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|```|~~~|(?:[-_*=] *)+$)")
_MAY_START = frozenset("#-+*`~_=|>0123456789")
BEGINNING = 200
"""Characters of a line that are looked at to see whether another may go on in it."""
_TOLD = 24
"""Characters of a line that tell what it begins, if they are not marks alone."""


def flows(before: str, line: str, *, whole: bool) -> bool | None:
    """Whether a line goes on in the text of the line before it. `None`: that depends on what follows."""
    text = SIGNS.sub("", before[:BEGINNING], count=1)
    if not text or text.startswith(("```", "~~~", "#", "|")):
        return False
    start = line.lstrip(" \t")
    if whole or (len(line) > _TOLD and start.strip("-_*= ")):
        return bool(start) and not _STARTS.match(line)
    return None if not start or start[0] in _MAY_START else True
