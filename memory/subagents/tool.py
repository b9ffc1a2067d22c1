"""`agent_call`: an agent as a tool that a model may call."""

from collections.abc import Mapping
from typing import Any

from memory.errors import OrcaError, ToolFailed
from memory.provider.base import ToolSpec
from memory.store.run_store import AGENT_CALL
from memory.subagents.runner import Subagents
from memory.tools.base import PermissionRequest, ToolContext, ToolResult


class AgentCall:
    """Implements `memory.tools.base.Tool`."""

    reaches_outside = False
    """It only asks the model; what the agent calls goes through the gate itself."""

    def __init__(self, subagents: Subagents) -> None:
        self._subagents = subagents

    @property
    def spec(self) -> ToolSpec:
        """With the agents that there are."""
        agents = self._subagents.agents
        listed = "\n".join(f"- {name}: {agent.description or 'no description'}" for name, agent in agents.items())
        return ToolSpec(
            AGENT_CALL,
            "Give a task to an agent that works on its own and comes back with a summary of its result. It sees "
            "nothing of this conversation and remembers nothing: put all that it needs into the task. Call "
            f"several at once for parts that do not depend on each other. Agents:\n{listed}",
            {
                "type": "object",
                "properties": {
                    "agent": {"type": "string", "enum": list(agents), "description": "Who is to do it"},
                    "task": {"type": "string", "description": "The whole task, with everything needed to do it"},
                },
                "required": ["agent", "task"],
            },
        )

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest | None:  # noqa: ARG002
        """Nothing is asked."""
        return None

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Let the agent work; the summary of its result."""
        try:
            outcome = await self._subagents.call(arguments["agent"], arguments["task"], context)
        except OrcaError as error:
            if isinstance(error, ToolFailed):
                raise
            raise ToolFailed(f"The agent could not begin: {error}", hint=error.hint) from error
        match outcome.run.state:
            case "failed":
                return ToolResult(outcome.summary, state="failed")
            case "stopped" if outcome.is_cancelled:
                return ToolResult(outcome.summary, state="cancelled")
            case _:
                return ToolResult(outcome.summary)
