"""The embedder of a running core."""

import asyncio
from collections.abc import Mapping

from memory.config import Home, Settings
from memory.provider.base import Embedder


class OwnEmbedder:
    """Builds the embedder when it is first needed. For the event loop."""

    def __init__(self, settings: Settings, home: Home, env: Mapping[str, str] | None, given: Embedder | None) -> None:
        self.current = given
        """What was built; `None` before that, and when it is switched off."""
        self._settings = settings
        self._home = home
        self._env = env
        self._is_known = given is not None
        self._task: asyncio.Task[Embedder | None] | None = None

    async def get(self) -> Embedder | None:
        """What makes vectors; `None` when it is switched off. Raises leaves of `OrcaError`; it may be asked again."""
        if self._is_known:
            return self.current
        if self._task is None:
            self._task = asyncio.create_task(self._build(), name="embedder")
        return await asyncio.shield(self._task)

    def give_up(self) -> None:
        """Wait no more for what is being built."""
        if self._task is not None:
            self._task.cancel()

    async def _build(self) -> Embedder | None:
        from memory.provider.factory import build_embedder

        try:
            self.current = await asyncio.to_thread(build_embedder, self._settings, self._home, self._env)
        finally:
            self._task = None
        self._is_known = True
        return self.current
