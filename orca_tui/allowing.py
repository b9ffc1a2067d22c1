"""Writes what the user allows for always into the settings: `[tools] allow`."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from memory.config import Home
from orca_tui.settings_file import read_data, set_value, value_in

ALLOW = ("tools", "allow")


def remember_for(home: Home) -> Callable[[str], Awaitable[None]]:
    """What a gate's `remember` is: it adds an entry to the file of this home. Raises `ConfigError`."""

    async def remember(entry: str) -> None:
        await asyncio.to_thread(allow, home, entry)

    return remember


def allow(home: Home, entry: str) -> None:
    """Add one entry, `tool` or `tool:target`. Blocks. Raises `ConfigError`; then the file is as it was."""
    found = value_in(read_data(home), ALLOW)
    entries = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if entry not in entries:
        set_value(home, ".".join(ALLOW), json.dumps([*entries, entry], ensure_ascii=False))
