"""What is kept of an agent's reply: the whole of it, up to a limit, with a mark where it was cut."""

from dataclasses import dataclass

from memory.text import language_of
from memory.tokens import TokenCounter

MAX_TOKENS = 10_000
"""Tokens of a stored reply, its mark included."""
MAX_CHARACTERS = 400_000
"""Of a reply, while it arrives; what comes behind is not kept."""

_CUT = {"zh": "[内容已截断]", "en": "[truncated]"}
_MARK_ROOM = 16


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as it is stored."""

    text: str
    truncated: bool = False


def stored_reply(text: str, *, overflown: bool = False) -> Reply:
    """The text within `MAX_TOKENS`; `overflown`: more had come than `text` holds. Takes a while: call it in a thread.

    Counted without a margin that was learned from servers, so that what is stored keeps to the limit for good.
    """
    counter = TokenCounter()
    kept = counter.truncate(text, MAX_TOKENS)
    if len(kept) == len(text) and not overflown:
        return Reply(text)
    mark = _CUT[language_of(text)]
    return Reply(f"{counter.truncate(kept, MAX_TOKENS - _MARK_ROOM).rstrip()}\n\n{mark}", truncated=True)
