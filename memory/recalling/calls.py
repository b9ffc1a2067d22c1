"""Tool calls in a request: each with exactly one result behind it, never apart from it, and of a bounded size.

Stored, an assistant's message that asks has `metadata["tool_calls"]`, and the results are the rows of role `tool`
right below it. A crash may have come in between: what is missing is made up here, what belongs to nothing is left out.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory.provider.base import ToolCall, ToolSpec
from memory.tokens import TokenCounter
from memory.types import Message

TOOL_CALLS = "tool_calls"
"""Key in the metadata of an assistant's message: `id`, `name` and `arguments` of each call."""
TOOL_CALL_ID = "tool_call_id"
"""Key in the metadata of a tool's message: the call that it is the result of."""
NO_RESULT = "No result: the call was interrupted."
CUT = "\n[cut: the result was longer]"
_LEVELS = (1_000, 250, 60)
"""Tokens that results of earlier rounds are cut to, one after the other, until the turn fits."""
LEAST_TOKENS = 60
OLD_SHARE = 20
"""A result in an earlier turn takes at most this part of the budget: what was made of it stands in the reply."""
NEW_SHARE = 4
"""The same for one of the turn that is on its way."""


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """What a stored message of the assistant's asked for; of calls with the same id the first."""
    rows = message.metadata.get(TOOL_CALLS) if message.role == "assistant" else None
    found: dict[str, ToolCall] = {}
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        call_id, name, arguments = row.get("id"), row.get("name"), row.get("arguments")
        if isinstance(call_id, str) and call_id and isinstance(name, str) and name:
            found.setdefault(call_id, ToolCall(call_id, name, arguments if isinstance(arguments, str) else ""))
    return tuple(found.values())


def as_sent(call: ToolCall) -> ToolCall:
    """A call as it goes into a request: servers refuse arguments that are no JSON object."""
    try:
        whole = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return call if whole else replace(call, arguments="{}")


def repaired(path: Iterable[Message]) -> list[Message]:
    """The path with one result for each call, in the order of the calls; results that no call is above are left out."""
    rows, sent, at = list(path), list[Message](), 0
    while at < len(rows):
        message = rows[at]
        at += 1
        if message.role == "tool":
            continue
        sent.append(message)
        results: dict[str, Message] = {}
        while at < len(rows) and rows[at].role == "tool":
            results.setdefault(str(rows[at].metadata.get(TOOL_CALL_ID)), rows[at])
            at += 1
        sent += [results.get(call.id) or _missing(message, call) for call in calls_of(message)]
    return sent


def units(path: Sequence[Message]) -> list[tuple[Message, ...]]:
    """The (repaired) path in pieces that go into a prompt whole or not at all: a reply with its calls and results."""
    pieces: list[list[Message]] = []
    for message in path:
        if pieces and message.role != "user" and "tool" in (message.role, pieces[-1][-1].role):
            pieces[-1].append(message)
        else:
            pieces.append([message])
    return [tuple(piece) for piece in pieces]


def shortened(message: Message, limit: int, counter: TokenCounter) -> Message:
    """A tool's message of at most `limit` tokens (the mark of the cut alone takes some 15); any other as it is."""
    fits = message.role != "tool" or tokens_of(message, counter) <= limit
    return message if fits else _cut(message, limit, counter)


def tokens_at_most(message: Message, limit: int, counter: TokenCounter) -> int:
    """What a message takes at most once it is `shortened`; looks at no text that is counted already."""
    tokens = tokens_of(message, counter)
    return min(tokens, limit) if message.role == "tool" else tokens


def fitting_tail(tail: Sequence[Message], room: int, limit: int, counter: TokenCounter) -> list[Message]:
    """What of the turn so far goes: all of it when `room` tokens take it, each result cut to `limit`.

    Else results of earlier rounds get shorter, then the oldest rounds go, then the newest results get shorter, and at
    last what the newest round asks for.
    """
    if not tail:
        return []
    *older, newest = _rounds(tail)
    least = _at_most([newest], limit, counter)
    levels = [min(level, limit) for level in (limit, *_LEVELS)]
    level = next((each for each in levels if _at_most(older, each, counter) + least <= room), levels[-1])
    while older and _at_most(older, level, counter) + least > room:
        del older[0]
    if not older and least > room:
        return _squeezed(newest, room, counter)
    earlier = [shortened(message, level, counter) for one in older for message in one]
    return earlier + [shortened(message, limit, counter) for message in newest]


def tokens_of(message: Message, counter: TokenCounter) -> int:
    """Tokens of a stored message with its calls. A stored count is without the margin, which is learned later."""
    if message.token_count:
        return math.ceil(message.token_count * counter.margin)
    return counter.count_message(message.role, text_to_count(message))


def text_to_count(message: Message) -> str:
    """The text of a message and of its calls."""
    return "\n".join([message.content, *(f"{call.name} {call.arguments}" for call in calls_of(message))])


def tokens_of_tools(tools: Sequence[ToolSpec], counter: TokenCounter) -> int:
    """What offering tools costs in a request."""
    return sum(counter.count(f"{t.name} {t.description} {json.dumps(dict(t.parameters), default=str)}") for t in tools)


def _rounds(tail: Sequence[Message]) -> list[list[Message]]:
    rounds: list[list[Message]] = []
    for message in tail:
        if message.role == "tool" and rounds:
            rounds[-1].append(message)
        else:
            rounds.append([message])
    return rounds


def _at_most(rounds: Sequence[Sequence[Message]], limit: int, counter: TokenCounter) -> int:
    return sum(tokens_at_most(message, limit, counter) for one in rounds for message in one)


def _squeezed(newest: Sequence[Message], room: int, counter: TokenCounter) -> list[Message]:
    """One round in `room` tokens: what asks is left whole as long as each result keeps a few words beside it."""
    asked, *results = newest
    share = (room - tokens_of(asked, counter)) // max(1, len(results))
    if share < LEAST_TOKENS:
        asked = _lean(asked, room - len(results) * LEAST_TOKENS, counter)
        share = (room - tokens_of(asked, counter)) // max(1, len(results))
    return [asked, *(shortened(message, share, counter) for message in results)]


def _lean(asked: Message, limit: int, counter: TokenCounter) -> Message:
    """A reply that asks, without its longest arguments, and then with less of its text."""
    rows = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls_of(asked)]
    for row in sorted(rows, key=lambda row: -len(row["arguments"])):
        if tokens_of(asked, counter) <= limit:
            return asked
        row["arguments"] = "{}"
        asked = replace(asked, metadata={**asked.metadata, TOOL_CALLS: list(map(dict, rows))}, token_count=0)
    return asked if tokens_of(asked, counter) <= limit else _cut(asked, limit, counter)


def _cut(message: Message, limit: int, counter: TokenCounter) -> Message:
    """With as much of its text as `limit` tokens take beside all else."""
    bare = replace(message, content=CUT, token_count=0)
    text = counter.truncate(message.content, limit - tokens_of(bare, counter) - 1)
    return replace(bare, content=text + CUT)


def _missing(asked: Message, call: ToolCall) -> Message:
    facts = {TOOL_CALL_ID: call.id, "tool": call.name, "state": "cancelled", "foreign": False}
    return replace(
        asked, id=0, role="tool", content=NO_RESULT, token_count=0, metadata=facts, parent_id=asked.id, state="complete"
    )
