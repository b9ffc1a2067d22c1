"""The command that says whose memory is meant: the user's alone, or that of a project as well."""

import asyncio
from typing import TYPE_CHECKING

from memory.store.base import Store
from memory.text import label
from memory.types import Scope
from orca_tui.action_base import ActionBase
from orca_tui.i18n import _
from orca_tui.screens.choose import Choice, Choose

if TYPE_CHECKING:
    pass

LOOKED_AT = 2000
"""Sessions and memories, the newest, in which projects are looked for."""
COUNTED = 1000
LONGEST = 64


class ScopeActions(ActionBase):
    """Mixed into the actions."""

    async def scope(self, argument: str) -> None:
        """`user`, or `project NAME`; without an argument a list. It holds for sessions that begin from now on."""
        talk = self._talk()
        first, _blank, rest = argument.strip().partition(" ")
        if first.lower() in ("user", "none"):
            await self._use("")
        elif argument.strip():
            name = rest if first.lower() == "project" else argument
            await self._use(label(name, LONGEST))
        else:
            memory = talk.core.settings.memory
            choices = await asyncio.to_thread(_choices, talk.core.store, memory.user_id, memory.project)
            chosen = await self._app.push_screen_wait(Choose(_("Whose memory"), choices, current=memory.project))
            if chosen is not None and chosen != memory.project:
                await self._use(chosen)

    async def _use(self, project: str) -> None:
        app, talk = self._app, self._talk()
        await self._save("memory.project", project)
        talk.core.use_settings(app.settings)
        open_one = talk.session
        if project:
            said = _("New sessions belong to the project “{name}”: its memories and yours are recalled", name=project)
        else:
            said = _("New sessions belong to no project: only memories that are tied to none are recalled")
        if open_one is not None and (open_one.project or "") != project:
            said += " · " + _("this session stays as it is")
        app.chat.hint_line.say(said)
        await talk.refresh_memory()


def _choices(store: Store, user_id: str, current: str) -> list[Choice]:
    """No project, and every project that there is, each with how many memories would be seen."""
    names = {session.project for session in store.sessions(state=None, limit=LOOKED_AT)}
    names |= {memory.project for memory in store.memories(limit=LOOKED_AT)}
    projects = sorted({name for name in names if name} | ({current} if current else set()))
    return [
        Choice("", _("no project"), _seen(store, Scope(user_id))),
        *(Choice(name, name, _seen(store, Scope(user_id, name))) for name in projects),
    ]


def _seen(store: Store, scope: Scope) -> str:
    number = len(store.memories(scope=scope, limit=COUNTED))
    return _("{n} memories are seen", n=f"{COUNTED}+" if number >= COUNTED else number)
