"""Where the screen works on memory: reads lists and details in a thread, asks, does, and says what was done."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memory.text import label
from memory.types import ItemKind
from orca_tui import memory_deeds
from orca_tui.i18n import _
from orca_tui.memory_keys import shown
from orca_tui.memory_rows import Detail, Listing, MemoryReader, MemoryRow, Tab

if TYPE_CHECKING:
    from memory.core import Core
    from memory.curation.history import TakenBack
    from memory.store.base import Store
    from memory.types import Scope
    from orca_tui.app import OrcaApp


class MemoryDesk:
    """One for an app and its core. `run` is for workers: it may wait for the user."""

    def __init__(self, app: "OrcaApp", core: "Core") -> None:
        self._app = app
        self._core = core
        self._reader = MemoryReader(core.curator, core.counter, core.clock.now)
        self._reading = asyncio.Lock()

    @property
    def keys(self) -> "dict[str, str]":
        """What the user set for bindings of widgets, by id."""
        return dict(self._app.keymap.others)

    @property
    def store(self) -> "Store":
        """Where it is kept; blocking."""
        return self._core.store

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` whenever memory was written. Gives the way out."""
        from memory.events import MemoryChanged

        return self._core.subscribe(lambda event: changed() if isinstance(event, MemoryChanged) else None)

    async def listing(self, tab: Tab) -> Listing:
        """One list. Raises leaves of `StoreError`."""
        async with self._reading:
            return await asyncio.to_thread(self._reader.listing, tab)

    async def beginning(self, tab: Tab) -> Listing:
        """The newest of one list, at once. Raises leaves of `StoreError`."""
        async with self._reading:
            return await asyncio.to_thread(self._reader.beginning, tab)

    async def measure(self, rows: Sequence[MemoryRow]) -> None:
        """Count the tokens of all of these."""
        await asyncio.to_thread(self._reader.measure, rows)

    async def keep(self, rows: Sequence[MemoryRow]) -> str:
        """Turn down what is proposed about these. Gives what to say. Raises leaves of `OrcaError`."""
        memory_deeds.some(rows)
        curator = self._core.curator
        pairs = [(row.like.id, row.memory.id) for row in rows if row.like is not None]
        if pairs:
            await asyncio.to_thread(curator.keep_both, *pairs)
        else:
            await asyncio.to_thread(curator.keep_cold, *[row.memory.id for row in rows])
        return _("{n} stay; they are not proposed again", n=len(rows)) + self._way_back()

    async def undo_change(self, memory_id: int) -> str:
        """Take back the newest change of one memory that stands. Raises leaves of `OrcaError`."""
        history = self._core.curator.history
        taken = await asyncio.to_thread(history.undo_item, "long_term", memory_id)
        self._core.curator.told_changed(taken)
        return memory_deeds.told_undo(taken)

    async def roll_back(self) -> str:
        """Ask to which time, show what would change, and do it. Gives what to say; empty when the user left it."""
        from orca_tui.screens.rollback import RollbackScreen

        return await self._app.push_screen_wait(RollbackScreen(self))

    async def planned_rollback(
        self, since: str, until: str | None, branch: str | None, scope: "Scope | None", *, dry_run: bool = True
    ) -> "list[TakenBack]":
        """What a rollback would put back, or (not `dry_run`) has. Raises leaves of `OrcaError`."""
        curator = self._core.curator
        taken = await asyncio.to_thread(
            lambda: curator.history.rollback(since, until=until, branch=branch, scope=scope, dry_run=dry_run)
        )
        if not dry_run:
            curator.told_changed(taken)
        return taken

    def now(self) -> str:
        """The time."""
        return self._core.clock.now()

    @property
    def branches(self) -> list[str]:
        """The names of all branches."""
        return list(self._core.settings.memory.branches)

    @property
    def scope(self) -> "Scope":
        """Whose memory is meant when nobody says."""
        return self._core.curator.default_scope

    async def detail(self, memory_id: int) -> Detail:
        """One memory. Raises leaves of `StoreError`."""
        async with self._reading:
            return await asyncio.to_thread(self._reader.detail, memory_id)

    async def run(self, deed: str, rows: Sequence[MemoryRow]) -> str:
        """Do it to these, after asking where it is due. Gives what to say; empty when the user left it.

        Raises `OrcaError` when it cannot be done.
        """
        if deed == "undo":
            return await self.undo()
        memories = [row.memory for row in rows]
        memory_deeds.require(deed, memories)
        if deed == "edit":
            return await self._edit(rows[0])
        if deed == "merge":
            return await self._merge(rows)
        if memory_deeds.needs_asking(deed, len(rows)):
            from orca_tui.screens.ask import Ask

            asked = Ask(memory_deeds.question(deed, rows), [memory.content for memory in memories])
            if not await self._app.push_screen_wait(asked):
                return ""
        if deed == "erase":
            return await self._erase(rows)
        await asyncio.to_thread(memory_deeds.do, self._core.curator, deed, memories)
        return self._told(deed, rows)

    async def undo(self) -> str:
        """Take the last act back."""
        return memory_deeds.told_undo(await asyncio.to_thread(self._core.curator.undo))

    async def run_on_item(self, deed: str, kind: ItemKind, item_id: int) -> str:
        """The same for one item of the sidebar: a memory, a summary or a message."""
        if deed == "undo":
            return await self.undo()
        curator = self._core.curator
        if kind == "long_term":
            return await self.run(deed, [(await self.detail(item_id)).row])
        if deed == "promote":
            keep = curator.keep_message if kind == "message" else curator.keep_summary
            kept = await asyncio.to_thread(keep, item_id)
            return _("Kept as a memory in {branch}", branch=label(kept.branch, 40)) + self._way_back()
        if kind == "short_term" and deed == "trash":
            await asyncio.to_thread(curator.drop_summary, item_id)
            return _("The summary is gone from this session") + self._way_back()
        return _("That goes for memories; {key} makes one of this", key=shown("promote", self.keys))

    async def _edit(self, row: MemoryRow) -> str:
        from orca_tui.screens.memory_form import MemoryForm

        memory = row.memory
        filled = await self._app.push_screen_wait(MemoryForm(memory, list(self._core.settings.memory.branches)))
        if filled is None:
            return ""
        wanted = {"content": filled.content, "memory_type": filled.memory_type, "branch": filled.branch}
        changes: dict[str, Any] = {name: value for name, value in wanted.items() if value != getattr(memory, name)}
        if not changes or (len(changes) == 1 and changes.get("content") == memory.content.strip()):
            return ""
        await asyncio.to_thread(lambda: self._core.curator.edit(memory.id, **changes))
        return self._told("edit", [row])

    async def _merge(self, rows: Sequence[MemoryRow]) -> str:
        from orca_tui.screens.memory_form import MemoryForm

        longest = max(rows, key=lambda row: (len(row.memory.content), row.memory.id))
        others = [row.memory.content for row in rows if row is not longest]
        filled = await self._app.push_screen_wait(MemoryForm(longest.memory, (), others=others))
        if filled is None:
            return ""
        content = filled.content if filled.content != longest.memory.content.strip() else None
        await asyncio.to_thread(self._core.curator.merge, [row.memory.id for row in rows], content)
        return self._told("merge", rows)

    async def _erase(self, rows: Sequence[MemoryRow]) -> str:
        copies = await asyncio.to_thread(self._core.curator.erase, *[row.memory.id for row in rows])
        said = self._told("erase", rows)
        if copies:
            names = ", ".join(label(str(copy), 120) for copy in copies)
            said += " · " + _("older copies may still hold it: {files}", files=names)
        return said

    def _told(self, deed: str, rows: Sequence[MemoryRow]) -> str:
        return memory_deeds.told(deed, rows, shown("undo", self.keys))

    def _way_back(self) -> str:
        key = shown("undo", self.keys)
        return f" · {_('{key} takes it back', key=key)}" if key else ""
