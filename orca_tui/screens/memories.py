"""The memory screen: what outlives a session, by status, with all that can be done to it; one memory in full beside."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memory.errors import OrcaError
from memory.text import label
from memory.types import Message
from orca_tui import memory_deeds, memory_words
from orca_tui.core_words import error_said
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.memory_rows import ORDERS, PROPOSED, TABS, Listing, MemoryRow, Order, Tab, tab_of
from orca_tui.messages import DeedAsked
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.memory_detail import MemoryDetail
from orca_tui.widgets.memory_head import MemoryHead
from orca_tui.widgets.memory_list import MemoryList
from orca_tui.work import start

if TYPE_CHECKING:
    from orca_tui.memory_desk import MemoryDesk

BESIDE = 96
"""Cells from which the detail is beside the list."""
AFTER_FIRST = 0.25
"""Seconds in which the first rows are drawn before the rest is read beside it."""
LOW = 20
"""Rows below which the detail is shown only when it is asked for."""


class MemoriesScreen(Screen[Message | None]):
    """Gives a message when one is to be looked at in its session, else `None`."""

    CSS_PATH = Path(__file__).with_name("memories.tcss")
    AUTO_FOCUS = "#memories-list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, id="memory_back"),
        Binding("q", "close", show=False, id="memory_close"),
    ]

    def __init__(
        self,
        desk: "MemoryDesk",
        *,
        tab: Tab = "active",
        memory_id: int | None = None,
        now: Callable[[], str] | None = None,
    ) -> None:
        """`memory_id`: the memory to open with, in whatever list it is."""
        super().__init__()
        self._desk = desk
        self._now = now
        self._tab: Tab = tab
        self._wanted = memory_id
        self._listing: Listing | None = None
        self._growth: tuple[Listing | None, str] = (None, "")
        """The picture of growth, and of what."""
        self._shown: int | None = None
        self._unwatch: Callable[[], None] = lambda: None
        self._remark = ""
        self._remark_at: object = None
        """Where the cursor was when the remark was made; elsewhere it is over."""

    def compose(self) -> ComposeResult:
        """Title, lists, list and detail, what was said, keys."""
        self.head = MemoryHead(id="memories-head")
        self.columns = Static(id="memories-columns", markup=False)
        self.list = MemoryList(id="memories-list", now=self._now)
        self.detail = MemoryDetail(id="memories-detail", now=self._now)
        self.said = Static(id="memories-said", markup=False)
        self.keys_line = HintLine(id="memories-keys")
        self.title_line = Static(memory_words.title(""), id="memories-title", markup=False)
        yield self.title_line
        yield self.head
        yield self.columns
        with Horizontal(id="memories-body"):
            yield self.list
            yield self.detail
        with Vertical(id="memories-foot"):
            yield self.said
            yield self.keys_line

    def on_mount(self) -> None:
        """Read, and keep up with what changes."""
        self._unwatch = self._desk.watch(self._reload)
        self._reload()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        self._unwatch()

    def on_resize(self, event: events.Resize) -> None:
        """The detail goes where there is room."""
        self.set_class(event.size.width < BESIDE, "-below")
        self.set_class(event.size.height < LOW, "-low")
        self.call_after_refresh(self._draw_head)

    # reading

    @property
    def _listed(self) -> Tab:
        """The list that is seen; another one may be on its way."""
        return self._listing.tab if self._listing is not None else self._tab

    def _reload(self) -> None:
        start(self, "memories", self._load, exclusive=True)

    async def _load(self) -> None:
        try:
            if self._wanted is not None:
                wanted, self._wanted = self._wanted, None
                self._tab = tab_of((await self._desk.detail(wanted)).row.memory)
                self._listing = await self._desk.listing(self._tab)
                self._draw(moved_to=wanted)
                self._read()
            else:
                await self._load_tab(self._tab)
        except OrcaError as error:
            self._tell(error)
            return
        self._shown = None
        if self._remark == _("Reading…"):
            self._say("")
        self._look()

    async def _load_tab(self, tab: Tab) -> None:
        """The newest at once, then the rest."""
        beginning = await self._desk.beginning(tab)
        if self._listing is None or self._listing.tab != tab or beginning.is_whole:
            self._listing = beginning
            self._draw()
        if not beginning.is_whole:
            await asyncio.sleep(AFTER_FIRST)
            self._listing = await self._desk.listing(tab)
            self._draw()

    def _draw(self, *, moved_to: int | None = None) -> None:
        if self._listing is not None:
            self.list.show(self._listing.rows, memory_words.teach(self._tab))
            if moved_to is not None:
                self.list.move_to(moved_to)
            self._draw_head()

    def _draw_head(self) -> None:
        if self._listing is not None and self.is_attached:
            self.head.show(self._tab, self._listing.counts, self._listing.rows)
            if self._growth[0] is not self._listing:
                self._growth = (self._listing, memory_words.growth_picture(self._listing.rows, self._desk.now()))
            title = memory_words.title(self._growth[1])
            self.title_line.update(title, layout=False)
            self.columns.update(self.list.headings(self.list.scrollable_content_region.width), layout=False)

    def _look(self) -> None:
        """Show the memory under the cursor in full."""
        row = self.list.current
        if row is None:
            self._shown = None
            self.detail.show(None)
        elif row.memory.id != self._shown:
            self._shown = row.memory.id
            start(self, "detail", self._show, row.memory.id, exclusive=True)

    async def _show(self, memory_id: int) -> None:
        try:
            detail, current = await self._desk.detail(memory_id), self.list.current
            if current is not None and current.memory.id == memory_id:
                detail = replace(detail, row=current)
            self.detail.show(detail, self._desk.keys)
        except OrcaError as error:
            self.detail.show(None)
            self._tell(error)

    # what the widgets tell

    def on_memory_list_changed(self) -> None:
        """Cursor or marks moved."""
        self._look()
        self._draw_foot()

    def on_memory_list_chosen(self, _event: MemoryList.Chosen) -> None:
        """Read it in full."""
        self._read()

    def on_memory_head_chosen(self, event: MemoryHead.Chosen) -> None:
        """Open another list."""
        self._open(event.tab)

    async def on_deed_asked(self, event: DeedAsked) -> None:
        """A key of the list or the detail."""
        event.stop()
        step = {"next": 1, "previous": -1}.get(event.deed)
        if step is not None:
            tabs = list(TABS)
            self._open(tabs[(tabs.index(self._tab) + step) % len(tabs)])
        elif event.deed == "sort":
            start(self, "sort", self._sort, ORDERS[(ORDERS.index(self.list.order) + 1) % len(ORDERS)])
        elif event.deed == "turn":
            self.list.sort_by(self.list.order, turned=not self.list.turned)
            self._draw_head()
        elif event.deed == "source":
            self._jump()
        else:
            start(self, "deed", self._run, event.deed)

    async def _run(self, deed: str) -> None:
        rows = self.list.chosen if self.focused is not self.detail else self._read_row()
        try:
            said = await self._do(deed, rows)
        except OrcaError as error:
            self._tell(error)
            return
        if said:
            if deed not in ("pin", "promote", "demote"):
                self.list.unmark()
            await self._load()
            self._say(said)

    async def _do(self, deed: str, rows: list[MemoryRow]) -> str:
        """What this screen knows more about than the desk, and the rest."""
        if deed == "rollback":
            return await self._desk.roll_back()
        if deed == "undo_this":
            memory_deeds.some(rows)
            return await self._desk.undo_change(rows[0].memory.id)
        if deed == "reject" and self._listed in PROPOSED:
            return await self._desk.keep(rows)
        if deed == "merge" and len(rows) == 1 and rows[0].like is not None:
            rows = [*rows, replace(rows[0], memory=rows[0].like)]
        return await self._desk.run(deed, rows)

    async def _sort(self, order: Order) -> None:
        if order == "tokens" and self._listing is not None:
            await self._desk.measure(self._listing.rows)
        self.list.sort_by(order)
        self._draw_head()

    def _read_row(self) -> list[MemoryRow]:
        return [self.detail.detail.row] if self.detail.detail is not None else []

    def _jump(self) -> None:
        source = self.detail.detail.source if self.detail.detail is not None else None
        if source is None:
            self._say(_("It was not taken from a message that is still there"))
        else:
            self.dismiss(source)

    def _open(self, tab: Tab) -> None:
        self._tab = tab
        self.list.unmark()
        self._say(_("Reading…") if tab in PROPOSED else "")
        self._reload()
        self.list.focus()

    def _read(self) -> None:
        self.add_class("-reading")
        self.call_after_refresh(self.detail.focus)
        self._draw_foot()

    # ways back

    def action_back(self) -> None:
        """From the detail to the list; there marks go first, then the filter, then the screen."""
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self.call_after_refresh(self.list.focus)
        elif not self.list.unmark() and not self.list.clear_filter():
            self.dismiss(None)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)

    # the last lines

    def on_descendant_focus(self) -> None:
        """Other keys make sense."""
        self._draw_foot()

    def _say(self, text: str) -> None:
        self._remark, self._remark_at = text, None
        self._draw_foot()

    def _tell(self, error: OrcaError) -> None:
        self._say(error_said(error))

    def _draw_foot(self) -> None:
        marked = self.list.marked
        chosen = self._read_row() if self.focused is self.detail else self.list.chosen
        spot = (self.list.cursor_key, len(marked), self.focused is self.detail)
        self._remark_at = self._remark_at or spot
        if self._remark_at != spot:
            self._remark = ""
        if self._remark:
            line = Content.styled(label(self._remark, 400), "$text-warning")
        elif marked:
            tokens = count(sum(row.tokens for row in marked))
            line = Content.styled(_("{n} marked · frees {tokens} tokens", n=count(len(marked)), tokens=tokens), "bold")
        else:
            row = chosen[0] if chosen else None
            line = Content(_("frees {tokens} tokens when it goes", tokens=count(row.tokens)) if row else "")
        self.said.update(line, layout=False)
        self.keys_line.show(self._hints(chosen))

    def _hints(self, chosen: list[MemoryRow]) -> list[tuple[str, str]]:
        if self.focused is self.detail:
            has_source = self.detail.detail is not None and self.detail.detail.source is not None
            return memory_words.detail_hints(self._listed, chosen, self._desk.keys, has_source=has_source)
        return memory_words.list_hints(self._listed, chosen, self._desk.keys)
