"""The Markdown that models write: CommonMark with tables and strikethrough, made so that no character is lost.

Differences from CommonMark, all in favour of showing what was written: HTML is text; `*` between two ASCII letters or
digits is text (`2*3*4`), while emphasis may touch CJK characters on either side (`**“重点”**后`); `\\(` and `\\[` keep
their backslash (they are how models write formulas); a line of dashes below a paragraph is a rule; reference
definitions stay visible.
"""

import re
from functools import cache
from typing import Any

from markdown_it import MarkdownIt, helpers
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace, normalizeReference
from markdown_it.rules_block import StateBlock, fence, heading, hr, lheading, table
from markdown_it.rules_inline.escape import escape as markdown_escape
from markdown_it.rules_inline.state_inline import Delimiter, StateInline
from markdown_it.token import Token

from memory.text import is_cjk
from orca_tui.render.lazy import flows
from orca_tui.render.pieces import GUARD, LONG

References = dict[str, dict[str, str]]
"""Reference label, normalised → `href` and `title`."""

_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)((?:[^\[\]\\\n]|\\.)+)\]:[ \t]*<?([^\s<>]+)>?"
    r"(?:[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)'|\(([^()\n]*)\)))?[ \t]*$",
    re.MULTILINE,
)
_FORMULA = "()[]"
LOOKED_AT = 8_000
"""Characters that the search for the ends of links may look at in one text; where it would look at more, there are
none. Brackets that are nested or never closed make it look at the same ones again and again."""
_FAILED = 100
"""About how many of them a search for an address looks at that finds none."""


LONG_LINE = 2_000
"""Characters of a line beyond which it is text: no row of a table, no heading, no rule, no fence. So what a line begins
is certain before it ends."""
LONG_RULE = 200
"""The same for a rule; the parser looks at all of one again for each sign of a list in it."""
MOST_COLUMNS = 60


class _TooManyBracketsError(Exception):
    """The search for links has looked at more than it may."""


class _Metered:
    """The searches of the parser, counted."""

    def __init__(self) -> None:
        self.left = 0
        self.parseLinkTitle = helpers.parseLinkTitle

    def _count(self, looked_at: int) -> None:
        self.left -= looked_at
        if self.left < 0:
            raise _TooManyBracketsError

    def parseLinkLabel(self, state: StateInline, start: int, disableNested: bool = False) -> int:  # noqa: N802, N803
        """The parser's own, counted."""
        end = helpers.parseLinkLabel(state, start, disableNested)
        self._count((end if end >= 0 else state.posMax) - start)
        return end

    def parseLinkDestination(self, string: str, pos: int, maximum: int) -> Any:  # noqa: N802
        """The parser's own, counted."""
        found = helpers.parseLinkDestination(string, pos, maximum)
        self._count(found.pos - pos if found.ok else _FAILED)
        return found


@cache
def parser(*, links: bool = True) -> MarkdownIt:
    """The parser; one for all. Its core yields block tokens only, inline text is parsed by `parse_inline`."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 40})
    markdown.enable(["table", "strikethrough"])
    markdown.disable(["reference", "html_block", "html_inline", "text_join"])
    markdown.core.ruler.disable("inline")
    block = markdown.block.ruler
    block.at("fence", _fence, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    block.at("hr", _rule, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    block.at("heading", _heading, {"alt": ["paragraph", "reference", "blockquote"]})
    block.at("lheading", _underlined)
    block.at("table", _table, {"alt": ["paragraph", "reference"]})
    block.before("paragraph", "no_more", _no_more, {"alt": ["paragraph", "blockquote"]})
    markdown.inline.ruler.at("emphasis", _emphasis)
    markdown.inline.ruler.at("escape", _escape)
    if not links:
        markdown.disable(["link", "image"])
    markdown.helpers = _Metered()  # type: ignore[assignment]
    return markdown


def parse_blocks(source: str) -> list[Token]:
    """Block tokens of a cleaned source; `inline` tokens have their text, not yet parsed, in `content`."""
    return parser().parse(source)


def parse_inline(text: str, references: References) -> list[Token]:
    """Inline tokens of a piece of text. In one with very many brackets no links are found."""
    try:
        return _inline_tokens(parser(), text, references)
    except _TooManyBracketsError:
        return _inline_tokens(parser(links=False), text, references)


def _inline_tokens(markdown: MarkdownIt, text: str, references: References) -> list[Token]:
    meter: Any = markdown.helpers
    meter.left = LOOKED_AT
    return markdown.inline.parse(text, markdown, {"references": references}, [])


def find_references(source: str) -> References:
    """The reference definitions of a whole text (footnotes are none); the first of a label counts."""
    found: References = {}
    if "]:" not in source:
        return found
    markdown = parser()
    for match in _DEFINITION.finditer(source):
        href = markdown.normalizeLink(match[2])
        if markdown.validateLink(href):
            found.setdefault(
                normalizeReference(match[1]), {"href": href, "title": match[3] or match[4] or match[5] or ""}
            )
    return found


def is_definition(text: str) -> bool:
    """Whether each line of a paragraph defines a reference."""
    return "]:" in text and all(_DEFINITION.match(line) for line in text.split("\n"))


def _length(state: StateBlock, line: int) -> int:
    return state.eMarks[line] - state.bMarks[line]


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return _length(state, start) <= LONG_LINE and fence(state, start, end, silent)


def _rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return _length(state, start) <= LONG_RULE and hr(state, start, end, silent)


def _heading(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A heading of the length of a long paragraph is one."""
    return _length(state, start) < LONG and heading(state, start, end, silent)


def _underlined(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The same for one that is told by the line below it, and for the rest of a paragraph whose beginning is gone."""
    count, parent = len(state.tokens), state.parentType
    if not lheading(state, start, end, silent):
        state.parentType = parent
        return False
    text = state.tokens[-2].content
    if len(text) < LONG and not text.startswith(GUARD):
        return True
    del state.tokens[count:]
    state.line = start
    return False


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table that could be drawn."""
    if start + 1 >= end or max(_length(state, start), _length(state, start + 1)) > LONG_LINE:
        return False
    if state.src.count("|", state.bMarks[start + 1], state.eMarks[start + 1]) > MOST_COLUMNS:
        return False
    return table(state, start, end, silent)


def _no_more(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """What ends a table (a very long line), and the paragraph of a quotation or a list (a line without its mark that
    does not go on in the one before)."""
    if not silent or state.parentType == "table":
        return silent and _length(state, start) > LONG_LINE
    if state.parentType == "paragraph" and state.sCount[start] >= state.blkIndent:
        return False
    return not flows(_text(state, start - 1), _text(state, start), whole=True)


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] : state.eMarks[line]]


def _emphasis(state: StateInline, silent: bool) -> bool:
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    can_open, can_close, length = _delimiters(state, marker)
    for _ in range(length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(Delimiter(ord(marker), length, len(state.tokens) - 1, -1, can_open, can_close))
    state.pos += length
    return True


def _delimiters(state: StateInline, marker: str) -> tuple[bool, bool, int]:
    """Whether the run of markers at the position may open and close emphasis, and how long it is."""
    start = end = state.pos
    while end < state.posMax and state.src[end] == marker:
        end += 1
    before = state.src[start - 1] if start else " "
    after = state.src[end] if end < state.posMax else " "
    if _is_ascii_word(before) and _is_ascii_word(after):
        return False, False, end - start
    open_edge, close_edge = _is_edge(before), _is_edge(after)
    blank_before, blank_after = isWhiteSpace(ord(before)), isWhiteSpace(ord(after))
    left = not blank_after and (not _is_punctuation(after) or open_edge)
    right = not blank_before and (not _is_punctuation(before) or close_edge)
    if marker == "*":
        return left, right, end - start
    return left and (not right or _is_punctuation(before)), right and (not left or _is_punctuation(after)), end - start


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_punctuation(character: str) -> bool:
    return isMdAsciiPunct(ord(character)) or isPunctChar(character)


def _is_edge(character: str) -> bool:
    """What a marker may touch outside of emphasis that begins or ends with punctuation."""
    return isWhiteSpace(ord(character)) or _is_punctuation(character) or is_cjk(character)


def _escape(state: StateInline, silent: bool) -> bool:
    following = state.src[state.pos + 1 : state.pos + 2]
    if state.src[state.pos] != "\\" or not following or following not in _FORMULA:
        return markdown_escape(state, silent)
    if not silent:
        token = state.push("text_special", "", 0)
        token.content = token.markup = "\\" + following
        token.info = "escape"
    state.pos += 2
    return True
