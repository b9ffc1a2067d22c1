"""The body of a chat request, and what a server is found not to understand of it."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from memory.config import LLMSettings
from memory.provider.base import ChatMessage, ChatOptions, Image
from memory.provider.http_errors import Failure
from memory.provider.tool_calls import wire_calls, wire_tools
from memory.text import repair


class Dialect:
    """Learns from refusals (400 and 422 that name a field) and leaves out or renames that field from then on."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()
        self._renamed_limit = False
        self._json: list[str] = ["json_schema", "json_object"]

    def body(self, settings: LLMSettings, options: ChatOptions) -> dict[str, Any]:
        """Everything but model, messages and `stream`."""
        body: dict[str, Any] = {**settings.parameters, **options.extra}
        limit = settings.max_tokens if options.max_tokens is None else options.max_tokens
        if limit:
            body["max_tokens"] = limit
        temperature = settings.temperature if options.temperature is None else options.temperature
        if temperature is not None:
            body["temperature"] = temperature
        if options.json_schema is not None and self._json:
            body["response_format"] = _response_format(self._json[0], options.json_schema)
        if options.tools:
            body["tools"] = wire_tools(options.tools)
        body["stream_options"] = {"include_usage": True}
        if self._renamed_limit and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        for name in self._left_out:
            body.pop(name, None)
        return body

    def messages(self, messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
        """Messages as this server takes them; what cannot be encoded is replaced."""
        return [_wire_message(message, reasoning="reasoning_content" not in self._left_out) for message in messages]

    def adapt(self, failure: Failure, sent: Mapping[str, Any]) -> bool:
        """Whether the refusal was about a field that can be changed: then the request is worth another try at once.

        `sent`: the body with its `messages`.
        """
        if failure.status not in (400, 422):
            return False
        words = failure.detail.lower()
        if "stream_options" in sent and ("stream_options" in words or "include_usage" in words or not words):
            self._left_out.add("stream_options")
        elif "max_tokens" in sent and "max_completion_tokens" in words:
            self._renamed_limit = True
        elif "response_format" in sent and self._json and any(name in words for name in _JSON_WORDS):
            self._json.pop(0)
        elif "temperature" in sent and "temperature" in words and "support" in words:
            self._left_out.add("temperature")
        elif _has_reasoning(sent) and any(name in words for name in _REASONING_WORDS):
            self._left_out.add("reasoning_content")
        else:
            return False
        return True


_JSON_WORDS = ("response_format", "json_schema", "json_object", "json schema")


_REASONING_WORDS = ("reasoning", "extra inputs", "extra_forbidden", "extra fields", "unknown field", "unrecognized")


def _has_reasoning(sent: Mapping[str, Any]) -> bool:
    return any("reasoning_content" in message for message in sent.get("messages", ()))


def _wire_message(message: ChatMessage, *, reasoning: bool) -> dict[str, Any]:
    text = repair(message.content)[0]
    wire: dict[str, Any] = {"role": message.role, "content": text}
    if message.images:
        wire["content"] = [{"type": "text", "text": text}] if text else []
        wire["content"] += [{"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images]
    if message.tool_calls:
        wire["content"] = text or None
        wire["tool_calls"] = wire_calls(message.tool_calls)
    if message.tool_call_id:
        wire["tool_call_id"] = repair(message.tool_call_id)[0]
    if message.reasoning and reasoning:
        wire["reasoning_content"] = repair(message.reasoning)[0]
    return wire


def _data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


def _response_format(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema)}}
