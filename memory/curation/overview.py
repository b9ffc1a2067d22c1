"""What there is and how it is doing, in numbers: for `memory stats`, the doctor and the screen."""

from dataclasses import dataclass
from typing import Any

from memory.curation.curator import Curator
from memory.curation.upkeep import waiting
from memory.store.ledger import Ledger
from memory.store.upkeep_log import Dropped, MaintenanceRun
from memory.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Overview:
    """Memory in numbers. Tokens are estimates without a model's margin."""

    tiers: dict[str, int]
    """Messages (`working`), summaries (`short_term`), memories (`long_term`)."""
    status: dict[str, int]
    """Long-term memories by status."""
    branches: dict[str, int]
    """Active ones by branch."""
    tokens: dict[str, int]
    """Of active memories by branch, and in all (`total`)."""
    inbox: int
    vectors: dict[str, int]
    """How many items have a vector, by model; only those of the model in use are searched."""
    embedding_model: str
    """In use; empty before the first vector."""
    embedding_width: int
    waiting: int
    """Items without a vector of the model in use; they are found by their words."""
    dropped: list[Dropped]
    """Summaries and extractions that were not used, by reason; the rules wrote instead."""
    last_run: MaintenanceRun | None
    """The last upkeep, of any process."""
    bytes: int
    backend: str
    limits: list[str]
    """What does not work here, each a sentence; empty when all does."""


def overview(curator: Curator, counter: TokenCounter | None = None) -> Overview:
    """Look at all of it. Raises leaves of `StoreError`."""
    counter = counter or TokenCounter()
    store = curator.store
    numbers, able = store.stats(), store.capabilities()
    ledger = store if isinstance(store, Ledger) else None
    wait = waiting(store)
    counts = ledger.counts() if ledger else _counted(curator)
    tokens: dict[str, int] = {"total": 0}
    for row in curator.all():
        size = counter.count(row.content)
        tokens["total"] += size
        tokens[row.branch] = tokens.get(row.branch, 0) + size
    model = store.embedding_model()
    runs = ledger.runs(limit=1) if ledger else []
    return Overview(
        tiers={
            "working": numbers.get("messages", 0),
            "short_term": numbers.get("short_term", 0),
            "long_term": numbers.get("long_term", 0),
        },
        status=counts["status"],
        branches=counts["branch"],
        tokens=tokens,
        inbox=counts["status"].get("pending", 0),
        vectors=counts.get("vectors", {}),
        embedding_model=model[0] if model else "",
        embedding_width=model[1] if model else 0,
        waiting=wait,
        dropped=ledger.dropped() if ledger else [],
        last_run=runs[0] if runs else None,
        bytes=numbers.get("bytes", 0),
        backend=str(able.get("backend", "")),
        limits=_limits(able, model, wait, runs[0] if runs else None),
    )


def _counted(curator: Curator) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {"status": {}, "branch": {}}
    for row in curator.all(status=None):
        found["status"][row.status] = found["status"].get(row.status, 0) + 1
        if row.status == "active":
            found["branch"][row.branch] = found["branch"].get(row.branch, 0) + 1
    return found


def _limits(able: dict[str, Any], model: tuple[str, int] | None, wait: int, run: MaintenanceRun | None) -> list[str]:
    limits = []
    if able.get("backend") != "sqlite":
        limits.append("The database could not be opened: memory is kept in plain files, without undo and upkeep.")
    else:
        extension = str(able.get("sqlite_vec", ""))
        if not extension.lstrip("v")[:1].isdigit():
            limits.append(f"sqlite-vec is not loaded ({extension}): vectors are searched exactly, in memory.")
    if model is None:
        limits.append("There are no vectors yet: texts are found by their words only.")
    elif wait:
        limits.append(f"Texts without a vector of {model[0]} yet, found by their words only: {wait}.")
    if run is not None and run.problem:
        limits.append(f"The last upkeep had a problem: {run.problem}")
    return limits
