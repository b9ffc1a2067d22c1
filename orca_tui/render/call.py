"""A tool's call, or a subagent's run, on one row: what, on what, how it goes; and all of it as text."""

import json
from typing import Any

from rich.cells import cell_len

from memory.store.run_store import AGENT_CALL
from memory.text import label
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.render.entry import Call, Entry
from orca_tui.render.line import Line, Span, decoration
from orca_tui.render.wrap import chop, wrap_spans

SIGN = "⚙"
TARGETS = ("path", "file", "filename", "url", "uri", "query", "command", "pattern", "task", "agent", "name")
"""Arguments that tell best what a call is about, the most telling first."""
TARGET_CELLS = 60
LEAST = 8
"""Cells of what a call is about that are shown even when the row breaks."""


def call_row(entry: Entry, width: int, sign: str) -> list[Line]:
    """`▸ ⚙ read_file  notes.md · done · 312 tokens`; `sign` tells whether it is folded, empty when nothing is."""
    call = entry.call or Call()
    spans = [decoration(f"{sign} " if sign else "", "fold"), decoration(f"{SIGN} ", "tool-name")]
    spans.append(Span(label(entry.title, 60) or _("Tool"), "tool-name"))
    told = [outcome_word(call.outcome), _("{n} tokens", n=count(call.tokens)) if call.tokens else ""]
    style = {"failed": "note-failed", "refused": "note", "cancelled": "note"}.get(call.outcome, "time")
    end = Span("".join([f" · {word}" for word in told if word]), style)
    about = " · ".join(filter(None, (about_of(entry), label(call.step, TARGET_CELLS))))
    if about:
        room = width - sum([cell_len(span.text) for span in (*spans, end)]) - 2
        spans.append(Span(f"  {_cut(about, room)}", "tool"))
    lines = wrap_spans([*spans, end], width)
    for line in lines:
        line.kind = "more"
    return lines


def about_of(entry: Entry) -> str:
    """What a call is about; of an agent's, who it is, and what came of it once it is over."""
    call = entry.call or Call()
    found = _arguments(call) if entry.title == AGENT_CALL else None
    if not isinstance(found, dict):
        return target_of(call)
    told = result_line(entry.text) if call.outcome != "running" else ""
    return (
        f"{label(str(found.get('agent') or ''), 40)}: {told or label(str(found.get('task') or '')[:400], TARGET_CELLS)}"
    )


def result_line(text: str) -> str:
    """The first words of what an agent came back with, without the fence around it (`memory.subagents.summary`)."""
    head, fence, rest = text[:2000].partition("\n[agent ")
    inside = rest.partition("]\n")[2] if fence else head
    first = next((line for line in inside.splitlines() if line.strip()), "")
    return label(first.lstrip("#>*- "), 200)


def _cut(text: str, room: int) -> str:
    """The text, or as much of it as fits into `room` cells; some of it in any case."""
    if cell_len(text) <= room:
        return text
    return f"{text[: chop(text, max(LEAST, room) - 1)[0][1]]}…"


def outcome_word(outcome: str) -> str:
    """How a call went, as a word; empty when nothing is known."""
    return {
        "running": _("running …"),
        "done": _("done"),
        "failed": _("failed"),
        "refused": _("refused"),
        "cancelled": _("cancelled"),
    }.get(outcome, "")


def target_of(call: Call) -> str:
    """What a call is about, in a few words: the most telling argument. Empty when there is none."""
    found = _arguments(call)
    if not isinstance(found, dict):
        return label(call.arguments, TARGET_CELLS) if found is None else ""
    named = [found[name] for name in TARGETS if name in found]
    for value in (*named, *found.values()):
        if isinstance(value, str) and value.strip():
            return label(value[:400], TARGET_CELLS)
    return ""


def call_text(entry: Entry) -> str:
    """Arguments and result, as they are shown when the entry is unfolded."""
    call = entry.call or Call()
    found = _arguments(call)
    asked = "" if found in ({}, []) else call.arguments.strip()
    if isinstance(found, dict) and found:
        asked = "\n".join(
            [f"{name}: {value if isinstance(value, str) else _json(value)}" for name, value in found.items()]
        )
    return "\n\n".join(filter(None, (asked, entry.text)))


def _arguments(call: Call) -> Any:
    """The arguments, read; `None` when they are no JSON."""
    try:
        return json.loads(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
