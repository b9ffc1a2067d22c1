"""A chat model from a GGUF file on this machine, through `xllamacpp` in a process of its own."""

import asyncio
import importlib.util
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory.config import LLMSettings
from memory.errors import (
    ContextTooLong,
    LocalModelMissing,
    ModelFileError,
    ProviderError,
    ProviderTimeout,
    RequestRefused,
    ServerFailed,
    StreamCut,
    ToolsUnsupported,
)
from memory.provider.base import (
    ChatMessage,
    ChatOptions,
    ChatPart,
    FinishPart,
    ReasoningPart,
    TextPart,
    UsagePart,
)
from memory.provider.gguf import read_info
from memory.provider.local_process import Event, WorkerProcess
from memory.provider.model_files import SMALL
from memory.text import label, repair
from memory.types import ContextWindow, Usage

RUNTIME = "xllamacpp"
TINY_WINDOW, WINDOW = 4096, 8192
"""Tokens served unless configured: memory and the wait for the first word grow with them."""
TINY_REPLY = 1024
"""Tokens after which a tiny model is stopped: it may never stop by itself."""
BATCH = 256 if sys.platform == "darwin" else 32
"""Tokens of the prompt that are read at a time: a stop is noticed between two batches, a graphics card wants more."""
MOST_THREADS = 8
SAMPLING = {"temperature": 0.4, "top_p": 0.9, "min_p": 0.05, "repeat_penalty": 1.1}


class LocalChat:
    """Loads at the first request (or `warm_up`), answers one request after the other, starts anew after a crash."""

    def __init__(self, path: Path, settings: LLMSettings) -> None:
        self._path = path
        self._settings = settings
        self._worker: WorkerProcess | None = None
        self._starting = asyncio.Lock()
        self._window = 0

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self._path.stem

    @property
    def tiny(self) -> bool:
        """True below 1 GB."""
        return not self._path.is_file() or self._path.stat().st_size < SMALL

    async def context_window(self) -> ContextWindow:
        """What is served: as configured, else 4096 for a tiny model or 8192, never more than it was trained on."""
        return ContextWindow(await asyncio.to_thread(self._window_tokens), "served")

    async def warm_up(self) -> None:
        """Load the model, if it is not loaded yet. Raises leaves of `ProviderError`."""
        await self._ready()

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncGenerator[ChatPart, None]:
        """Answer, part by part; closing it stops the generation within one batch of the prompt or one token.

        Raises `ToolsUnsupported` when tools are offered: small models on this machine call them wrongly.
        """
        if options is not None and options.tools:
            raise ToolsUnsupported(
                f"{label(self.name)} runs on this machine and cannot call tools.",
                hint="Choose a model of a server that can, or set tools.enabled = false.",
            )
        worker = await self._ready()
        number, inbox = worker.ask(self._request(messages, options or ChatOptions()))
        finished = started = False
        try:
            while True:
                event = await self._next(worker, inbox, started)
                if "end" in event:
                    break
                started = True
                if "error" in event:
                    raise _refusal(event["error"])
                part = _part(event)
                if part is not None:
                    finished = finished or isinstance(part, FinishPart)
                    yield part
            if not finished:
                raise StreamCut("The local model stopped without an end.", hint="Ask again.")
        finally:
            worker.cancel(number)

    async def close(self) -> None:
        """End the process. A later request would start it again."""
        async with self._starting:
            worker, self._worker = self._worker, None
            if worker is not None:
                await worker.stop()

    async def _ready(self) -> WorkerProcess:
        async with self._starting:
            if self._worker is None or not self._worker.alive:
                self._require()
                if self._worker is not None:
                    await self._worker.stop()
                self._worker = await WorkerProcess.start(
                    {
                        "path": str(self._path),
                        "n_ctx": await asyncio.to_thread(self._window_tokens),
                        "threads": threads(),
                        "batch": BATCH,
                    }
                )
            worker = self._worker
        await worker.wait_ready()
        return worker

    def _require(self) -> None:
        if importlib.util.find_spec(RUNTIME) is None:
            raise LocalModelMissing(
                "The runtime for local models is not installed.", hint='Install it: pip install "orca-tui[local]"'
            )
        if not self._path.is_file():
            raise LocalModelMissing(
                f"The model file {label(self._path.name)} is not there.", hint="Get one: orca-tui model add builtin"
            )

    async def _next(self, worker: WorkerProcess, inbox: "asyncio.Queue[Event | None]", started: bool) -> Event:
        """The next event. Time runs only once the worker has begun: before, it may be at another request."""
        limit = self._settings.idle_timeout if started else None
        try:
            async with asyncio.timeout(limit):
                event = await inbox.get()
        except TimeoutError:
            await worker.stop()
            raise ProviderTimeout(
                f"The local model said nothing for {limit:g} seconds.", hint="Ask again; it is loaded anew."
            ) from None
        if event is None:
            raise ServerFailed(
                f"The local model's process is gone ({worker.why_ended()}).",
                hint="Ask again: it is started anew. If it keeps happening, choose a smaller model.",
            )
        return event

    def _request(self, messages: Sequence[ChatMessage], options: ChatOptions) -> dict[str, Any]:
        request: dict[str, Any] = dict(SAMPLING)
        if self.tiny:
            request["max_tokens"] = TINY_REPLY
        chosen = {"temperature": self._settings.temperature, "max_tokens": self._settings.max_tokens or None}
        request |= {key: value for key, value in chosen.items() if value is not None}
        request |= dict(self._settings.parameters) | dict(options.extra)
        asked = {"temperature": options.temperature, "max_tokens": options.max_tokens}
        request |= {key: value for key, value in asked.items() if value is not None}
        if options.json_schema is not None:
            schema = {"name": "answer", "schema": dict(options.json_schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        request["messages"] = [{"role": m.role, "content": repair(m.content)[0]} for m in messages]
        return request | {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True, "n": 1}

    def _window_tokens(self) -> int:
        if self._window == 0:
            try:
                trained = read_info(self._path).context_length
            except ModelFileError:  # told when it is loaded
                trained = 0
            wanted = self._settings.context_window or (TINY_WINDOW if self.tiny else WINDOW)
            self._window = min(wanted, trained) if trained else wanted
        return self._window


def threads() -> int:
    """Threads to compute with: what is free now of all but one processor (of both, where there are only two).

    They wait for each other by spinning: on a busy machine two are several times slower than one.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    most = usable if usable <= 2 else min(usable - 1, MOST_THREADS)
    return max(1, min(most, round(usable - busy)))


def _part(event: Event) -> ChatPart | None:
    match event:
        case {"text": str(text)}:
            return TextPart(text)
        case {"reasoning": str(text)}:
            return ReasoningPart(text)
        case {"usage": [int(prompt), int(completion)]}:
            return UsagePart(Usage(prompt, completion))
        case {"finish": str(reason)}:
            return FinishPart(reason)
    return None


def _refusal(error: Mapping[str, Any]) -> ProviderError:
    if error.get("type") == "exceed_context_size_error":
        return ContextTooLong(
            f"The prompt has {error.get('n_prompt_tokens')} tokens; the local model takes {error.get('n_ctx')}.",
            hint="Shorten the message, or raise llm.context_window if the model can take more.",
        )
    said = label(str(error.get("message", "")), 200)
    if error.get("code") in (400, 422):
        return RequestRefused(f"The local model refused the request: {said}", hint="Look at [llm.parameters].")
    return ServerFailed(f"The local model failed: {said}", hint="Ask again.")
