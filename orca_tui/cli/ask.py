"""`orca-tui ask`: one turn, streamed to stdout; works in pipes. Ctrl+C stops it and keeps what had arrived."""

import asyncio
import re
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from memory.config import Home, Settings
from memory.errors import ConfigError
from memory.events import (
    Noticed,
    TextDelta,
    ToolsAsked,
    ToolStarted,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    Waiting,
)
from memory.settings import load_settings_with_warnings
from memory.text import label
from orca_tui.cli.approving import asking_on_terminal
from orca_tui.cli.stored import open_core
from orca_tui.plain import PlainWriter, complain, print_json, to_plain

if TYPE_CHECKING:
    from memory.core import Core
    from memory.engine import Turn
    from memory.types import Session

SERVER_WAIT = 30.0
"""Seconds to wait for MCP servers: there is no later turn that could offer their tools."""
MAX_BYTES = 5_000_000
"""Largest question that is taken."""
ENDINGS = {
    "length": ("The reply was cut at its greatest length.", "Raise llm.max_tokens, or ask to go on."),
    "content_filter": ("The server's content filter ended the reply.", "Ask in other words, or ask another model."),
    "tool_calls": ("The model also asked for a tool, and none was offered to it.", ""),
}
"""What is said about a reply that is not simply whole, by its finish reason."""
TITLE_LENGTH = 60
"""Characters of the question that become the title of a new session."""


def run(arguments: Namespace, home: Home) -> int:
    """Ask once; 0 answered, 1 failed, 130 (or 128 + signal) stopped."""
    text = _question(arguments.text)
    piped = [text] if not arguments.text or arguments.text == ["-"] else []
    settings, warnings = load_settings_with_warnings(home)
    for warning in warnings:
        complain(warning)
    if arguments.model:
        settings = replace(settings, llm=replace(settings.llm, model=arguments.model))
    return asyncio.run(_ask(arguments, home, settings, text, piped))


def _question(words: list[str]) -> str:
    """What was written, else what comes through stdin. Raises `ConfigError` when there is nothing, or too much."""
    text = " ".join(words)
    if not words or words == ["-"]:
        if sys.stdin is None or (not words and sys.stdin.isatty()):
            raise ConfigError("There is nothing to ask.", hint='Write it (orca-tui ask "…") or pipe it in.')
        raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ConfigError(f"The text is larger than {MAX_BYTES // 1_000_000} MB.", hint="Ask about a part of it.")
        text = raw.decode("utf-8", errors="replace")
    if not text.strip():
        raise ConfigError("There is nothing to ask: the text is empty.", hint='Write it: orca-tui ask "…"')
    return text.strip("\n")


async def _ask(arguments: Namespace, home: Home, settings: Settings, text: str, piped: Sequence[str]) -> int:
    """`piped` is what nobody typed: it becomes no memory without review."""
    output = JsonLines() if arguments.json else PlainReply()
    async with open_core(home, settings) as core:
        session = await _session(core, arguments.session, text)
        core.equipment.servers.start_wait = SERVER_WAIT
        turn = core.engine.start(session.id, text, use_memory=not arguments.no_memory, pasted=piped)
        broken = False
        with _stopped_by_signals(turn) as caught, asking_on_terminal(core, home):
            async for event in turn:
                if broken:
                    continue
                try:
                    output.show(event)
                except BrokenPipeError:
                    # Nobody reads any more: end the turn, keep what arrived.
                    broken = True
                    turn.stop()
    if core.unsaved:
        complain("The reply was not stored.", "What was printed is all there is of it. Make room before you go on.")
    if broken:
        raise BrokenPipeError
    if sys.stderr.isatty() and not arguments.json:
        sys.stderr.write(f"(session {session.id[:8]})\n")
    return 128 + caught[0] if caught else output.code


async def _session(core: "Core", wanted: str | None, text: str) -> "Session":
    if wanted:
        return await asyncio.to_thread(core.store.find_session, wanted)
    from memory.writing.secrets import masked

    title = label(masked(text), TITLE_LENGTH)
    return await asyncio.to_thread(core.store.create_session, scope=core.manager.default_scope, title=title)


@contextmanager
def _stopped_by_signals(turn: "Turn") -> Iterator[list[int]]:
    """Signals end the turn the clean way; the list holds those that came."""
    loop, caught = asyncio.get_running_loop(), list[int]()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handled = []

    def stop(number: int) -> None:
        caught.append(number)
        turn.stop()

    for number in (getattr(signal, name) for name in names):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop, int(number))
            handled.append(number)
    try:
        yield caught
    finally:
        turn.stop()
        for number in handled:
            loop.remove_signal_handler(number)


class PlainReply:
    """The reply's text to stdout, all else to stderr."""

    def __init__(self) -> None:
        self.code = 0
        self._writer = PlainWriter()
        self._last = ""

    def show(self, event: TurnEvent) -> None:
        """Print what a reader of plain text wants of `event`."""
        match event:
            case TextDelta(text=text):
                self._writer.write(text)
                self._last = text[-1:] or self._last
            case ToolsAsked() if self._last not in ("", "\n"):
                self._writer.write("\n\n")
                self._last = "\n"
            case ToolStarted(name=name) if sys.stderr.isatty():
                complain(f"uses {label(name, 80)}")
            case Noticed(text=told, name=name):
                complain(told.format(name=label(name, 80)))
            case Waiting(seconds=seconds, reason=reason):
                complain(f"{reason} Trying again in {seconds:.0f} s.")
            case TurnFinished(finish_reason=reason):
                self._end()
                if reason in ENDINGS:
                    complain(*ENDINGS[reason])
            case TurnFailed(error=error):
                self._end()
                complain(error)
                self.code = 1
            case _:
                pass

    def _end(self) -> None:
        self._writer.close()
        if self._last and self._last != "\n":
            sys.stdout.write("\n")
        sys.stdout.flush()


class JsonLines:
    """Every event as one line of JSON; `event` holds its name."""

    def __init__(self) -> None:
        self.code = 0

    def show(self, event: TurnEvent) -> None:
        """Print one event."""
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
        print_json({"event": name, **to_plain(event)}, indent=None)
        sys.stdout.flush()
        if isinstance(event, TurnFailed):
            self.code = 1
