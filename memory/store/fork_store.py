"""The part of the store's protocol that tells where a session forks. See `memory.store.base` for what holds for all."""

from typing import Protocol


class ForkStore(Protocol):
    """What a store knows of a session's tree without reading its texts."""

    def parents(self, session_id: str) -> list[tuple[int, int | None]]:
        """Id and parent of every message of a session, those of every fork, the first stored first."""
        ...
