"""`orca-tui memory prune|rollback|maintain|export|import`: what touches much at once, shown before it is done."""

import asyncio
import sys
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory.clock import SystemClock
from memory.config import Home
from memory.errors import ConfigError, OrcaError
from memory.settings import load_settings
from memory.text import label
from orca_tui.cli.memory_change import tell_taken_back
from orca_tui.cli.memory_tools import SNIPPET, given_time, may_go_on, open_curator
from orca_tui.cli.stored import embed_what_waits, open_core
from orca_tui.plain import complain, plain_print, print_json

if TYPE_CHECKING:
    from memory.curation.curator import Curator
    from memory.curation.prune import Criterion, PrunePlan
    from memory.store.upkeep_log import MaintenanceRun

FAILED = 1


def run(arguments: Namespace, home: Home) -> int:
    """Do one of prune, rollback, maintain, export, import."""
    match arguments.action:
        case "maintain":
            return asyncio.run(_maintain(arguments, home))
        case "import":
            return _import(arguments, home)
    with open_curator(home) as curator:
        match arguments.action:
            case "prune":
                return _prune(curator, arguments)
            case "rollback":
                return _rollback(curator, arguments)
            case _:
                return _export(curator, arguments, home)


def _prune(curator: "Curator", arguments: Namespace) -> int:
    plan = _plan(curator, arguments)
    if not arguments.json:
        for item in plan.items:
            plain_print(f"{item.memory.id}  {item.tokens} tokens · {label(item.memory.branch, 64)} · {item.why}")
            plain_print(f"    {label(item.memory.content, SNIPPET)}")
        verb = "archive" if plan.action == "archive" else "throw away"
        plain_print(f"This would {verb} {len(plan.items)} memories and free {plan.tokens} tokens.")
    done = bool(plan.items) and may_go_on(arguments, "Do it?")
    changed = curator.apply(plan) if done else []
    if arguments.json:
        items = [{"id": i.memory.id, "content": i.memory.content, "tokens": i.tokens, "why": i.why} for i in plan.items]
        print_json({"done": done, "action": plan.action, "tokens": plan.tokens, "items": items})
    elif done:
        plain_print(f"Done: {len(changed)} memories. `orca-tui memory undo` takes it back.")
    return 0


def _plan(curator: "Curator", arguments: Namespace) -> "PrunePlan":
    criterion: Criterion
    if arguments.all:
        if not arguments.branch:
            raise ConfigError("--all takes a whole branch.", hint="Name it: --branch NAME")
        criterion = "branch"
    elif arguments.older_than is not None:
        criterion = "older_than"
    elif arguments.ids:
        criterion = "ids"
    else:
        criterion = "expired" if arguments.expired else "cold" if arguments.cold else "duplicates"
    return curator.plan_prune(
        criterion,
        branch=arguments.branch,
        older_than_days=arguments.older_than or 0.0,
        ids=arguments.ids or (),
        action="trash" if arguments.trash else "archive",
    )


def _rollback(curator: "Curator", arguments: Namespace) -> int:
    since = given_time(arguments.time)
    until = given_time(arguments.until, end=True) if arguments.until else None
    scope = None
    if arguments.project is not None:
        scope = replace(curator.default_scope, project=arguments.project or None)
    planned = curator.history.rollback(since, until=until, branch=arguments.branch, scope=scope, dry_run=True)
    if not arguments.json:
        tell_taken_back(arguments, planned)
        plain_print(f"This would put back {len(planned)}." if planned else "Nothing has changed since then.")
    done = bool(planned) and may_go_on(arguments, "Do it?")
    if done:
        planned = curator.history.rollback(since, until=until, branch=arguments.branch, scope=scope)
    if arguments.json:
        print_json({"done": done, "since": since, "until": until, "items": planned})
    elif done:
        plain_print("Done. `orca-tui memory undo` takes it back.")
    return 0


async def _maintain(arguments: Namespace, home: Home) -> int:
    from memory.curation.upkeep import Upkeep, waiting

    async with open_core(home, load_settings(home)) as core:
        problem, before = "", {"embedded": 0}
        try:
            before["embedded"], problem = await embed_what_waits(core)
        except OrcaError as error:
            problem = str(error)
        problem = problem and f"embedded: {problem}"
        upkeep = Upkeep(core.curator, core.clock)
        work = partial(upkeep.run, started_by="command", before=before, problem=problem)
        run: MaintenanceRun = await asyncio.to_thread(work)
        left = await asyncio.to_thread(waiting, core.store)
    if arguments.json:
        print_json({"run": run, "waiting": left})
    else:
        for name, count in run.counts.items():
            plain_print(f"{name.replace('_', ' '):24} {count}")
    if run.problem:
        complain(f"Upkeep had a problem: {run.problem}", "It is tried again with the next run.")
    return FAILED if run.problem else 0


def _export(curator: "Curator", arguments: Namespace, home: Home) -> int:
    from memory.curation.exchange import export_json, export_key, export_markdown

    status = None if arguments.status == "any" else (arguments.status,)
    if arguments.format == "markdown":
        text = export_markdown(curator, status=status)
    else:
        key = export_key(home.root / "export.key")
        text = export_json(curator, key, clock=SystemClock(), status=status, history=arguments.history)
    if arguments.file == "-":
        plain_print(text, end="")
        return 0
    path = Path(arguments.file)
    try:
        with path.open("w" if arguments.force else "x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError as error:
        raise OrcaError(f"{label(str(path))} is there already.", hint="Replace it with --force.") from error
    except OSError as error:
        raise OrcaError(f"{label(str(path))} cannot be written: {error.strerror}.") from error
    if arguments.json:
        print_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        sys.stderr.write(f"Written: {label(str(path))}\n")
    return 0


def _import(arguments: Namespace, home: Home) -> int:
    from memory.curation.exchange import export_key, import_memories

    text = _read(arguments.file)
    settings = load_settings(home)
    with open_curator(home) as curator:
        key = export_key(home.root / "export.key")
        done = import_memories(curator, text, key, clock=SystemClock(), settings=settings.memory)
    if arguments.json:
        print_json(done)
    else:
        where = "as they were: an export of this home" if done.own else "into the inbox: not an export of this home"
        plain_print(f"{len(done.added)} added ({where}), {done.known} known already, {len(done.skipped)} skipped.")
        for reason in done.skipped:
            plain_print(f"    {label(reason, 200)}")
    return 0


def _read(name: str) -> str:
    from memory.curation.exchange import MAX_BYTES

    try:
        if name == "-":
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise OrcaError(f"{label(name)} cannot be read: {error.strerror}.") from error
    if len(raw) > MAX_BYTES:
        raise OrcaError(f"{label(name)} is larger than {MAX_BYTES // 1_000_000} MB.")
    return raw.decode("utf-8", errors="replace").removeprefix("\ufeff")
