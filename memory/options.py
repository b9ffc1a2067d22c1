"""How one session is answered: what it has chosen for itself; all else comes from the settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a session has of its own. `None` and empty leave it to the persona, then to the settings."""

    persona: str = ""
    """Name of a section `[personas.NAME]`."""
    system_prompt: str = ""
    model: str = ""
    """A model of the same provider."""
    temperature: float | None = None
    """0–2."""
    max_tokens: int | None = None
    """Longest reply in tokens."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Sent along as they are."""

    def facts(self) -> dict[str, Any]:
        """What is not as by default, as JSON."""
        return {name: value for name in _NAMES if (value := getattr(self, name)) not in ("", None, {})}

    @classmethod
    def of(cls, facts: object) -> "SessionOptions":
        """Read `facts` back; what is unknown or of another kind is left out."""
        if isinstance(facts, SessionOptions):
            return facts
        known = facts if isinstance(facts, Mapping) else {}
        return cls(**{name: known[name] for name in _NAMES if name in known and _RULES[name](known[name])})


_NAMES = tuple(field.name for field in fields(SessionOptions))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_temperature(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 2


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_RULES: dict[str, Callable[[object], bool]] = {
    "persona": _is_text,
    "system_prompt": _is_text,
    "model": _is_text,
    "temperature": _is_temperature,
    "max_tokens": _is_limit,
    "parameters": lambda value: isinstance(value, Mapping),
}
