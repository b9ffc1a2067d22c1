"""Time and ids behind one small protocol, so that tests are exact.

Times are UTC ISO-8601 strings with offset and microseconds: they sort as text.
"""

import time
import uuid
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where time and ids come from."""

    def now(self) -> str:
        """The current time, UTC ISO-8601 with offset, microseconds always written."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back. For leases, time-outs and throttles."""
        ...

    def new_id(self) -> str:
        """A fresh identifier: 32 lower-case hexadecimal characters."""
        ...


class SystemClock:
    """The machine's clock and random ids."""

    def now(self) -> str:
        """The current time, UTC ISO-8601 with offset, microseconds always written."""
        return to_iso(datetime.now(UTC))

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        return time.monotonic()

    def new_id(self) -> str:
        """A random identifier: 32 lower-case hexadecimal characters."""
        return uuid.uuid4().hex


def to_iso(moment: datetime) -> str:
    """Write an aware `datetime` the way the store keeps it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_iso(text: str) -> datetime:
    """Read a stored time back as an aware `datetime` in UTC. Raises `ValueError` when it is none."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
