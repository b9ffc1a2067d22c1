"""Who writes a streaming reply, and whether they still do."""

import os
import platform
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from memory.clock import Clock, from_iso

RUN = uuid.uuid4().hex
"""Names this process among all that ever had its number."""
STALE = timedelta(seconds=30)
"""A writer without a sign of life for so long is gone; it gives one at least every 10 seconds."""


def stamp(clock: Clock) -> dict[str, Any]:
    """What a streaming reply carries in `metadata["stream"]`: its writer and the writer's last sign of life."""
    return {"pid": os.getpid(), "host": platform.node(), "run": RUN, "heartbeat": clock.now()}


class WriterCheck:
    """Tells whether the writer of a streaming reply may still be there (`memory.store.base.OwnerCheck`)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, owner: Mapping[str, Any]) -> bool:
        """A dead process on this machine is gone at once; any other writer when its heartbeat is older than 30 s."""
        pid = owner.get("pid")
        if owner.get("host") == platform.node():
            if pid == os.getpid() and owner.get("run") != RUN:
                return False
            if isinstance(pid, int) and not _process_exists(pid):
                return False
        try:
            return from_iso(self._clock.now()) - from_iso(str(owner.get("heartbeat"))) <= STALE
        except ValueError:
            return False


def _process_exists(pid: int) -> bool:
    if os.name == "nt":  # there, signal 0 would end the process; the heartbeat decides
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
