"""The rule of taint, in one place: which results taint a turn, and what a tainted turn must ask for.

Text that is not orca's or the user's — a page, a file, what an MCP server says — may hold orders for the model. From
the first such text on, whatever reaches outside is asked for, one call at a time, though it was allowed before: what
the user allowed, they allowed for calls of their own making. It holds for as long as the text is in the prompt: which
stored messages bring it there says `memory.writing.trust.is_foreign`.
"""

from dataclasses import replace

from memory.tools.base import PermissionRequest, Tool, ToolContext, ToolResult

TAINTED = "The turn has taken in text from outside, which may have led the model to this call."
"""Why a call is asked for that would be allowed otherwise (English source of `_`)."""


def taints(result: ToolResult) -> bool:
    """Whether a result taints the turn that it comes into."""
    return result.is_foreign and bool(result.text.strip())


def must_ask(tool: Tool, context: ToolContext) -> bool:
    """Whether a call is asked for, whatever was allowed before."""
    return context.is_tainted and tool.reaches_outside


def as_tainted(request: PermissionRequest | None, name: str, shown: str) -> PermissionRequest:
    """The question that is then asked, for this call alone. `shown`: the whole call, for tools that never ask."""
    if request is None:
        request = PermissionRequest(name, "", shown, TAINTED, ())
    also = request.reason if request.reason != TAINTED else ""
    return replace(request, reason=TAINTED, also=also, choices=("once", "deny"))
