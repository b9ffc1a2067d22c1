"""ChatGPT's export: `conversations.json`, in which each conversation is a tree of nodes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memory.migration.export_files import Damaged, Export, entries
from memory.migration.foreign import Fact, Record, Said, Skipped, Source, Talk, list_of, mapping_of, text_of, time_of
from memory.types import Role

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
_REMEMBERED = re.compile(r"^\s*(?:\d+[.)]|[-*])\s*(?:\[[^\]]{4,40}\][.:]?)?\s*")
_DATED = re.compile(r"^\s*(?:\d+[.)]|[-*])?\s*\[([^\]]{4,40})\]")


def is_chatgpt(entry: object) -> bool:
    """Whether a conversation looks like one of these."""
    return isinstance(entry, Mapping) and isinstance(entry.get("mapping"), Mapping)


class ChatGPTReader:
    """Reads one export."""

    source: Source = "chatgpt"

    def __init__(self, export: Export) -> None:
        self._export = export
        self._facts: dict[str, Fact] = {}
        self._thoughts: dict[str, str] = {}
        """Node → what was thought in it; it is kept with the answer below."""

    def records(self) -> Iterator[Record]:
        """Conversations in the order of the file, and then what was remembered."""
        for name in self._export.names("conversations"):
            for number, entry in enumerate(entries(self._export.text(name)), 1):
                if isinstance(entry, Damaged):
                    yield Skipped(f"{name}, from character {entry.at} on", entry.reason)
                elif is_chatgpt(entry):
                    yield self._talk(entry)
                else:
                    yield Skipped(f"{name}, entry {number}", "it is no conversation")
        if not self._export.is_single:
            for name in self._export.names("memor"):
                for entry in entries(self._export.text(name)):
                    self._memory(entry)
        yield from self._facts.values()

    def _memory(self, entry: Any) -> None:
        for one in list_of(mapping_of(entry).get("memories")) or [entry]:
            text = text_of(one) or next((text_of(mapping_of(one).get(k)) for k in ("content", "memory", "text")), "")
            if text.strip():
                self._keep(text.strip(), time_of(mapping_of(one).get("created_at")), "ChatGPT's memory")

    def _keep(self, text: str, time: str | None, origin: str) -> None:
        self._facts.setdefault(text, Fact(text, time, origin))

    def _talk(self, entry: Mapping[str, Any]) -> Talk:
        talk = Talk(
            key=text_of(entry.get("conversation_id")) or text_of(entry.get("id")) or _made_up(entry),
            title=text_of(entry.get("title")),
            time=time_of(entry.get("create_time")),
            model=text_of(entry.get("default_model_slug")) or None,
            messages=[],
            tip=None,
            archived=entry.get("is_archived") is True,
        )
        self._thoughts.clear()
        kept: dict[str, str | None] = {}
        """Node → itself when it is kept, else the kept one above it."""
        for node_id, node in _in_order(entry["mapping"]):
            above = kept.get(text_of(node.get("parent")))
            said = self._said(node_id, node, above, talk)
            if said is not None:
                talk.messages.append(said)
            kept[node_id] = said.key if said is not None else above
        talk.tip = kept.get(text_of(entry.get("current_node")))
        return talk

    def _said(self, node_id: str, node: Mapping[str, Any], above: str | None, talk: Talk) -> Said | None:
        message = node.get("message")
        if message is None:
            return None
        if not isinstance(message, Mapping):
            talk.skipped.append(Skipped(node_id, "a message that is no object"))
            return None
        author, facts = mapping_of(message.get("author")), mapping_of(message.get("metadata"))
        content = mapping_of(message.get("content"))
        role = _ROLES.get(text_of(author.get("role")))
        recipient = text_of(message.get("recipient")) or "all"
        text, reasoning = _text(content)
        if content.get("content_type") == "user_editable_context":
            self._instructions(content, time_of(message.get("create_time")))
        if content.get("content_type") == "model_editable_context" or recipient == "bio":
            self._remembered(text, time_of(message.get("create_time")))
        reason = _why_not(role, content, facts, text, reasoning)
        if role is None or reason:
            talk.skipped.append(Skipped(node_id, reason or "a role that is not known"))
            return None
        if not text.strip():
            self._thoughts[node_id] = reasoning
            talk.skipped.append(Skipped(node_id, "thoughts, kept with the answer below"))
            return None
        reasoning = "\n\n".join(filter(None, (self._thoughts.pop(text_of(node.get("parent")), ""), reasoning)))
        metadata: dict[str, Any] = {}
        if model := text_of(facts.get("model_slug")):
            metadata["model"] = model
        if reasoning:
            metadata["reasoning"] = reasoning
        if role == "tool":
            metadata |= {"tool": text_of(author.get("name")) or "tool", "foreign": True}
        if recipient != "all" and role == "assistant":
            text = f"→ {recipient}\n\n```\n{text}\n```"
        time = time_of(message.get("create_time")) or time_of(message.get("update_time"))
        stopped = role == "assistant" and message.get("status") in ("in_progress", "interrupted")
        return Said(node_id, above, role, text, time, metadata, state="stopped" if stopped else "complete")

    def _remembered(self, text: str, time: str | None) -> None:
        """The list of memories as the model is given it, or one memory as it writes it down."""
        for line in text.splitlines():
            fact = _REMEMBERED.sub("", line).strip()
            dated = _DATED.match(line)
            if len(fact) > 3:
                self._keep(fact, (time_of(dated[1]) if dated else None) or time, "ChatGPT's memory")

    def _instructions(self, content: Mapping[str, Any], time: str | None) -> None:
        for name in ("user_profile", "user_instructions"):
            if text := text_of(content.get(name)).strip():
                self._keep(text, time, "ChatGPT's custom instructions")


def _in_order(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Nodes behind their parents; what hangs in a ring or nowhere comes as a root of its own."""
    nodes = {text_of(key): mapping_of(node) for key, node in mapping.items()}
    children: dict[str, list[str]] = {}
    for key, node in nodes.items():
        parent = text_of(node.get("parent"))
        children.setdefault(parent if parent in nodes and parent != key else "", []).append(key)
    seen: set[str] = set()
    for start in (*children.get("", ()), *nodes):
        waiting = [start]
        while waiting:
            key = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            yield key, nodes[key]
            place = {text_of(child): at for at, child in enumerate(list_of(nodes[key].get("children")))}
            below = sorted(children.get(key, ()), key=lambda child: place.get(child, len(place)))
            waiting += reversed(below)


def _text(content: Mapping[str, Any]) -> tuple[str, str]:
    """What a message says, and what was thought before."""
    kind = content.get("content_type")
    if kind == "thoughts":
        thoughts = [mapping_of(one) for one in list_of(content.get("thoughts"))]
        return "", "\n\n".join(filter(None, (text_of(t.get("content")) or text_of(t.get("summary")) for t in thoughts)))
    if kind == "model_editable_context":
        return text_of(content.get("model_set_context")), ""
    if kind == "code":
        language = text_of(content.get("language"))
        language = "" if language == "unknown" else language
        return f"```{language}\n{text_of(content.get('text'))}\n```" if content.get("text") else "", ""
    parts = [_part(part) for part in list_of(content.get("parts"))]
    text = "\n\n".join(part for part in parts if part)
    return text or text_of(content.get("text")) or text_of(content.get("result")), ""


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    found = mapping_of(part)
    if text := text_of(found.get("text")):
        return text
    kind = text_of(found.get("content_type"))
    return f"[{kind.replace('_', ' ').removesuffix(' pointer')}]" if kind else ""


def _why_not(role: Role | None, content: Mapping[str, Any], facts: Mapping[str, Any], text: str, reasoning: str) -> str:
    """Why a node is no message of the conversation; empty when it is one."""
    if role is None:
        return "a role that is not known"
    if content.get("content_type") in ("user_editable_context", "model_editable_context"):
        return "no message, but what was remembered"
    if facts.get("is_visually_hidden_from_conversation") is True or role == "system":
        return "hidden, or a system message"
    return "" if text.strip() or reasoning.strip() else "empty"


def _made_up(entry: Mapping[str, Any]) -> str:
    return f"{entry.get('create_time')} {next(iter(entry['mapping']), '')}"
