"""Events on their way to a watcher. Deltas that pile up while nobody looks become one."""

import asyncio
from collections import deque
from dataclasses import dataclass

from memory.events import ReasoningDelta, TextDelta, TurnEvent


@dataclass(slots=True)
class _Piled:
    turn_id: str
    kind: type[TextDelta] | type[ReasoningDelta]
    texts: list[str]


class Outbox:
    """A queue for one reader, bounded by the text it holds."""

    def __init__(self) -> None:
        self._waiting: deque[TurnEvent | _Piled] = deque()
        self._news = asyncio.Event()
        self._ended = False

    def put(self, event: TurnEvent) -> None:
        """Add an event; a delta joins the one before it."""
        if isinstance(event, TextDelta | ReasoningDelta):
            last = self._waiting[-1] if self._waiting else None
            if isinstance(last, _Piled) and last.kind is type(event):
                last.texts.append(event.text)
            else:
                self._waiting.append(_Piled(event.turn_id, type(event), [event.text]))
        else:
            self._waiting.append(event)
        self._news.set()

    def end(self) -> None:
        """Nothing comes any more."""
        self._ended = True
        self._news.set()

    async def get(self) -> TurnEvent | None:
        """The next event; `None` at the end."""
        while not self._waiting:
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()
        event = self._waiting.popleft()
        return event.kind(event.turn_id, "".join(event.texts)) if isinstance(event, _Piled) else event
