"""What models may call in this app: which tools are on and why others are off, what is allowed, how MCP servers do."""

import asyncio
import json
from typing import TYPE_CHECKING

from orca_tui.i18n import _
from orca_tui.settings_file import read_data, set_value, value_in
from orca_tui.tool_picture import Picture, ToolLine

if TYPE_CHECKING:
    from memory.config import Home
    from memory.core import Core
    from orca_tui.app import OrcaApp


class ToolDesk:
    """Looks and changes, for one app."""

    def __init__(self, app: "OrcaApp", core: "Core") -> None:
        self._app = app
        self._core = core

    async def look(self) -> Picture:
        """How it is now. Starts no server."""
        core = self._core
        equipment, settings = core.equipment, core.settings
        toolbox, session = equipment.toolbox, self._app.chat.target.session
        always = equipment.gate.allowed
        in_session = equipment.gate.allowed_in(session.id) if session is not None else frozenset()
        found = [ToolLine(spec.name, spec.description) for spec in toolbox.all_specs]
        names = {line.name for line in found}
        missing = {
            "read_file": _("off: name directories in [tools] roots"),
            "list_dir": _("off: name directories in [tools] roots"),
            "fetch_url": _("off: set [tools] fetch_url = true"),
            "memory_search": _("off: memory is off ([memory] enabled)"),
            "memory_save": _("off: memory is off ([memory] enabled)"),
            "agent_call": _("off: no agent is enabled ([agents.NAME])"),
        }
        found += [ToolLine(name, "", why) for name, why in missing.items() if name not in names]
        return Picture(
            settings.tools.enabled,
            tuple(found),
            tuple(sorted(always)),
            tuple(sorted(in_session - always)),
            tuple(await equipment.servers.reports()),
        )

    async def revoke(self, entry: str) -> None:
        """Ask again for what was allowed, from the next call on. Raises `ConfigError`; then all is as it was."""
        await asyncio.to_thread(forget, self._app.home, entry)
        self._core.equipment.gate.revoke(entry)
        self._app.reload_settings()
        self._core.use_settings(self._app.settings)

    async def start(self, server: str) -> str:
        """Start an MCP server; what it offers, as a sentence. Raises `MCPError`."""
        tools = await self._core.equipment.servers.test(server)
        return _("{name} works and offers {n} tools", name=server, n=len(tools))

    async def agree(self, server: str) -> str:
        """Agree to all that a server offers now. Raises `MCPError`."""
        names = await self._core.equipment.servers.agree(server)
        return _("Models may use {n} tools of {name}; each call is still asked for", name=server, n=len(names))


def forget(home: "Home", entry: str) -> None:
    """Take an entry out of `[tools] allow`. Blocks. Raises `ConfigError`."""
    found = value_in(read_data(home), ("tools", "allow"))
    if isinstance(found, list) and entry in found:
        set_value(home, "tools.allow", json.dumps([one for one in found if one != entry], ensure_ascii=False))
