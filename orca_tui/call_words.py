"""What is asked before a tool runs, in words: the call in full, a target with both its ends, what each answer means."""

import json
from collections.abc import Mapping
from typing import Any

from memory.text import clean, label
from memory.tools.base import Decision, PermissionRequest
from orca_tui.i18n import _

MCP = "mcp"
"""The tool of a question that is no call: whether a server's new or changed tools may be offered."""
TARGET = 300
"""Characters of a target that are told; the call below has all of it."""
KEYS: Mapping[Decision, str] = {"once": "o", "session": "s", "always": "a", "deny": "d"}
ORDER: tuple[Decision, ...] = ("once", "session", "always", "deny")


def call_text(request: PermissionRequest) -> str:
    """The whole call, cleaned; of a server's tools what was said of them before, and what is said now. May be long."""
    if request.tool == MCP:
        try:
            found = json.loads(request.arguments)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, Mapping):
            return clean("\n\n".join(_offer(str(name), told) for name, told in found.items()))
    return clean(request.arguments)


def _offer(name: str, told: Any) -> str:
    if not isinstance(told, Mapping):
        return name
    if "new" in told:
        return "\n".join([f"{name} · {_('new tool')}", *_facts(told["new"])])
    before, now = told.get("before"), told.get("now")
    lines = [f"{name} · {_('changed')}", f"{_('Before')}:", *_facts(before), f"{_('Now')}:", *_facts(now)]
    return "\n".join(lines)


def _facts(told: Any) -> list[str]:
    if not isinstance(told, Mapping):
        return [f"  {json.dumps(told, ensure_ascii=False)}"]
    parameters = json.dumps(told.get("parameters"), ensure_ascii=False, indent=2)
    lines = [*str(told.get("description") or "").splitlines(), *parameters.splitlines()]
    return [f"  {line}" for line in lines]


def both_ends(text: str, limit: int = TARGET) -> str:
    """One cleaned line; from the middle of a long one something is left out."""
    half = limit // 2
    if len(text) <= limit:
        return label(text, limit)
    return f"{label(text[:half], half)} … {label(text[-half:], half)}"


def entry_of(request: PermissionRequest) -> str:
    """What `always` allows, as it stands in the settings."""
    return f"{request.tool}:{request.target}" if request.target else request.tool


def meaning(decision: Decision, request: PermissionRequest) -> str:
    """What an answer does."""
    if request.tool == MCP and decision != "deny":
        return _("Offer these tools to models; each call is still asked for")
    what = both_ends(entry_of(request), 80)
    return {
        "once": _("Allow this one call"),
        "session": _("Allow {what} until orca ends, in this session", what=what),
        "always": _("Allow {what} from now on", what=what),
        "deny": _("Do not allow it"),
    }[decision]


def reasons(request: PermissionRequest) -> list[str]:
    """Why it is asked, each reason once."""
    return [_(reason) for reason in dict.fromkeys((request.reason, request.also)) if reason]
