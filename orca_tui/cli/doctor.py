"""`orca-tui doctor`: what works here, and what to do about what does not."""

import asyncio
from argparse import Namespace

from memory.config import Home
from orca_tui.doctor import examine
from orca_tui.plain import plain_print, print_json


def run(arguments: Namespace, home: Home) -> int:
    """Print the examination; 1 when something fails."""
    found = asyncio.run(examine(home))
    if arguments.json:
        print_json({"ok": found.ok, "checks": found.rows})
    else:
        for line in found.lines():
            plain_print(line)
    return 0 if found.ok else 1
