"""What goes on in the background → what is said about it on the screen."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memory.errors import StoreError
from memory.events import MemoryChanged, QueueChanged, SavingChanged, SecretNoticed, SessionTitled, UpkeepChanged
from memory.text import clean, label
from orca_tui.core_words import core_said
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.events import BackgroundEvent
    from memory.store.base import Store
    from orca_tui.app import OrcaApp

TOLD, TOLD_CELLS = 3, 80
"""Memories that one notice names, and how much of each."""
LASTING = 24 * 3600.0
"""Seconds that a notice stays unless what it tells of ends."""


def show(app: "OrcaApp", event: "BackgroundEvent") -> None:
    """Show one event of the core's, on the app's loop."""
    match event:
        case QueueChanged(waiting=waiting, status=status, problem=problem):
            app.chat.show_queue(waiting, status, problem)
        case MemoryChanged() if app.conversation is not None:
            app.spawn("refresh", app.conversation.refresh_memory)
            if event.action == "add" and event.kind == "long_term":
                app.spawn("remembered", _tell_of_memories, app, app.conversation.core.store, event.ids)
        case SessionTitled(session=session) if app.conversation is not None:
            app.spawn("titled", app.conversation.titled, session)
        case SecretNoticed(kind=kind):
            app.notify(_secret_told(kind), title=_("A secret was seen"), severity="warning", timeout=20, markup=False)
        case UpkeepChanged(problem=problem) if problem:
            app.notify(clean(_("Memory upkeep is tried again: {why}", why=core_said(problem))), markup=False)
        case SavingChanged():
            _show_saving(app, event)


async def _tell_of_memories(app: "OrcaApp", store: "Store", ids: "Sequence[int]") -> None:
    """Say what is remembered from now on, and what waits for review."""
    with suppress(StoreError):  # gone by now, or told where it matters
        memories = [await asyncio.to_thread(store.memory, memory_id) for memory_id in ids[:TOLD]]
        lines = [
            _("For review: {text}", text=label(memory.content, TOLD_CELLS))
            if memory.status == "pending"
            else _("Remembered: {text}", text=label(memory.content, TOLD_CELLS))
            for memory in memories
        ]
        if len(ids) > TOLD:
            lines.append(_("… and {n} more", n=len(ids) - TOLD))
        app.notify("\n".join(lines), markup=False)


def _secret_told(kind: str) -> str:
    """What is done about a secret in a message, and what the user can do."""
    what = {
        "key": _("a key"),
        "token": _("a token"),
        "private key": _("a private key"),
        "password": _("a password"),
    }[kind]
    return _(
        "Your message seems to hold {what}. The model was sent it, and it stays in this conversation; it is not "
        "remembered, and not shown to other conversations. To be rid of it: delete this session, and change it where "
        "it is used.",
        what=what,
    )


def _show_saving(app: "OrcaApp", event: SavingChanged) -> None:
    """Replies that cannot be written: told for as long as it is so, and once when it is over."""
    if event.stored is not None and app.chat.shows(event.stored.session_id):
        app.chat.reply_finished(event.stored, "")
    app.clear_notifications()
    app.chat.status.update_status(unsaved=event.unsaved)
    if event.unsaved:
        told = _(
            "Replies that are not saved yet: {n}. They are kept, and tried again until orca ends.", n=event.unsaved
        )
        elsewhere = _("To write them to another disk now: /rescue PATH")
        text = "\n".join(filter(None, (told, core_said(event.problem), core_said(event.hint), elsewhere)))
        app.notify(clean(text), title=_("Storage"), severity="error", timeout=LASTING, markup=False)
    else:
        app.notify(_("Every reply is saved now."), title=_("Storage"), markup=False)
