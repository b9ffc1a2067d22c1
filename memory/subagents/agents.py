"""The agents that may be called: those that orca ships and those of the settings."""

from collections.abc import Mapping
from difflib import get_close_matches

from memory.config import AgentSettings
from memory.errors import ToolFailed
from memory.settings.shipped_agents import SHIPPED_AGENTS
from memory.settings.tool_checks import NOT_FOR_AGENTS
from memory.text import label


def agents_of(settings: Mapping[str, AgentSettings]) -> dict[str, AgentSettings]:
    """The agents that are enabled, by name; `settings` are the sections `[agents.NAME]`."""
    return {name: agent for name, agent in {**SHIPPED_AGENTS, **settings}.items() if agent.enabled}


def find_agent(agents: Mapping[str, AgentSettings], name: str) -> AgentSettings:
    """One agent. Raises `ToolFailed` that names the others."""
    agent = agents.get(name)
    if agent is None:
        close = get_close_matches(name[:64], list(agents), n=1, cutoff=0.6)
        there = f"There are: {', '.join(agents)}." if agents else "None is configured."
        raise ToolFailed(
            f'There is no agent "{label(name, 80)}".', hint=f'Did you mean "{close[0]}"? {there}' if close else there
        )
    return agent


def tools_of(agent: AgentSettings) -> tuple[str, ...]:
    """The names of the tools that an agent may call, where they are there."""
    return tuple(name for name in dict.fromkeys(agent.tools) if name not in NOT_FOR_AGENTS)
