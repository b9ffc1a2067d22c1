"""The commands about agents and tools: let one work, who there is, what they did, what models may call."""

from typing import TYPE_CHECKING

from textual.content import Content

from memory.errors import OrcaError
from memory.text import clean, label
from orca_tui.action_base import ActionBase
from orca_tui.figures import count
from orca_tui.i18n import _

if TYPE_CHECKING:
    from memory.config import AgentSettings


class AgentActions(ActionBase):
    """One method a command, named like it."""

    async def agent(self, argument: str) -> None:
        """Let an agent do a task in the open session; what cannot be begun goes back into the composer."""
        name, _blank, task = argument.strip().partition(" ")
        first, newline, rest = name.partition("\n")
        name, task = (first, f"{rest} {task}".strip()) if newline else (name, task.strip())
        try:
            if not name or not task:
                raise OrcaError(_("Say which agent, and its task: /agent NAME TASK"), hint=self._there())
            if self._talk().busy:
                raise OrcaError(_("The reply is still being written; Esc stops it"))
            await self._talk().run_agent(name, task)
        except OrcaError:
            composer = self._app.chat.composer
            if not composer.text:
                composer.load_text(f"/agent {argument}".rstrip() + " " * (not argument))
            composer.focus()
            raise

    async def agents(self, _argument: str) -> None:
        """Prompt, model, tools and limits of each."""
        from orca_tui.screens.page import Page

        agents = self._talk().core.subagents.agents
        note = _("/agent NAME TASK lets one work · [agents.NAME] in the settings changes or adds one · Esc closes")
        self._app.push_screen(Page(_("Agents"), agent_lines(agents), note=note))

    async def traces(self, argument: str) -> None:
        """The agents of the open session, at work and done; again: away with it. `argument`: the number of a run."""
        from orca_tui.screens.traces import TracesScreen

        if isinstance(self._app.screen, TracesScreen):
            self._app.screen.dismiss(None)
        elif self._app.screen is self._app.chat:
            await self._app.open_traces(int(argument) if argument.isascii() and argument.isdigit() else None)

    async def tools(self, _argument: str) -> None:
        """What models may call, what is allowed for always, how the MCP servers do."""
        from orca_tui.screens.tools import ToolsScreen
        from orca_tui.tool_desk import ToolDesk

        self._app.push_screen(ToolsScreen(ToolDesk(self._app, self._talk().core)))

    def _there(self) -> str:
        names = ", ".join(label(name, 40) for name in self._talk().core.subagents.agents)
        return _("There are: {names}", names=names) if names else _("No agent is configured.")


def agent_lines(agents: "dict[str, AgentSettings]") -> list[Content]:
    """All that is set of each agent. A prompt is shown whole."""
    lines: list[Content] = []
    for name, agent in agents.items():
        about = Content.styled(f"  {label(agent.description)}", "$muted") if agent.description else Content("")
        lines += [Content.styled(label(name, 64), "bold $text-accent") + about]
        parameters = ", ".join(f"{key}={value}" for key, value in agent.parameters.items())
        if agent.temperature is not None:
            parameters = ", ".join(filter(None, (f"temperature={agent.temperature:g}", parameters)))
        facts = [
            (_("Model"), agent.model or _("the one that answers")),
            (_("Tools"), ", ".join(agent.tools) or _("none")),
            (_("Limits"), _("{n} tokens, {s} s", n=count(agent.max_tokens), s=f"{agent.max_seconds:g}")),
            (_("Parameters"), parameters),
        ]
        lines += [Content.styled(f"  {word}: ", "$muted") + Content(label(told, 300)) for word, told in facts if told]
        lines += [Content(f"  {line}") for line in clean(agent.prompt).splitlines()]
        lines.append(Content(""))
    return lines
