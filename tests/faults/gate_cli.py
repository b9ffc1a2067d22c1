"""What `test_gate_command_line` runs in a real terminal: the command line with hostile text in what it prints."""

import json
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memory.config import Home
from memory.provider import factory
from memory.provider.scripted import HashEmbedder, ScriptedChat
from memory.store import open_store
from memory.types import NewMemory, Role
from orca_tui.cli import main
from tests.faults.gate_corpus import Entry, entries, part

PARTS = 7
"""The texts are shared out so among the commands that show one."""
ROLES: tuple[Role, ...] = ("user", "assistant", "tool")


def mark(name: str) -> None:
    sys.stdout.flush()
    sys.stdout.write(f"\x1b]7777;{name}\x07")
    sys.stdout.flush()


def call(*argv: str) -> None:
    """As a process of its own would; usage errors end by `SystemExit`."""
    with suppress(SystemExit):
        main(argv)
    sys.stderr.flush()


def fill(home: Home, shown: list[Entry]) -> tuple[str, dict[str, int]]:
    """One session with all texts, sessions called by them, memories of them; the session, and the memories by entry."""
    home.ensure()
    store = open_store(home.database)
    kept: dict[str, int] = {}
    try:
        talk = store.create_session(title="all of them").id
        for entry in shown:
            store.add_message(store.create_session(title=entry.text).id, "user", "hello")
            for role in ROLES:
                store.add_message(talk, role, entry.text)
            new = NewMemory(content=entry.text, memory_type="fact", branch="general_memory", source="user")
            kept[entry.id] = store.add_memory(new, actor="test", reason=entry.line).id
            store.add_memory(replace(new, status="pending"), actor="tool", reason=entry.line)
        return talk, kept
    finally:
        store.close()


def show_all(talk: str) -> None:
    """What lists many."""
    lists: dict[str, tuple[str, ...]] = {
        "sessions list": ("sessions", "list", "--limit", "500"),
        "sessions show": ("sessions", "show", talk),
        "memory list": ("memory", "list", "--limit", "500"),
        "memory inbox": ("memory", "inbox", "--limit", "500"),
        "memory search": ("memory", "search", "plain", "--limit", "500"),
        "doctor": ("doctor",),
    }
    for name, argv in lists.items():
        mark(f"all {name}")
        call(*argv)


def show_one(home: Home, entry: Entry, memory: int) -> None:
    """What shows one, each behind its mark: those of the commands that are given this entry."""
    model = ScriptedChat([[entry.tag, " ", *entry.pieces, " end"]], tiny=True)

    async def build(*_args: Any, **_options: Any) -> ScriptedChat:
        return model

    factory.build_chat_model = build  # type: ignore[assignment]
    lines = ("[llm]", 'provider = "demo"', f"{toml_key(entry.line)} = 1", f"model = {toml(entry.text)}", "")
    home.config.write_text("\n".join(lines), "utf-8")
    home.config.chmod(0o600)
    commands: dict[str, tuple[str, ...]] = {
        "config show": ("config", "show"),
        "ask": ("ask", "--no-memory", "hello"),
        "memory show": ("memory", "show", str(memory)),
        "wrong session": ("sessions", "show", entry.text),
        "wrong memory": ("memory", "show", entry.text),
        "wrong option": (entry.line, f"--{entry.line}"),
        "wrong setting": ("config", "set", f"llm.{entry.line}", entry.text),
    }
    for place, (name, argv) in enumerate(commands.items()):
        if entry in part(place, PARTS):
            mark(f"{entry.id} {name}")
            call(*argv)
    home.config.unlink()


def toml(text: str) -> str:
    """A TOML string that says `text`, as far as a file can hold it."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(text: str) -> str:
    """A key of that name."""
    return toml(text[:60].encode("utf-8", "replace").decode())


if __name__ == "__main__":
    factory.build_embedder = lambda *_args, **_options: HashEmbedder()  # type: ignore[assignment]
    place = Home.find()
    everything = entries()
    session, memories = fill(place, everything)
    show_all(session)
    for one in everything:
        show_one(place, one, memories[one.id])
    mark("end")
