"""Events on their way to a watcher. Deltas that pile up while nobody looks become one."""

import asyncio
from collections import deque
from dataclasses import dataclass, replace

from memory.events import ReasoningDelta, SubagentDelta, TextDelta, TurnEvent

_Delta = TextDelta | ReasoningDelta | SubagentDelta


@dataclass(slots=True)
class _Piled:
    last: _Delta
    texts: list[str]


class Outbox:
    """A queue for one reader, bounded by the text it holds."""

    def __init__(self) -> None:
        self._waiting: deque[TurnEvent | _Piled] = deque()
        self._runs: dict[int, _Piled] = {}
        """The newest pile of each subagent: those of several agents come mixed."""
        self._news = asyncio.Event()
        self._ended = False

    def put(self, event: TurnEvent) -> None:
        """Add an event; a delta joins the one before it, of a subagent that of the same one."""
        if not isinstance(event, _Delta):
            self._waiting.append(event)
        else:
            pile = self._runs.get(event.run_id) if isinstance(event, SubagentDelta) else self._last_pile()
            if pile is not None and _continues(pile.last, event):
                pile.texts.append(event.text)
                pile.last = event
            else:
                pile = _Piled(event, [event.text])
                self._waiting.append(pile)
                if isinstance(event, SubagentDelta):
                    self._runs[event.run_id] = pile
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
        if not isinstance(event, _Piled):
            return event
        if isinstance(event.last, SubagentDelta) and self._runs.get(event.last.run_id) is event:
            del self._runs[event.last.run_id]
        return replace(event.last, text="".join(event.texts))

    def _last_pile(self) -> _Piled | None:
        last = self._waiting[-1] if self._waiting else None
        return last if isinstance(last, _Piled) else None


def _continues(before: _Delta, now: _Delta) -> bool:
    """Whether a delta can be told together with the one before it. Steps stay lines of their own."""
    if isinstance(before, SubagentDelta) and isinstance(now, SubagentDelta):
        return before.kind == now.kind != "step"
    return type(before) is type(now)
