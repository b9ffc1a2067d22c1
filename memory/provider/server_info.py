"""What a server tells about its models: which it has, and how many tokens one of them takes.

Nothing here raises for what a server says or does not say; every question has a short time-out.
"""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.errors import ProviderError, ProviderTimeout
from memory.provider import http_errors, wire
from memory.provider.endpoint import Endpoint
from memory.text import clean
from memory.types import ContextWindow

if TYPE_CHECKING:
    import httpx2

TIMEOUT = 3.0
"""Seconds for one question."""
MAX_BYTES = 8 * 1024 * 1024
OLLAMA_DEFAULT = 4096
"""What Ollama serves when neither the model nor its environment says more."""
FALLBACK = 8192

_TELLING = (301, 302, 307, 308, 401, 403, 429)
"""Statuses that tell more than that there is no list of models."""
_WINDOW_FIELDS = ("loaded_context_length", "context_length", "max_model_len", "context_window", "max_context_length")
_NOT_FOR_CHAT = re.compile(r"embed|bge-|rerank|whisper|tts|dall-e|moderation|image|davinci|babbage", re.IGNORECASE)
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)

_FAMILIES = tuple(
    (re.compile(pattern), tokens)
    for pattern, tokens in (
        (r"gpt-4\.1", 1_047_576),
        (r"gpt-(4o|4-turbo)", 128_000),
        (r"gpt-4", 8_192),
        (r"gpt-3\.5", 16_385),
        (r"gpt-oss", 131_072),
        (r"gpt-5.*chat", 128_000),
        (r"gpt-[5-9]", 272_000),
        (r"\bo[134]\b", 200_000),
        (r"gemini", 1_000_000),
        (r"claude", 200_000),
        (r"kimi|llama-?3\.[123]|gemma-?3|glm-?4", 131_072),
        (r"deepseek", 65_536),
        (r"qwen|mistral|mixtral|phi-?[34]", 32_768),
    )
)
"""Careful guesses by name, the first that matches."""


@dataclass(frozen=True, slots=True)
class ServerModel:
    """One entry of `/v1/models`. `window` is 0 when the server does not say."""

    id: str
    window: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The models of a server, in its order."""

    models: tuple[ServerModel, ...] = ()
    problem: ProviderError | None = None
    """What kept the server from telling; `None` also when it simply has no such list."""

    def find(self, name: str) -> ServerModel | None:
        """The model of this name; a name without tag means Ollama's `:latest`."""
        return next((m for m in self.models if m.id in (name, _tagged(name))), None)

    def first_for_chat(self) -> str:
        """The first model that is not plainly for something else; empty when there is none."""
        return next((m.id for m in self.models if not _NOT_FOR_CHAT.search(m.id)), "")


async def list_models(client: "httpx2.AsyncClient", endpoint: Endpoint) -> ServerInfo:
    """Ask `/models`; empty when the server has no such list or, with the `problem`, does not answer."""
    import anyio
    import httpx2

    try:
        answer = await _ask(client, "GET", f"{endpoint.base_url}/models")
    except TimeoutError:
        return ServerInfo(
            problem=ProviderTimeout(
                f"{endpoint.host} did not say which models it has within {TIMEOUT:g} seconds.",
                hint="Try again, or set llm.model in config.toml.",
            )
        )
    except (httpx2.HTTPError, httpx2.InvalidURL, anyio.EndOfStream, OSError) as error:
        return ServerInfo(problem=http_errors.from_exception(error, endpoint).error)
    except ValueError:
        return ServerInfo()
    if answer.status in _TELLING or answer.status >= 500:
        failure = http_errors.from_status(answer.status, answer.content, answer.headers, endpoint, "")
        return ServerInfo(problem=failure.error)
    data = _json(answer)
    entries = data.get("data") if isinstance(data, dict) else data
    models: list[ServerModel] = []
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(name, str) and name and clean(name) == name:
            models.append(ServerModel(name, _first_size(entry, _WINDOW_FIELDS), str(entry.get("owned_by") or "")))
    return ServerInfo(tuple(models))


async def served_window(client: "httpx2.AsyncClient", endpoint: Endpoint, model: str) -> ContextWindow | None:
    """What the server says that it takes; `estimated` where only its usual size is known; `None` when nothing is."""
    entry = (await list_models(client, endpoint)).find(model)
    if endpoint.is_ollama or (entry is not None and entry.owner == "library"):
        window = await _ollama_window(client, endpoint, model)
        if window is not None:
            return window
    if entry is None:
        return None
    if entry.owner == "llamacpp":
        props = await _question(client, "GET", f"{endpoint.root}/props")
        size = _first_size(_dict(_dict(props).get("default_generation_settings")), ("n_ctx",))
        if size:
            return ContextWindow(size, "served")
    return ContextWindow(entry.window, "served") if entry.window else None


def estimated_window(model: str) -> ContextWindow:
    """A careful guess by the model's name."""
    name = model.lower()
    tokens = next((tokens for pattern, tokens in _FAMILIES if pattern.search(name)), FALLBACK)
    return ContextWindow(tokens, "estimated")


async def _ollama_window(client: "httpx2.AsyncClient", endpoint: Endpoint, model: str) -> ContextWindow | None:
    """The size that Ollama serves, which is often far below what the model could take."""
    running = _dict(await _question(client, "GET", f"{endpoint.root}/api/ps")).get("models")
    for entry in running if isinstance(running, list) else ():
        if not isinstance(entry, dict) or _tagged(model) not in (entry.get("model"), entry.get("name")):
            continue
        if size := _size(entry.get("context_length")):
            return ContextWindow(size, "served")
    shown = await _question(client, "POST", f"{endpoint.root}/api/show", {"model": model})
    if not isinstance(shown, dict):
        return None
    info = _dict(shown.get("model_info"))
    limit = next((size for name in info if name.endswith(".context_length") and (size := _size(info[name]))), 0)
    parameters = shown.get("parameters")
    match = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    if match is not None and (asked := _size(int(match.group(1)[:9]))):
        return ContextWindow(min(asked, limit or asked), "served")
    return ContextWindow(min(OLLAMA_DEFAULT, limit or OLLAMA_DEFAULT), "estimated")


async def _question(client: "httpx2.AsyncClient", method: str, url: str, body: Any = None) -> Any:
    """The JSON that a server answers, `None` when it does not."""
    import httpx2

    try:
        return _json(await _ask(client, method, url, body))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError):
        return None


async def _ask(client: "httpx2.AsyncClient", method: str, url: str, body: Any = None) -> wire.Answer:
    async with asyncio.timeout(TIMEOUT):
        return await wire.ask(client, method, url, body=body, limit=MAX_BYTES)


def _json(answer: wire.Answer) -> Any:
    try:
        return json.loads(answer.content) if answer.status == 200 else None
    except (ValueError, RecursionError):
        return None


def _tagged(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _first_size(entry: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((size for name in names if (size := _size(entry.get(name)))), 0)


def _size(value: Any) -> int:
    """A believable window, else 0."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 256 <= value <= 100_000_000 else 0
