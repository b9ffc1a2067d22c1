"""Where an unfinished text may be cut, and how its end is shown until it is finished. Pure string work."""

import re

from rich.cells import cell_len

LONG = 600
"""Characters of a paragraph from which its beginning settles in pieces of about this length."""
GUARD = "。"
"""Stands for the settled part of a paragraph when the rest of it is parsed."""

_CUT = re.compile(r"\n| +|[。！？；，、]")
_LONE_MARK = re.compile(r"(?:^|\n)[ >]*(?:[-*+=_]{1,2}|`{1,2}|~{1,2}|#{1,6}|\||\d{1,9}[.)]?)\Z")
"""A line of which only a mark is there: a list, a rule, a fence or just text, nobody can tell."""
_CODE = re.compile(r"(?<!`)(`++)[^`]*+\1(?!`)")


def piece_end(text: str) -> int:
    """End of the first piece of a paragraph, 0 while it is not certain.

    A cut is made behind a blank or a CJK stop where no emphasis, code or link seems open; it depends on what stands
    before it alone, so it is the same however the text arrives.
    """
    if len(text) < LONG:
        return 0
    last = 0
    for match in _CUT.finditer(text, LONG, 2 * LONG):
        last = match.end()
        if last < len(text) and _is_even(text[:last]):
            return last
    if len(text) < 2 * LONG + 2:
        return 0
    return last or whole_end(text, 2 * LONG)


def _is_even(text: str) -> bool:
    if text.count("`") % 2 or text.count("**") % 2 or text.count("~~") % 2:
        return False
    return text.count("[") <= text.count("]") and text.count("(") <= text.count(")")


def whole_end(text: str, at: int) -> int:
    """`at`, moved forward behind what belongs to the same grapheme."""
    while 0 < at < len(text) and (text[at - 1] == "\u200d" or cell_len(text[at]) == 0):
        at += 1
    return at


def held_back(text: str) -> str:
    """The text without a last line that is a lone mark so far."""
    match = _LONE_MARK.search(text, max(0, len(text) - 40))
    return text if match is None else text[: match.start() + (match[0][:1] == "\n")]


def mended(text: str) -> str:
    """Text whose last line breaks off inside of code or strong emphasis, with the closing mark added."""
    line = text[text.rfind("\n") + 1 :]
    if line.lstrip(" >").startswith(("```", "~~~")):
        return text
    rest = _CODE.sub("", line)
    if "`" in rest:
        start = rest.index("`")
        run = len(rest) - start - len(rest[start:].lstrip("`"))
        return text + "`" * run if rest[start + run :].strip() else text
    if rest.count("**") % 2 and not rest.endswith("*") and not rest[rest.rindex("**") + 2 :][:1].isspace():
        return text + "**"
    return text
