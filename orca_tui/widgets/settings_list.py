"""The two lists of the settings screen: its pages, and what is on one of them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from textual.binding import Binding
from textual.content import Content
from textual.message import Message

from memory.text import label
from orca_tui import keys
from orca_tui.i18n import _
from orca_tui.settings_fields import Field, shown
from orca_tui.settings_keys import KeyRow
from orca_tui.settings_pages import PAGES, Deed, Heading, PageName, Picture
from orca_tui.widgets.budget_bar import TIERS, stacked_bar, tier_name
from orca_tui.widgets.filter_list import FilterList
from orca_tui.widgets.line_list import LineList, Row, text_row

Shown = Field | Deed | KeyRow
"""What the cursor stands on."""


class PageList(LineList):
    """The pages."""

    BINDINGS = [Binding("right,l", "choose", show=False, id="settings_open")]

    @dataclass
    class Moved(Message):
        """The cursor is on another page."""

        page: PageName

    @dataclass
    class Opened(Message):
        """A page is to be worked on."""

        page: PageName

    def __init__(self, page: PageName, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        """`page`: where the cursor is to begin with."""
        super().__init__(id=id)
        self._cursor = list(PAGES).index(page)

    def build(self, width: int) -> Sequence[Row]:  # noqa: ARG002
        """One line a page."""
        return [Row(lambda page=page: self._line(page), page) for page in PAGES]  # type: ignore[misc]

    def _line(self, page: PageName) -> Content:
        if page == self.cursor_key:
            return Content.assemble(("▌", "$accent"), (_(PAGES[page]), "bold"))
        return Content(f" {_(PAGES[page])}")

    def choose(self, key: Hashable) -> None:
        """Enter, or a click."""
        self.post_message(self.Opened(cast("PageName", key)))

    def cursor_moved(self) -> None:
        """Its page is shown at once."""
        self.redraw()
        if self.cursor_key is not None:
            self.post_message(self.Moved(cast("PageName", self.cursor_key)))


Act = Literal["choose", "more", "less", "default", "add"]


class FieldList(FilterList):
    """What is on a page: fields with their values, things to do, keys."""

    ENTER_KEEPS = True

    BINDINGS = [
        Binding("space", "choose", show=False, id="settings_change"),
        Binding("right,l", "act('more')", show=False, id="settings_more"),
        Binding("left,h", "act('less')", show=False, id="settings_less"),
        Binding("delete,backspace,d", "act('default')", show=False, id="settings_default"),
        Binding("plus,equals_sign,a", "act('add')", show=False, id="settings_add"),
    ]

    @dataclass
    class Asked(Message):
        """Something is to be done with an item."""

        act: Act
        item: Shown

    @dataclass
    class Moved(Message):
        """The cursor is on another item."""

        item: Shown | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._items: Sequence[Heading | Picture | Shown] = ()
        self._value: Callable[[Field], Any] = lambda _field: None
        self._is_set: Callable[[Field], bool] = lambda _field: False
        self._shares: Mapping[str, float] = {}
        self._window = 0

    def show(
        self,
        items: Sequence[Heading | Picture | Shown],
        *,
        value: Callable[[Field], Any],
        is_set: Callable[[Field], bool],
    ) -> None:
        """Show these; `value` and `is_set` tell what is in force and whether the file says so."""
        self._items, self._value, self._is_set = items, value, is_set
        self.rebuild()

    def draw_shares(self, shares: Mapping[str, float], window: int) -> None:
        """Draw the budget: `budget` of the window, and each tier's share of that, 0–1. `window`: tokens; 0: unknown."""
        self._shares, self._window = shares, window
        self.rebuild()

    def build(self, width: int) -> Sequence[Row]:
        """Headings, lines, and the picture; with a filter only the lines that hold its words."""
        rows = self.filter_rows()
        words = self.filter_words
        for item in self._items:
            match item:
                case Heading() if not words:
                    if rows:
                        rows.append(text_row())
                    text = label(item.text, 60) if item.is_name else _(item.text)
                    rows.append(text_row(f" {text}", "bold $primary"))
                case Picture() if not words:
                    rows += self._picture(width)
                case Field() | Deed() | KeyRow() if _holds(item, words):
                    rows.append(Row(lambda one=item: self._line(one, width), _key_of(item)))  # type: ignore[misc]
        return rows

    @property
    def item(self) -> Shown | None:
        """What the cursor stands on."""
        return self._found(self.cursor_key)

    def choose(self, key: Hashable) -> None:
        """Enter, or a click."""
        self._ask("choose", self._found(key))

    def cursor_moved(self) -> None:
        """Tell what is to be explained."""
        self.post_message(self.Moved(self.item))

    def action_act(self, act: Act) -> None:
        """One of the keys for a field."""
        self._ask(act, self.item)

    def _ask(self, act: Act, item: Shown | None) -> None:
        if item is not None:
            self.post_message(self.Asked(act, item))

    def _found(self, key: Hashable | None) -> Shown | None:
        shown_items = (item for item in self._items if isinstance(item, Field | Deed | KeyRow))
        return next((item for item in shown_items if _key_of(item) == key), None)

    def _line(self, item: Shown, width: int) -> Content:
        match item:
            case Deed():
                return Content.styled(f"  › {_(item.text)}", "$accent")
            case KeyRow():
                return _key_line(item, width)
            case Field():
                return self._field_line(item, width)

    def _field_line(self, field: Field, width: int) -> Content:
        value, given = self._value(field), self._is_set(field)
        mark = Content.styled("● " if given else "  ", "$accent")
        name = mark + Content(label(field.name, 40))
        return _two(name, Content.styled(label(shown(value), 200), "" if given else "$muted"), width)

    def _picture(self, width: int) -> list[Row]:
        budget = self._shares.get("budget", 0.0)
        parts = [(budget * self._shares.get(tier, 0.0), color) for tier, (_sign, color) in TIERS.items()]
        bar = Content(" ") + stacked_bar(max(8, min(60, width - 2)), parts)
        lines = [bar]
        for tier, (sign, color) in TIERS.items():
            share = self._shares.get(tier, 0.0)
            tokens = f"  {int(self._window * budget * share):,}" if self._window else ""
            name = Content.assemble((f" {sign} ", color), tier_name(tier))
            lines.append(_two(name, Content.styled(f"{share:.0%}{tokens}", "$muted"), width))
        left = max(0.0, 1.0 - sum(self._shares.get(tier, 0.0) for tier in TIERS))
        lines.append(_two(Content(f"   {_('not given to a tier')}"), Content.styled(f"{left:.0%}", "$muted"), width))
        return [*(Row(lambda line=line: line) for line in lines), text_row()]  # type: ignore[misc]


def _key_of(item: Shown) -> Hashable:
    return (*item.path, item.act) if isinstance(item, Deed) else item.path


def _holds(item: Shown, words: Sequence[str]) -> bool:
    match item:
        case Deed():
            text = _(item.text)
        case KeyRow():
            text = " ".join([item.id, _(item.summary), *map(keys.display, item.keys)])
        case Field():
            text = f"{'.'.join(item.path)} {item.name} {item.help}"
    return all(word in text.casefold() for word in words)


def _two(name: Content, value: Content, width: int) -> Content:
    """A name and, from a column of its own on, a value."""
    column = max(14, min(34, width * 9 // 20))
    return (
        name.truncate(column - 1, ellipsis=True, pad=True)
        + Content(" ")
        + value.truncate(max(1, width - column), ellipsis=True)
    )


def _key_line(row: KeyRow, width: int) -> Content:
    column = max(12, min(22, width // 3))
    mark = Content.styled("  " if ",".join(row.keys) == ",".join(keys.split(row.default)) else "● ", "$accent")
    text = ", ".join(keys.display(key) for key in row.keys) or "–"
    left = (mark + Content.styled(label(text, 60), "bold")).truncate(column - 1, ellipsis=True, pad=True)
    return left + Content(" ") + Content(_(row.summary)).truncate(max(1, width - column), ellipsis=True)
