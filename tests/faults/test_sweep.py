"""Every disk call of the real program fails, or is its last: the next start is clean and what was said is there.

A spread sample of the calls; `ORCA_SWEEP=full` (or `make sweep`) takes every one.
"""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from homes import LINES, OLD_TEXTS, SESSION, assert_sound, filled, old_database, write_config
from shim import Done, Fault, Shim

from memory.store import open_store
from memory.store.backup import back_up

KINDS = (("kill", False), ("tear", False), ("enospc", True), ("eio", False), ("short", False))
MEMORIES = ["The user sails."]


@dataclass(frozen=True)
class Run:
    """One run of the program: the home before it, its arguments, and what it may take away."""

    prepare: Callable[[Path], object]
    argv: tuple[str, ...]
    texts: tuple[str, ...] = tuple(OLD_TEXTS)
    memories: tuple[str, ...] = tuple(MEMORIES)
    sample: int = 2
    """Calls that are tried for each kind of fault, unless all are."""


def damaged(home: Path) -> None:
    filled(home)
    content = bytearray((home / "memory.db").read_bytes())
    content[:100] = b"\xff" * 100
    (home / "memory.db").write_bytes(content)


def with_backup(home: Path) -> None:
    filled(home)
    back_up(home / "memory.db", home / "kept.db")


def with_lines(home: Path) -> None:
    filled(home)
    (home / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))


def half_embedded(home: Path) -> None:
    import numpy as np

    session = filled(home)
    with closing(open_store(home / "memory.db")) as store:
        ids = [message.id for message in store.path(session)][:4]
        vectors = np.random.default_rng(1).normal(size=(4, 8))
        store.put_embeddings([("message", number) for number in ids], vectors, model="vectors")


RUNS = {
    "upgrade": Run(old_database, ("memory", "list", "--json"), sample=1),
    "chat_upgrade": Run(
        old_database, ("ask", "--json", "--session", SESSION, "When does the harbour open tomorrow?"), sample=1
    ),
    "chat": Run(filled, ("ask", "--json", "I prefer tea without sugar. When does the harbour open?"), sample=1),
    "embed": Run(half_embedded, ("memory", "maintain"), sample=1),
    "remember": Run(filled, ("memory", "add", "The anchor weighs nine kilograms")),
    "prune": Run(filled, ("memory", "prune", "--ids", "2", "3", "--yes")),
    "erase": Run(filled, ("memory", "erase", "2", "--yes")),
    "migrate": Run(with_lines, ("migrate", "old.jsonl")),
    "settings": Run(filled, ("config", "set", "ui.theme", "orca-light")),
    "backup": Run(filled, ("backup",)),
    "restore": Run(with_backup, ("restore", "kept.db")),
    "recover": Run(damaged, ("recover",)),
}


def chosen(calls: int, sample: int) -> list[Fault]:
    """Which are tried: all, or some that lie apart; another kind of fault takes others."""
    full = os.environ.get("ORCA_SWEEP") == "full"
    step = 1 if full else max(1, calls // sample)
    return [
        Fault(kind, at, sticky)
        for shift, (kind, sticky) in enumerate(KINDS)
        for at in range(1 + shift * step // len(KINDS), calls + 1, step)
    ]


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_lost_whatever_call_fails(
    name: str, tmp_path: Path, model_url: str, shim: Shim, record_property: Callable[[str, object], None]
) -> None:
    run, original = RUNS[name], tmp_path / "original"
    write_config(original, model_url)
    run.prepare(original)

    def copy(label: str) -> Path:
        return Path(shutil.copytree(original, tmp_path / label))

    calls = shim.count(copy("counted"), run.argv)
    faults = chosen(calls, run.sample)
    for fault in faults:
        home = copy(f"{fault.kind}-{fault.at}")
        done = shim.run(home, run.argv, fault)
        try:
            assert_ended_well(fault.kind, done)
            texts = [*run.texts, *acknowledged(done.out)]
            assert_sound(home, texts=texts, memories=list(run.memories), damaged=run.prepare is damaged)
        except AssertionError as error:
            error.add_note(f"{name}: {fault} of {calls} calls\n{done.out[-500:]}\n{done.err[-1000:]}")
            raise
        shutil.rmtree(home)
    record_property("faults", len(faults))


def assert_ended_well(kind: str, done: Done) -> None:
    """A fault that does not kill is told in a line, or did no harm."""
    assert "Traceback" not in done.err
    assert "unexpected error" not in done.err
    if kind not in ("kill", "tear"):
        assert done.code in (0, 1, 2)
        assert done.code == 0 or done.err.strip() or '"event": "turn_failed"' in done.out


def acknowledged(output: str) -> list[str]:
    """Messages that `ask --json` said are stored, as they were at last; a line that was cut off says nothing."""
    said: dict[int, str] = {}
    for line in output.split("\n")[:-1]:
        if line.startswith(('{"event": "message_stored"', '{"event": "turn_finished"')):
            message = json.loads(line)["message"]
            said[message["id"]] = message["content"]
    return [text for text in said.values() if text]
