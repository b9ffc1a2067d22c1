"""`orca-tui memory add|edit|pin|…|erase|accept|reject|undo|rate`: one act each, which undo takes back."""

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory.config import Home
from memory.curation.history import TakenBack
from memory.errors import ConfigError
from memory.text import label
from memory.types import LongTermMemory
from orca_tui.cli.memory_tools import SNIPPET, edited_text, given_text, open_curator, print_memories
from orca_tui.cli.stored import drop_files
from orca_tui.plain import complain, plain_print, print_json

if TYPE_CHECKING:
    from memory.curation.curator import Curator


def run(arguments: Namespace, home: Home) -> int:
    """Do one of the actions that change memory."""
    with open_curator(home) as curator:
        match arguments.action:
            case "add":
                _tell(arguments, [_add(curator, arguments)])
            case "edit":
                _tell(arguments, [_edit(curator, arguments, home)])
            case "merge":
                _tell(arguments, [curator.merge(arguments.ids, arguments.text)])
            case "promote":
                _tell(arguments, [curator.promote(arguments.id, branch=arguments.branch)])
            case "demote":
                _tell(arguments, [curator.demote(arguments.id, branch=arguments.branch)])
            case "erase":
                _erase(curator, arguments, home)
            case "undo":
                if arguments.event is not None:
                    tell_taken_back(arguments, curator.history.undo(event=arguments.event))
                else:
                    tell_taken_back(arguments, curator.undo(arguments.steps))
            case "keep":
                curator.keep_cold(*[curator.store.memory(one).id for one in arguments.ids])
                _tell(arguments, list(curator.existing(arguments.ids)))
            case "keep-both":
                first, second = (curator.store.memory(one).id for one in arguments.ids)
                curator.keep_both((first, second))
                _tell(arguments, list(curator.existing(arguments.ids)))
            case "rate":
                rating = 1 if arguments.rating == "up" else -1
                _tell(arguments, curator.rate(arguments.message, rating, arguments.note), "No memory was behind it.")
            case _:
                _tell(arguments, _each(curator, arguments))
    return 0


def tell_taken_back(arguments: Namespace, taken: Sequence[TakenBack]) -> None:
    """Print what was put back, or would be."""
    if arguments.json:
        print_json(taken)
        return
    for one in taken:
        did = ", ".join(f"{name}: {label(str(value), 120)}" for name, value in one.changes.items())
        plain_print(f"{one.kind} {one.id}  {did or label(one.note, 120) or 'nothing'}")
        if one.text:
            plain_print(f"    {label(one.text, SNIPPET)}")
        if one.left:
            plain_print(f"    changed again since, left: {', '.join(one.left)}")


def _each(curator: "Curator", arguments: Namespace) -> list[LongTermMemory]:
    """Several memories, one act."""
    acts: dict[str, Callable[[int], LongTermMemory]] = {
        "pin": curator.pin,
        "unpin": curator.unpin,
        "archive": lambda one: curator.archive(one)[0],
        "trash": lambda one: curator.trash(one)[0],
        "restore": curator.restore,
        "accept": curator.accept,
        "reject": curator.reject,
    }
    with curator.ledger.act():
        return [acts[arguments.action](one) for one in dict.fromkeys(arguments.ids)]


def _add(curator: "Curator", arguments: Namespace) -> LongTermMemory:
    scope = replace(curator.default_scope, project=arguments.project) if arguments.project else None
    return curator.add(
        given_text(arguments.text),
        arguments.type,
        scope=scope,
        topic_key=arguments.topic,
        importance=arguments.importance,
        pinned=arguments.pin,
    )


def _edit(curator: "Curator", arguments: Namespace, home: Home) -> LongTermMemory:
    given = {
        "memory_type": arguments.type,
        "branch": arguments.branch,
        "topic_key": arguments.topic,
        "importance": arguments.importance,
        "confidence": arguments.confidence,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if arguments.text is not None:
        changes["content"] = given_text([arguments.text])
    elif not changes:
        changes["content"] = edited_text(home, curator.store.memory(arguments.id).content)
    return curator.edit(arguments.id, **changes)


def _erase(curator: "Curator", arguments: Namespace, home: Home) -> None:
    rows = [curator.store.memory(one) for one in dict.fromkeys(arguments.ids)]
    if not arguments.yes:
        if not arguments.json:
            print_memories(rows)
        raise ConfigError("Nothing was erased: it cannot be undone.", hint="Add --yes to erase for good.")
    copies = curator.erase(*[row.id for row in rows], with_source=arguments.with_source)
    if arguments.with_source:
        drop_files(home, curator.store)
    if arguments.json:
        print_json({"erased": [row.id for row in rows], "copies": copies})
        return
    plain_print(f"Erased for good: {', '.join(str(row.id) for row in rows)}")
    for copy in copies:
        complain(
            f"An older copy of the database may still hold the text: {copy}", "Delete it when you need it no more."
        )


def _tell(arguments: Namespace, rows: Sequence[LongTermMemory], empty: str = "Nothing found.") -> None:
    if arguments.json:
        print_json(rows)
    else:
        print_memories(rows, empty)
