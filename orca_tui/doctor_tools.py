"""What the doctor tells of tools and agents."""

from pathlib import Path
from typing import Literal

from memory.config import Settings
from memory.subagents.agents import agents_of, tools_of
from memory.text import label

Told = tuple[str, Literal["ok", "warn", "fail"], str, str]
"""Name of the row, state, detail, advice."""


def tools_told(settings: Settings) -> list[Told]:
    """A row on tools, with the directories that are not there, and one on agents."""
    tools = settings.tools
    if not tools.enabled:
        return [("tools", "ok", "switched off ([tools] enabled)", ""), _agents(settings)]
    names = ["memory_search", "memory_save"] * settings.memory.enabled
    names += ["read_file", "list_dir"] * bool(tools.roots) + ["fetch_url"] * tools.fetch_url
    detail = ", ".join([*names, "agent_call"])
    detail += "; no directories to read in ([tools] roots)" * (not tools.roots)
    detail += f"; never asked about: {', '.join(label(each, 80) for each in tools.allow)}" * bool(tools.allow)
    missing = [root for root in tools.roots if not _is_directory(root)]
    if missing:
        there = f"{detail}; not there: {', '.join(label(root, 200) for root in missing)}"
        return [("tools", "warn", there, "Correct [tools] roots."), _agents(settings)]
    return [("tools", "ok", detail, ""), _agents(settings)]


def _agents(settings: Settings) -> Told:
    listed = [
        f"{name} ({', '.join(tools_of(agent)) or 'no tools'})" for name, agent in agents_of(settings.agents).items()
    ]
    return ("agents", "ok", "; ".join(listed) or "none", "")


def _is_directory(root: str) -> bool:
    try:
        return Path(root).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):
        return False
