"""Which server each kind of provider means, and which key goes to it.

A key goes only where it belongs: the environment's `OPENAI_API_KEY` to OpenAI (or `OPENAI_BASE_URL`), SiliconFlow's
to SiliconFlow, and to any other address only the key that was configured for it. Of several, the first counts:
`ORCA_API_KEY`, the variable that `api_key_env` names, the provider's usual variable, `api_key_command`,
`api_key_keyring`, `api_key`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from memory.config import EmbeddingSettings, LLMSettings, Secret, Settings
from memory.provider.endpoint import Endpoint
from memory.provider.keys import stored_key

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4.1-mini"
OPENAI_EMBEDDING_MODEL = "text-embedding-3-small"
OLLAMA_URL = "http://127.0.0.1:11434/v1"

OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_BASE = "OPENAI_BASE_URL"
SILICONFLOW_KEY = "SILICONFLOW_API_KEY"
OVERRIDE_ORIGIN = "the variable ORCA_API_KEY"
"""Where a key of `[llm]` came from that wins over all others."""

SILICONFLOW_HINT = f"Set {SILICONFLOW_KEY}, or api_key under [siliconflow] in config.toml."


@dataclass(frozen=True, slots=True)
class Target:
    """A server and the model that is asked for there; an empty model takes the first that the server has."""

    endpoint: Endpoint
    model: str


def siliconflow_key(settings: Settings, env: Mapping[str, str]) -> Secret:
    """SiliconFlow's key; empty when there is none."""
    return _from(env, SILICONFLOW_KEY) or stored_key(settings.siliconflow)


def siliconflow_chat(settings: Settings, env: Mapping[str, str]) -> Target:
    """SiliconFlow as `[siliconflow]` describes it."""
    chosen = settings.siliconflow
    key = siliconflow_key(settings, env)
    if not key and settings.llm.provider == "siliconflow":
        key = _own_key(settings.llm, env)
    return Target(Endpoint(chosen.base_url, key, SILICONFLOW_HINT), settings.llm.model or chosen.model)


def siliconflow_embedding(settings: Settings, env: Mapping[str, str]) -> Target:
    """SiliconFlow's embeddings."""
    chosen = settings.siliconflow
    key = siliconflow_key(settings, env)
    if not key and settings.embedding.provider == "siliconflow":
        key = _own_key(settings.embedding, env)
    model = settings.embedding.model or chosen.embedding_model
    return Target(Endpoint(chosen.base_url, key, SILICONFLOW_HINT), model)


def openai_chat(settings: Settings, env: Mapping[str, str]) -> Target:
    """The configured `llm.base_url`, else OpenAI itself."""
    endpoint = _openai(settings.llm, "llm", settings, env)
    default = OPENAI_MODEL if endpoint.base_url == OPENAI_URL else ""
    return Target(endpoint, settings.llm.model or default)


def openai_embedding(settings: Settings, env: Mapping[str, str]) -> Target:
    """The configured `embedding.base_url`, else OpenAI itself; its key may be that of `[llm]` at the same address."""
    endpoint = _openai(settings.embedding, "embedding", settings, env)
    if not endpoint.api_key:
        chat = _openai(settings.llm, "llm", settings, env)
        if chat.base_url == endpoint.base_url:
            endpoint = chat
    return Target(endpoint, settings.embedding.model or OPENAI_EMBEDDING_MODEL)


def ollama_chat(settings: Settings, env: Mapping[str, str]) -> Target:
    """Ollama on this machine, or where `llm.base_url` says when `ollama` is the configured provider."""
    base_url, key = OLLAMA_URL, Secret("")
    if settings.llm.provider == "ollama":
        base_url, key = settings.llm.base_url or OLLAMA_URL, _own_key(settings.llm, env)
    return Target(Endpoint(base_url, key, _hint("llm", settings.llm.api_key_env)), settings.llm.model)


def _openai(
    section: LLMSettings | EmbeddingSettings, name: str, settings: Settings, env: Mapping[str, str]
) -> Endpoint:
    usual = env.get(OPENAI_BASE, "").strip() or OPENAI_URL
    endpoint = Endpoint(section.base_url or usual)
    key, hint = _own_key(section, env), _hint(name, section.api_key_env)
    if endpoint.base_url in (OPENAI_URL, Endpoint(usual).base_url):
        key = _own_key(section, env, usual=OPENAI_KEY)
        hint = f"Set {OPENAI_KEY}, or api_key under [{name}] in config.toml."
    elif endpoint.hostname == Endpoint(settings.siliconflow.base_url).hostname:
        key = key or siliconflow_key(settings, env)
    return Endpoint(endpoint.base_url, key, hint)


def _own_key(section: LLMSettings | EmbeddingSettings, env: Mapping[str, str], *, usual: str = "") -> Secret:
    """The key of a section: `ORCA_API_KEY` has been put there already, then variables, then what the file says."""
    if section.api_key.origin == OVERRIDE_ORIGIN:
        return section.api_key
    by_variable = next((key for name in (section.api_key_env, usual) if name and (key := _from(env, name))), None)
    return by_variable or stored_key(section)


def _from(env: Mapping[str, str], name: str) -> Secret:
    return Secret(env.get(name, "").strip(), f"the variable {name}")


def _hint(section: str, variable: str) -> str:
    if variable.isidentifier() and variable.isupper() and len(variable) <= 64:
        return f"Set the environment variable {variable}, which [{section}] names."
    return f"Set api_key or api_key_env under [{section}] in config.toml."
