"""Checks plain data against the settings dataclasses: types, allowed words and limits are read from their fields.

`memory.config` is the schema; nothing about a key is repeated here but what a type cannot say (`_TEXT_RULES`,
`_allowed_words`).
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from memory.config import BranchSettings, Secret, Settings
from memory.errors import ConfigError
from memory.settings.shipped_agents import SHIPPED_AGENTS
from memory.text import label

T = TypeVar("T")


class Origin(Protocol):
    """Where a value came from."""

    def describe(self, path: tuple[str, ...]) -> str:
        """The subject of a sentence about one key, cleaned."""
        ...


MAX_DEPTH = 20
"""Levels of tables and lists in `[llm.parameters]`."""

_SHOW = "`orca-tui config show` lists them."
_EDIT = "Correct it, or delete it to use the default."
_SECTION_NAME = re.compile(r"[\w-]{1,64}")


def _allowed_words(name: str) -> tuple[str, ...]:
    from memory.types import MemorySource, MemoryType

    return {"types": get_args(MemoryType), "sources": get_args(MemorySource)}.get(name, ())


def _url_rule(value: str) -> str | None:
    if not value or re.fullmatch(r"https?://[^\s/@\x00-\x20\x7f-\x9f]+[^\s@\x00-\x20\x7f-\x9f]*", value):
        return None
    return "must be an address that begins with http:// or https:// and holds no user name or blank"


def _variable_rule(value: str) -> str | None:
    if not value or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        return None
    return "must be the name of an environment variable, not a key"


def _command_rule(value: str) -> str | None:
    import shlex

    try:
        return None if not value or shlex.split(value) else "must name a program"
    except ValueError:
        return "must be written as a command: a quotation mark is not closed"


def _name_rule(value: str) -> str | None:
    return None if value.strip() else "must not be empty"


_TEXT_RULES: Mapping[str, Callable[[str], str | None]] = {
    "base_url": _url_rule,
    "api_key_env": _variable_rule,
    "api_key_command": _command_rule,
    "user_id": _name_rule,
}


def find_type(path: tuple[str, ...]) -> Any:
    """The type of a key (or section) of the settings. Raises `ConfigError` when there is none."""
    hint: Any = Settings
    for depth, name in enumerate(path):
        if hint is Any:
            break
        if is_mapping(hint):
            hint = get_args(hint)[1]
            continue
        known = get_type_hints(hint) if is_dataclass(hint) else {}
        if name not in known:
            dotted = label(".".join(path[: depth + 1]), 80)
            raise ConfigError(f'There is no setting "{dotted}".', hint=_did_you_mean(name, known) or _SHOW)
        hint = known[name]
    return hint


def is_mapping(hint: Any) -> bool:
    """Whether a type is a table with free key names."""
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def secret_problem(value: str) -> str | None:
    """Why a key cannot be sent in a request header, told by position only; `None` when it can."""
    position = next((at for at, character in enumerate(value, start=1) if not "\x21" <= character <= "\x7e"), None)
    if position is None:
        return None
    return f"holds a character that cannot go in a request header (position {position})"


class Checker:
    """Builds settings from the data of one origin and collects warnings about keys that nobody knows."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.warnings: list[str] = []

    def build(self, base: T, data: Any, path: tuple[str, ...] = ()) -> T:
        """`base` with the values of `data`. Raises `ConfigError` for the first that is not allowed."""
        kind = type(base)
        if not isinstance(data, dict):
            raise self._refusal(path, "must be a section with keys")
        hints = get_type_hints(kind)
        metadata = {field.name: field.metadata for field in fields(base)}  # type: ignore[arg-type]
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name not in hints:
                self._warn_unknown(path, name, hints)
                continue
            here = (*path, name)
            if is_dataclass(hints[name]):
                values[name] = self.build(getattr(base, name), value, here)
            elif is_mapping(hints[name]):
                values[name] = self._mapping(hints[name], getattr(base, name), value, here)
            else:
                allowed = _allowed_words(name) if kind is BranchSettings else ()
                values[name] = self._value(hints[name], value, here, metadata[name], allowed)
        return replace(base, **values)  # type: ignore[type-var]

    def _value(
        self, hint: Any, value: Any, path: tuple[str, ...], metadata: Mapping[str, Any], allowed: tuple[str, ...]
    ) -> Any:
        if get_origin(hint) is UnionType:
            hint = next(option for option in get_args(hint) if option is not NoneType)
        if get_origin(hint) is Literal:
            return self._word(value, get_args(hint), path)
        if get_origin(hint) is tuple:
            if not isinstance(value, list):
                raise self._refusal(path, 'must be a list of texts, for example ["fact"]')
            return tuple(self._word(item, allowed, path) if allowed else self._text(item, path) for item in value)
        if hint is bool:
            if not isinstance(value, bool):
                raise self._refusal(path, "must be true or false")
            return value
        if hint in (int, float):
            return self._number(hint, value, path, metadata)
        if hint is Secret:
            return self._secret(value, path)
        return self._text(value, path)

    def _number(self, kind: type, value: Any, path: tuple[str, ...], metadata: Mapping[str, Any]) -> Any:
        low, high = metadata["low"], metadata["high"]
        between = f"between {_plain(low)} and {_plain(high)}"
        if kind is int and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._refusal(path, f"must be a whole number {between}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refusal(path, f"must be a number {between}")
        # A comparison that NaN fails, and that an int too large for a float survives.
        if not low <= value <= high:
            raise self._refusal(path, f"must be {'a whole number' if kind is int else 'a number'} {between}")
        return kind(value)

    def _text(self, value: Any, path: tuple[str, ...]) -> str:
        if not isinstance(value, str):
            raise self._refusal(path, 'must be text in "quotes"')
        rule = _TEXT_RULES.get(path[-1])
        if rule is not None and (problem := rule(value)) is not None:
            raise self._refusal(path, problem)
        return str(value)

    def _word(self, value: Any, allowed: tuple[str, ...], path: tuple[str, ...]) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        quoted = [f'"{word}"' for word in allowed]
        listed = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
        hint = _did_you_mean(value, allowed) if isinstance(value, str) else ""
        raise self._refusal(path, f"must be {listed}", hint)

    def _secret(self, value: Any, path: tuple[str, ...]) -> Secret:
        if not isinstance(value, str):
            raise self._refusal(path, 'must be text in "quotes"')
        if (problem := secret_problem(value)) is not None:
            raise self._refusal(path, problem, "Copy the key again.")
        return Secret(value)

    def _mapping(self, hint: Any, base: Mapping[str, Any], data: Any, path: tuple[str, ...]) -> Mapping[str, Any]:
        """A table with free names: its values merged over `base`, new names in front, in the order of the file."""
        if not isinstance(data, dict):
            raise self._refusal(path, "must be a section with keys")
        kind = get_args(hint)[1]
        values: dict[str, Any] = {}
        for name, value in data.items():
            here = (*path, name)
            if isinstance(kind, type) and is_dataclass(kind):
                if not _SECTION_NAME.fullmatch(name):
                    raise self._refusal(
                        here, "is no name for it: letters, digits, _ and -, at most 64", "Rename the section."
                    )
                known: Mapping[str, Any] = {**SHIPPED_AGENTS, **base} if path == ("agents",) else base
                start: Any = known[name] if name in known else kind()
                values[name] = self.build(start, value, here)
            else:
                values[name] = self._text(value, here) if kind is str else self._json(value, here)
        new = {name: value for name, value in values.items() if name not in base}
        return {**new, **{name: values.get(name, value) for name, value in base.items()}}

    def _json(self, value: Any, path: tuple[str, ...], depth: int = 0) -> Any:
        """A value of a request body; everything that JSON can say."""
        if depth > MAX_DEPTH:
            raise self._refusal(path, "is nested too deeply")
        if isinstance(value, dict):
            return {name: self._json(item, path, depth + 1) for name, item in value.items()}
        if isinstance(value, list):
            return [self._json(item, path, depth + 1) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            raise self._refusal(path, "must be a finite number")
        if not isinstance(value, str | int | float):
            raise self._refusal(path, "must be text, a number, true, false, a list or a table")
        return value

    def _refusal(self, path: tuple[str, ...], problem: str, hint: str = "") -> ConfigError:
        return ConfigError(f"{self.origin.describe(path)} {problem}.", hint=hint or _EDIT)

    def _warn_unknown(self, path: tuple[str, ...], name: str, known: Mapping[str, Any]) -> None:
        here = (*path, name)
        hint = _did_you_mean(name, known)
        self.warnings.append(f"{self.origin.describe(here)} is not a setting.{hint and ' ' + hint}")


def _plain(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"


def _did_you_mean(name: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:64], list(known), n=1, cutoff=0.6)
    return f'Did you mean "{close[0]}"?' if close else ""
