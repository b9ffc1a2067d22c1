"""`orca-tui memory`: list and search what orca remembers; the other actions are in modules of their own."""

import asyncio
from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from memory.config import Home, Settings
from memory.errors import OrcaError
from memory.settings import load_settings
from memory.text import label
from memory.types import Hit
from orca_tui.cli.memory_tools import SNIPPET, print_memories
from orca_tui.cli.stored import embed_what_waits, open_core, open_read
from orca_tui.plain import complain, local_time, plain_print, print_json

if TYPE_CHECKING:
    from memory.core import Core
    from memory.recalling.search_query import Problem

EMBED_WAIT = 20.0
"""Seconds to wait for texts that are not embedded yet before searching without them."""


def run(arguments: Namespace, home: Home) -> int:
    """Do what `arguments.action` says."""
    match arguments.action:
        case "list":
            return _list(arguments, home)
        case "search":
            return asyncio.run(_search(arguments, home, load_settings(home)))
        case "show" | "history" | "inbox" | "stats":
            name = "memory_show"
        case "prune" | "rollback" | "maintain" | "export" | "import":
            name = "memory_bulk"
        case _:
            name = "memory_change"
    code: int = import_module(f"orca_tui.cli.{name}").run(arguments, home)
    return code


def _list(arguments: Namespace, home: Home) -> int:
    status = None if arguments.status == "any" else (arguments.status,)
    with open_read(home) as store:
        memories = store.memories(branches=arguments.branch, status=status, limit=arguments.limit)
    if arguments.json:
        print_json(memories)
        return 0
    print_memories(memories, "Nothing is remembered yet." if arguments.status == "active" else "Nothing found.")
    return 0


async def _search(arguments: Namespace, home: Home, settings: Settings) -> int:
    query = " ".join(arguments.query)
    async with open_core(home, settings) as core:
        told = await _embed_first(core)
        found = await core.searcher.find(query, limit=arguments.limit)
    for problem in found.query.problems:
        complain(search_problem(problem))
    if not (found.by_meaning or told):
        off = settings.embedding.provider == "off"
        complain(f"Found by words only: {'embedding is off' if off else 'the query could not be embedded in time'}.")
    hits = [item.hit for item in found.items]
    if arguments.json:
        print_json(hits)
        return 0
    if not hits:
        plain_print("Nothing found.")
    for item in found.items:
        hit = item.hit
        plain_print(f"{hit.parts.total:.2f}  {local_time(hit.timestamp)}  {_origin(hit)}")
        plain_print(f"      {label(item.snippet.text, SNIPPET)}")
    return 0


def search_problem(problem: "Problem") -> str:
    """A filter that was not understood, as a sentence."""
    if not problem.allowed:
        return f"{label(problem.value, 40)!r} is no time: write 2026-11-01, 2026-11, today, 3d or 2w."
    if problem.value_is_free:
        what = f"no filter {label(problem.name, 20)!r}"
    else:
        what = f"no {label(problem.name, 20)} {label(problem.value, 40)!r}"
    return f"There is {what}; it is searched as words. Known: {', '.join(problem.allowed)}."


async def _embed_first(core: "Core") -> bool:
    """What is not embedded is found by its words only: let the queue work for a while.

    Tells whether it has said on stderr that there are no vectors at all.
    """
    try:
        _, problem = await embed_what_waits(core, EMBED_WAIT)
    except TimeoutError:
        complain(f"{core.queue.waiting} texts are not embedded yet; they are found by their words only.")
        return False
    except OrcaError as error:
        complain(f"Searching by words only: {error}", error.hint)
        return True
    if problem:
        complain(f"Searching by words only: {problem}")
    return bool(problem)


def _origin(hit: Hit) -> str:
    if hit.kind == "long_term":
        return f"memory {hit.id} · {label(hit.branch or '', 64)}"
    kind = "summary" if hit.kind == "short_term" else f"{hit.role or 'message'}"
    return f"{kind} · session {hit.session_id[:8]}" if hit.session_id else kind
