"""Claude's export: `conversations.json` with `chat_messages`, `projects.json` and `memories.json`."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memory.migration.export_files import Damaged, Export, entries
from memory.migration.foreign import Fact, Record, Said, Skipped, Source, Talk, list_of, mapping_of, text_of, time_of
from memory.types import Role

_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_NO_PARENT = re.compile("[0-]*4?[0-]*8?[0-]*")
"""The parent of the first message: an id of zeros."""
_MARK = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


def is_claude(entry: object) -> bool:
    """Whether a conversation looks like one of these."""
    return isinstance(entry, Mapping) and isinstance(entry.get("chat_messages"), list)


class ClaudeReader:
    """Reads one export."""

    source: Source = "claude"

    def __init__(self, export: Export) -> None:
        self._export = export
        self._projects: dict[str, str] = {}

    def records(self) -> Iterator[Record]:
        """Conversations in the order of the file, then projects and what was remembered."""
        if not self._export.is_single:
            for name in self._export.names("projects"):
                yield from self._read_projects(name)
        for name in self._export.names("conversations"):
            for number, entry in enumerate(entries(self._export.text(name)), 1):
                if isinstance(entry, Damaged):
                    yield Skipped(f"{name}, from character {entry.at} on", entry.reason)
                elif is_claude(entry):
                    yield self._talk(entry)
                else:
                    yield Skipped(f"{name}, entry {number}", "it is no conversation")
        if not self._export.is_single:
            for name in self._export.names("memories"):
                yield from self._read_memories(name)

    def _read_projects(self, name: str) -> Iterator[Record]:
        for entry in entries(self._export.text(name)):
            project = mapping_of(entry)
            title = text_of(project.get("name")).strip()
            if not title:
                yield Skipped(name, "a project without a name")
                continue
            self._projects[text_of(project.get("uuid"))] = title
            if prompt := text_of(project.get("prompt_template")).strip():
                fact = f"{title}: {prompt}"
                yield Fact(fact, time_of(project.get("updated_at")), "instructions of a Claude project", "project")
            for document in list_of(project.get("docs")):
                yield Skipped(f"{title}: {text_of(mapping_of(document).get('filename'))}", "a document of a project")

    def _read_memories(self, name: str) -> Iterator[Record]:
        for entry in entries(self._export.text(name)):
            found = mapping_of(entry)
            for fact in _statements(text_of(found.get("conversations_memory"))):
                yield Fact(fact, None, "Claude's memory")
            for project, text in mapping_of(found.get("project_memories")).items():
                title = self._projects.get(text_of(project), "")
                for fact in _statements(text_of(text)):
                    yield Fact(f"{title}: {fact}" if title else fact, None, "Claude's memory of a project", "project")

    def _talk(self, entry: Mapping[str, Any]) -> Talk:
        talk = Talk(
            key=text_of(entry.get("uuid")) or f"{entry.get('created_at')} {entry.get('name')}",
            title=text_of(entry.get("name")),
            time=time_of(entry.get("created_at")),
            model=text_of(entry.get("model")) or None,
            messages=[],
            tip=None,
            project=text_of(mapping_of(entry.get("project")).get("name")) or None,
        )
        kept: dict[str, str | None] = {}
        last: str | None = None
        for number, one in enumerate(entry["chat_messages"]):
            message = mapping_of(one)
            key = text_of(message.get("uuid")) or f"#{number}"
            named = text_of(message.get("parent_message_uuid"))
            above = kept[named] if named in kept else None if named and _NO_PARENT.fullmatch(named) else last
            said = _said(key, message, above, talk) if key not in kept else None
            if said is not None:
                talk.messages.append(said)
            kept.setdefault(key, said.key if said is not None else above)
            last = kept[key]
        leaf = text_of(entry.get("current_leaf_message_uuid"))
        talk.tip = kept.get(leaf) or last
        return talk


def _said(key: str, message: Mapping[str, Any], above: str | None, talk: Talk) -> Said | None:
    role = _ROLES.get(text_of(message.get("sender")))
    if role is None:
        talk.skipped.append(Skipped(key, "a role that is not known"))
        return None
    text, facts = _content(message)
    for attachment in list_of(message.get("attachments")):
        found = mapping_of(attachment)
        name = text_of(found.get("file_name")) or "attachment"
        if body := text_of(found.get("extracted_content")):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
            text += f"\n\n[{name}]\n{fence}\n{body}\n{fence}"
        else:
            text += f"\n\n[{name}]"
    for file in list_of(message.get("files")) + list_of(message.get("files_v2")):
        if (name := text_of(mapping_of(file).get("file_name"))) and f"[{name}]" not in text:
            text += f"\n\n[{name}]"
    if not text.strip():
        talk.skipped.append(Skipped(key, "empty"))
        return None
    return Said(key, above, role, text.strip("\n"), time_of(message.get("created_at")), facts)


def _content(message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text of all blocks, and what is kept beside it."""
    texts, thoughts = [], []
    for one in list_of(message.get("content")):
        block = mapping_of(one)
        match block.get("type"):
            case "text":
                texts.append(text_of(block.get("text")))
            case "thinking":
                thoughts.append(text_of(block.get("thinking")))
            case "tool_use":
                asked = json.dumps(block.get("input"), ensure_ascii=False, indent=2)[:20_000]
                texts.append(f"→ {text_of(block.get('name')) or 'tool'}\n\n```json\n{asked}\n```")
            case "tool_result":
                results = [text_of(mapping_of(part).get("text")) for part in list_of(block.get("content"))]
                if result := "\n".join(filter(None, results)):
                    texts.append(f"← {text_of(block.get('name')) or 'tool'}\n\n```\n{result}\n```")
            case _:
                pass
    text = "\n\n".join(filter(None, texts)) or text_of(message.get("text"))
    facts = {"reasoning": "\n\n".join(thoughts)} if any(thoughts) else {}
    return text, facts


def _statements(text: str) -> Iterator[str]:
    """A page of memory as single statements: list entries and paragraphs, without headings."""
    for line in text.splitlines():
        bare = line.strip()
        if bare and not bare.startswith("#") and not (bare.startswith("**") and bare.endswith("**")):
            yield _MARK.sub("", bare)
