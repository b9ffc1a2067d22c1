"""The engine: starts turns, one at a time in a session, and hands what they leave to the background."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.config import Settings
from memory.errors import OrcaError, TurnInProgress
from memory.turns.turn import Outcome, Turn, TurnContext

__all__ = ["Engine", "Outcome", "Turn", "TurnContext"]


class Engine:
    """Starts turns. All methods are for the event loop's thread."""

    def __init__(
        self, context: TurnContext, *, started: Callable[[], None], ended: Callable[[Outcome | None], None]
    ) -> None:
        self._context = context
        self._started = started
        self._ended = ended
        self._live: dict[str, Turn] = {}

    def use_settings(self, settings: Settings) -> None:
        """Go by these from the next turn on."""
        self._context = replace(self._context, settings=settings)

    @property
    def live(self) -> tuple[Turn, ...]:
        """The turns that are on their way."""
        return tuple(self._live.values())

    def start(self, session_id: str, text: str, *, use_memory: bool = True, pasted: Sequence[str] = ()) -> Turn:
        """Send a message: it is stored first, then answered. The turn runs even when nobody iterates over it.

        `pasted` are the pieces of the text that were not typed, in order: nothing in them becomes memory unreviewed.
        Raises `TurnInProgress` when this session still has a turn, `OrcaError` when there is nothing to send.
        """
        if not text.strip():
            raise OrcaError("There is nothing to send.", hint="Type a message first.")
        return self._begin(session_id, text, use_memory, pasted)

    def retry(self, session_id: str, *, use_memory: bool = True) -> Turn:
        """Answer the newest message by the user again, as a fork beside the earlier answer.

        Raises `TurnInProgress` when this session still has a turn.
        """
        return self._begin(session_id, None, use_memory)

    async def stop_all(self) -> None:
        """Stop every turn, keep its text, and wait until all is stored."""
        await asyncio.gather(*(turn.aclose() for turn in self.live))

    def _begin(self, session_id: str, text: str | None, use_memory: bool, pasted: Sequence[str] = ()) -> Turn:
        if session_id in self._live:
            raise TurnInProgress(
                "The reply before this one is still on its way.", hint="Wait for it, or stop it first."
            )
        self._started()
        turn = Turn(self._context, session_id, text, use_memory=use_memory, pasted=pasted, ended=self._over)
        self._live[session_id] = turn
        return turn

    def _over(self, turn: Turn) -> None:
        self._live.pop(turn.session_id, None)
        self._ended(turn.outcome)
