"""Subagents, tools, permissions and the trace panel."""

TEXTS: dict[str, str] = {}
