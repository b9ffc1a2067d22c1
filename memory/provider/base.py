"""What a chat model and an embedder look like to the core. Implementations live beside this file.

An implementation imports its heavy library inside its functions: importing this package must stay cheap.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memory.types import ContextWindow, Role, Usage

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]
    """Shape (n, width), every row of length 1."""

EmbedKind = Literal["query", "passage"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model asks for."""

    id: str
    """Names the call in the request that brings its result; never empty."""
    name: str
    arguments: str
    """JSON as the model wrote it: it may be broken, empty, or anything but an object."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered to a model."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments: an object."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that goes with a message, for models that see."""

    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: bytes


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a request."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Assistant only: what it asked for. A message of role `tool` for each follows."""
    tool_call_id: str = ""
    """Role `tool` only: the call that this is the result of."""
    reasoning: str = ""
    """Assistant only: sent back to servers that want the reasoning behind a tool call (`reasoning_content`)."""
    images: tuple[Image, ...] = ()
    """User only."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How one request is to be answered. `None` leaves the choice to the server."""

    max_tokens: int | None = None
    temperature: float | None = None
    json_schema: Mapping[str, Any] | None = None
    """Ask for JSON of this shape where the server can; the caller checks the answer all the same."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the request body, as configured."""
    tools: tuple[ToolSpec, ...] = ()
    """What the model may call. Models that cannot raise `ToolsUnsupported`."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """More of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """More of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """One whole call; its pieces have been joined. Comes before the `FinishPart` with reason `tool_calls`."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class UsagePart:
    """What the server counted; comes at most once, near the end."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class RetryPart:
    """Nothing has arrived yet; the request is tried again after `seconds`."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class FinishPart:
    """The server says it is done. A stream that ends without one raises `StreamCut` instead."""

    reason: str


ChatPart = TextPart | ReasoningPart | ToolCallPart | UsagePart | RetryPart | FinishPart


class ChatModel(Protocol):
    """A model that one can talk with."""

    @property
    def name(self) -> str:
        """The model's name as the user knows it."""
        ...

    @property
    def tiny(self) -> bool:
        """True when it is too small to be trusted with summaries and extraction; rules write them instead."""
        ...

    async def context_window(self) -> ContextWindow:
        """How many tokens it takes. Never raises: falls back to the configured or an estimated size."""
        ...

    def stream(self, messages: Sequence[ChatMessage], options: ChatOptions | None = None) -> AsyncIterator[ChatPart]:
        """Answer, part by part.

        Closing the iterator (or cancelling its task) ends the request at once. Retries happen only before the
        first byte and are told by `RetryPart`. Raises leaves of `ProviderError`.
        """
        ...

    async def close(self) -> None:
        """Let go of connections, threads and memory. Safe to call twice."""
        ...


class Embedder(Protocol):
    """Turns text into vectors."""

    @property
    def model(self) -> str:
        """Which model made a vector; stored with it. Two models are never mixed."""
        ...

    @property
    def width(self) -> int:
        """Length of every vector."""
        ...

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> "Vectors":
        """Embed `texts` (at least one): float32, shape (len(texts), width), each row finite and of length 1.

        Raises `EmbeddingFailed` (the items can be tried again later) or `InvalidVectorError`.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and memory. Safe to call twice."""
        ...
