"""All about one memory: its whole text, the numbers, whose it is, where it comes from, and what became of it."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message

from memory.clock import SystemClock
from memory.text import clean, label
from memory.types import LongTermMemory, MemoryEvent
from orca_tui.figures import age, count
from orca_tui.i18n import _
from orca_tui.journal_lines import changed_fields
from orca_tui.memory_keys import memory_bindings, shown
from orca_tui.memory_rows import Detail
from orca_tui.messages import DeedAsked
from orca_tui.widgets.line_list import LineList, Row, text_row
from orca_tui.widgets.memory_list import heat_bar, state_sign, state_word, type_word

NAME_CELLS = 13
"""Cells of the names of facts."""


class MemoryDetail(LineList):
    """Scrolls; has no cursor. Enter opens the source."""

    BINDINGS = memory_bindings(
        "trash",
        "archive",
        "pin",
        "edit",
        "promote",
        "demote",
        "accept",
        "reject",
        "restore",
        "erase",
        "undo",
        "undo_this",
        "source",
    )

    class Left(Message):
        """Back to the list."""

    def __init__(self, *, id: str | None = None, now: Callable[[], str] | None = None) -> None:  # noqa: A002
        """`now` tells the time that ages are reckoned from (default: the system clock)."""
        super().__init__(id=id)
        self._now = now or SystemClock().now
        self._detail: Detail | None = None
        self._keys_set: Mapping[str, str] = {}

    @property
    def detail(self) -> Detail | None:
        """What is shown."""
        return self._detail

    def show(self, detail: Detail | None, keys: Mapping[str, str] | None = None) -> None:
        """Show it, from the top when it is another one; `keys` is what the user set, by binding id."""
        before, self._detail = self._detail, detail
        self._keys_set = keys or {}
        self.rebuild()
        if detail is None or before is None or before.row.memory.id != detail.row.memory.id:
            self.scroll_home(animate=False, force=True, immediate=True)

    def choose(self, key: Hashable) -> None:
        """There is nothing to choose; see `action_choose`."""

    def action_choose(self) -> None:
        """Open the source."""
        self.action_deed("source")

    def action_deed(self, deed: str) -> None:
        """Tell what is to be done."""
        if self._detail is not None:
            self.post_message(DeedAsked(deed, "long_term", self._detail.row.memory.id))

    def build(self, width: int) -> Sequence[Row]:
        """Everything, from the text to the first change."""
        if self._detail is None:
            return []
        detail, memory = self._detail, self._detail.row.memory
        room = max(4, width - 1)
        head = state_sign(memory) + Content(" ") + Content.styled(f"{type_word(memory)} · ", "bold $heading")
        head += Content.styled(label(memory.branch, 64), "bold $heading")
        rows = [_line(head.truncate(room, ellipsis=True)), text_row()]
        rows += _wrapped(Content(clean(memory.content).expandtabs(4).strip()), room)
        if detail.row.like is not None:
            older = Content(clean(detail.row.like.content).expandtabs(4).strip())
            about = _("says what {id} says:", id=detail.row.like.id)
            rows += [text_row(), _line(Content.styled(about, "$warning").truncate(room, ellipsis=True))]
            rows += _wrapped(older, room)
        rows += [text_row(), *self._numbers(room)]
        for name, value in self._facts(memory):
            rows += _fact(name, Content(value), room)
        rows += self._source(detail, room)
        return rows + self._history(detail.events, room)

    def _numbers(self, width: int) -> list[Row]:
        row = self._detail.row if self._detail else None
        if row is None:
            return []
        heat = heat_bar(row.heat) + Content.styled(f"   {_('{n} tokens', n=count(row.tokens))}", "$muted")
        return [_line(_named(_("heat"), heat).truncate(width, ellipsis=True))]

    def _facts(self, memory: LongTermMemory) -> list[tuple[str, str]]:
        now = self._now()
        used = f"{memory.access_count}×"
        if memory.last_accessed:
            used += f" · {age(memory.last_accessed, now)}"
        version = str(memory.version)
        if memory.supersedes:
            version += " · " + _("takes the place of {id}", id=memory.supersedes)
        if memory.merged_from:
            version += " · " + _("merged from {ids}", ids=", ".join(map(str, memory.merged_from)))
        scope = " · ".join(label(part, 64) for part in (memory.user_id, memory.project, memory.agent_id) if part)
        facts = [
            (_("state"), state_word(memory)),
            (_("used"), used),
            (
                _("weight"),
                _("importance {a} · confidence {b}", a=f"{memory.importance:.2f}", b=f"{memory.confidence:.2f}"),
            ),
            (_("scope"), scope),
            (_("topic"), label(memory.topic_key or "", 120)),
            (_("version"), version),
            (_("written"), _day(memory.created_at)),
            (_("expires"), _day(memory.expires_at) if memory.expires_at else _("never")),
        ]
        return [(name, value) for name, value in facts if value]

    def _source(self, detail: Detail, width: int) -> list[Row]:
        memory = detail.row.memory
        origin = {
            "user": _("you"), "agent": _("orca"), "system": _("system"), "knowledge": _("a file"), "tool": _("tool")
        }[memory.source]  # fmt: skip
        if detail.source is None:
            return _fact(_("from"), Content(origin), width)
        session = detail.session
        title = label(session.title, 60) if session and session.title else _("Untitled")
        when = age(detail.source.timestamp, self._now())
        rows = _fact(_("from"), Content(f"{origin} · “{title}” · {when}"), width)
        said = Content.styled(label(detail.source.content[:1000], 240), "italic $muted")
        rows += _indented(said, width)
        if key := shown("source", self._keys_set):
            rows += _indented(Content.styled(_("{key} opens that message", key=key), "$muted"), width)
        return rows

    def _history(self, events: Sequence[MemoryEvent], width: int) -> list[Row]:
        rows = [text_row(), _line(Content.styled(_("History"), "bold $heading"))]
        now = self._now()
        for event in events:
            did = " · ".join(filter(None, (_(event.action), _actor(event.actor), label(_(event.reason), 120))))
            head = Content.styled(age(event.timestamp, now), "$muted").truncate(8, ellipsis=True, pad=True)
            rows += _hanging(head + Content(" "), Content(label(did, 240)), width)
            for text in changed_fields(event) if event.before is not None else ():
                rows += _hanging(Content(" " * 9), Content.styled(text, "$muted"), width)
        return rows


def _actor(actor: str) -> str:
    return {"user": _("you"), "maintenance": _("from what you said"), "upkeep": _("upkeep")}.get(
        actor, label(actor, 40)
    )


def _day(timestamp: str) -> str:
    return label(timestamp[:10], 10)


def _line(content: Content) -> Row:
    return Row(lambda: content)


def _wrapped(content: Content, width: int) -> list[Row]:
    return [_line(line) for line in content.wrap(width)]


def _named(name: str, value: Content) -> Content:
    return Content.styled(name, "$muted") + Content(" " * max(1, NAME_CELLS - cell_len(name))) + value


def _fact(name: str, value: Content, width: int) -> list[Row]:
    left = Content.styled(name, "$muted") + Content(" " * max(1, NAME_CELLS - cell_len(name)))
    return _hanging(left, value, width)


def _indented(value: Content, width: int) -> list[Row]:
    return _hanging(Content(" " * NAME_CELLS), value, width)


def _hanging(left: Content, value: Content, width: int) -> list[Row]:
    """`value` wrapped to the right of `left`; below it where there is no room beside."""
    room = width - left.cell_length
    if room < 12:
        return [_line(left.truncate(width)), *_wrapped(value, width)]
    lines = value.wrap(room) or [Content("")]
    indent = Content(" " * left.cell_length)
    return [_line((left if at == 0 else indent) + line) for at, line in enumerate(lines)]
