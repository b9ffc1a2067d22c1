"""Turns the body of a streamed chat completion into the parts of a reply, whatever shape the server gives it.

Seen in the wild and taken: no choices, null or missing fields, `message` in the place of `delta`, content as a list
of parts, further choices, usage in any chunk, a finish reason with more text behind it, no `[DONE]`, a plain JSON
completion instead of a stream, events after the end. Pieces of tool calls are joined in `memory.provider.tool_calls`.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeGuard

from memory.errors import BadReply, ServerFailed, StreamCut
from memory.provider import http_errors
from memory.provider.base import ChatPart, FinishPart, ReasoningPart, TextPart, ToolCallPart, UsagePart
from memory.provider.endpoint import Endpoint
from memory.provider.sse import Event, SSEDecoder
from memory.provider.think import Piece, ThinkSplitter
from memory.provider.tool_calls import CallAssembler
from memory.types import Usage

MAX_BYTES = 32 * 1024 * 1024
"""Longest body of one reply."""

_WRONG_ADDRESS = "Look at base_url: it must be an OpenAI-compatible address, usually ending in /v1."


class ReplyReader:
    """Reads one response body. Feed bytes until `done` or the body's end, then take `finish()`."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._decoder = SSEDecoder()
        self._splitter: ThinkSplitter | None = ThinkSplitter()
        self._plain: bytearray | None = None
        """The body when it is no event stream: a JSON document."""
        self._size = 0
        self._begun = False
        self._reason = ""
        self._usage: Usage | None = None
        self._calls = CallAssembler(endpoint.host)
        self._chunks = 0
        self.spoke = False
        """Whether text, reasoning or a part of a tool call has come."""
        self.done = False
        """The server said that nothing follows."""

    @property
    def complete(self) -> bool:
        """The server said why the reply ends; only usage may still follow."""
        return self.done or bool(self._reason)

    def feed(self, data: bytes) -> Iterator[ChatPart]:
        """The parts that `data` brings. Raises `BadReply`, or what an error object in the stream says."""
        self._size += len(data)
        if self._size > MAX_BYTES:
            raise BadReply(
                f"The reply of {self._endpoint.host} grew beyond {MAX_BYTES // 1024**2} MiB and was stopped.",
                hint="Set llm.max_tokens to bound it.",
            )
        if not self._begun:
            self._look_at_start(data)
        if self._plain is not None:
            self._plain += data
            return
        for event in self._decoder.feed(data):
            yield from self._event(event)

    def finish(self) -> Iterator[ChatPart]:
        """The last parts, at the end of the body. Raises `BadReply` or `StreamCut` when the reply has no end."""
        if self._plain is not None:
            yield from self._document(bytes(self._plain))
        else:
            for event in self._decoder.finish():
                yield from self._event(event)
        if self._splitter is not None:
            yield from self._pieces(self._splitter.finish())
        if not self.complete:
            raise self.cut()
        if not self._reason and not self.spoke:
            raise self._empty()
        calls = self._calls.finish()
        for call in calls:
            yield ToolCallPart(call)
        if self._usage is not None:
            yield UsagePart(self._usage)
        yield FinishPart("tool_calls" if calls else self._reason or "stop")

    def held(self) -> Iterator[ChatPart]:
        """What was held back while it could have been a tag: to be shown before an error is raised."""
        if self._splitter is not None:
            yield from self._pieces(self._splitter.finish())

    def cut(self) -> BadReply | StreamCut:
        """The error for a body that ends here."""
        if not self._chunks:
            return self._empty()
        return StreamCut(
            f"The reply of {self._endpoint.host} was cut off.", hint="What had arrived is kept. Try again."
        )

    def _empty(self) -> BadReply:
        return BadReply(f"{self._endpoint.host} answered with nothing that is a reply.", hint=_WRONG_ADDRESS)

    def _look_at_start(self, data: bytes) -> None:
        head = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if not head:
            return
        self._begun = True
        if head == b"<":
            raise BadReply(f"{self._endpoint.host} answered with a web page, not a reply.", hint=_WRONG_ADDRESS)
        if head in (b"{", b"["):
            self._plain = bytearray()

    def _document(self, body: bytes) -> Iterator[ChatPart]:
        chunk = self._load(body.decode("utf-8-sig", "replace"))
        yield from self._chunk(chunk)
        self.done = self._chunks > 0

    def _event(self, event: Event) -> Iterator[ChatPart]:
        data = event.data.strip()
        if self.done or not data or data.startswith(":"):
            return
        if data.startswith("[DONE]"):
            self.done = True
            return
        if not event.whole and not self._parses(data):
            return
        chunk = self._load(data)
        if event.name == "error":
            raise http_errors.in_stream(chunk, self._endpoint, self._model)
        yield from self._chunk(chunk)

    def _load(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise BadReply(
                f"{self._endpoint.host} sent a part of the reply that is not valid JSON.",
                hint="What had arrived is kept. Try again.",
            ) from None

    @staticmethod
    def _parses(text: str) -> bool:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
        return True

    def _chunk(self, chunk: Any) -> Iterator[ChatPart]:
        if not isinstance(chunk, dict):
            return
        if chunk.get("error") or chunk.get("object") == "error":
            raise http_errors.in_stream(chunk, self._endpoint, self._model)
        choices = chunk.get("choices")
        self._take_usage(chunk.get("usage"))
        if not isinstance(choices, list):
            if choices is None and "usage" not in chunk and isinstance(chunk.get("message"), str):
                raise http_errors.in_stream(chunk, self._endpoint, self._model)
            return
        self._chunks += 1
        for choice in choices:
            if isinstance(choice, dict) and not choice.get("index"):
                yield from self._choice(choice)

    def _choice(self, choice: dict[str, Any]) -> Iterator[ChatPart]:
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            reasoning, text = _content(delta.get("content") or delta.get("refusal"))
            reasoning = _string(delta.get("reasoning_content")) or _string(delta.get("reasoning")) or reasoning
            if self._calls.feed(delta, whole=self._plain is not None):
                self.spoke = True
            if reasoning:
                yield from self._reasoning(reasoning)
            if text:
                yield from self._text(text)
        elif isinstance(choice.get("text"), str):
            yield from self._text(choice["text"])
        reason = choice.get("finish_reason")
        if reason == "error":
            raise ServerFailed(f"{self._endpoint.host} broke off with an error.", hint="Try again in a while.")
        if isinstance(reason, str) and reason:
            self._reason = "tool_calls" if reason == "function_call" else reason

    def _reasoning(self, text: str) -> Iterator[ChatPart]:
        """Reasoning in its own field: a tag in the text is then plain text."""
        if self._splitter is not None:
            yield from self._pieces(self._splitter.finish())
            self._splitter = None
        self.spoke = True
        yield ReasoningPart(text)

    def _text(self, text: str) -> Iterator[ChatPart]:
        self.spoke = True
        yield from self._pieces([("text", text)] if self._splitter is None else self._splitter.feed(text))

    def _pieces(self, pieces: list[Piece]) -> Iterator[ChatPart]:
        for kind, text in pieces:
            yield TextPart(text) if kind == "text" else ReasoningPart(text)

    def _take_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if _is_count(prompt) and _is_count(completion):
            self._usage = Usage(prompt, completion)


def _content(content: Any) -> tuple[str, str]:
    """Reasoning and text of a delta's content: a string, or a list of typed parts."""
    if isinstance(content, str):
        return "", content
    reasoning, text = "", ""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "thinking":
            reasoning += "".join(_content(part.get("thinking")))
        else:
            text += _string(part.get("text"))
    return reasoning, text


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
