"""What a search found: where and when, and the piece of text with the words that were looked for."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content
from textual.message import Message

from memory.recalling.search_query import SearchQuery
from memory.searching import FoundItem
from memory.text import label
from memory.types import Hit
from orca_tui.i18n import _
from orca_tui.plain import local_time
from orca_tui.widgets.line_list import LineList, Row, split_line, wrapped_rows

SIGNS = {"message": "✉", "short_term": "≡", "long_term": "◆"}
MATCH = "bold $primary"
INDENT = 2


class ResultList(LineList):
    """Two lines a hit."""

    @dataclass
    class Chosen(Message):
        """Go there."""

        found: FoundItem

    class Moved(Message):
        """Another hit is under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._found: dict[Hashable, FoundItem] = {}
        self._empty = ""

    def show(self, found: Sequence[FoundItem], empty: str) -> None:
        """Show these, from the first; `empty` tells why there is none."""
        self._found = {(item.hit.kind, item.hit.id): item for item in found}
        self._empty = empty
        self._cursor = 0
        self.rebuild()
        self.scroll_home(animate=False, force=True, immediate=True)

    @property
    def current(self) -> FoundItem | None:
        """What is under the cursor."""
        return self._found.get(self.cursor_key) if self.cursor_key is not None else None

    @property
    def position(self) -> int:
        """Number of the hit under the cursor, from 1; 0 when there is none."""
        return self._cursor + 1 if self._found else 0

    def choose(self, key: Hashable) -> None:
        """Tell which one."""
        if key in self._found:
            self.post_message(self.Chosen(self._found[key]))

    def cursor_moved(self) -> None:
        """Tell it."""
        self.post_message(self.Moved())

    def lights_cursor(self) -> bool:
        """The cursor is seen while the box is typed into: Enter goes there."""
        return True

    def build(self, width: int) -> Sequence[Row]:
        """All hits."""
        if not self._found:
            return wrapped_rows(self._empty, width, "$muted")
        rows = []
        for key, item in self._found.items():
            rows += [Row(partial(self._head, item, width), key), Row(partial(self._text, item, width), key)]
        return rows

    def _head(self, item: FoundItem, width: int) -> Content:
        hit = item.hit
        left = Content.assemble((f"{SIGNS[hit.kind]} ", "$accent"), (local_time(hit.timestamp), "$muted"))
        left += Content(f"  {_what(hit)}")
        if hit.branch:
            left += Content.styled(f" · {label(hit.branch, 40)}", "$muted")
        right = Content("")
        if item.session is not None:
            title = label(item.session.title[:400], 80) or _("Untitled")
            mark = {"archived": f" ({_('Archived')})", "trashed": f" ({_('Trash')})"}.get(item.session.state, "")
            right = Content.styled(f"{title}{mark}", "italic $muted").truncate(max(8, width // 2), ellipsis=True)
        return split_line(left, right, width)

    def _text(self, item: FoundItem, width: int) -> Content:
        found = item.snippet
        line = Content(" " * INDENT)
        at = 0
        for start, end in found.places:
            line += Content(label_piece(found.text[at:start]))
            line += Content.styled(label_piece(found.text[start:end]), MATCH)
            at = end
        return (line + Content(label_piece(found.text[at:]))).truncate(width, ellipsis=True)


def label_piece(text: str) -> str:
    """A piece of one line as it may be shown; blanks at its ends stay."""
    bare = text.strip(" ")
    lead = len(text) - len(text.lstrip(" "))
    return text if not bare else " " * lead + label(bare, 400) + " " * (len(text) - lead - len(bare))


def terms_of(found: FoundItem) -> list[str]:
    """The words that were found in a hit, as they stand there: what is marked in the transcript."""
    return list(dict.fromkeys(found.snippet.text[start:end] for start, end in found.snippet.places))


def empty_said(query: SearchQuery) -> str:
    """What to say when nothing is shown."""
    if query.is_empty:
        return _(
            "Type what you are looking for: it is found by its words and by its meaning, in messages, summaries and "
            "memories. Filters: role:user, since:2026-11-01, until:7d, branch:…, kind:memory, session:this, project:…"
        )
    if not query.kinds:
        return _("These filters leave nothing to look in: only messages have a role, only memories a branch.")
    return _("Nothing found.")


def _what(hit: Hit) -> str:
    match hit.kind:
        case "message":
            return _("you") if hit.role == "user" else _(hit.role or "assistant")
        case "short_term":
            return _("summary")
        case _:
            return _("memory")
