"""The chat models of a running core: the one that answers by default, and others of the same provider by name."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from memory.config import Home, Settings
from memory.provider.base import ChatModel


class ChatModels:
    """Builds models when they are first needed, and keeps them until they are replaced. For the event loop."""

    def __init__(self, settings: Settings, home: Home, env: Mapping[str, str] | None, given: ChatModel | None) -> None:
        self.settings = settings
        """May be replaced."""
        self._home = home
        self._env = env
        self._default = given
        self._named: dict[str, tuple[Settings, ChatModel]] = {}
        self._retired: list[ChatModel] = []
        self._lock = asyncio.Lock()

    async def default(self) -> ChatModel:
        """The model that the settings ask for. Raises leaves of `ProviderError`."""
        async with self._lock:
            return await self._get_default()

    async def named(self, name: str) -> ChatModel:
        """Another model of the same provider; an empty name gives the default. Raises leaves of `ProviderError`."""
        async with self._lock:
            if not name or name == self.settings.llm.model or (self._default and name == self._default.name):
                return await self._get_default()
            made_for, model = self._named.get(name, (None, None))
            if model is None or made_for != self.settings:
                if model is not None:
                    self._retired.append(model)
                model = await self._build(replace(self.settings, llm=replace(self.settings.llm, model=name)))
                self._named[name] = (self.settings, model)
            return model

    async def use(self, model: ChatModel, *, close: bool) -> None:
        """Answer with another model from now on. Those before it are closed now, or (`close` is false) at the end."""
        async with self._lock:
            before = [self._default, *(named for _, named in self._named.values())]
            self._default, self._named = model, {}
        old = [other for other in before if other is not None and other is not model]
        if not close:
            self._retired += old
            return
        for other in old:
            await other.close()

    def all(self) -> list[ChatModel]:
        """Every model that was built and not closed."""
        current = [self._default, *(named for _, named in self._named.values()), *self._retired]
        return [model for model in current if model is not None]

    async def _get_default(self) -> ChatModel:
        if self._default is None:
            self._default = await self._build(self.settings)
        return self._default

    async def _build(self, settings: Settings) -> ChatModel:
        from memory.provider import factory

        return await factory.build_chat_model(settings, self._home, self._env)
