"""Where each key comes from, for the doctor and `orca-tui key list`. The value is never part of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memory.config import Secret, Settings
from memory.provider import presets
from memory.text import label


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A server that a key may go to, and where the key comes from."""

    section: str
    host: str
    origin: str
    """For a person; empty when there is no key."""
    key: Secret


def key_sources(settings: Settings, env: Mapping[str, str]) -> list[FoundKey]:
    """For each section with keys: its server, and the source that counts."""
    targets = {
        "llm": presets.openai_chat(settings, env),
        "siliconflow": presets.siliconflow_chat(settings, env),
        "embedding": presets.openai_embedding(settings, env),
    }
    return [
        FoundKey(name, target.endpoint.host, label(key.origin, 100) if key else "", key)
        for name, target in targets.items()
        for key in (target.endpoint.api_key,)
    ]


def keys_told(settings: Settings, env: Mapping[str, str]) -> list[tuple[str, Literal["ok", "warn"], str, str]]:
    """Rows for the doctor: name, state, detail, advice. Blocks: a command or the keyring is tried."""
    from memory.errors import AuthenticationFailed

    found: list[str] = []
    rows: list[tuple[str, Literal["ok", "warn"], str, str]] = []
    for source in key_sources(settings, env):
        if not source.origin:
            continue
        try:
            source.key.reveal()
        except AuthenticationFailed as error:
            rows.append(("keys", "warn", f"[{source.section}]: {error}", error.hint))
        else:
            found.append(f"{source.host} from {source.origin}")
    told = "; ".join(dict.fromkeys(found)) or ("" if rows else "none is set")
    return [("keys", "ok", told, ""), *rows] if told else rows
