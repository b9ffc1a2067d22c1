"""`orca-tui key`: keys in the system's keyring, and where each key comes from. No key is ever printed."""

import os
import sys
from argparse import Namespace

from memory.config import Home
from memory.errors import ConfigError
from memory.settings import load_settings_with_warnings
from memory.settings.schema import secret_problem
from orca_tui.doctor_keys import key_sources
from orca_tui.plain import complain, plain_print, print_json
from orca_tui.settings_file import set_values


def run(arguments: Namespace, home: Home) -> int:
    """Do one of set, remove, list."""
    if arguments.action == "list":
        return _list(arguments, home)
    return _set(arguments, home) if arguments.action == "set" else _remove(arguments, home)


def _list(arguments: Namespace, home: Home) -> int:
    settings, warnings = load_settings_with_warnings(home)
    for warning in warnings:
        complain(warning)
    found = key_sources(settings, os.environ)
    if arguments.json:
        print_json([{"section": source.section, "host": source.host, "source": source.origin} for source in found])
        return 0
    for source in found:
        plain_print(f"{source.section:12} {source.host:28} {source.origin or 'no key'}")
    return 0


def _set(arguments: Namespace, home: Home) -> int:
    """Keep a key in the keyring, and nowhere else: one in the file is taken out of it."""
    from memory.provider.keys import put_into_keyring

    section = arguments.section
    load_settings_with_warnings(home)
    key = _read()
    if not key:
        raise ConfigError("There is no key.", hint=f"Paste it: orca-tui key set {section}")
    if (problem := secret_problem(key)) is not None:
        raise ConfigError(f"The key {problem}.", hint="Copy the key again.")
    entry = arguments.name or section
    put_into_keyring(entry, key)
    set_values(home, {f"{section}.api_key_keyring": entry, f"{section}.api_key": ""})
    sys.stderr.write(f"The key of [{section}] is in the system's keyring now, and not in config.toml.\n")
    return 0


def _remove(arguments: Namespace, home: Home) -> int:
    from memory.provider.keys import remove_from_keyring

    section = arguments.section
    settings, _warnings = load_settings_with_warnings(home)
    entry = arguments.name or getattr(settings, section).api_key_keyring or section
    there = remove_from_keyring(entry)
    if getattr(settings, section).api_key_keyring == entry:
        set_values(home, {f"{section}.api_key_keyring": ""})
    said = "is removed from" if there else "was not in"
    sys.stderr.write(f"The key of [{section}] {said} the system's keyring.\n")
    return 0 if there else 1


def _read() -> str:
    """A key from stdin; not echoed when it is typed."""
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("Key: ").strip()
    return sys.stdin.read(10_000).strip()
