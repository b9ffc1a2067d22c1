"""What a session is answered with: its own options, then those of its persona, then the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory.config import PersonaSettings, Settings
from memory.types import Session


@dataclass(frozen=True, slots=True)
class Answering:
    """How a session is answered, all things considered."""

    system_prompt: str
    model: str
    """Empty: the model that the settings give."""
    temperature: float | None
    max_tokens: int | None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    missing_persona: str = ""
    """The persona that the session was given and that the settings do not have any more. Foreign text."""


def answering(settings: Settings, session: Session | None) -> Answering:
    """How a session (`None`: one that is not begun) is answered."""
    own = session.options if session else None
    if own is None:
        return Answering(settings.llm.system_prompt, "", None, None)
    found = settings.personas.get(own.persona)
    persona = found or PersonaSettings()
    return Answering(
        system_prompt=own.system_prompt or persona.prompt or settings.llm.system_prompt,
        model=own.model or persona.model,
        temperature=persona.temperature if own.temperature is None else own.temperature,
        max_tokens=own.max_tokens or persona.max_tokens or None,
        parameters=own.parameters,
        missing_persona=own.persona if own.persona and found is None else "",
    )


def system_prompt_of(settings: Settings, session: Session | None) -> str:
    """The system prompt of a session."""
    return answering(settings, session).system_prompt
