"""The interface language: English source strings are the keys, `i18n_zh` holds the Chinese.

`_("{n} waiting", n=3)` looks the source up and fills in the named values. A string without a translation is shown in
English. Numbers that need another wording have strings of their own (`_("1 message")`, `_("{n} messages", n=n)`).
Values are put in as they are: foreign text is cleaned by the caller.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Literal

Language = Literal["en", "zh"]
LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

_current: Language = "en"


def _(text: str, /, **values: object) -> str:
    """`text` in the interface language, with `{name}` replaced by the value of that name."""
    found = text if _current == "en" else _translations(_current).get(text, text)
    return found.format(**values) if values else found


def set_language(choice: Literal["auto", "en", "zh"], env: Mapping[str, str] | None = None) -> Language:
    """Choose the language; `auto` takes it from the locale in `env` (default: the process's). Tells what was chosen."""
    global _current
    _current = _from_locale(os.environ if env is None else env) if choice == "auto" else choice
    return _current


def language() -> Language:
    """The language that strings are shown in."""
    return _current


def _from_locale(env: Mapping[str, str]) -> Language:
    """The first locale variable that is set decides, as in POSIX."""
    locale = next((env[name] for name in LOCALE_VARIABLES if env.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


@lru_cache(maxsize=2)
def _translations(chosen: Language) -> Mapping[str, str]:
    """The table of `chosen`, loaded on first use: an English screen never reads it."""
    table: Mapping[str, str] = import_module(f"orca_tui.i18n_{chosen}").TEXTS
    return table
