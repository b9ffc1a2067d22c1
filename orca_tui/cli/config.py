"""`orca-tui config`: show and change settings. Keys are never printed, and never taken from the command line."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from memory.config import Home, Secret
from memory.errors import ConfigError
from memory.settings import load_settings_with_warnings
from orca_tui.plain import complain, plain_print, print_json
from orca_tui.settings_file import get_value, is_secret, set_value

MAX_VALUE = 100_000
"""Characters of a value that are read from stdin."""


def run(arguments: Namespace, home: Home) -> int:
    """Do one of path, show, get, set."""
    match arguments.action:
        case "path":
            plain_print(str(home.config))
        case "set":
            return _set(arguments, home)
        case action:
            settings, warnings = load_settings_with_warnings(home)
            for warning in warnings:
                complain(warning)
            found = settings if action == "show" else get_value(settings, arguments.key)
            _print(found, arguments)
    return 0


def _print(found: Any, arguments: Namespace) -> None:
    if arguments.json:
        print_json(found)
    elif is_dataclass(found) or isinstance(found, dict):
        prefix = arguments.key.split(".") if arguments.action == "get" else []
        for name, value in _flat(found, prefix):
            plain_print(f"{name} = {_toml(value)}")
    else:
        plain_print(found if isinstance(found, str) else _toml(found))


def _set(arguments: Namespace, home: Home) -> int:
    secret = is_secret(arguments.key)
    value = arguments.value
    if secret and value not in (None, "-"):
        raise ConfigError(
            "A key on the command line is seen by other users and stays in the shell's history; it was not saved.",
            hint=f"Run this and paste it: orca-tui config set {arguments.key} -",
        )
    if value is None and not secret:
        raise ConfigError("There is no value.", hint=f"orca-tui config set {arguments.key} VALUE")
    if value in (None, "-"):
        value = _read(secret)
    set_value(home, arguments.key, value)
    state = "is set" if value else "is empty now"
    sys.stderr.write(f"{arguments.key} {state}.\n")
    return 0


def _read(secret: bool) -> str:
    """One value from stdin; a key is not echoed."""
    if sys.stdin.isatty() and secret:
        from getpass import getpass

        return getpass("Key: ").strip()
    return sys.stdin.read(MAX_VALUE).strip()


def _flat(value: Any, path: list[str]) -> Iterator[tuple[str, Any]]:
    """Every key below a section with its value, dotted."""
    if is_dataclass(value):
        for field in fields(value):
            yield from _flat(getattr(value, field.name), [*path, field.name])
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _flat(item, [*path, name])
    else:
        yield ".".join(path), value


def _toml(value: Any) -> str:
    """A value as it would stand in the file; a secret as whether it is set."""
    if isinstance(value, Secret):
        return '"…"' if value else '""'
    if value is None:
        return "(not set)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, int | float):
        return str(value)
    import json

    return json.dumps(str(value), ensure_ascii=False)
