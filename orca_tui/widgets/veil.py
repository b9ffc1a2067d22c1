"""Keeps what a terminal would obey, or an eye would miss, whole inside an editor without letting it out.

An editor counts one character as one, so a stand-in of several letters will not do there. `veil` puts a private-use
character in place of each dangerous one, `visible` is what the editor draws for it, `unveil` gives the text back as it
came. Nothing is lost between paste and send.
"""

import re
from functools import cache

from memory.text import strip_unsafe

_BASE = 0x10E000
_SUSPECTS = (
    range(0xA0),
    (0xAD, 0x061C, 0xFEFF),
    range(0x200B, 0x2010),
    range(0x2028, 0x202F),
    range(0x2060, 0x2070),
    range(0xFDD0, 0xFDF0),
    range(0xFFF0, 0x10000),
    range(0x1BCA0, 0x1BCA4),
    range(0x1D173, 0x1D17B),
    range(0xE0000, 0xE1000),
)
"""Code points that `memory.text` may refuse: which of them it does is asked once."""
_VEILED = re.compile("[\U0010e000-\U0010f7ff]")


def veil(text: str) -> str:
    """`text` with each character that may not reach the terminal replaced by a private one of one cell. Idempotent."""
    return text if strip_unsafe(text) == text else text.translate(_tables()[0])


def unveil(text: str) -> str:
    """The text as it was before `veil`."""
    return text if _VEILED.search(text) is None else text.translate(_tables()[1])


def visible(text: str) -> str:
    """What to draw for veiled text, character by character."""
    return text if _VEILED.search(text) is None else text.translate(_tables()[2])


@cache
def _tables() -> tuple[dict[int, int], dict[int, int], dict[int, str]]:
    """Veil, unveil and drawing tables for `str.translate`."""
    refused = [code for codes in _SUSPECTS for code in codes if not strip_unsafe(chr(code))]
    hide = {code: _BASE + index for index, code in enumerate(refused)}
    show = {private: code for code, private in hide.items()}
    return hide, show, {private: _picture(code) for private, code in show.items()}


def _picture(code: int) -> str:
    """One visible character of one cell: `␛` and its like for C0, a replacement mark for the rest."""
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "�"
