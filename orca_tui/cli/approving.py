"""Asks on the terminal before a tool runs. In a pipe nobody can be asked, and the gate denies."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memory.config import Home
from memory.text import clean, label
from memory.tools.base import Decision, PermissionRequest
from orca_tui.allowing import remember_for

if TYPE_CHECKING:
    from memory.core import Core

SHOWN = 4_000
"""Characters of a call that are shown; of a longer one both ends."""
WORDS: dict[Decision, str] = {
    "once": "[o]nce",
    "session": "for the [s]ession",
    "always": "[a]lways",
    "deny": "[d]eny",
}


@contextmanager
def asking_on_terminal(core: "Core", home: Home) -> Iterator[None]:
    """While the block runs, the gate asks on stderr and reads from stdin, when both are a terminal."""
    gate = core.equipment.gate
    if os.name == "posix" and sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        gate.approver, gate.remember = ask, remember_for(home)
    try:
        yield
    finally:
        gate.approver = gate.remember = None


async def ask(request: PermissionRequest) -> Decision:
    """One question; an answer that is none is no. Cancelling leaves nothing that waits for the terminal."""
    sys.stderr.write(f"\n{shown(request)}\n{' / '.join(WORDS[each] for each in request.choices)}? ")
    sys.stderr.flush()
    try:
        answer = (await _line()).strip().lower()
    except asyncio.CancelledError:
        sys.stderr.write("\n")
        raise
    found: Decision = next((each for each in request.choices if answer and each.startswith(answer)), "deny")
    return found


def shown(request: PermissionRequest) -> str:
    """The question as text: who asks for what, why, and the whole call, cleaned."""
    who = f"The agent {label(request.agent, 64)}" if request.agent else "The model"
    target = f" on {label(request.target, 300)}" if request.target else ""
    call = request.arguments
    if len(call) > SHOWN:
        hidden = len(call) - SHOWN
        call = f"{call[: SHOWN // 2]}\n[… {hidden} characters …]\n{call[-SHOWN // 2 :]}"
    reasons = label(f"{request.reason} {request.also}", 500)
    return f"{who} wants to use {label(request.tool, 80)}{target}. {reasons}\n{clean(call)}"


async def _line() -> str:
    """What is typed up to Enter, without a thread that could not be ended."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    descriptor, found = sys.stdin.fileno(), bytearray()

    def read() -> None:
        piece = os.read(descriptor, 1024)
        found.extend(piece)
        if not piece or b"\n" in piece:
            done.set()

    loop.add_reader(descriptor, read)
    try:
        await done.wait()
    finally:
        loop.remove_reader(descriptor)
    return found.decode(errors="replace").partition("\n")[0]
