"""The gate for foreign text: what a model, tool, file, title, setting or memory says, made safe to show.

Text is stored as it came (`repair` only) and cleaned when it is shown. `clean` replaces what a terminal would obey or
an eye would miss by visible stand-ins; `label` makes one line of it; `strip_unsafe` is the last guard before the
terminal and only takes away. All are pure and idempotent, and none raises on any `str`.
"""

import re
import unicodedata
from functools import cache
from typing import Literal

MAX_MARKS = 8
"""Combining marks kept on one base character; more of them paint over the neighbouring lines."""

_PLAIN = (
    "\t\n\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0590\u10a0-\u135c\u1e00-\u200a\u2010-\u2027\u202f-\u205f"
    "\u2070-\u20cf\u2100-\u2cee\u2e00-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ud7ff\ue000-\ufb1d\ufb1f-\ufdcf\ufdf0-\ufdff"
    "\ufe10-\ufe1f\ufe30-\ufefe\uff00-\uffef\ufffc\ufffd\U0001f000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd"
)
"""Characters that stay whatever stands around them: most of what is ever written."""
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_INVISIBLE = "\xad\u061c\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"
_INVISIBLE += "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_UNASSIGNED = "\u2065\ufff0-\ufff8\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
"""Reserved by Unicode for what is not drawn."""
_NO_TEXT = "\ud800-\udfff\ufdd0-\ufdef"
_NO_TEXT += "".join(chr(plane | 0xFFFE) + chr(plane | 0xFFFF) for plane in range(0, 0x110000, 0x10000))
"""Surrogates and noncharacters."""
_TAG = "\U000e0000-\U000e007f"
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINER = "\u200c\u200d"

_FORBIDDEN = re.compile(f"[{_CONTROL}{_BIDI}{_INVISIBLE}{_UNASSIGNED}{_NO_TEXT}\u2028\u2029]")
_DROPPED = re.compile(f"[{_INVISIBLE}]")
_COLOUR = re.compile("(?:\x1b\\[|\x9b)[0-9;:]*m")
_TAGS = re.compile(f"[{_TAG}]+")
_SELECTORS = re.compile(f"[{_SELECTOR}]+")
_JOINERS = re.compile(f"[{_JOINER}]+")
_CUT_EDGE = re.compile(f"[{_SELECTOR}{_JOINER}{_TAG}]+$")
_BLANKS = re.compile("[\\s\u115f\u1160\u2800\u3164\uffa0]+")
"""Spaces, and letters that look like one."""
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")

_FLAGS = {"".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls")}
"""The tag sequences that are drawn as a flag behind U+1F3F4; any other hides text."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_CJK = (
    f"{_HAN}\u1100-\u11ff\u2e80-\u2fd5\u3005-\u3007\u3031-\u3035\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u3163\u3165-\u318e\u31a0-\u31bf\u31f0-\u31ff\ua960-\ua97f\uac00-\ud7ff\uff66-\uff9f\uffa1-\uffdc\U0001b000-\U0001b16f"
)


def clean(text: str) -> str:
    """Body text as it may be shown.

    Controls become `␛ ␇ ␍ …`, C1 `<9B>`, bidi controls `<U+202E>`, tag characters `<TAG×7>`, stacked variation
    selectors `<VS×4>`; colour sequences and characters without a shape go; no base keeps more than `MAX_MARKS` marks.
    Newlines (CRLF folded), tabs, and ZWJ or ZWNJ where a script or an emoji needs them stay.
    """
    if (text.isascii() and text.isprintable()) or _uncommon().search(text) is None:
        return text
    text = _COLOUR.sub("", _join_pairs(text).replace("\r\n", "\n"))
    unusual = _unusual(text)
    # The order matters: what goes silently must not bring together what was judged apart.
    if table := {ord(character): _stand_in(character) for character in _FORBIDDEN.findall(unusual)}:
        text = text.translate(table)
    if _TAGS.search(unusual):
        text = _TAGS.sub(_tags, text)
    if _SELECTORS.search(unusual):
        text = _SELECTORS.sub(_selectors, text)
    text = _stacked_marks().sub(_limit_marks, text)
    return _JOINERS.sub(_joiner, text) if _JOINERS.search(unusual) else text


def label(text: str, limit: int = 200) -> str:
    """One cleaned line of at most `limit` characters (1 or more): each run of blanks is one space, `…` marks a cut."""
    line = _BLANKS.sub(" ", clean(text)).strip()
    if len(line) <= limit:
        return line
    return _CUT_EDGE.sub("", line[: limit - 1]).rstrip() + "…"


def repair(text: str) -> tuple[str, int]:
    """Text that can be stored, and how many characters were lost: NUL and lone surrogates become U+FFFD.

    A surrogate pair that arrived as two characters is joined; that loses nothing and is not counted.
    """
    if _NOT_STORABLE.search(text) is None:
        return text, 0
    return _NOT_STORABLE.subn("\ufffd", _join_pairs(text))


def strip_unsafe(text: str) -> str:
    """The text without any character that may never reach a terminal. Newlines and tabs stay."""
    if text.isprintable() or _uncommon().search(text) is None:
        return text
    unusual = _unusual(text)
    if table := {ord(character): None for character in _FORBIDDEN.findall(unusual)}:
        text = text.translate(table)
    return _TAGS.sub(lambda match: match[0] if _is_flag(match) else "", text) if _TAGS.search(unusual) else text


def is_cjk(ch: str) -> bool:
    """Whether a character is Chinese, Japanese or Korean writing (punctuation is not)."""
    return _cjk().match(ch) is not None


def language_of(text: str) -> Literal["zh", "en"]:
    """The language to answer in: Chinese when there are at least as many Han characters as words in Latin letters."""
    sample = text[:4000]
    han, words = len(re.findall(f"[{_HAN}]", sample)), len(re.findall("[A-Za-z\xc0-\u024f]{2,}", sample))
    return "zh" if han and han >= words else "en"


@cache
def _cjk() -> re.Pattern[str]:
    """Compiled at the first use, as wide classes take milliseconds."""
    return re.compile(f"[{_CJK}]")


@cache
def _uncommon() -> re.Pattern[str]:
    """Any character outside `_PLAIN`; compiled at the first use, too."""
    return re.compile(f"[^{_PLAIN}]")


def _unusual(text: str) -> str:
    """Each unusual character of the text once."""
    return "".join(character for character in set(text) if _uncommon().match(character))


def _join_pairs(text: str) -> str:
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _stand_in(character: str) -> str:
    code = ord(character)
    if code in (0x2028, 0x2029):
        return "\n"
    if code < 0x20:
        return chr(0x2400 + code)
    if code < 0xA0:
        return "␡" if code == 0x7F else f"<{code:02X}>"
    if _DROPPED.match(character):
        return ""
    if code & 0xFFFE == 0xFFFE or 0xD800 <= code <= 0xFDEF:
        return "\ufffd"
    return f"<U+{code:04X}>"


def _is_flag(tags: re.Match[str]) -> bool:
    return tags[0] in _FLAGS and tags.string[tags.start() - 1 : tags.start()] == "\U0001f3f4"


def _tags(match: re.Match[str]) -> str:
    return match[0] if _is_flag(match) else f"<TAG×{len(match[0])}>"


def _selectors(match: re.Match[str]) -> str:
    """One selector on a character that takes one is normal writing; more of them, or one on nothing, hide bytes."""
    run, base = match[0], match.string[match.start() - 1 : match.start()]
    takes_one = base and unicodedata.category(base) not in ("Cc", "Cf", "Mn", "Me", "Zs")
    if len(run) == 1 and takes_one and (run <= "\ufe0f" or is_cjk(base)):
        return run
    return f"<VS×{len(run)}>"


def _joiner(match: re.Match[str]) -> str:
    """One joiner stays behind a letter or sign of a script that is shaped by it, or behind an emoji."""
    at = match.start() - 1
    if at >= 1 and match.string[at] in "\ufe0e\ufe0f":
        at -= 1
    return match[0][0] if at >= 0 and _takes_joiner(match.string[at]) else ""


def _takes_joiner(base: str) -> bool:
    code, category = ord(base), unicodedata.category(base)
    shaped = 0x0600 <= code < 0x10A0 or 0x1700 <= code < 0x1AB0 or 0x1B00 <= code < 0x1D00
    shaped = shaped or 0xA800 <= code < 0xAC00 or 0x10A00 <= code < 0x12000 or 0x1E900 <= code < 0x1E960
    emoji = category in ("So", "Sk") or 0x1F000 <= code < 0x1FB00
    return (shaped and category[0] in "LM") or emoji


@cache
def _stacked_marks() -> re.Pattern[str]:
    """More marks in a row than one base may have; beyond the BMP whole blocks, to be looked at one by one."""
    blocks = (range(0x300, 0x1E00), range(0x20D0, 0x2100), range(0x2CEF, 0x3100), range(0xA66F, 0xAC00), (0xFB1E,))
    codes = [code for block in (*blocks, range(0xFE20, 0xFE30)) for code in block if _is_mark(chr(code))]
    marks = "".join(map(chr, codes)) + "\U000101fd-\U00011fff\U00016af0-\U00016fe4\U0001bc9d\U0001bc9e"
    marks += "\U0001cf00-\U0001cf46\U0001d165-\U0001d244\U0001da00-\U0001daaf\U0001e000-\U0001e94a"
    return re.compile(f"[{marks}][{marks}{_JOINER}]{{{MAX_MARKS},}}")


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")


def _limit_marks(match: re.Match[str]) -> str:
    """Joiners do not end a stack: they may be taken away later."""
    kept, stacked = [], 0
    for character in match[0]:
        if _is_mark(character):
            stacked += 1
            if stacked > MAX_MARKS:
                continue
        elif character not in _JOINER:
            stacked = 0
        kept.append(character)
    return "".join(kept)
