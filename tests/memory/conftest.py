"""A clock that ticks by itself, and a store of each kind: tests of the protocol run through all of them."""

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.clock import Clock, to_iso
from memory.store import open_store
from memory.store.base import Store
from memory.store.jsonl import JSONLStore

START = datetime(2026, 1, 1, tzinfo=UTC)


class TickingClock:
    """Every look at it is a second later; ids count up."""

    def __init__(self) -> None:
        self._ticks = itertools.count(1)
        self._ids = itertools.count(1)

    def now(self) -> str:
        return to_iso(START + timedelta(seconds=next(self._ticks)))

    def monotonic(self) -> float:
        return float(next(self._ticks))

    def new_id(self) -> str:
        return f"{next(self._ids):08x}" + "0" * 24


def open_sqlite(home: Path, clock: Clock) -> Store:
    return open_store(home / "memory.db", clock=clock)


def open_jsonl(home: Path, clock: Clock) -> Store:
    return JSONLStore(home, clock=clock)


OPENERS: dict[str, Callable[[Path, Clock], Store]] = {"jsonl": open_jsonl, "sqlite": open_sqlite}
"""Every implementation of the protocol: how to open it at a home."""


@pytest.fixture(params=sorted(OPENERS))
def reopen(request: pytest.FixtureRequest, home: Path) -> Iterator[Callable[[], Store]]:
    """Opens the store at the test's home, as often as it is called; all are closed at the end."""
    clock, opened = TickingClock(), []

    def open_again() -> Store:
        opened.append(OPENERS[request.param](home, clock))
        return opened[-1]

    yield open_again
    for store in opened:
        store.close()


@pytest.fixture
def store(reopen: Callable[[], Store]) -> Store:
    """An empty store."""
    return reopen()
