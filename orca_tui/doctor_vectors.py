"""The doctor's look at vectors: whether one can be made here, and which of the stored texts have one."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from memory.config import Home, Settings
from memory.errors import OrcaError

if TYPE_CHECKING:
    from memory.provider.base import Embedder

Told = tuple[str, Literal["ok", "warn", "fail"], str, str]
"""Name, state, detail and advice of a row; not cleaned."""

EMBED_TIMEOUT = 20.0
"""Seconds that embedding one word may take, loading included."""
_LATER = "They are made while the app is open; at once: orca-tui memory maintain"


def missing_extension(found: Mapping[str, object]) -> str:
    """Why sqlite-vec does not help a store with these capabilities; empty when it does."""
    told = str(found["sqlite_vec"])
    return "" if told[:1].isdigit() or told.startswith("v") else told


async def vectors_told(home: Home, settings: Settings, env: Mapping[str, str]) -> list[Told]:
    """The rows `embedder` and, when something is stored, `vectors`."""
    from memory.provider.factory import build_embedder

    try:
        embedder = await asyncio.to_thread(build_embedder, settings, home, env)
        if embedder is None:
            advice = "orca-tui config set embedding.provider auto"
            return [("embedder", "warn", "off: search is by words only", advice)]
        width = await _width(embedder)
    except OrcaError as error:
        return [("embedder", "fail", str(error), error.hint), *await asyncio.to_thread(_stored, home, "", 0)]
    made = f"{width} wide" if width else f"did not answer within {EMBED_TIMEOUT:.0f} s"
    told: Told = ("embedder", "ok" if width else "warn", f"{embedder.model}, {made}", "")
    return [told, *await asyncio.to_thread(_stored, home, embedder.model, width)]


async def _width(embedder: "Embedder") -> int:
    """How wide its vectors are; 0 when none is there in time."""
    try:
        async with asyncio.timeout(EMBED_TIMEOUT):
            width: int = (await embedder.embed(["hello"], "query")).shape[1]
            return width
    except TimeoutError:
        return 0
    finally:
        await embedder.close()


def _stored(home: Home, model: str, width: int) -> list[Told]:
    """What the database holds; nothing without one, or when it cannot be opened: another row tells that."""
    from memory.store import emptied, open_store

    if not home.database.is_file() or emptied(home):
        return []
    try:
        store = open_store(home.database)
    except OrcaError:
        return []
    try:
        known = store.embedding_model()
        waiting = store.count_waiting(model=model or (known[0] if known else ""))
        count = store.stats()["embeddings"]
    finally:
        store.close()
    without = f"texts without one: {waiting}, found by their words only"
    if not width:
        return [("vectors", "warn", f"texts without one: {waiting}; until it works, all are found by words only", "")]
    if known and model == known[0] and width != known[1]:
        wrong = f"those stored are {known[1]} wide, new ones {width}; {without}"
        advice = f"Set the embedding's dimensions back to {known[1]}, or use another embedding model."
        return [("vectors", "fail", wrong, advice)]
    if known and model != known[0]:
        return [("vectors", "warn", f"those stored are by {known[0]}, new ones by {model}; {without}", _LATER)]
    if waiting:
        return [("vectors", "ok", without, _LATER)]
    return [("vectors", "ok", f"{count}; no text waits for one", "")]
