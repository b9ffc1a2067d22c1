"""Server-sent events, decoded from bytes that come in pieces of any size."""

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `whole` is false when the body ended before the blank line that closes an event."""

    data: str
    name: str = ""
    whole: bool = True


class SSEDecoder:
    """Bytes in, events out: any line end, split anywhere; comments and unknown fields are skipped.

    Bytes that are not UTF-8 become U+FFFD. A field `error` (not in the standard, but sent) is an event named so.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._after_cr = False
        self._started = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        self._buffer += data
        if not self._started:
            if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
                return []
            self._started = True
            if self._buffer.startswith(_BOM):
                del self._buffer[: len(_BOM)]
        if self._after_cr and self._buffer:
            self._after_cr = False
            if self._buffer.startswith(b"\n"):
                del self._buffer[:1]
        events: list[Event] = []
        position = 0
        for match in _LINE_END.finditer(self._buffer, self._searched):
            self._line(bytes(self._buffer[position : match.start()]), events)
            position = match.end()
            self._after_cr = match.group() == b"\r" and position == len(self._buffer)
        del self._buffer[:position]
        self._searched = len(self._buffer)
        return events

    def finish(self) -> list[Event]:
        """What is left when the body has ended: at most one event, not `whole` unless its line end was there."""
        events: list[Event] = []
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        if rest:
            self._line(rest, events)
        if self._data:
            events.append(Event("\n".join(self._data), self._name, whole=not rest))
            self._data, self._name = [], ""
        return events

    def _line(self, raw: bytes, events: list[Event]) -> None:
        if not raw:
            if self._data:
                events.append(Event("\n".join(self._data), self._name))
            self._data, self._name = [], ""
            return
        field, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "error":
            self._data.append(value)
            self._name = "error"
