"""Reads `config.toml` and the environment into `memory.config.Settings`.

A mistake raises `ConfigError` that names file, line and key, what is allowed, and never a value. What can be lived
with (an unknown key, a key in a file that others can read, a variable that is not set) is a warning.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from memory.config import Home, LLMSettings, Secret, Settings, SiliconFlowSettings
from memory.errors import ConfigError
from memory.settings.schema import Checker
from memory.settings.source import Source, parse_toml, read_source
from memory.settings.tool_checks import tool_warnings, without_commands
from memory.text import label

SILICONFLOW_KEY = "SILICONFLOW_API_KEY"
OVERRIDES: Mapping[str, str] = {
    "ORCA_PROVIDER": "provider",
    "ORCA_BASE_URL": "base_url",
    "ORCA_MODEL": "model",
    "ORCA_API_KEY": "api_key",
}
"""Environment variables that win over a key of `[llm]`."""

_SECTIONS_WITH_KEYS = ("llm", "siliconflow", "embedding")

Keyed = TypeVar("Keyed", LLMSettings, SiliconFlowSettings)


def load_settings(home: Home, env: Mapping[str, str] | None = None) -> Settings:
    """The settings of a home; defaults when it has no file. Raises `ConfigError`."""
    return load_settings_with_warnings(home, env)[0]


def load_settings_with_warnings(home: Home, env: Mapping[str, str] | None = None) -> tuple[Settings, list[str]]:
    """Like `load_settings`, with what the user should know: whole sentences, cleaned."""
    source = read_source(home.config)
    if source is None:
        source = Source(str(home.config))
        return _check({}, source, env)
    return _check(parse_toml(source), source, env)


def parse_settings(
    data: dict[str, Any], *, source: str, text: str = "", env: Mapping[str, str] | None = None
) -> Settings:
    """Check parsed TOML. `source` and `text` (what `data` was parsed from) are for messages. Raises `ConfigError`."""
    return _check(data, Source(source, text), env)[0]


def parse_text(text: str, *, source: str) -> Settings:
    """Check a settings text by itself, without the environment. Raises `ConfigError`."""
    here = Source(source, text)
    return _check(parse_toml(here), here, {})[0]


def _check(data: dict[str, Any], source: Source, env: Mapping[str, str] | None) -> tuple[Settings, list[str]]:
    env = os.environ if env is None else env
    checker = Checker(source)
    settings = checker.build(Settings(), data)
    _check_shares(settings, source)
    warnings = checker.warnings
    if not source.private:
        settings = _without_exposed_keys(settings, source, warnings)
    if not source.guarded:
        settings = _without_commands(settings, source, warnings)
        settings = without_commands(settings, source, warnings)
    warnings += tool_warnings(settings, source)
    settings = _with_environment(settings, env)
    warnings += [*_unset_variables(settings, env)]
    return settings, warnings


def _check_shares(settings: Settings, source: Source) -> None:
    memory = settings.memory
    total = memory.working_share + memory.short_term_share + memory.long_term_share
    if total > 1 + 1e-9:
        raise ConfigError(
            f"{source.at('memory')}: [memory] working_share, short_term_share and long_term_share are "
            f"{total:.2f} together; they must not be more than 1.",
            hint="Lower one of the three. A share that is not written has its default: 0.5, 0.3 and 0.2.",
        )


def _without_exposed_keys(settings: Settings, source: Source, warnings: list[str]) -> Settings:
    """A key that other users of the machine can read is not used."""
    for section in _SECTIONS_WITH_KEYS:
        part = getattr(settings, section)
        if part.api_key:
            settings = replace(settings, **{section: replace(part, api_key=Secret(""))})
            shown = label(source.name)
            warnings.append(
                f"{source.at(section, 'api_key')}: other users can read this file, so [{section}] api_key is not used. "
                f"Run: chmod 600 {shown}"
            )
    return settings


def _without_commands(settings: Settings, source: Source, warnings: list[str]) -> Settings:
    """What other users of the machine can write is not run."""
    for section in _SECTIONS_WITH_KEYS:
        part = getattr(settings, section)
        if part.api_key_command:
            settings = replace(settings, **{section: replace(part, api_key_command="")})
            warnings.append(
                f"{source.at(section, 'api_key_command')}: other users can write this file, so [{section}] "
                f"api_key_command is not run. Run: chmod 600 {label(source.name)}"
            )
    return settings


def _with_environment(settings: Settings, env: Mapping[str, str]) -> Settings:
    data: dict[str, Any] = {}
    if key := env.get(SILICONFLOW_KEY, "").strip():
        data["siliconflow"] = {"api_key": key}
    given = {field: value for name, field in OVERRIDES.items() if (value := env.get(name, "").strip())}
    settings = Checker(_Environment()).build(settings, data | ({"llm": given} if given else {}))
    llm, siliconflow = settings.llm, settings.siliconflow
    if "api_key" in given:
        llm = replace(_keyed(llm, "ORCA_API_KEY"), api_key_env="")
    if key:
        siliconflow = _keyed(siliconflow, SILICONFLOW_KEY)
    if "base_url" in given and "provider" not in given and llm.provider in ("local", "demo"):
        llm = replace(llm, provider="auto")
    return replace(settings, llm=llm, siliconflow=siliconflow)


def _keyed(section: Keyed, variable: str) -> Keyed:
    """A section whose key came from a variable: its other sources do not count."""
    key = Secret(section.api_key.reveal(), f"the variable {variable}")
    return replace(section, api_key=key, api_key_command="", api_key_keyring="")


def _unset_variables(settings: Settings, env: Mapping[str, str]) -> list[str]:
    found = []
    for section in ("llm", "embedding"):
        name = getattr(settings, section).api_key_env
        if name and not env.get(name):
            # Anything but a usual name may be the key itself, put in the wrong place.
            shown = name if re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", name) else "the variable that api_key_env names"
            found.append(f"[{section}] reads its key from {shown}, which is not set.")
    return found


class _Environment:
    """The origin of values that variables give."""

    def describe(self, path: tuple[str, ...]) -> str:
        name = next((name for name, field in OVERRIDES.items() if path == ("llm", field)), SILICONFLOW_KEY)
        return f"The environment variable {name}"
