"""Sessions as orca itself has exported them (`memory.migration.session_export`)."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from memory.errors import ImportRefused
from memory.migration.export_files import Damaged, Export, entries
from memory.migration.foreign import Record, Said, Skipped, Source, Talk, list_of, mapping_of, text_of, time_of
from memory.types import MessageState, MessageType, Role

FORMAT, VERSION = "orca-session", 1
_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_STATES: dict[str, MessageState] = {"complete": "complete", "stopped": "stopped", "failed": "failed"}
_TYPES: dict[str, MessageType] = {kind: kind for kind in get_args(MessageType)}
_TEXTS = ("tool_call_id", "tool", "state", "reasoning", "model")
"""Keys of metadata whose texts come back as they were."""
_CALL = ("id", "name", "arguments")


def is_orca(entry: object) -> bool:
    """Whether a JSON value is an export of ours."""
    return isinstance(entry, Mapping) and entry.get("format") == FORMAT


class OrcaReader:
    """Reads one export."""

    source: Source = "orca"

    def __init__(self, export: Export) -> None:
        self._export = export

    def records(self) -> Iterator[Record]:
        """The sessions. Raises `ImportRefused` when a newer orca has written them."""
        for name in self._export.names(""):
            for number, entry in enumerate(entries(self._export.text(name)), 1):
                if isinstance(entry, Damaged):
                    yield Skipped(f"{name}, from character {entry.at} on", entry.reason)
                elif not is_orca(entry):
                    yield Skipped(f"{name}, entry {number}", "it is no session")
                elif not isinstance(entry.get("version"), int) or entry["version"] > VERSION:
                    raise ImportRefused("The file was written by a newer version of orca.", hint="Upgrade orca-tui.")
                else:
                    yield _talk(entry)


def _talk(entry: Mapping[str, Any]) -> Talk:
    session = mapping_of(entry.get("session"))
    talk = Talk(
        key=text_of(session.get("id")) or "session",
        title=text_of(session.get("title")),
        time=time_of(session.get("created_at")),
        model=text_of(session.get("model")) or None,
        messages=[],
        tip=None,
        archived=session.get("state") == "archived",
        project=text_of(session.get("project")) or None,
    )
    kept: dict[str, str | None] = {}
    for number, one in enumerate(list_of(entry.get("messages"))):
        message = mapping_of(one)
        key = str(message.get("id", f"#{number}"))
        above = kept.get(str(message.get("parent_id")))
        role = _ROLES.get(text_of(message.get("role")))
        if role is None or key in kept or not isinstance(message.get("content"), str):
            reason = "a role that is not known" if role is None else "the same again" if key in kept else "no text"
            talk.skipped.append(Skipped(key, reason))
            kept.setdefault(key, above)
            continue
        facts = _facts(mapping_of(message.get("metadata")))
        state = _STATES.get(text_of(message.get("state")), "stopped")
        kind = _TYPES.get(text_of(message.get("msg_type")), "normal")
        content, time = message["content"], time_of(message.get("timestamp"))
        talk.messages.append(Said(key, above, role, content, time, facts, state=state, msg_type=kind))
        kept[key] = key
    talk.tip = kept.get(str(session.get("tip_message_id")))
    return talk


def _facts(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What of a message's metadata comes back; the file is foreign, so its shape is checked."""
    facts: dict[str, Any] = {name: metadata[name] for name in _TEXTS if isinstance(metadata.get(name), str)}
    calls = [mapping_of(call) for call in list_of(metadata.get("tool_calls"))]
    if calls and all(isinstance(call.get(name), str) for call in calls for name in _CALL):
        facts["tool_calls"] = [{name: call[name] for name in _CALL} for call in calls]
    if "tool" in facts:
        facts["foreign"] = True
    return facts
