"""What of an entry is folded away until somebody unfolds it: reasoning, what tools said, the rest of a long text."""

from typing import NamedTuple

from memory.text import clean
from orca_tui.i18n import _
from orca_tui.render.call import call_text
from orca_tui.render.entry import Entry
from orca_tui.render.line import Line, Span, decoration
from orca_tui.render.wrap import wrap_spans

FOLDED, UNFOLDED = "▸", "▾"
LIMITS = {"user": (60, 20), "system": (60, 20), "assistant": (400, 100)}
"""Lines from which a text of some kind is folded, and how many are shown then."""
LINE_LENGTH = 80
"""Characters that count as a line, when lines are longer."""


class View(NamedTuple):
    """How an entry is looked at."""

    thought: bool = False
    """Reasoning is unfolded."""
    text: bool = False
    """All of a long text, or of what a tool said, is shown."""
    raw: bool = False
    """The text is shown as it came, not as Markdown."""


USUAL = View()
"""All that may be folded is."""


class Body(NamedTuple):
    """The text of an entry as it is shown."""

    shown: str
    hidden: str
    """What is folded away behind it."""
    is_long: bool
    """Whether there is something to fold or unfold."""


def body_of(entry: Entry, view: View) -> Body:
    """What is shown of an entry's text. A text that still grows is shown whole."""
    if entry.kind == "tool":
        text = call_text(entry)
        return Body(text, "", bool(text)) if view.text else Body("", text, bool(text))
    end = fold_end(entry)
    if not end:
        return Body(entry.text, "", False)
    return Body(entry.text, "", True) if view.text else Body(entry.text[:end], entry.text[end:], True)


def fold_end(entry: Entry) -> int:
    """Where the rest of a long text begins that is folded; 0 when it is short."""
    longest, kept = LIMITS.get(entry.kind, (0, 0))
    text = entry.text
    if not longest or entry.state == "streaming" or len(text) <= longest:
        return 0
    if text.count("\n") + len(text) // LINE_LENGTH < longest:
        return 0
    at = lines = 0
    while lines < kept and at < len(text):
        stop = text.find("\n", at)
        end = len(text) if stop < 0 else stop + 1
        most = at + (kept - lines) * LINE_LENGTH
        if end > most:
            return most
        lines += 1 + (end - at) // LINE_LENGTH
        at = end
    return at if at < len(text) else 0


def reasoning_row(words: int, width: int, *, unfolded: bool) -> list[Line]:
    """The row that stands for the reasoning."""
    sign = UNFOLDED if unfolded else FOLDED
    count = _("reasoning, 1 word") if words == 1 else _("reasoning, {n} words", n=words)
    lines = wrap_spans([decoration(f"{sign} ", "fold"), decoration(count, "fold")], width)
    for line in lines:
        line.kind, line.joint = "fold", ""
    return lines


def more_row(body: Body, width: int) -> list[Line]:
    """The row below a long text: how much more there is, or that it can be folded. It is copied as what it hides."""
    if not body.is_long:
        return []
    hidden = body.hidden.rstrip("\n")
    if not hidden:
        lines = wrap_spans([decoration(f"{UNFOLDED} {_('fold')}", "fold")], width)
    else:
        count = hidden.count("\n") + 1
        told = _("1 more line") if count == 1 else _("{n} more lines", n=f"{count:,}")
        lines = wrap_spans([Span(f"{FOLDED} … {told}", "fold")], width)
        for line in lines:
            line.spans = tuple([span._replace(copy="") for span in line.spans])
        first, *others = lines[0].spans
        lines[0].spans = (first._replace(copy=clean(hidden)), *others)
    for index, line in enumerate(lines):
        line.kind, line.joint = "more", "\n" if hidden and not index else ""
    return lines
