"""What stands around the text of an entry: its name, the folded reasoning, its note, and the boxes of remarks."""

import re
from datetime import datetime

from memory.clock import from_iso
from memory.text import clean, label
from orca_tui.figures import size_words
from orca_tui.i18n import _
from orca_tui.render.entry import Entry
from orca_tui.render.inline import plain_spans
from orca_tui.render.line import Line, Span, decoration
from orca_tui.render.wrap import MIN_WIDTH, wrap_spans

_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


class WordCount:
    """Counts the words of a growing text; a CJK character is a word."""

    def __init__(self) -> None:
        self.words = 0
        self._last = ""

    def add(self, text: str) -> None:
        """Count more text. A word that two pieces share is one."""
        if not text:
            return
        self.words += len(_WORD.findall(self._last + text)) - len(_WORD.findall(self._last))
        self._last = text[-1]


def head(entry: Entry, width: int, *, raw: bool = False) -> list[Line]:
    """Who speaks, and when; that the text is shown `raw`, and that it waits."""
    told = [local_time(entry.timestamp), _("raw") if raw else ""]
    if entry.state == "queued":
        told.append(f"◷ {_('waiting')}")
    spans = [Span(name_of(entry), f"{entry.kind}-name")]
    if entry.fork[1]:
        spans.append(decoration(f"  {fork_of(entry)}", "fork"))
    if any(told):
        spans.append(decoration("  " + " · ".join(filter(None, told)), "time"))
    return wrap_spans(spans, width)


def fork_of(entry: Entry) -> str:
    """Which of the forks at its place an entry is; empty when it stands alone."""
    place, beside = entry.fork
    return f"‹ {place}/{beside} ›" if beside else ""


def file_row(name: str, size: int) -> str:
    """A file that goes with a message, in a few words."""
    return f"📎 {label(name, 60)} ({size_words(size)})"


def name_of(entry: Entry) -> str:
    """The name over an entry."""
    if entry.kind == "user":
        return _("You")
    if entry.kind == "assistant":
        return label(entry.model, 60) or _("Assistant")
    if entry.kind == "tool":
        return label(entry.title, 60) or _("Tool")
    return label(entry.title, 60) or _("System")


def local_time(timestamp: str) -> str:
    """The time of day here, with the date unless it is today; empty when the timestamp is none."""
    try:
        moment = from_iso(timestamp).astimezone() if timestamp else None
    except (ValueError, OverflowError, OSError):
        return ""
    if moment is None:
        return ""
    today = datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if moment.date() == today else "%Y-%m-%d %H:%M")


def foot(entry: Entry, width: int, *, empty: bool) -> list[Line]:
    """The note below the text, and the empty row that ends the entry. `empty`: nothing stands above."""
    lines: list[Line] = []
    for name, size in entry.files:
        lines += wrap_spans([decoration(file_row(name, size), "time")], width)
    empty = empty and not lines
    note = clean(entry.note).strip()
    if not note:
        states = {"stopped": _("stopped"), "failed": _("failed"), "interrupted": _("interrupted")}
        note = states.get(entry.state, "")
    if note:
        style = "note-failed" if entry.state == "failed" else "note"
        lines += [] if empty else [Line(())]
        lines += wrap_spans([decoration("■ ", style), *plain_spans(note, style)], width)
    elif entry.state == "streaming" and empty:
        lines.append(Line((decoration("…", "time"),)))
    return [*lines, Line(())]


def box(entry: Entry, width: int) -> list[Line]:
    """A remark or an error with a border: title, text, and what to do about it."""
    style = entry.kind
    title = " ".join(filter(None, (label(entry.title, 60) or _unnamed(entry), fork_of(entry))))
    mark = "! " if entry.kind == "error" else ""
    bordered = width >= MIN_WIDTH + 8
    inner = width - 4 if bordered else width
    rows = [row for part in clean(entry.text).strip("\n").split("\n") for row in wrap_spans(_text(part, style), inner)]
    if entry.note:
        rows += [Line(())] if rows else []
        rows += [
            row
            for part in clean(entry.note).strip("\n").split("\n")
            for row in wrap_spans(_text(part, f"{style} {style}-hint"), inner)
        ]
    heading = wrap_spans([Span(mark + title, f"{style} {style}-title")], inner) if title else []
    if not bordered:
        return [*heading, *rows, Line(())]
    widest = max([row.width for row in (*heading, *rows)], default=0)
    return [*_bordered(heading, rows, widest, style), Line(())]


def _unnamed(entry: Entry) -> str:
    return _("Error") if entry.kind == "error" else ""


def _text(text: str, style: str) -> list[Span]:
    return plain_spans(text, style)


def _bordered(heading: list[Line], rows: list[Line], widest: int, style: str) -> list[Line]:
    """The rows inside of a border; the heading, when it is one row, is part of the border."""
    border = f"{style} {style}-border"
    top: tuple[Span, ...] = (decoration("╭" + "─" * (widest + 2) + "╮", border),)
    if len(heading) == 1:
        rest = "─" * max(0, widest - heading[0].width)
        top = (decoration("╭ ", border), *heading[0].spans, decoration(f" {rest}╮", border))
    else:
        rows = [*heading, *rows]
    framed = [Line(top)]
    for row in rows:
        blank = decoration(" " * (widest - row.width), style)
        framed.append(Line((decoration("│ ", border), *row.spans, blank, decoration(" │", border)), row.joint))
    framed.append(Line((decoration("╰" + "─" * (widest + 2) + "╯", border),)))
    return framed
