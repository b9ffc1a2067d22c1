"""Choosing a model: which settings a choice means, a real test call, and saving what answered."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memory.config import Home, ProviderKind, Secret, Settings
from memory.errors import BadReply, ProviderTimeout
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.provider.base import ChatModel

DEMO = "demo"
"""Name of the model that stands in when there is none."""
PROBE_TIMEOUT = 60.0
"""Seconds that the test call may take; a model on this machine has to be loaded first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user filled in."""

    url: str = ""
    model: str = ""
    key: str = ""


def changes_for(kind: ProviderKind, answer: Answer, settings: Settings) -> dict[str, str]:
    """Dotted setting → value for this choice.

    A key goes only to the host that it was given for: another address never meets the key of the one before.
    """
    changes = {"llm.provider": kind, "llm.model": answer.model.strip()}
    if answer.url or (kind == "ollama" and settings.llm.provider != "ollama"):
        changes |= {
            "llm.base_url": answer.url.strip(),
            **_only_key("llm", answer.key.strip()),
            "llm.api_key_env": "",
        }
    elif answer.key and kind == "siliconflow":
        changes |= _only_key("siliconflow", answer.key.strip())
    elif answer.key:
        changes |= {**_only_key("llm", answer.key.strip()), "llm.api_key_env": ""}
    return changes


def _only_key(section: str, key: str) -> dict[str, str]:
    """This key and no other source of one."""
    return {f"{section}.api_key": key, f"{section}.api_key_command": "", f"{section}.api_key_keyring": ""}


def with_changes(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """The settings as they will be once `changes` are saved."""
    sections: dict[str, Any] = {}
    for dotted, value in changes.items():
        section, name = dotted.split(".")
        found = sections.get(section) or getattr(settings, section)
        sections[section] = replace(found, **{name: Secret(value) if name == "api_key" else value})
    return replace(settings, **sections)


def differing(settings: Settings, changes: Mapping[str, str]) -> dict[str, str]:
    """Those of `changes` that are not so already: only they are written to the file."""
    found = {}
    for dotted, value in changes.items():
        section, name = dotted.split(".")
        now = getattr(getattr(settings, section), name)
        if (now.reveal() if isinstance(now, Secret) else now) != value:
            found[dotted] = value
    return found


async def probe(model: "ChatModel") -> None:
    """Have `model` say a word. Raises leaves of `ProviderError` when it cannot."""
    from memory.provider.base import ChatMessage, ChatOptions, FinishPart, ReasoningPart, TextPart

    stream = model.stream([ChatMessage("user", "Say hello.")], ChatOptions(max_tokens=16))
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            async for part in stream:
                if isinstance(part, TextPart | ReasoningPart | FinishPart):
                    return
    except TimeoutError:
        raise ProviderTimeout(
            f"{model.name} did not answer within {PROBE_TIMEOUT:.0f} seconds.", hint="Try again, or choose another."
        ) from None
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    raise BadReply(f"{model.name} answered nothing.", hint="Choose another model.")


async def connect(
    home: Home, settings: Settings, changes: Mapping[str, str], env: Mapping[str, str] | None
) -> "ChatModel":
    """Build the model that `changes` lead to, test it, and save them. Nothing is saved when it does not answer.

    Raises leaves of `OrcaError`.
    """
    from memory.provider.factory import build_chat_model
    from orca_tui.settings_file import set_values

    model = await build_chat_model(with_changes(settings, changes), home, env)
    try:
        await probe(model)
        await asyncio.to_thread(set_values, home, differing(settings, changes))
    except BaseException:
        await model.close()
        raise
    return model


async def try_chat(home: Home, settings: Settings, env: Mapping[str, str] | None) -> str:
    """Build the model that `settings` choose, have it say a word, and let go of it; gives its name.

    Raises leaves of `OrcaError`.
    """
    from memory.provider.factory import build_chat_model

    model = await build_chat_model(settings, home, env)
    try:
        await probe(model)
        return model.name
    finally:
        await model.close()


async def try_embedder(home: Home, settings: Settings, env: Mapping[str, str] | None) -> int:
    """Make one vector with what `settings` choose; gives how many numbers it has, 0 when embedding is off.

    Raises leaves of `OrcaError`.
    """
    from memory.provider.factory import build_embedder

    embedder = await asyncio.to_thread(build_embedder, settings, home, env)
    if embedder is None:
        return 0
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            vectors = await embedder.embed(["Say hello."], "query")
        return len(vectors[0])
    except TimeoutError:
        raise ProviderTimeout(
            f"No vector came within {PROBE_TIMEOUT:.0f} seconds.", hint="Try again, or choose another."
        ) from None
    finally:
        await embedder.close()


def nothing_chosen(settings: Settings) -> bool:
    """Whether the user has not said who should answer."""
    llm = settings.llm
    return llm.provider == "auto" and not (llm.base_url or llm.model)


def notice_about(model: "ChatModel") -> str:
    """What is to be known before talking with a model that is not a real choice; empty for others."""
    if model.name == DEMO:
        return _("This is the demo: its answers were written beforehand. F2 chooses a real model.")
    if model.tiny:
        return _(
            "You are talking with the built-in {name}: tiny and English only. F2 chooses a real model.", name=model.name
        )
    return ""
