"""The app's part about agents and tools: the question before a tool runs, the panel of agents at work, their traces."""

import asyncio
from typing import TYPE_CHECKING

from memory.errors import OrcaError, StoreError
from memory.text import label
from orca_tui.core_words import core_said
from orca_tui.i18n import _
from orca_tui.messages import SessionShown, TurnEnded
from orca_tui.terminal_room import TerminalRoom

if TYPE_CHECKING:
    from memory.core import Core
    from orca_tui.approval import Approval
    from orca_tui.traces import Traces
    from orca_tui.widgets.trace_list import TraceList
    from orca_tui.widgets.trace_panel import TracePanel

TOLD = 3
"""Interrupted agents that are named."""


class TraceRoom(TerminalRoom):
    """Joined in the app."""

    _traces: "Traces | None" = None
    _panel: "TracePanel | None" = None
    _approval: "Approval | None" = None

    @property
    def traces(self) -> "Traces":
        """The runs of agents, as far as they were looked at."""
        if self._traces is None:
            from orca_tui.traces import Traces

            self._traces = Traces(self.set_timer)
        return self._traces

    def watch_agents(self, core: "Core") -> None:
        """Ask before tools run, show agents at work, and say which ones the end of orca had cut."""
        from orca_tui.approval import Approval

        self._approval = Approval(self.whole, core)
        self.traces.watch(self._runs_changed)
        self.chat.transcript.has_runs = self._has_runs
        self.chat.composer.choices["agent"] = lambda: [
            (name, label(agent.description, 80)) for name, agent in core.subagents.agents.items()
        ]
        if runs := core.interrupted_runs:
            self.traces.learn(runs)
            names = ", ".join(label(run.agent_name, 40) for run in runs[:TOLD])
            names += f" +{len(runs) - TOLD}" if len(runs) > TOLD else ""
            told = _("Agents that were at work when orca ended: {names}. What they had written is lost.", names=names)
            self.notify(told, title=_("Agents"), severity="warning", timeout=15, markup=False)

    def ring(self, text: str) -> None:
        """The user is needed: tell them when they look elsewhere."""
        if not self.app_focus:
            self.spawn("notice", self.give_notice, text)

    # what happens

    def on_session_shown(self, _event: SessionShown) -> None:
        """Another session has other agents."""
        self._show_panel()
        session_id = self.chat.target.session_id
        if session_id is not None and self.core is not None:
            self.spawn("runs", self.learn_runs, session_id)

    def on_turn_ended(self, _event: TurnEnded) -> None:
        """No agent is at work any more; of one whose end was not told, the row tells."""
        session_id = self.chat.target.session_id
        if session_id is not None and self.traces.running(session_id):
            self.spawn("runs", self.learn_runs, session_id)

    async def learn_runs(self, session_id: str) -> None:
        """Take the stored runs of a session. One that cannot be read has none to show."""
        if self.core is None:
            return
        try:
            self.traces.learn(await asyncio.to_thread(self.core.store.subagent_runs, session_id))
        except StoreError as error:
            self.chat.hint_line.say(core_said(str(error)))

    def on_trace_list_chosen(self, event: "TraceList.Chosen") -> None:
        """A run of the panel."""
        self.spawn("command", self.open_traces, event.run_id)

    async def open_traces(self, run_id: int | None = None) -> None:
        """All agents of the open session over the chat; `run_id`: the run to begin with."""
        from orca_tui.screens.traces import TracesScreen

        core = self.core
        if core is None:
            raise OrcaError(_("orca is still starting; try again in a moment."))
        session_id = self.chat.target.session_id
        if session_id is not None:
            await self.learn_runs(session_id)
        screen = TracesScreen(
            self.traces,
            session_id,
            now=core.clock.now,
            cancel=core.subagents.cancel,
            cancel_all=core.subagents.cancel_all,
            go_to=self._go_to_message,
            run_id=run_id,
        )
        self.push_screen(screen)

    def runs_at(self, key: str) -> list[int]:
        """The runs that belong to an entry of the transcript: of its tool's call, else of its turn; oldest first."""
        from orca_tui.trace_lookup import run_ids

        return run_ids(key, self.chat.messages, self.traces)

    # what is shown

    def _has_runs(self, key: str) -> bool:
        return bool(self.runs_at(key))

    def _runs_changed(self, run_ids: set[int]) -> None:
        self._show_panel()
        for run_id in run_ids:
            run = self.traces.run(run_id)
            if run is not None and self.chat.shows(run.session_id):
                self.chat.run_changed(run, self.traces.step(run), self.traces.tokens(run)[1])

    def _show_panel(self) -> None:
        """There from the first run on; hidden while nothing runs."""
        session_id = self.chat.target.session_id
        if self._panel is None:
            if not self.traces.running(session_id) or self.core is None or not self.chat.is_furnished:
                return
            from orca_tui.keys import display
            from orca_tui.widgets.trace_panel import TracePanel

            self._panel = TracePanel(self.traces, self.core.clock.now, lambda: display(self.keymap.first("traces")))
            self.chat.query_one("#sidebar").mount(self._panel)
        self._panel.show(session_id)

    def _go_to_message(self, message_id: int) -> None:
        transcript = self.chat.transcript
        if transcript.go_to(str(message_id)):
            transcript.focus()
        else:
            self.chat.hint_line.say(_("That message is not on the path that is shown"))
