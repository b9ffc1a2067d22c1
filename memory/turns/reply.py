"""The reply of a turn while it grows: its row, its checkpoints, and its last word.

A checkpoint is written at least once a second while text arrives, and a sign of life every ten seconds of silence;
both in a thread. A checkpoint that fails costs nothing: the text stays in memory, and the next one tries again.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from memory.clock import Clock
from memory.errors import BadReply, NotFoundError, OrcaError, StoreError, ToolsNotOffered
from memory.provider.base import ToolCall
from memory.recalling.calls import TOOL_CALLS, text_to_count
from memory.store.base import Store
from memory.tokens import TokenCounter
from memory.turns import owner
from memory.turns.joining import Joint
from memory.types import WITHOUT_MEMORY, ContextItem, Injection, Message, MessageState, ScoreParts, Usage
from memory.writing.trust import TAINTED

log = logging.getLogger(__name__)

CHECKPOINT_SECONDS = 1.0
HEARTBEAT_SECONDS = 10.0
RETRY_WAITS = (0.2, 1.0)
"""Seconds between the tries to write the end of a reply."""


class ReplyDraft:
    """One reply, from its first row to its last."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        counter: TokenCounter,
        above: Message,
        *,
        resumed: Message | None = None,
        checked: Callable[["ReplyDraft", StoreError | None], None] = lambda draft, problem: None,  # noqa: ARG005
    ) -> None:
        """The reply stands below `above`; one that is `resumed` goes on where it ended.

        `checked` is told of every checkpoint: what kept it from being written, or `None`.
        """
        self.message = resumed
        """The row as last written; `None` until `open`."""
        self.model = ""
        self.usage: Usage | None = None
        self.finish_reason = ""
        self.without_memory = False
        """Whether the user asked for a reply without memory; kept with it."""
        self.is_tainted = False
        """Foreign text came into the turn before it; kept with it."""
        self.is_open = False
        """Its row is there, in state `streaming`."""
        self.calls: list[ToolCall] = []
        """What it asks for; each has an id of its own."""
        self._store = store
        self._clock = clock
        self._counter = counter
        self._above = above
        self._checked = checked
        self._text: list[str] = [resumed.content] if resumed else []
        self._joint = Joint(resumed.content if resumed else "")
        self._reasoning: list[str] = [_reasoning_of(resumed)] if resumed else []
        self._is_empty = True
        self._recalled: Sequence[ContextItem] = ()
        self._recorded = resumed is not None
        self._dirty = False
        self._written_at = clock.monotonic()
        self._due = asyncio.Event()
        self._ended = False

    @property
    def text(self) -> str:
        """What has arrived."""
        return "".join(self._text)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has arrived yet, not even reasoning."""
        return self._is_empty

    def require_answer(self, *, requests: int = 1) -> None:
        """Raise `ToolsNotOffered` or `BadReply` when the model has said that it is done and has answered nothing.

        `requests`: how many the turn has had.
        """
        if self.text.strip():
            return
        if self.finish_reason == "tool_calls" and requests > 1:
            raise ToolsNotOffered(
                f"The model still asked for tools after {requests} requests, and answered nothing.",
                hint="Let it go on, or raise max_rounds under [tools] in config.toml.",
            )
        if self.finish_reason == "tool_calls":
            raise ToolsNotOffered(
                "The model asked for a tool, and none was offered to it.",
                hint="Ask it to answer without tools, or choose another model.",
            )
        # A limit and a filter are told as what they are.
        if not any(self._reasoning) and self.finish_reason not in ("length", "content_filter"):
            raise BadReply(
                "The model answered nothing.", hint="Ask again, in other words perhaps, or choose another model."
            )

    def recalled(self, items: Sequence[ContextItem]) -> None:
        """What the prompt holds from memory; recorded with the first checkpoint."""
        self._recalled = items

    async def open(self) -> Message:
        """Store the row, empty or resumed, in state `streaming`. Raises leaves of `StoreError`."""
        facts: dict[str, Any] = {"stream": owner.stamp(self._clock)}
        if self.message is None:
            self.message = await asyncio.to_thread(self._add, "streaming", facts)
        else:
            facts |= dict.fromkeys(("error", "interrupted", "finish_reason"))
            reopen = partial(self._store.update_message, self.message.id, state="streaming", metadata=facts)
            self.message = await asyncio.to_thread(reopen)
        self.is_open = True
        self._written_at = self._clock.monotonic()
        return self.message

    def add(self, text: str, *, reasoning: bool = False) -> str:
        """Take in what arrived, and tell what is new of it: a reply that is gone on with repeats nothing of its end."""
        self._is_empty = False
        new = text if reasoning else self._joint.feed(text)
        return self._added(new, self._reasoning if reasoning else self._text)

    def add_rest(self) -> str:
        """Take in, and tell, what `add` held back; nothing follows."""
        return self._added(self._joint.finish(), self._text)

    def _added(self, new: str, to: list[str]) -> str:
        if new:
            to.append(new)
            self._dirty = True
            if self._clock.monotonic() - self._written_at >= CHECKPOINT_SECONDS:
                self._due.set()
        return new

    def add_call(self, call: ToolCall) -> None:
        """Take in what the model asks for. Two calls never share an id: results are told apart by it."""
        known = {other.id for other in self.calls}
        name, number = call.id or "call", 1
        while not name or name in known:
            number += 1
            name = f"{call.id or 'call'}_{number}"
        self.calls.append(replace(call, id=name))
        self._is_empty = False

    def begin(self) -> None:
        """Text may arrive (again) from here on."""
        self._ended = False
        self._due.clear()

    async def keep(self) -> None:
        """Write checkpoints until `end`."""
        while not self._ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), CHECKPOINT_SECONDS)
            self._due.clear()
            if not self._ended and (self._dirty or self._is_silent()):
                await self._check()

    def end(self) -> None:
        """No checkpoint any more; one that is being written is finished by `keep`."""
        self._ended = True
        self._due.set()

    async def settle(self, state: MessageState, error: OrcaError | None = None) -> Message:
        """Store the reply as it is at the end; tries a few times. Raises leaves of `StoreError`."""
        for wait in RETRY_WAITS:
            try:
                return await asyncio.to_thread(self.write, state, error)
            except NotFoundError:  # its session is deleted
                raise
            except StoreError as problem:
                log.warning("the end of a reply could not be stored, trying again: %s", problem)
                await asyncio.sleep(wait)
        return await asyncio.to_thread(self.write, state, error)

    def unsaved(self) -> Message:
        """The reply as a value, when the store does not take it."""
        return Message(
            id=self.message.id if self.message else 0,
            session_id=self._above.session_id,
            role="assistant",
            content=self.text,
            msg_type="normal",
            token_count=0,
            has_embedding=False,
            timestamp=self.message.timestamp if self.message else self._clock.now(),
            metadata={"model": self.model},
            parent_id=self._above.id,
            state="failed",
        )

    def final_usage(self, prompt_tokens: int) -> Usage:
        """What the server counted, else an estimate."""
        return self.usage or Usage(prompt_tokens, self._counter.count(self.text), estimated=True)

    async def _check(self) -> None:
        try:
            await asyncio.to_thread(self._checkpoint)
        except StoreError as error:
            self._dirty = True
            log.warning("a checkpoint failed, the reply is kept in memory: %s", error)
            self._checked(self, error)
        else:
            self._checked(self, None)

    def _is_silent(self) -> bool:
        return self._clock.monotonic() - self._written_at >= HEARTBEAT_SECONDS

    def _checkpoint(self) -> None:
        if self.message is None:
            return
        self._dirty = False
        self._written_at = self._clock.monotonic()
        metadata: dict[str, Any] = {"stream": owner.stamp(self._clock)}
        if any(self._reasoning):
            metadata["reasoning"] = "".join(self._reasoning)
        self._record(self.message.id)
        self.message = self._store.update_message(self.message.id, content=self.text, metadata=metadata)

    def write(self, state: MessageState, error: OrcaError | None = None) -> Message:
        """Store the reply as it is at the end, once; blocks. Raises leaves of `StoreError`."""
        # Another process may have taken the row for one that was left behind.
        metadata: dict[str, Any] = {"stream": None, "interrupted": None, "error": None, "model": self.model or None}
        if self.without_memory:
            metadata[WITHOUT_MEMORY] = True
        if self.is_tainted:
            metadata[TAINTED] = True
        if self.calls and state == "complete":
            metadata[TOOL_CALLS] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in self.calls]
        if any(self._reasoning):
            metadata["reasoning"] = "".join(self._reasoning)
        if self.finish_reason:
            metadata["finish_reason"] = self.finish_reason
        if self.usage:
            usage = self.usage
            metadata["usage"] = {
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "estimated": usage.estimated,
            }
        if error:
            metadata["error"] = {"type": type(error).__name__, "message": str(error), "hint": error.hint}
        if self.message is None:
            self.message = self._add(state, {key: value for key, value in metadata.items() if value is not None})
            return self.message
        self._record(self.message.id)
        text, asked = self.text, replace(self.message, content=self.text, metadata=metadata)
        counted = text_to_count(asked)
        return self._store.update_message(
            self.message.id,
            content=text,
            state=state,
            token_count=raw_tokens(self._counter, "assistant", counted) if counted else 0,
            metadata=metadata,
        )

    def _add(self, state: MessageState, metadata: dict[str, Any]) -> Message:
        return self._store.add_message(
            self._above.session_id, "assistant", self.text, parent_id=self._above.id, state=state, metadata=metadata
        )

    def _record(self, reply_id: int) -> None:
        """Store what the reply was given from memory, once."""
        if self._recorded or not self._recalled:
            return
        self._store.add_injections(
            [
                Injection(reply_id, item.kind, item.id, item.tier, rank, item.tokens, item.parts or ScoreParts())
                for rank, item in enumerate(self._recalled, 1)
            ]
        )
        self._recorded = True


def _reasoning_of(message: Message) -> str:
    """The reasoning of a reply that is gone on with, and where it ends."""
    found = message.metadata.get("reasoning")
    return f"{found}\n\n" if isinstance(found, str) and found else ""


def raw_tokens(counter: TokenCounter, role: str, text: str) -> int:
    """Tokens of a message without the margin, as they are stored: the margin goes on being learned."""
    return max(1, round(counter.count_message(role, text) / counter.margin))
