"""Rows of a given width: by words, anywhere between CJK characters, never inside a grapheme.

Widths are those that Textual measures with (`rich.cells`), so no row is wider than asked. A width below `MIN_WIDTH`
is taken for `MIN_WIDTH`: a wide character needs two cells.
"""

from collections.abc import Sequence

from rich.cells import cell_len, get_character_cell_size

from orca_tui.render.line import Line, Span

MIN_WIDTH = 2

_NOT_FIRST = frozenset(
    "、。，．！？；：）】」』》〉〕］｝”’…—～·ー々〻ゝゞヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.!?:;)]}%％°℃"
)
"""Characters that begin no row (kinsoku)."""
_NOT_LAST = frozenset("（【「『《〈〔［｛“‘([{$￥¥£＄#@")
"""Characters that end no row."""
_ZWJ, _VS16 = "\u200d", "\ufe0f"


def grapheme(text: str, start: int) -> tuple[int, int]:
    """End of the grapheme that begins at `start`, and its width in cells."""
    first = text[start]
    width = get_character_cell_size(first)
    end, size, joined = start + 1, len(text), False
    if "\U0001f1e6" <= first <= "\U0001f1ff" and end < size and "\U0001f1e6" <= text[end] <= "\U0001f1ff":
        end, width = end + 1, 2
    while end < size:
        character = text[end]
        if character < "\u0300":
            break
        if character == _ZWJ:
            end, joined = min(end + 2, size), True
        elif get_character_cell_size(character) == 0:
            joined = joined or character == _VS16
            end += 1
        else:
            break
    return end, cell_len(text[start:end]) if joined else width


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Start and end of each row of `text`, which holds no tabs; line breaks in it are kept.

    What lies between the end of a row and the start of the next (blanks, a line break, nothing) is not shown.
    """
    width = max(width, MIN_WIDTH)
    rows: list[tuple[int, int]] = []
    start = 0
    while True:
        stop = text.find("\n", start)
        end = len(text) if stop < 0 else stop
        if end - start <= width // 2 or (end - start <= width and text.isascii()):
            rows.append((start, end))
        elif text.isascii() or text[start:end].isascii():
            _wrap_ascii(text, start, end, width, rows)
        else:
            _wrap_wide(text, start, end, width, rows)
        if stop < 0:
            return rows
        start = stop + 1


def chop(text: str, width: int) -> list[tuple[int, int]]:
    """Start and end of each row of one line of code: cut wherever it is full."""
    width = max(width, MIN_WIDTH)
    if len(text) <= width and (text.isascii() or cell_len(text) <= width):
        return [(0, len(text))]
    if text.isascii():
        return [(at, min(at + width, len(text))) for at in range(0, len(text), width)]
    rows: list[tuple[int, int]] = []
    row = at = column = 0
    while at < len(text):
        end, cells = grapheme(text, at)
        if column + cells > width and at > row:
            rows.append((row, at))
            row, column = at, 0
        at, column = end, column + cells
    rows.append((row, at))
    return rows


def _wrap_ascii(text: str, start: int, end: int, width: int, rows: list[tuple[int, int]]) -> None:
    """One ASCII line: a character is a cell, so rows are found with `rfind`."""
    at = start
    while end - at > width:
        first = at
        while first < end and text[first] == " ":
            first += 1
        gap = text.rfind(" ", first, at + width + 1) if first < at + width else -1
        if gap < 0:
            if first == end:
                break
            rows.append((at, at + width))
            at += width
            continue
        stop = gap
        while text[stop - 1] == " ":
            stop -= 1
        rows.append((at, stop))
        at = gap
        while at < end and text[at] == " ":
            at += 1
        if at == end:
            return
    last = min(end, at + width)
    rows.append((at, last))


def _wrap_wide(text: str, start: int, end: int, width: int, rows: list[tuple[int, int]]) -> None:
    """One line of any script, grapheme by grapheme; a row goes back to the last place where it may break."""
    row = at = start
    column = 0
    mark = mark_next = -1
    mark_column = 0
    before, before_wide = "", False
    while at < end:
        character = text[at]
        if character == " ":
            stop = at
            while stop < end and text[stop] == " ":
                stop += 1
            if at > row:
                mark, mark_next, mark_column = at, stop, column + stop - at
            else:
                stop = min(stop, at + width)
            column += stop - at
            at, before, before_wide = stop, " ", False
            continue
        stop, cells = grapheme(text, at)
        wide = cells == 2 and not "\uac00" <= character <= "\ud7a3"
        allowed = (wide or before_wide) and before != " " and character not in _NOT_FIRST and before not in _NOT_LAST
        if allowed and at > row:
            mark = mark_next = at
            mark_column = column
        if column + cells > width and at > row:
            if mark > row:
                rows.append((row, mark))
                row, column = mark_next, column - mark_column
            else:
                rows.append((row, at))
                row, column = at, 0
            mark = -1
            continue
        column += cells
        at, before, before_wide = stop, character, wide
    if before == " " and mark > row:
        at = mark
    rows.append((row, at))


def wrap_spans(spans: Sequence[Span], width: int, joint: str = "\n", fill: str = "") -> list[Line]:
    """Styled text as rows. `joint` is what stands before the first of them."""
    text = "".join([span.text for span in spans])
    rows = wrap(text, width)
    if rows == [(0, len(text))]:
        return [Line(tuple(spans), joint, fill)]
    return slice_rows(spans, text, rows, joint, fill)


def slice_rows(
    spans: Sequence[Span], text: str, rows: Sequence[tuple[int, int]], joint: str = "\n", fill: str = ""
) -> list[Line]:
    """The rows that `rows` cuts out of `text`, which `spans` spell."""
    lines: list[Line] = []
    index = at = last = 0
    for start, end in rows:
        parts: list[Span] = []
        while index < len(spans) and at + len(spans[index].text) <= start:
            at += len(spans[index].text)
            index += 1
        while index < len(spans) and at < end:
            span = spans[index]
            stop = at + len(span.text)
            parts.append(_cut(span, max(start - at, 0), min(end - at, len(span.text))))
            if stop > end:
                break
            at, index = stop, index + 1
        lines.append(Line(tuple(parts), text[last:start] if lines else joint, fill))
        last = end
    return lines


def _cut(span: Span, start: int, end: int) -> Span:
    if start == 0 and end == len(span.text):
        return span
    copy = None if span.copy is None else span.copy if start == 0 else ""
    return Span(span.text[start:end], span.style, span.link, copy)
