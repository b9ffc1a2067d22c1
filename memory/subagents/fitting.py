"""Keeps an agent's requests within the window of its model: results of tools get shorter, the older ones first."""

from collections.abc import Sequence
from dataclasses import replace

from memory.provider.base import ChatMessage
from memory.recalling.calls import CUT
from memory.tokens import TokenCounter

SHARE = 0.75
"""Of the window; the rest is for the reply."""
_LEVELS = (1_000, 250, 60)
"""Tokens that results are cut to, one after the other, until the request fits."""


def fitted(messages: Sequence[ChatMessage], room: int, counter: TokenCounter) -> tuple[ChatMessage, ...]:
    """The messages in `room` tokens: results before the newest calls are cut first, then the newest. What does not fit
    then is left as it is: the server says so. Blocking."""
    found = list(messages)
    newest = max((at for at, message in enumerate(found) if message.tool_calls), default=0)
    for end in (newest, len(found)):
        for level in _LEVELS:
            if tokens_of(found, counter) <= room:
                return tuple(found)
            found = [_cut(message, level, counter) if at < end else message for at, message in enumerate(found)]
    return tuple(found)


def tokens_of(messages: Sequence[ChatMessage], counter: TokenCounter) -> int:
    """What they cost, with their calls."""
    texts = [message.content + "".join(call.arguments for call in message.tool_calls) for message in messages]
    return sum(counter.count(text) for text in texts)


def _cut(message: ChatMessage, limit: int, counter: TokenCounter) -> ChatMessage:
    if message.role != "tool" or counter.count(message.content) <= limit:
        return message
    text = message.content.removesuffix(CUT)
    return replace(message, content=counter.truncate(text, limit - counter.count(CUT) - 1) + CUT)
