"""Makes the chat model and the embedder that the settings ask for, and tells what else there is.

`auto` takes the first that is there: a configured `llm.base_url`, SiliconFlow's key, OpenAI's key, Ollama on this
machine, a model file with its runtime, the demo. Nothing is imported or asked before it is needed.
"""

import asyncio
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.config import Home, ProviderKind, Settings
from memory.errors import AuthenticationFailed, LocalModelMissing, ModelFileError, ProviderError
from memory.provider import http_errors, presets, server_info, wire
from memory.provider.base import ChatModel, Embedder
from memory.provider.endpoint import OLLAMA_PORT, Endpoint
from memory.provider.presets import Target
from memory.text import label

if TYPE_CHECKING:
    from memory.provider.model_files import ModelFile

PROBE_TIMEOUT = 1.0
"""Seconds that looking for a server on this machine may take."""
RUNTIME = "xllamacpp"

_NO_RUNTIME = 'Install it with: pip install "orca-tui[local]"'
_NO_FILE = "Get one with: orca-tui model add (the built-in model is 93 MB)."


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """One way to get an answer."""

    kind: ProviderKind
    label: str
    """What it is called; safe to be shown."""
    model: str
    """The model it would use; empty when that is known only at the first use. Foreign text."""
    available: bool
    detail: str
    """What it is when available, else what to do to get it."""


async def build_chat_model(settings: Settings, home: Home, env: Mapping[str, str] | None = None) -> ChatModel:
    """The model that the settings ask for. Raises `AuthenticationFailed` or `LocalModelMissing`, with a hint."""
    env = os.environ if env is None else env
    kind = settings.llm.provider
    if kind == "auto":
        kind = await _first_available(settings, home, env)
    if kind == "local":
        return _local(settings, home)
    if kind == "demo":
        from memory.provider.scripted import DemoChat

        return DemoChat()
    from memory.provider.openai_chat import OpenAIChat

    target = _online(kind, settings, env)
    await asyncio.to_thread(target.endpoint.api_key.reveal)
    needs_key = kind == "siliconflow" or target.endpoint.base_url == presets.OPENAI_URL
    if needs_key and not target.endpoint.api_key:
        raise AuthenticationFailed(f"There is no key for {target.endpoint.host}.", hint=target.endpoint.key_hint)
    return OpenAIChat(
        base_url=target.endpoint.base_url,
        model=target.model,
        api_key=target.endpoint.api_key,
        key_hint=target.endpoint.key_hint,
        settings=settings.llm,
    )


async def list_choices(settings: Settings, home: Home, env: Mapping[str, str] | None = None) -> list[ProviderChoice]:
    """Every provider, in the order in which `auto` looks, with what it is or what is missing. Never raises."""
    env = os.environ if env is None else env
    openai, siliconflow = _openai_choice(settings, env), _siliconflow_choice(settings, env)
    online = [openai, siliconflow] if settings.llm.base_url else [siliconflow, openai]
    return [
        *online,
        await _ollama_choice(settings, env),
        _local_choice(settings, home),
        ProviderChoice("demo", "Demo", "demo", True, "Canned answers, to look around without a model."),
    ]


async def server_problem(kind: ProviderKind, settings: Settings, env: Mapping[str, str]) -> ProviderError | None:
    """Why the server of a provider does not tell its models; `None` when it does, and for what is none. Ollama has been
    asked by `list_choices`."""
    if kind not in ("openai", "siliconflow"):
        return None
    endpoint = _online(kind, settings, env).endpoint
    try:
        await asyncio.to_thread(endpoint.api_key.reveal)
    except ProviderError as problem:
        return problem
    try:
        client = await asyncio.to_thread(wire.open_client, endpoint, connect_timeout=server_info.TIMEOUT)
    except (ImportError, ValueError):
        return http_errors.bad_proxy(endpoint)
    async with client:
        return (await server_info.list_models(client, endpoint)).problem


def build_embedder(settings: Settings, home: Home, env: Mapping[str, str] | None = None) -> Embedder | None:  # noqa: ARG001
    """The embedder that the settings ask for; `None` when embedding is off.

    Raises `AuthenticationFailed` when the chosen server needs a key and there is none. `home` is where a built-in
    embedder may keep files. Blocks where a command or the keyring gives the key: call it in a thread.
    """
    env = os.environ if env is None else env
    chosen = settings.embedding
    kind = chosen.provider
    if kind == "off":
        return None
    if kind == "auto":
        key = presets.siliconflow_key(settings, env)
        kind = "openai" if chosen.base_url else "siliconflow" if key else "local"
    if kind == "local":
        from memory.provider.local_embed import local_embedder

        return local_embedder()
    from memory.provider.openai_embed import OpenAIEmbedder

    own = kind == "siliconflow"
    target = presets.siliconflow_embedding(settings, env) if own else presets.openai_embedding(settings, env)
    target.endpoint.api_key.reveal()
    dimensions = chosen.dimensions
    if own and target.model == settings.siliconflow.embedding_model:
        dimensions = dimensions or settings.siliconflow.dimensions
    if not target.endpoint.api_key and (own or target.endpoint.base_url == presets.OPENAI_URL):
        raise AuthenticationFailed(f"There is no key for {target.endpoint.host}.", hint=target.endpoint.key_hint)
    return OpenAIEmbedder(
        base_url=target.endpoint.base_url,
        model=target.model,
        api_key=target.endpoint.api_key,
        key_hint=target.endpoint.key_hint,
        dimensions=dimensions,
        settings=chosen,
    )


async def known_models(settings: Settings, home: Home, env: Mapping[str, str] | None = None) -> list[str]:
    """The models of the chosen server, by its own list; empty where there is none, or nobody answers.

    Raises leaves of `ProviderError` when its key cannot be had."""
    env = os.environ if env is None else env
    kind = settings.llm.provider
    if kind == "auto":
        kind = await _first_available(settings, home, env)
    if kind in ("local", "demo"):
        return []
    endpoint = _online(kind, settings, env).endpoint
    await asyncio.to_thread(endpoint.api_key.reveal)
    info = await _probe(endpoint)
    return [model.id for model in info.models] if info else []


async def _first_available(settings: Settings, home: Home, env: Mapping[str, str]) -> ProviderKind:
    if settings.llm.base_url:
        return "openai"
    if presets.siliconflow_key(settings, env):
        return "siliconflow"
    if _openai_choice(settings, env).available:
        return "openai"
    if (await _ollama_choice(settings, env)).available:
        return "ollama"
    return "local" if _local_choice(settings, home).available else "demo"


def _online(kind: ProviderKind, settings: Settings, env: Mapping[str, str]) -> Target:
    if kind == "siliconflow":
        return presets.siliconflow_chat(settings, env)
    if kind == "ollama":
        return presets.ollama_chat(settings, env)
    return presets.openai_chat(settings, env)


def _siliconflow_choice(settings: Settings, env: Mapping[str, str]) -> ProviderChoice:
    target = presets.siliconflow_chat(settings, env)
    there = bool(target.endpoint.api_key)
    detail = f"Chat and embeddings at {target.endpoint.host}." if there else presets.SILICONFLOW_HINT
    return ProviderChoice("siliconflow", "SiliconFlow", target.model, there, detail)


def _openai_choice(settings: Settings, env: Mapping[str, str]) -> ProviderChoice:
    target = presets.openai_chat(settings, env)
    official = target.endpoint.base_url == presets.OPENAI_URL
    there = bool(target.endpoint.api_key) or not official
    name = "OpenAI" if official else target.endpoint.host
    detail = f"Chat at {target.endpoint.host}." if there else target.endpoint.key_hint
    return ProviderChoice("openai", name, target.model, there, detail)


async def _ollama_choice(settings: Settings, env: Mapping[str, str]) -> ProviderChoice:
    target = presets.ollama_chat(settings, env)
    info = await _probe(target.endpoint)
    host, wanted = target.endpoint.host, target.model
    model = wanted or (info.first_for_chat() if info else "")
    if info is None:
        detail = f"Not found at {host}. Start it with: ollama serve"
    elif not model:
        detail = f"Runs at {host} without a model. Get one with: ollama pull qwen3:4b"
    elif wanted and info.find(wanted) is None:
        detail = f"Runs at {host} without {label(wanted, 60)}. Get it with: ollama pull {label(wanted, 60)}"
    else:
        return ProviderChoice("ollama", "Ollama", model, True, f"Runs at {host}.")
    return ProviderChoice("ollama", "Ollama", model, False, detail)


async def _probe(endpoint: Endpoint) -> server_info.ServerInfo | None:
    """The models of a server, `None` when nothing answers. A closed port costs no import."""
    if not endpoint.hostname:
        return None
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            _, writer = await asyncio.open_connection(endpoint.hostname, endpoint.port or OLLAMA_PORT)
            writer.close()
            client = await asyncio.to_thread(wire.open_client, endpoint, connect_timeout=PROBE_TIMEOUT)
            async with client:
                return await server_info.list_models(client, endpoint)
    except (OSError, TimeoutError, ValueError, ImportError):
        return None


def has_runtime() -> bool:
    """Whether local models can run here."""
    return importlib.util.find_spec(RUNTIME) is not None


def _local_choice(settings: Settings, home: Home) -> ProviderChoice:
    name, missing = "", []
    if not has_runtime():
        missing.append(_NO_RUNTIME)
    try:
        name = _local_file(settings, home).name
    except LocalModelMissing as error:
        missing.append(error.hint)
    detail = " ".join(missing) or "Runs inside orca, without a network."
    return ProviderChoice("local", "Local model", name, not missing, detail)


def _local(settings: Settings, home: Home) -> ChatModel:
    file = _local_file(settings, home)
    if not has_runtime():
        raise LocalModelMissing("The runtime for local models is not installed.", hint=_NO_RUNTIME)
    from memory.provider.local_chat import LocalChat

    return LocalChat(file.path, settings.llm)


def _local_file(settings: Settings, home: Home) -> "ModelFile":
    """The model file that is asked for, else the first of the user's own, else the built-in one.

    Raises `LocalModelMissing`; a name that is none of a file here is an error only when `local` is asked for.
    """
    from memory.provider import model_files

    if settings.llm.model:
        try:
            return model_files.find(home, settings.llm.model)
        except ModelFileError as error:
            if settings.llm.provider == "local":
                raise LocalModelMissing(str(error), hint=error.hint) from None
    files = sorted(model_files.installed(home), key=lambda file: file.name == model_files.BUILTIN.name)
    if not files:
        raise LocalModelMissing("No model file is installed here.", hint=_NO_FILE)
    return files[0]
