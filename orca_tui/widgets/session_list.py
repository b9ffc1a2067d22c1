"""The sessions, the last changed first: open, archived or trashed ones; with a filter that is typed after `/`."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message

from memory.clock import SystemClock
from memory.text import label
from memory.types import Session, SessionState
from orca_tui.figures import age, count
from orca_tui.i18n import _
from orca_tui.session_keys import session_bindings
from orca_tui.widgets.filter_list import FilterList
from orca_tui.widgets.line_list import Row, split_line, text_row, wrapped_rows

VIEWS: tuple[SessionState, ...] = ("open", "archived", "trashed")
"""The lists, in the order of their keys."""
MAX_TITLE = 120
"""Characters of a title that is typed."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as the list shows it."""

    id: str
    title: str
    """Its title or first words; foreign text."""
    updated_at: str
    messages: int | None = None
    """How many it holds; `None` when that is not known."""
    incognito: bool = False

    @classmethod
    def of(cls, session: Session) -> "SessionRow":
        """A row from what the store says."""
        return cls(session.id, session.title, session.updated_at, incognito=session.incognito)


class SessionList(FilterList):
    """The column to the left of the chat."""

    DEFAULT_CSS = """
    SessionList { padding: 0 0 0 1; }
    """

    BINDINGS = session_bindings()
    FILTER_ROW = 1

    @dataclass
    class Chosen(Message):
        """A session was chosen."""

        session_id: str

    @dataclass
    class DeedAsked(Message):
        """Something is to be done (`orca_tui.session_keys`) to a session: the one under the cursor."""

        deed: str
        session_id: str | None
        """`None` when no session is under the cursor."""
        title: str = ""
        """The new one, for `rename`."""

    @dataclass
    class ViewChanged(Message):
        """Another list is to be shown."""

        view: SessionState

    def __init__(self, *, id: str | None = None, now: Callable[[], str] | None = None) -> None:  # noqa: A002
        """`now` tells the time that ages are reckoned from (default: the system clock)."""
        super().__init__(id=id)
        self._now = now or SystemClock().now
        self._moment = ""
        self._sessions: Sequence[SessionRow] = ()
        self._current: str | None = None
        self._renamed: str | None = None
        """Id of the session whose title is being typed."""
        self._typed = ""
        self.view: SessionState = "open"
        """Which list is shown."""

    def show(self, sessions: Sequence[SessionRow | Session], current: str | None) -> None:
        """Show these, in this order; `current` is the id of the open one."""
        self._sessions = [SessionRow.of(item) if isinstance(item, Session) else item for item in sessions]
        self._moment = self._now()
        moved = current != self._current
        self._current = current
        self.rebuild()
        if moved and current is not None:
            self.move_to(current)

    def choose(self, key: Hashable) -> None:
        """Tell which session it is."""
        self.stop_renaming()
        self.post_message(self.Chosen(str(key)))

    def on_click(self, event: events.Click) -> None:
        """A click on the heading goes to the next list."""
        if event.get_content_offset_capture(self).y + self.scroll_offset.y == 0:
            event.stop()
            event.prevent_default()
            self.action_deed("next")

    # deeds

    def action_deed(self, deed: str) -> None:
        """A key."""
        key = None if self.cursor_key is None else str(self.cursor_key)
        if deed in ("next", "previous"):
            step = 1 if deed == "next" else -1
            self.view = VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)]
            self.clear_filter()
            self.post_message(self.ViewChanged(self.view))
        elif deed == "rename" and key is not None:
            self._renamed = key
            self._typed = next((label(row.title[:400], MAX_TITLE) for row in self._sessions if row.id == key), "")
            self._draw_typed()
        else:
            self.post_message(self.DeedAsked(deed, key))

    @property
    def renaming(self) -> bool:
        """Whether keys go to a title."""
        return self._renamed is not None

    def stop_renaming(self) -> bool:
        """Leave the title as it is; tells whether one was being typed."""
        was, self._renamed = self._renamed is not None, None
        if was:
            self.redraw()
        return was

    async def _on_key(self, event: events.Key) -> None:
        if self._renamed is None:
            return
        if event.key == "escape":
            self.stop_renaming()
        elif event.key == "enter":
            session_id, title = self._renamed, self._typed.strip()
            self.stop_renaming()
            if title:
                self.post_message(self.DeedAsked("rename", session_id, title))
        elif event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.key == "ctrl+u":
            self._typed = ""
        elif event.key in ("ctrl+w", "ctrl+backspace"):
            self._typed = self._typed.rstrip().rpartition(" ")[0]
        elif event.is_printable and event.character:
            self._typed = (self._typed + event.character)[:MAX_TITLE]
        event.stop()
        event.prevent_default()
        if self._renamed is not None:
            self._draw_typed()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted words go to the title or the filter."""
        if self._renamed is None:
            return
        event.stop()
        event.prevent_default()
        self._typed = label(self._typed + event.text, MAX_TITLE)
        self._draw_typed()

    def on_blur(self) -> None:
        """What was typed of a title is dropped with the focus."""
        self.stop_renaming()

    def _draw_typed(self) -> None:
        """Draw the title, and put the terminal's cursor, where an input method opens, at its end."""
        self.redraw()
        first = self._places[self._renamed][0] if self._renamed in self._places else 0
        spot = Offset(2 + cell_len(self._tail()), first - self.scroll_offset.y)
        self.app.cursor_position = self.content_region.offset + spot

    def _tail(self) -> str:
        """As much of what is typed as fits, from its end."""
        text, room = self._typed, self.scrollable_content_region.width - 3
        while text and cell_len(text) > room:
            text = text[1:]
        return text

    # rows

    def build(self, width: int) -> Sequence[Row]:
        """Heading, filter, sessions."""
        rows = [Row(partial(self._heading, width))]
        rows += [*self.filter_rows(), text_row()]
        found = [row for row in self._sessions if self._matches(row)]
        if not found:
            empty = _("No session matches. Esc clears the filter.") if self.filter_words else _teach(self.view)
            return [*rows, *wrapped_rows(empty, width, "$muted")]
        for row in found:
            rows += [Row(partial(self._title, row, width), row.id), Row(partial(self._facts, row, width), row.id)]
        return rows

    def _heading(self, width: int) -> Content:
        number = Content.styled(count(len(self._sessions)), "$muted") if self._sessions else Content("")
        names = {"open": _("Sessions"), "archived": _("Archived"), "trashed": _("Trash")}
        left = Content.styled(names[self.view], "bold $heading")
        if self.view != "open":
            left = Content.styled("‹ ", "$primary") + left
        return split_line(left, number, width)

    def _matches(self, row: SessionRow) -> bool:
        title = _shown(row).casefold()
        return all(word in title for word in self.filter_words)

    def _title(self, row: SessionRow, width: int) -> Content:
        if row.id == self._renamed:
            return Content.assemble(("✎ ", "bold $primary"), self._tail(), ("▏", "$primary"))
        current = row.id == self._current
        mark = ("▌ ", "$user-bar") if current else ("  ", "")
        hidden = ("◌ ", "$warning") if row.incognito else ("", "")
        return Content.assemble(mark, hidden, (_shown(row), "bold" if current else "")).truncate(width, ellipsis=True)

    def _facts(self, row: SessionRow, width: int) -> Content:
        current = row.id == self._current
        facts = [age(row.updated_at, self._moment)]
        if row.messages is not None:
            facts.append(_("1 message") if row.messages == 1 else _("{n} messages", n=count(row.messages)))
        if row.incognito:
            facts.append(_("incognito"))
        text = " · ".join(filter(None, facts))
        return Content.assemble(("▌ ", "$user-bar") if current else ("  ", ""), (text, "$muted")).truncate(
            width, ellipsis=True
        )


def _shown(row: SessionRow) -> str:
    return label(row.title[:400], 120) or _("Untitled")


def _teach(view: SessionState) -> str:
    match view:
        case "archived":
            return _("Nothing is archived. What you archive is kept here, and is still found by searches.")
        case "trashed":
            return _("The trash is empty. A session that you delete lies here until you erase it for good.")
        case _:
            return _("No sessions yet. What you write begins one.")
