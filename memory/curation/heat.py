"""How warm a memory is: what importance, use and age say of whether it is still worth its place."""

import math

from memory.clock import from_iso
from memory.types import LongTermMemory

IMPORTANCE, ACCESS, RECENCY = 0.4, 0.3, 0.3
"""The three shares; they sum to 1."""
HALF_LIFE_DAYS = 45.0
"""Days without use after which the recency part has halved."""
COLD = 0.3
"""Below this a memory may be proposed for archiving."""
UNTOUCHED_DAYS = 30.0
"""What was used or written more recently is never called cold."""


def heat(memory: LongTermMemory, now: str) -> float:
    """Between 0 and 1. Pinned memories never cool: 1."""
    if memory.pinned:
        return 1.0
    recency = math.exp2(-idle_days(memory, now) / HALF_LIFE_DAYS)
    return IMPORTANCE * memory.importance + ACCESS * access_heat(memory.access_count) + RECENCY * recency


def access_heat(access_count: int) -> float:
    """What being recalled so often says, 0–1: much at first, less with every time."""
    return 1 - 1 / (1 + math.log1p(access_count))


def is_cold(memory: LongTermMemory, now: str) -> bool:
    """Whether it may be proposed for archiving."""
    return not memory.pinned and idle_days(memory, now) >= UNTOUCHED_DAYS and heat(memory, now) < COLD


def idle_days(memory: LongTermMemory, now: str) -> float:
    """Days since it was last recalled or changed."""
    last = max(memory.last_accessed or "", memory.updated_at)
    return max(0.0, (from_iso(now) - from_iso(last)).total_seconds() / 86_400)
