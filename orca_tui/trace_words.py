"""A subagent's run in words and figures, for tree, panel and head. All pure."""

import re

from memory.clock import from_iso
from memory.store.run_store import INTERRUPTED
from memory.text import clean, label
from memory.types import SubagentRun
from orca_tui.figures import short_count
from orca_tui.i18n import _

STEP_CELLS = 200
SIGNS = {"running": "●", "complete": "✓", "stopped": "■", "failed": "✗"}
STYLES = {"running": "$accent", "complete": "$success", "stopped": "$warning", "failed": "$error"}
_LIMIT = re.compile(r"\[(stopped here: the limit of|到此停止：已达到上限) [^\n]*\]\s*\Z")
_AGAIN = re.compile(r"\A(?P<name>\S+): (?P<state>failed|refused|cancelled)\Z")


def is_interrupted(run: SubagentRun) -> bool:
    """Whether the run was cut because orca ended."""
    return run.state == "stopped" and run.content.startswith(INTERRUPTED)


def state_word(run: SubagentRun) -> str:
    """How it goes, or how it ended."""
    if is_interrupted(run):
        return _("interrupted")
    if run.state == "stopped" and _LIMIT.search(run.content[-400:]):
        return _("limit reached")
    word = {"running": _("at work"), "complete": _("done"), "stopped": _("cancelled"), "failed": _("failed")}[run.state]
    return f"{word}, {_('cut')}" if run.truncated else word


def elapsed(run: SubagentRun, now: str) -> str:
    """How long it has been at work, or was: `0:07`, `12:34`, `1:02:03`; empty when a time cannot be read."""
    try:
        seconds = max(0, int((from_iso(run.ended_at or now) - from_iso(run.started_at)).total_seconds()))
    except (ValueError, OverflowError):
        return ""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def tokens_word(own: int, subtree: int) -> str:
    """Its own tokens and, when it called others, those of all of them together."""
    return f"{short_count(own)}/{short_count(subtree)}" if subtree > own else short_count(own)


def step_word(step: str) -> str:
    """One clean line of a step; what orca itself says of it, in the language of the screen."""
    ended = _AGAIN.match(step)
    if ended is not None:
        word = {"failed": _("failed"), "refused": _("refused"), "cancelled": _("cancelled")}[ended["state"]]
        return label(f"{ended['name']}: {word}", STEP_CELLS)
    return label(_(step), STEP_CELLS)


def one_line(run: SubagentRun) -> str:
    """The first words of what a run left; for an interrupted one, that nothing is left."""
    first = next((line for line in run.content[:2000].splitlines() if line.strip()), "")
    return label(clean(_(first)).lstrip("#>*- "), STEP_CELLS)
