"""`orca-tui memory show|history|inbox|stats`: what there is, and where it comes from."""

from argparse import Namespace
from typing import TYPE_CHECKING

from memory.config import Home
from memory.errors import NotFoundError
from memory.text import label
from memory.types import LongTermMemory, Message
from orca_tui.cli.memory_tools import SNIPPET, open_curator
from orca_tui.journal_lines import changed_fields
from orca_tui.plain import local_time, plain_print, print_json

if TYPE_CHECKING:
    from memory.curation.curator import Curator
    from memory.curation.overview import Overview


def run(arguments: Namespace, home: Home) -> int:
    """Do one of show, history, inbox, stats."""
    with open_curator(home) as curator:
        match arguments.action:
            case "show":
                _show(curator, arguments)
            case "history":
                _history(curator, arguments)
            case "inbox":
                _inbox(curator, arguments)
            case _:
                _stats(curator, arguments)
    return 0


def _show(curator: "Curator", arguments: Namespace) -> None:
    row = curator.store.memory(arguments.id)
    source = source_of(curator, row)
    if arguments.json:
        print_json({"memory": row, "source": source})
        return
    plain_print(row.content)
    plain_print()
    facts: dict[str, object] = {
        "id": row.id,
        "type": row.memory_type,
        "branch": row.branch,
        "status": f"{row.status}{', pinned' if row.pinned else ''}",
        "from": f"{row.source}{f', session {row.source_session[:8]}' if row.source_session else ''}",
        "project": row.project,
        "topic": row.topic_key,
        "version": f"{row.version}{f', replaces {row.supersedes}' if row.supersedes else ''}",
        "merged from": ", ".join(map(str, row.merged_from)),
        "importance": f"{row.importance:.2f}",
        "confidence": f"{row.confidence:.2f}",
        "recalled": f"{row.access_count}×{f', last {local_time(row.last_accessed)}' if row.last_accessed else ''}",
        "written": local_time(row.created_at),
        "changed": local_time(row.updated_at),
        "expires": local_time(row.expires_at) if row.expires_at else "never",
    }
    for name, value in facts.items():
        if value not in (None, ""):
            plain_print(f"{name:12} {label(str(value), 200)}")
    if source is not None:
        plain_print(f"{'source':12} {source.role}, {local_time(source.timestamp)}: {label(source.content, SNIPPET)}")


def source_of(curator: "Curator", row: LongTermMemory) -> Message | None:
    """The message that a memory was taken from; `None` when there is none any more."""
    if row.source_message_id is None:
        return None
    try:
        return curator.store.message(row.source_message_id)
    except NotFoundError:
        return None


def _history(curator: "Curator", arguments: Namespace) -> None:
    events = curator.history.of("long_term", arguments.id, limit=arguments.limit)
    if arguments.json:
        print_json(events)
        return
    for event in events:
        reason = f"  ({label(event.reason, 120)})" if event.reason else ""
        plain_print(f"{event.id}  {local_time(event.timestamp)}  {event.action} by {label(event.actor, 40)}{reason}")
        for line in changed_fields(event):
            plain_print(f"      {line}")


def _inbox(curator: "Curator", arguments: Namespace) -> None:
    rows = curator.inbox(limit=arguments.limit)
    if arguments.json:
        print_json([{"memory": row, "source": source_of(curator, row), "reason": _why(curator, row)} for row in rows])
        return
    if not rows:
        plain_print("Nothing waits for review.")
    for row in rows:
        plain_print(f"{row.id}  {local_time(row.created_at)}  from {row.source} · {_why(curator, row)}")
        for line in row.content.splitlines():
            plain_print(f"    {line}")
        source = source_of(curator, row)
        if source is not None:
            plain_print(f"    ← {source.role}, session {source.session_id[:8]}: {label(source.content, 120)}")


def _why(curator: "Curator", row: LongTermMemory) -> str:
    events = curator.store.journal(kind="long_term", item_id=row.id, limit=1000)
    return label(events[-1].reason, 200) if events else ""


def _stats(curator: "Curator", arguments: Namespace) -> None:
    from memory.curation.overview import overview

    seen = overview(curator)
    if arguments.json:
        print_json(seen)
        return
    for name, value in _lines(seen):
        plain_print(f"{name:18} {value}")
    for dropped in seen.dropped:
        plain_print(f"{'dropped':18} {dropped.count}× {dropped.what}: {label(dropped.reason, 200)}")
    for limit in seen.limits:
        plain_print(f"{'note':18} {label(limit, 400)}")


def _lines(seen: "Overview") -> list[tuple[str, str]]:
    lines = [("messages", str(seen.tiers["working"])), ("summaries", str(seen.tiers["short_term"]))]
    lines += [(f"memories, {status}", str(count)) for status, count in sorted(seen.status.items())]
    lines += [
        (label(branch, 40), f"{count}  ({seen.tokens.get(branch, 0)} tokens)")
        for branch, count in sorted(seen.branches.items())
    ]
    lines.append(("tokens", str(seen.tokens["total"])))
    model = f"{seen.embedding_model} ({seen.embedding_width} wide)" if seen.embedding_model else "none yet"
    lines += [("embedded by", label(model, 100)), ("waiting", f"{seen.waiting} without a vector")]
    run = seen.last_run
    if run is None:
        lines.append(("last upkeep", "never"))
    else:
        did = ", ".join(f"{name} {count}" for name, count in run.counts.items())
        lines.append(("last upkeep", f"{local_time(run.ended_at)} by {run.started_by}: {did}"))
    return [*lines, ("size", f"{seen.bytes / 1_000_000:.1f} MB ({seen.backend})")]
