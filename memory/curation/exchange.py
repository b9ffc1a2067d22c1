"""Memories out of orca and into it: JSON and Markdown.

An export is signed with a key that lies in the home (`export.key`, for its owner only). What comes back with a good
signature is this user's own and gets its status back; all other memories from files wait in the inbox.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args

from memory.branches import expiry, route_branch
from memory.clock import Clock, from_iso, to_iso
from memory.config import MemorySettings
from memory.curation.curator import Curator
from memory.errors import NotFoundError, OrcaError
from memory.text import clean
from memory.types import LongTermMemory, MemoryStatus, MemoryType, Scope
from memory.writing.secrets import secret_kind

FORMAT = "orca-memory"
VERSION = 1
MAX_BYTES = 100_000_000
MAX_CONTENT = 20_000
_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of every memory of a file."""

    added: tuple[int, ...]
    """Ids of the new memories."""
    known: int
    """Were there already, in any status."""
    skipped: tuple[str, ...]
    """Why others could not be taken, one sentence each."""
    own: bool
    """Whether it is an unchanged export of this home: its memories keep their status. Else they are `pending`."""


def export_key(path: Path) -> bytes:
    """The key that signs exports, made at the first call (0600). Raises `OrcaError`."""
    try:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return path.read_bytes()
        with os.fdopen(descriptor, "wb") as file:
            key = secrets.token_bytes(32)
            file.write(key)
    except OSError as error:
        raise OrcaError(f"{path} cannot be used: {error.strerror}.", hint="Exports are signed with it.") from error
    return key


def export_json(
    curator: Curator, key: bytes, *, clock: Clock, status: Sequence[MemoryStatus] | None = None, history: bool = False
) -> str:
    """All memories (or those in `status`) with every field, signed; with `history` every change of them as well."""
    rows = sorted(curator.all(status=status), key=lambda row: row.id)
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": clock.now(),
        "memories": [asdict(row) for row in rows],
    }
    if history:
        events = [e for row in rows for e in curator.store.journal(kind="long_term", item_id=row.id, limit=10_000)]
        document["history"] = [asdict(event) for event in events]
    document["signature"] = _sign(document, key)
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def export_markdown(curator: Curator, *, status: Sequence[MemoryStatus] | None = ("active",)) -> str:
    """Memories as a list by branch, for reading. Texts are cleaned; it cannot be imported as one's own."""
    lines = ["# What orca remembers", ""]
    rows = sorted(curator.all(status=status), key=lambda row: (row.branch, row.id))
    branch = None
    for row in rows:
        if row.branch != branch:
            branch = row.branch
            lines += [*([""] if len(lines) > 2 else []), f"## {clean(branch)}", ""]
        text = clean(row.content).replace("\n", "\n  ")
        facts = [row.memory_type, row.created_at[:10], *(["pinned"] if row.pinned else [])]
        lines.append(f"- {text} *({', '.join(facts)}{'' if row.status == 'active' else ', ' + row.status})*")
    return "\n".join(lines) + "\n"


def import_memories(curator: Curator, text: str, key: bytes, *, clock: Clock, settings: MemorySettings) -> Imported:
    """Take memories from an export in JSON, or from a Markdown list. A second time adds nothing.

    Raises `OrcaError` when the text is neither, or was made by a newer version.
    """
    document = _parsed(text)
    own = _is_own(document, key)
    default = curator.default_scope
    known = {_identity(row) for row in curator.all(status=None)}
    added: list[int] = []
    new_rows: dict[int, LongTermMemory] = {}
    already, skipped = 0, list[str]()
    with curator.ledger.act():
        for number, item in enumerate(document["memories"], 1):
            try:
                row = _row(item, own=own, now=clock.now(), settings=settings, scope=default)
            except (ValueError, TypeError, KeyError) as error:
                skipped.append(f"memory {number}: {error}")
                continue
            if _identity(row) in known:
                already += 1
                continue
            known.add(_identity(row))
            reason = "from an export of this home" if own else "from a file"
            inserted = curator.ledger.insert_memory(
                replace(row, supersedes=None, merged_from=(), source_message_id=_source(curator, row)),
                actor="import",
                reason=reason,
            )
            added.append(inserted.id)
            new_rows[row.id] = inserted
        if own:
            _relink(curator, document["memories"], new_rows)
    return Imported(tuple(added), already, tuple(skipped), own)


def _parsed(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith(("{", "[")):
        return {"memories": [{"content": line} for line in _items(text)]}
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OrcaError("The file is no JSON.", hint="Import what `orca-tui memory export` wrote.") from error
    if isinstance(document, list):
        document = {"memories": document}
    if not isinstance(document, dict) or not isinstance(document.get("memories"), list):
        raise OrcaError("The file holds no list of memories.", hint="Import what `orca-tui memory export` wrote.")
    version = document.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise OrcaError("The file was written by a newer version of orca.", hint="Upgrade orca-tui.")
    return document


def _items(text: str) -> list[str]:
    items = [line[2:].strip() for line in text.splitlines() if line.startswith(("- ", "* "))]
    if not items:
        raise OrcaError("The file holds no list of memories.", hint="One memory a line, each behind “- ”.")
    return [item.rpartition(" *(")[0] if item.endswith(")*") and " *(" in item else item for item in items]


def _sign(document: Mapping[str, Any], key: bytes) -> str:
    body = {name: value for name, value in document.items() if name != "signature"}
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key, canonical.encode(), hashlib.sha256).hexdigest()


def _is_own(document: Mapping[str, Any], key: bytes) -> bool:
    signature = document.get("signature")
    return isinstance(signature, str) and hmac.compare_digest(signature.encode(), _sign(document, key).encode())


def _identity(row: LongTermMemory) -> tuple[Any, ...]:
    return row.content, row.memory_type, row.user_id, row.project, row.agent_id, row.team_id


def _row(item: Any, *, own: bool, now: str, settings: MemorySettings, scope: Scope) -> LongTermMemory:
    """A memory as it is to be inserted. Raises `ValueError`, `TypeError` or `KeyError` saying what is wrong."""
    if isinstance(item, str):
        item = {"content": item}
    if not isinstance(item, dict) or not isinstance(item.get("content"), str) or not item["content"].strip():
        raise ValueError("it has no text")
    if own:
        row = LongTermMemory(**{field.name: item[field.name] for field in fields(LongTermMemory)})
        return replace(row, merged_from=tuple(row.merged_from))
    content = item["content"].strip()
    if kind := secret_kind(content):
        raise ValueError(f"it seems to hold a secret (a {kind})")
    if len(content) > MAX_CONTENT:
        raise ValueError(f"its text is longer than {MAX_CONTENT} characters")
    memory_type: MemoryType = next((known for known in _TYPES if known == item.get("memory_type")), "fact")
    branch = route_branch("knowledge", memory_type, content, settings.branches)
    created = _time(item.get("created_at"), now)
    return LongTermMemory(
        id=item["id"] if isinstance(item.get("id"), int) else 0,
        content=content,
        memory_type=memory_type,
        source_session=None,
        confidence=0.3,
        access_count=0,
        last_accessed=None,
        expires_at=expiry(branch, settings.branches, now),
        created_at=created,
        updated_at=now,
        user_id=scope.user_id,
        project=scope.project,
        agent_id=scope.agent_id,
        team_id=scope.team_id,
        branch=branch,
        source="knowledge",
        importance=0.5,
        status="pending",
        pinned=False,
        topic_key=None,
        version=1,
        supersedes=None,
        merged_from=(),
        source_message_id=None,
    )


def _source(curator: Curator, row: LongTermMemory) -> int | None:
    """The message that it was taken from, unless this database has another one under the id."""
    if row.source_message_id is None:
        return None
    try:
        message = curator.store.message(row.source_message_id)
    except NotFoundError:
        return None
    return message.id if message.session_id == row.source_session else None


def _time(value: Any, now: str) -> str:
    try:
        return min(to_iso(from_iso(str(value))), now)
    except (ValueError, OverflowError):
        return now


def _relink(curator: Curator, items: Sequence[Any], added: Mapping[int, LongTermMemory]) -> None:
    """Which memory supersedes or was merged from which, under the new ids."""
    for item in items:
        row = added.get(item["id"]) if isinstance(item, dict) else None
        if row is None:
            continue
        changes: dict[str, Any] = {}
        if (older := added.get(item.get("supersedes") or 0)) is not None:
            changes["supersedes"] = older.id
        merged = tuple(added[one].id for one in item.get("merged_from") or () if one in added)
        if merged:
            changes["merged_from"] = merged
        if changes:
            curator.ledger.update_memory(row.id, changes, actor="import", reason="links under the new ids")
