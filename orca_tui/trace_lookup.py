"""From an entry of the transcript to the runs of agents that belong to it. Pure."""

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memory.store.run_store import AGENT_CALL, AGENT_RUN
from orca_tui.entries import calls_of

if TYPE_CHECKING:
    from memory.types import Message
    from orca_tui.traces import Traces

RUN = re.compile(r"run-(\d+)\Z")
TOLD = re.compile(r"\AAgent [^\n]{1,200}, run (\d+): ")
"""How the result of an agent's call begins (`memory.subagents.summary`); its first line is orca's own."""


def run_ids(key: str, messages: "Sequence[Message]", traces: "Traces") -> list[int]:
    """Ids of the runs of an entry, oldest first; empty when no agent worked for it."""
    if (found := RUN.match(key)) is not None:
        return [int(found[1])]
    number = key.removeprefix("call-").split("-")[0].removesuffix("-error")
    wanted = int(number) if number.isdecimal() else 0
    at = next((place for place in range(len(messages) - 1, -1, -1) if messages[place].id == wanted), None)
    if at is None:
        return []
    message = messages[at]
    if message.role == "tool":
        told = TOLD.match(message.content) if message.metadata.get("tool") == AGENT_CALL else None
        return [int(told[1])] if told is not None else []
    own = message.metadata.get(AGENT_RUN)
    if isinstance(own, int) and traces.run(own) is not None:
        return [own]
    return [run.id for run in traces.below(_turn(messages, at))]


def _turn(messages: "Sequence[Message]", at: int) -> list[int]:
    """Ids of the messages from a question to the next one; for a reply that asked for tools itself, its own."""
    if messages[at].role == "assistant" and messages[at].metadata.get("tool_calls"):
        return [messages[at].id]
    first = next((place for place in range(at, -1, -1) if messages[place].role == "user"), 0)
    last = next((place for place in range(first + 1, len(messages)) if messages[place].role == "user"), len(messages))
    return [message.id for message in messages[first:last]]


def calling(agent: str, task: str, messages: "Sequence[Message]", free: Callable[[str], bool]) -> str | None:
    """Id of the newest reply's call that gave this task to this agent, and that no other run answers (`free`)."""
    asked = next((one for one in reversed(messages) if one.role == "assistant"), None)
    for call_id, arguments in calls_of(asked) if asked is not None else ():
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            continue
        if isinstance(given, dict) and (given.get("agent"), given.get("task")) == (agent, task) and free(call_id):
            return call_id
    return None
