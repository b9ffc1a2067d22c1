"""Models without a model: replies written beforehand, for tests, and a demo that says how to set a real one up."""

import asyncio
import hashlib
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    ChatPart,
    EmbedKind,
    FinishPart,
    TextPart,
    ToolCallPart,
    UsagePart,
)
from memory.provider.demo_text import reply_for
from memory.text import language_of
from memory.types import ContextWindow, Usage

if TYPE_CHECKING:
    from memory.provider.base import Vectors

Step = ChatPart | str | Exception | asyncio.Event | Callable[[], Awaitable[None] | None]
"""A part as it is, text, an error to raise, a gate to wait at, or something to call (and await)."""
Reply = str | Sequence[Step] | Callable[[Sequence[ChatMessage]], str | Sequence[Step]]
"""A whole reply: its text (sent word by word), its steps, or a function of the request that gives either."""

DEMO_PACE = 0.02
"""Seconds between two words of the demo."""


class ScriptedChat:
    """Gives the replies in their order, the last one again and again; records what it was asked."""

    def __init__(
        self,
        replies: Iterable[Reply],
        *,
        window: ContextWindow | None = None,
        name: str = "scripted",
        tiny: bool = False,
    ) -> None:
        self._replies = list(replies)
        if not self._replies:
            raise ValueError("a script needs at least one reply")
        self._window = window or ContextWindow(8192, "served")
        self._name = name
        self._tiny = tiny
        self.requests: list[tuple[ChatMessage, ...]] = []
        """The messages of every request, oldest first."""
        self.options: list[ChatOptions | None] = []
        """The options of every request."""
        self.cancelled = 0
        """How many streams were closed before they ended."""
        self.closed = False

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    @property
    def tiny(self) -> bool:
        """As given."""
        return self._tiny

    async def context_window(self) -> ContextWindow:
        """As given."""
        return self._window

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncGenerator[ChatPart, None]:
        """Play the next reply. Adds a `FinishPart` (`tool_calls` after calls) unless the steps bring one or fail."""
        number = min(len(self.requests), len(self._replies) - 1)
        self.requests.append(tuple(messages))
        self.options.append(options)
        ended = called = False
        try:
            async for part in _play(self._replies[number], messages):
                ended = ended or isinstance(part, FinishPart)
                called = called or isinstance(part, ToolCallPart)
                yield part
            if not ended:
                yield FinishPart("tool_calls" if called else "stop")
            ended = True
        except Exception:
            ended = True
            raise
        finally:
            self.cancelled += not ended

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


async def _play(reply: Reply, messages: Sequence[ChatMessage]) -> AsyncGenerator[ChatPart, None]:
    if callable(reply):
        reply = reply(messages)
    if isinstance(reply, str):
        for word in _words(reply):
            yield TextPart(word)
            await asyncio.sleep(0)
        return
    for step in reply:
        if isinstance(step, str):
            yield TextPart(step)
        elif isinstance(step, Exception):
            raise step
        elif isinstance(step, asyncio.Event):
            await step.wait()
        elif callable(step):
            waiting = step()
            if waiting is not None:
                await waiting
        else:
            yield step
        await asyncio.sleep(0)


def _words(text: str) -> list[str]:
    """The text in pieces of one word, or of one sign where a script has no spaces; joined they are the text."""
    pieces: list[str] = []
    for ch in text:
        if pieces and not ch.isspace() and ch.isascii() and pieces[-1][-1].isascii() and not pieces[-1][-1].isspace():
            pieces[-1] += ch
        else:
            pieces.append(ch)
    return pieces


class DemoChat:
    """No model at all: it says so, tells what orca does, and how to set a model up, in English or Chinese."""

    def __init__(self, *, pace: float = DEMO_PACE) -> None:
        self._pace = pace

    @property
    def name(self) -> str:
        """`demo`."""
        return "demo"

    @property
    def tiny(self) -> bool:
        """Always: it understands nothing."""
        return True

    async def context_window(self) -> ContextWindow:
        """A small one, so that the bars on the screen show something."""
        return ContextWindow(4096, "served")

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        options: ChatOptions | None = None,  # noqa: ARG002 — a page is a page
    ) -> AsyncGenerator[ChatPart, None]:
        """Stream the next page of the tour, in the language of the newest message."""
        asked = next((m.content for m in reversed(messages) if m.role == "user"), "")
        turn = sum(m.role == "user" for m in messages)
        words = _words(reply_for(turn, language_of(asked)))
        for word in words:
            yield TextPart(word)
            await asyncio.sleep(self._pace)
        prompt = sum(len(_words(m.content)) for m in messages)
        yield UsagePart(Usage(prompt, len(words), estimated=True))
        yield FinishPart("stop")

    async def close(self) -> None:
        """Nothing to let go of."""


class HashEmbedder:
    """Deterministic vectors in which texts that share words or characters lie near each other; for tests."""

    def __init__(self, width: int = 64, *, model: str = "hash-1") -> None:
        if width < 1:
            raise ValueError("a vector needs at least one number")
        self._width = width
        self._model = model
        self.embedded: list[tuple[str, EmbedKind]] = []
        """Every text that was embedded, with its kind."""

    @property
    def model(self) -> str:
        """The name given."""
        return self._model

    @property
    def width(self) -> int:
        """The width given."""
        return self._width

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> "Vectors":
        """One unit vector a text, the same for `query` and `passage`."""
        import numpy as np

        self.embedded.extend((text, kind) for text in texts)
        return np.array([_hashed(text, self._width) for text in texts], dtype=np.float32).reshape(-1, self._width)

    async def close(self) -> None:
        """Nothing to let go of."""


def _hashed(text: str, width: int) -> list[float]:
    vector = [0.0] * width
    for feature in (*(w for w in _words(text.casefold()) if not w.isspace()), ""):
        digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
        value = int.from_bytes(digest, "big")
        vector[(value >> 1) % width] += (1.0 if value & 1 else -1.0) * (1.0 if feature else 0.05)
    length = math.sqrt(sum(x * x for x in vector))
    if length == 0.0:  # two features may cancel each other out
        vector[0] = length = 1.0
    return [x / length for x in vector]
