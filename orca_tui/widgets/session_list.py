"""The sessions, the last changed first, with a filter that is typed after `/`."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content
from textual.message import Message

from memory.clock import SystemClock
from memory.text import label
from memory.types import Session
from orca_tui.figures import age, count
from orca_tui.i18n import _
from orca_tui.widgets.filter_list import FilterList
from orca_tui.widgets.line_list import Row, split_line, text_row, wrapped_rows


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

    FILTER_ROW = 1

    @dataclass
    class Chosen(Message):
        """A session was chosen."""

        session_id: str

    def __init__(self, *, id: str | None = None, now: Callable[[], str] | None = None) -> None:  # noqa: A002
        """`now` tells the time that ages are reckoned from (default: the system clock)."""
        super().__init__(id=id)
        self._now = now or SystemClock().now
        self._moment = ""
        self._sessions: Sequence[SessionRow] = ()
        self._current: str | None = None

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
        self.post_message(self.Chosen(str(key)))

    def build(self, width: int) -> Sequence[Row]:
        """Heading, filter, sessions."""
        rows = [Row(partial(self._heading, width))]
        rows += [*self.filter_rows(), text_row()]
        found = [row for row in self._sessions if self._matches(row)]
        if not found:
            empty = _("No session matches. Esc clears the filter.") if self.filter_words else _teach()
            return [*rows, *wrapped_rows(empty, width, "$muted")]
        for row in found:
            rows += [Row(partial(self._title, row, width), row.id), Row(partial(self._facts, row, width), row.id)]
        return rows

    def _heading(self, width: int) -> Content:
        number = Content.styled(count(len(self._sessions)), "$muted") if self._sessions else Content("")
        return split_line(Content.styled(_("Sessions"), "bold $heading"), number, width)

    def _matches(self, row: SessionRow) -> bool:
        title = _shown(row).casefold()
        return all(word in title for word in self.filter_words)

    def _title(self, row: SessionRow, width: int) -> Content:
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


def _teach() -> str:
    return _("No sessions yet. What you write begins one.")
