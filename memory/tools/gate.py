"""The one permission gate: what must be asked before a tool runs, and what the user has already answered.

Questions are put one at a time, in the order in which they came. An answer that comes meanwhile counts for those that
wait. A question that is cancelled (the turn was stopped) leaves nothing behind.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from memory.errors import OrcaError, ToolRefused
from memory.tools.base import Approver, Decision, PermissionRequest, Tool, ToolContext
from memory.tools.taint import as_tainted, must_ask

log = logging.getLogger(__name__)

REMEMBERED_ANSWERS = 1000
"""Refusals that are kept; the oldest go first."""


class Gate:
    """Asks the user and remembers. For the event loop's thread."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        """`allow`: what was allowed for always, `tool` or `tool:target`."""
        self.approver: Approver | None = None
        """Asks the user; without one, everything that must be asked is refused."""
        self.remember: Callable[[str], Awaitable[None]] | None = None
        """Keeps an entry of `allow` for the next start; may raise leaves of `OrcaError`."""
        self._always = set(allow)
        self._in_session: set[tuple[str, str]] = set()
        self._denied: dict[tuple[str, str, str, str], None] = {}
        self._asking = asyncio.Lock()
        self.waiting = 0
        """Questions that wait until the one before them is answered."""
        self.waiting_changed: Callable[[], None] = lambda: None

    @property
    def allowed(self) -> frozenset[str]:
        """What is allowed for always, `tool` or `tool:target`."""
        return frozenset(self._always)

    def use_settings(self, allow: Iterable[str]) -> None:
        """Go by what the settings allow now."""
        self._always = set(allow)

    def allowed_in(self, session_id: str) -> frozenset[str]:
        """What is allowed in a session until orca ends, `tool` or `tool:target`."""
        return frozenset(entry for session, entry in self._in_session if session == session_id)

    def revoke(self, entry: str) -> None:
        """Ask again for what was allowed, in every session. The settings are the caller's affair."""
        self._always.discard(entry)
        self._in_session = {kept for kept in self._in_session if kept[1] != entry}

    async def check(self, tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> None:
        """Return when the call may run. Raises `ToolRefused` when it may not."""
        request = await asyncio.to_thread(tool.permission, arguments, context)  # it may look at the disk
        if must_ask(tool, context):
            request = as_tainted(request, tool.spec.name, shown(arguments))
        if request is None or self._is_allowed(request, context):
            return
        request = replace(request, agent=context.agent, session_id=context.session.id)
        context.waits(True)
        try:
            async with self._in_turn():
                if not self._is_allowed(request, context):
                    await self._ask(request, context)
        finally:
            context.waits(False)

    async def ask(self, request: PermissionRequest) -> Decision:
        """The answer to a question that is no call, in its turn among the others; `deny` when nobody can be asked."""
        if self.approver is None:
            return "deny"
        async with self._in_turn():
            try:
                return await self._answer(self.approver, request)
            except ToolRefused as error:
                log.warning("%s", error)
                return "deny"

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        """While this question is put, the others wait."""
        self._count(1)
        try:
            await self._asking.acquire()
        finally:
            self._count(-1)
        try:
            yield
        finally:
            self._asking.release()

    def _count(self, step: int) -> None:
        self.waiting += step
        self.waiting_changed()

    def _is_allowed(self, request: PermissionRequest, context: ToolContext) -> bool:
        if "session" not in request.choices and "always" not in request.choices:
            return False
        keys = {request.tool, _key(request)}
        return bool(keys & self._always) or (context.session.id, _key(request)) in self._in_session

    async def _ask(self, request: PermissionRequest, context: ToolContext) -> None:
        asked = (context.turn_id, request.tool, request.target, request.arguments)
        if asked in self._denied:
            raise ToolRefused("The user has refused this very call.", hint="Do not ask for it again.")
        if self.approver is None:
            raise ToolRefused(
                f"{request.tool} needs the user's permission, and nobody can be asked here.",
                hint="Go on without it.",
            )
        match await self._answer(self.approver, request):
            case "once":
                pass
            case "session":
                self._in_session.add((context.session.id, _key(request)))
            case "always":
                await self._keep(request, context)
            case _:
                self._denied[asked] = None
                while len(self._denied) > REMEMBERED_ANSWERS:
                    del self._denied[next(iter(self._denied))]
                raise ToolRefused(f"The user did not allow {request.tool}.", hint="Go on without it, or ask the user.")

    async def _answer(self, approver: Approver, request: PermissionRequest) -> Decision:
        """What the user says; an answer that was not offered is none."""
        try:
            decision = await approver(request)
        except OrcaError as error:
            raise ToolRefused(f"The user could not be asked: {error}", hint="Go on without it.") from error
        return decision if decision in request.choices else "deny"

    async def _keep(self, request: PermissionRequest, context: ToolContext) -> None:
        """Allow for always. What cannot be written to the settings holds for the session."""
        entry = _key(request)
        self._in_session.add((context.session.id, entry))
        if self.remember is not None:
            try:
                await self.remember(entry)
            except OrcaError as error:
                log.warning("what was allowed for always holds for the session only: %s", error)
                return
        self._always.add(entry)


def _key(request: PermissionRequest) -> str:
    return f"{request.tool}:{request.target}" if request.target else request.tool


def shown(arguments: Mapping[str, Any]) -> str:
    """A call's arguments as the user is shown them: indented JSON."""
    return json.dumps(arguments, ensure_ascii=False, indent=2)
