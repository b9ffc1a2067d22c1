"""What the models of a core may call, put together: the gate, the toolbox with orca's own tools, and the subagents."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from memory.config import Settings
from memory.curation.curator import Curator
from memory.manager import MemoryManager
from memory.provider.base import ChatModel
from memory.store.base import Store
from memory.store.run_store import AGENT_CALL
from memory.subagents.run import RunContext
from memory.subagents.runner import Subagents
from memory.subagents.tool import AgentCall
from memory.tokens import TokenCounter
from memory.tools.fetch_url import FetchURL
from memory.tools.files import ListDir, ReadFile
from memory.tools.gate import Gate
from memory.tools.mcp_known import KnownTools
from memory.tools.mcp_tools import MCPServers
from memory.tools.memory_save import MemorySave
from memory.tools.memory_search import MemorySearch
from memory.tools.roots import Roots
from memory.tools.toolbox import StandardToolbox


class Equipment:
    """Made once for a core. For the event loop's thread."""

    def __init__(
        self,
        store: Store,
        counter: TokenCounter,
        settings: Settings,
        home: Path,
        *,
        manager: MemoryManager,
        curator: Curator,
        chat: Callable[[str], Awaitable[ChatModel]],
        owner: Callable[[], Mapping[str, Any]],
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`home`: orca's own directory. `chat` gives the model of a name (empty: the settings'), `owner` who writes.

        `env`: what MCP servers are started from; `None`: the process's.
        """
        self.gate = Gate(settings.tools.allow)
        self.toolbox = StandardToolbox(settings.tools, counter, self.gate)
        self._settings = settings
        self._home = home
        self._manager = manager
        self._curator = curator
        context = RunContext(store, counter, self.toolbox, chat, owner, nonce, lambda: self._settings.tools)
        self.subagents = Subagents(context, lambda: self._settings.agents)
        self._env = os.environ if env is None else env
        self.servers = self._join_servers()
        """The MCP servers; none is started before a turn needs it."""
        self._leaving: set[asyncio.Task[None]] = set()
        self._equip()

    def use_settings(self, settings: Settings) -> None:
        """Go by other settings from the next call on."""
        before, self._settings = self._settings, settings
        self.toolbox.use_settings(settings.tools)
        self._equip()
        if settings.mcp != before.mcp:
            leaving = asyncio.ensure_future(self.servers.close())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            self.servers = self._join_servers()

    async def close(self) -> None:
        """End what runs and wait until it is stored."""
        await asyncio.gather(self.subagents.close(), self.servers.close(), *self._leaving)

    def _join_servers(self) -> MCPServers:
        known = KnownTools(self._home)
        servers = MCPServers(self._settings.mcp, self._env, known, self.gate.ask)
        self.toolbox.join(servers if self._settings.mcp else None)
        return servers

    def _equip(self) -> None:
        """Offer what the settings allow, and nothing else of orca's own."""
        toolbox, settings = self.toolbox, self._settings
        for name in (MemorySearch.name, MemorySave.name, ReadFile.name, ListDir.name, FetchURL.name, AGENT_CALL):
            toolbox.remove(name)
        if settings.memory.enabled:
            toolbox.add(MemorySearch(self._manager))
            toolbox.add(MemorySave(self._curator), incognito=False)
        if settings.tools.roots:
            roots = Roots(settings.tools.roots, self._home)
            toolbox.add(ReadFile(roots))
            toolbox.add(ListDir(roots))
        if settings.tools.fetch_url:
            toolbox.add(FetchURL())
        if self.subagents.agents:
            toolbox.add(AgentCall(self.subagents), keeps_time=True)
