"""Joins the pieces in which servers stream tool calls, and writes calls and tools back as servers take them.

Seen in the wild and taken: no `index`, index 0 for every call, no id or a new one in each piece, ids and names that
come again, names in pieces, arguments in thousands of pieces or as an object, calls without the `function` around
them, the older `function_call`. Arguments that are broken JSON are handed on as they came.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory.errors import BadReply
from memory.provider.base import ToolCall, ToolSpec
from memory.text import repair

MAX_CALLS = 64
"""Calls in one reply."""
MAX_SIZE = 4 * 1024 * 1024
"""Characters of names, ids and arguments in one reply."""
WIRE_NAME = 64
"""Longest name of a tool that servers take."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class _Slot:
    """A call that is still being told."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    looks_whole: bool = True
    """Nothing says that more arguments must follow."""

    def add_arguments(self, piece: str) -> None:
        self.arguments.append(piece)
        if end := piece.rstrip():
            self.looks_whole = end.endswith("}")

    def add_name(self, name: str) -> None:
        if self.name and name.startswith(self.name):  # said again, or said from its beginning each time
            self.name = name
        elif not self.arguments:
            self.name += name


class CallAssembler:
    """Takes the calls of one reply piece by piece, in time that is linear in their size."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._size = 0

    def feed(self, delta: Mapping[str, Any], *, whole: bool = False) -> bool:
        """Take what a delta says of calls, and tell whether it did; `whole`: each entry is a call of its own.

        Raises `BadReply` when the calls grow beyond `MAX_CALLS` or `MAX_SIZE`.
        """
        entries = delta.get("tool_calls")
        entries = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        if not entries and isinstance(old := delta.get("function_call"), dict):
            entries = [{"index": 0, "function": old}]
        for position, entry in enumerate(entries):
            self._entry(entry, position if len(entries) > 1 else None, whole)
        return bool(entries)

    def finish(self) -> list[ToolCall]:
        """The calls in the order in which they began; each has an id of its own."""
        calls: list[ToolCall] = []
        taken: set[str] = set()
        for slot in self._slots:
            name, arguments = slot.name.strip(), "".join(slot.arguments)
            if not name and not arguments.strip():
                continue
            number = slot.id if slot.id and slot.id not in taken else f"call_{uuid.uuid4().hex[:16]}"
            taken.add(number)
            calls.append(ToolCall(number, name, arguments))
        return calls

    def _entry(self, entry: dict[str, Any], position: int | None, whole: bool) -> None:
        inner = entry.get("function")
        function = inner if isinstance(inner, dict) else entry
        number, name = _text(entry.get("id")), _text(function.get("name"))
        given = function.get("arguments")
        arguments = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
        self._size += len(number) + len(name) + len(arguments)
        if self._size > MAX_SIZE:
            raise self._too_much(f"more than {MAX_SIZE // 1024**2} MiB of tool calls")
        index = None if whole else _index(entry.get("index"))
        if whole:
            slot = self._begin(None)
        elif index is None:
            slot = self._unnumbered(number, name, position)
        else:
            slot = self._numbered(index, number, name, arguments)
        slot.id = slot.id or number
        if name:
            slot.add_name(name)
        if isinstance(given, str):
            if arguments and not _repeats(slot, name, arguments):
                slot.add_arguments(arguments)
        elif arguments:  # an object is whole, also when it comes again
            slot.arguments, slot.looks_whole = [arguments], True

    def _numbered(self, index: int, number: str, name: str, arguments: str) -> _Slot:
        slot = self._by_index.get(index)
        if slot is None:
            return self._begin(index)
        if not name or not slot.looks_whole:
            return slot
        another = number and slot.id and number != slot.id
        unlike = not number and slot.arguments and _is_object(arguments) and not _repeats(slot, name, arguments)
        return self._begin(index) if another or unlike else slot

    def _unnumbered(self, number: str, name: str, position: int | None) -> _Slot:
        if number:
            known = next((slot for slot in reversed(self._slots) if slot.id == number), None)
            if known is not None:
                return known
        last = self._slots[-1] if self._slots else None
        if last is None or (name and (number or position or (last.arguments and last.looks_whole))):
            return self._begin(None)
        if not name and not number and position is not None and position < len(self._slots):
            return self._slots[position]
        return last

    def _begin(self, index: int | None) -> _Slot:
        if len(self._slots) >= MAX_CALLS:
            raise self._too_much(f"more than {MAX_CALLS} tool calls")
        slot = _Slot()
        self._slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        return slot

    def _too_much(self, what: str) -> BadReply:
        return BadReply(f"The reply of {self._host} held {what} and was stopped.", hint="Ask for less at once.")


def wire_tools(tools: tuple[ToolSpec, ...]) -> list[dict[str, Any]]:
    """Tools as a request offers them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": repair(tool.description)[0],
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]


def wire_calls(calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    """Calls as the request that brings their results repeats them.

    Servers refuse names that no tool can have, and arguments that are no JSON object: the result says what was wrong
    with them, so they are replaced here.
    """
    return [
        {
            "id": repair(call.id)[0],
            "type": "function",
            "function": {
                "name": _NOT_IN_NAMES.sub("_", call.name)[:WIRE_NAME] or "unknown",
                "arguments": repair(call.arguments)[0] if _is_object(call.arguments) else "{}",
            },
        }
        for call in calls
    ]


def _repeats(slot: _Slot, name: str, arguments: str) -> bool:
    """A whole call that is told once more."""
    return bool(name) and slot.arguments == [arguments] and slot.name == name and _is_object(arguments)


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) else None
