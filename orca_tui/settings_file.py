"""Writes `config.toml`: only the keys that change, so that comments, order and spacing survive. The one tomlkit user.

A change is checked before anything is written, and the file is replaced in one step: it is the old one or the new
one, never half of one. A file that does not parse, or that somebody else changes meanwhile, is never written over:
what others changed stays, and a key that both changed is told (`ChangedMeanwhile`).
"""

import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from memory.config import Home, Secret, Settings
from memory.errors import ConfigError, OrcaError
from memory.settings import parse_text
from memory.settings.schema import Checker, find_type, is_mapping
from memory.settings.source import decode, key_name, parse_toml, read_source
from memory.text import label

ATTEMPTS = 5
"""How often a change is applied anew because another program wrote the file meanwhile."""

KeyPath = tuple[str, ...]
"""A key by the names of its sections and its own."""
REMOVE = None
"""In place of a value: take the key (or the section) out of the file, so that the default holds."""
MISSING: Any = type("Missing", (), {"__repr__": lambda _self: "MISSING"})()
"""What a key that the file does not have is said to hold."""

_BOM = b"\xef\xbb\xbf"


class ChangedMeanwhile(OrcaError):
    """Somebody else changed the same key since it was read; nothing was written."""

    title = "Configuration"

    def __init__(self, path: KeyPath, now: Any) -> None:
        """`now`: what the file holds for the key at present; `MISSING` when it does not have it."""
        super().__init__(f"{key_name(path)} was changed in the file meanwhile.", hint="Look at it, then choose.")
        self.path, self.now = path, now


def get_value(settings: Settings, dotted_key: str) -> Any:
    """The value of a key, a section's dataclass or a table. Raises `ConfigError` when there is no such key."""
    path = split_key(dotted_key)
    find_type(path)
    value: Any = settings
    for name in path:
        if isinstance(value, dict):
            if name not in value:
                raise ConfigError(f"{key_name(path)} is not set.", hint=f"orca-tui config set {dotted_key} VALUE")
            value = value[name]
        else:
            value = getattr(value, name)
    return value


def set_value(home: Home, dotted_key: str, value_text: str) -> None:
    """Set one key to what `value_text` says in the key's type. Raises `ConfigError`; then the file is as it was."""
    set_values(home, {dotted_key: value_text})


def set_values(home: Home, texts: Mapping[str, str]) -> None:
    """Set several keys in one step, each as `set_value` does: all of them or, when it raises `ConfigError`, none."""
    change(home, {split_key(dotted_key): text for dotted_key, text in texts.items()})


def change(home: Home, texts: Mapping[KeyPath, str | None], seen: Mapping[str, Any] | None = None) -> None:
    """Set (or `REMOVE`) several keys in one step, all or none; the rest of the file stays as others left it.

    `seen` is what `read_data` gave when the user last looked. Raises `ChangedMeanwhile` when one of the keys has
    another value since, `ConfigError` when a value is not allowed or the file cannot be written.
    """
    values: dict[KeyPath, Any] = {}
    for path, text in texts.items():
        if text is REMOVE:
            find_type(path)
            values[path] = MISSING
        else:
            values[path] = _read_value(path, text)
            Checker(_Given()).build(Settings(), _nested(path, values[path]))
    if not values:
        return
    try:
        home.ensure()
        target = home.config.resolve()
        for _attempt in range(ATTEMPTS):
            before = target.read_bytes() if read_source(target) is not None else None
            if seen is not None:
                _compare(values, seen, read_data(home))
            after = _edited(before, values, home.config)
            if after == before or _replace(target, before, after):
                return
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            f"{label(str(home.config))} cannot be written: {reason}.", hint="Check the directory and the free space."
        ) from error
    raise ConfigError(f"{label(str(home.config))} was changed by another program at the same time.", hint="Try again.")


def read_data(home: Home) -> dict[str, Any]:
    """What the file says, as nested dicts; empty when there is none. Raises `ConfigError`."""
    source = read_source(home.config)
    return {} if source is None else parse_toml(source)


def value_in(data: Mapping[str, Any], path: KeyPath) -> Any:
    """What `data` holds for a key; `MISSING` when it does not have it."""
    found: Any = data
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return MISSING
        found = found[name]
    return found


def _compare(values: Mapping[KeyPath, Any], seen: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise `ChangedMeanwhile` for the first key that somebody else gave another value than the one to be written."""
    for path, value in values.items():
        present = value_in(now, path)
        if present != value_in(seen, path) and present != value:
            raise ChangedMeanwhile(path, present)


def is_secret(dotted_key: str) -> bool:
    """Whether a key holds a secret. Raises `ConfigError` when there is no such key."""
    return find_type(split_key(dotted_key)) is Secret


def split_key(dotted_key: str) -> tuple[str, ...]:
    """`memory.branches.work.types` as a path; below `[keys]` a dot belongs to the name."""
    first, dot, rest = dotted_key.partition(".")
    if first == "keys" and dot:
        return first, rest
    return tuple(dotted_key.split("."))


class _Given:
    """The origin of a value that is to be set."""

    def describe(self, path: tuple[str, ...]) -> str:
        return key_name(path)


def _read_value(path: tuple[str, ...], text: str) -> Any:
    """`text` as the TOML value that the key takes. What does not fit the type stays text and is refused later."""
    hint = find_type(path)
    if hint in (str, Secret) or get_origin(hint) is Literal:
        return text
    if float in get_args(hint):
        hint = float
    if hint is bool:
        return {"true": True, "false": False}.get(text, text)
    if hint in (int, float):
        number = re.fullmatch(r"[+-]?\d{1,20}", text)
        if number is not None:
            return int(text)
        with suppress(ValueError):
            return float(text)
        return text
    if hint is Any or get_origin(hint) is tuple:
        try:
            return tomllib.loads(f"x = {text}")["x"]
        except (ValueError, RecursionError):
            return text if hint is Any else [part.strip() for part in text.split(",") if part.strip()]
    kind = "a table" if is_mapping(hint) else "a section"
    raise ConfigError(f"{key_name(path)} is {kind}, not a key.", hint=f"Name a key in it: {'.'.join(path)}.NAME")


def _nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for name in reversed(path):
        value = {name: value}
    return dict(value)


def _edited(before: bytes | None, values: Mapping[KeyPath, Any], config: Path) -> bytes:
    """The file with these keys changed, checked as a whole. The mark and line ends of the old file are kept."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    from orca_tui.settings_template import TEMPLATE

    old = TEMPLATE if before is None else decode(before, str(config))
    windows = "\r\n" in old
    parse_text(old, source=str(config))
    try:
        document = tomlkit.parse(old.replace("\r\n", "\n"))
        for path, value in values.items():
            if value is MISSING:
                _remove(document, path)
            else:
                _put(document, path, value)
        new = tomlkit.dumps(document)
    except (TOMLKitError, RecursionError, ValueError) as error:
        raise ConfigError(
            f"{label(str(config))} cannot be edited: {label(str(error))}.", hint="Change the key with an editor."
        ) from error
    parse_text(new, source=str(config))
    content = (new.replace("\n", "\r\n") if windows else new).encode()
    return _BOM + content if before is not None and before.startswith(_BOM) else content


def _put(document: Any, path: KeyPath, value: Any) -> None:
    import tomlkit

    table = document
    for depth, name in enumerate(path[:-1], start=1):
        if name not in table:
            table[name] = tomlkit.table(is_super_table=depth < len(path) - 1)
        table = table[name]
    table[path[-1]] = value


def _remove(document: Any, path: KeyPath) -> None:
    table = document
    for name in path[:-1]:
        if name not in table:
            return
        table = table[name]
    if path[-1] in table:
        del table[path[-1]]


def _replace(target: Path, before: bytes | None, after: bytes) -> bool:
    """Write `after` beside the file, safely on disk, and swap; false when the file is no longer `before`."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        if (target.read_bytes() if target.exists() else None) != before:
            return False
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_directory(target.parent)
    return True


def _sync_directory(directory: Path) -> None:
    """Make the swap itself durable, where directories can be synced."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
