"""Why a reply knew what it knew: what memory gave it, and by which score. What is wrong can be corrected right here."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from memory.errors import NotFoundError, OrcaError
from memory.store.base import Store
from memory.text import label
from memory.types import WITHOUT_MEMORY, Injection, Message
from orca_tui import memory_deeds, memory_keys
from orca_tui.core_words import error_said
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.messages import DeedAsked
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.why_list import Given, WhyList
from orca_tui.work import start

if TYPE_CHECKING:
    from orca_tui.memory_desk import MemoryDesk

TITLE_CELLS = 70


def given_to(store: Store, message_id: int) -> list[Given]:
    """What a reply was given, by rank. Blocking; raises leaves of `StoreError`."""
    return [_as_it_is(store, injection) for injection in store.injections(message_id)]


def _as_it_is(store: Store, injection: Injection) -> Given:
    try:
        if injection.kind == "long_term":
            memory = store.memory(injection.item_id)
            return Given(injection, memory.content, memory.updated_at, memory)
        if injection.kind == "short_term":
            summary = store.short_term_memory(injection.item_id)
            return Given(injection, summary.content, summary.updated_at, None)
        message = store.message(injection.item_id)
        return Given(injection, message.content, message.timestamp, None)
    except NotFoundError:
        return Given(injection, "", "", None)


class WhyScreen(Screen[Message | None]):
    """Gives a message when one is to be looked at in its session, else `None`."""

    CSS_PATH = Path(__file__).with_name("memories.tcss")
    AUTO_FOCUS = "#why-list"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f5", "close", show=False, id="why_close")]

    def __init__(
        self,
        desk: "MemoryDesk",
        replies: Sequence[Message],
        *,
        at: int | None = None,
        said: str = "",
        now: Callable[[], str] | None = None,
    ) -> None:
        """`replies`: those of the session with text, oldest first, at least one. Number `at` is shown (default: the
        newest)."""
        super().__init__()
        self._desk = desk
        self._replies = replies
        self._at = len(replies) - 1 if at is None else at
        self._remark = said
        self._now = now

    def compose(self) -> ComposeResult:
        """Which reply, what it was given, what was said, keys."""
        self.title_line = Static(id="why-title", markup=False)
        self.list = WhyList(id="why-list", now=self._now)
        self.said = Static(id="why-said", markup=False)
        self.keys_line = HintLine(id="why-keys")
        yield from (self.title_line, self.list, self.said, self.keys_line)

    def on_mount(self) -> None:
        """Read it."""
        self._reload()

    def _reload(self) -> None:
        start(self, "why", self._load, exclusive=True)

    async def _load(self) -> None:
        reply = self._replies[self._at]
        try:
            given = await asyncio.to_thread(given_to, self._desk.store, reply.id)
        except OrcaError as error:
            self._remark = error_said(error)
            given = []
        title = Content.styled(_("Why this reply?"), "bold")
        title += Content(f"  {label(reply.content[:400], TITLE_CELLS)}")
        self.title_line.update(title)
        self.list.show(given, _none(reply))
        self._draw_foot()

    def on_why_list_moved(self) -> None:
        """Other keys make sense."""
        self._draw_foot()

    def on_why_list_chosen(self, event: WhyList.Chosen) -> None:
        """A memory opens on the memory screen, a message in its session."""
        start(self, "open", self._open, event.given)

    async def on_deed_asked(self, event: DeedAsked) -> None:
        """A key of the list."""
        event.stop()
        step = {"next": 1, "previous": -1}.get(event.deed)
        if step is not None:
            self._at = min(max(0, self._at + step), len(self._replies) - 1)
            self._remark = ""
            self._reload()
        elif event.deed == "source" and self.list.current is not None:
            start(self, "open", self._source, self.list.current)
        else:
            start(self, "deed", self._run, event)

    async def _run(self, event: DeedAsked) -> None:
        try:
            if event.kind is None and event.deed != "undo":
                raise OrcaError(_("There is no memory under the cursor"))
            self._remark = await self._desk.run_on_item(event.deed, event.kind or "long_term", event.id)
        except OrcaError as error:
            self._remark = error_said(error)
        await self._load()

    async def _open(self, given: Given) -> None:
        if given.injection.kind == "long_term" and given.memory is not None:
            from orca_tui.screens.memories import MemoriesScreen

            screen = MemoriesScreen(self._desk, memory_id=given.injection.item_id, now=self._now)
            source = await self.app.push_screen_wait(screen)
            if source is not None:
                self.dismiss(source)
            else:
                await self._load()
        else:
            await self._source(given)

    async def _source(self, given: Given) -> None:
        """Go to the message behind an item."""
        kind, item_id = given.injection.kind, given.injection.item_id
        try:
            if kind == "message":
                self.dismiss(await asyncio.to_thread(self._desk.store.message, item_id))
                return
            if kind == "long_term" and (source := (await self._desk.detail(item_id)).source) is not None:
                self.dismiss(source)
                return
        except OrcaError as error:
            self._remark = error_said(error)
        else:
            self._remark = _("It was not taken from a message that is still there")
        self._draw_foot()

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)

    def _draw_foot(self) -> None:
        given = self.list.given
        tokens = sum(one.injection.tokens for one in given)
        told = _("reply {at} of {n}", at=self._at + 1, n=len(self._replies))
        if given:
            told += " · " + _("{n} from memory, {tokens} tokens", n=count(len(given)), tokens=count(tokens))
        line = Content.styled(label(self._remark, 400), "$text-warning") if self._remark else Content(told)
        self.said.update(line)
        keys, current = self._desk.keys, self.list.current
        deeds = memory_deeds.possible([current.memory]) if current and current.memory else []
        found = (
            [("Esc", _("chat")), ("Enter", _("open")), ("←→", _("other replies"))] if given else [("Esc", _("chat"))]
        )
        pairs = memory_keys.pairs([*(deed for deed in deeds if deed != "merge"), "undo"], keys)
        self.keys_line.show([*found, *((key, _(word)) for key, word in pairs)])


def _none(reply: Message) -> str:
    if reply.metadata.get(WITHOUT_MEMORY):
        return _("This reply was asked for without memory: it was given this conversation only.")
    return _("Memory gave this reply nothing: nothing fitted the question.")
