"""Search in everything: one box, results as one types, filters by key or in the text; Enter goes to the place."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from memory.errors import OrcaError
from memory.recalling.search_query import FilterName, SearchQuery, parse
from memory.searching import FoundItem, Results
from memory.text import label
from orca_tui.core_words import error_said
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.keys import display, split
from orca_tui.search_filters import FILTER_KEYS, problem_said, turned, without
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.result_list import ResultList, empty_said, terms_of
from orca_tui.widgets.search_box import FilterChips, SearchBox
from orca_tui.work import start

Find = Callable[[str], Coroutine[Any, Any, Results]]
PAUSE = 0.08
"""Seconds without a key until a search begins."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user wants to go."""

    found: FoundItem
    terms: tuple[str, ...]
    """Words to mark there."""


class SearchScreen(Screen[Place | None]):
    """Gives the place that was chosen, or `None`."""

    CSS_PATH = Path(__file__).with_name("search.tcss")
    AUTO_FOCUS = "#search-box"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, id="search_back"),
        Binding("slash", "type", show=False, id="search_type"),
        *(
            Binding(key.key, f"turn({key.name!r})", show=False, priority=True, id=f"search_{key.name}")
            for key in FILTER_KEYS
        ),
    ]

    def __init__(
        self,
        find: Find,
        now: Callable[[], str],
        *,
        text: str = "",
        branches: Sequence[str] = (),
        keys: dict[str, str] | None = None,
    ) -> None:
        """`find` searches; `branches` are what the key for them goes through; `keys` is what the user set, by id."""
        super().__init__()
        self._find = find
        self._now = now
        self._text = text
        self._branches = branches
        self._keys = keys or {}
        self._wanted: str | None = None
        self._is_searching = False
        self._results: Results | None = None
        self._query = SearchQuery()

    def compose(self) -> ComposeResult:
        """Box, filters, what is wrong with them, results, how many, keys."""
        self.box = SearchBox(self._text, placeholder=_("Search everything"), select_on_focus=False, id="search-box")
        self.chips = FilterChips(id="search-chips")
        self.problem = Static(id="search-problem", markup=False)
        self.list = ResultList(id="search-results")
        self.said = Static(id="search-said", markup=False)
        self.keys_line = HintLine(id="search-keys")
        yield Static(Content.styled(_("Search everything"), "bold"), id="search-title", markup=False)
        yield from (self.box, self.chips, self.problem, self.list, self.said, self.keys_line)

    def on_mount(self) -> None:
        """With words, search at once."""
        self.list.show((), empty_said(self._query))
        self._typed(self._text)
        self._draw_keys()

    # searching

    def on_input_changed(self, event: Input.Changed) -> None:
        """Every letter."""
        self._typed(event.value)

    def _typed(self, text: str) -> None:
        self._query = parse(text, self._now())
        self.chips.show(self._query)
        told = " · ".join(label(problem_said(problem), 300) for problem in self._query.problems)
        self.problem.update(Content.styled(told, "$warning"))
        self.problem.display = bool(told)
        if self._query.is_empty:
            self._wanted = self._results = None
            self.list.show((), empty_said(self._query))
            self._say("")
            return
        self._wanted = text
        start(self, "wait", self._wait, exclusive=True)

    async def _wait(self) -> None:
        """A pause in typing begins a search; one that runs takes up what is wanted when it is done."""
        await asyncio.sleep(PAUSE)
        if not self._is_searching:
            start(self, "search", self._search)

    async def _search(self) -> None:
        self._is_searching = True
        try:
            while (text := self._wanted) is not None:
                self._wanted = None
                self._say(_("Searching…"))
                try:
                    results = await self._find(text)
                except OrcaError as error:
                    self._results = None
                    self.list.show((), error_said(error))
                    self._say("")
                    continue
                if self._wanted is None and not self._query.is_empty:
                    self._show(results)
        finally:
            self._is_searching = False

    def _show(self, results: Results) -> None:
        self._results = results
        self.list.show(results.items, empty_said(results.query))
        self._count()

    def _count(self) -> None:
        if self._results is None or not self._results.items:
            self._say("")
            return
        told = _("{n} of {total}", n=count(self.list.position), total=count(len(self._results.items)))
        if not self._results.by_meaning:
            told += f" · {_('found by words only, not by meaning')}"
        elif not self._results.query.words.strip():
            told += f" · {_('the newest first')}"
        self._say(told)

    # what the widgets tell

    def on_result_list_moved(self) -> None:
        """The number of the hit."""
        if not self._is_searching:
            self._count()

    def on_search_box_stepped(self, event: SearchBox.Stepped) -> None:
        """Arrows while typing."""
        self.list.action_move(event.step)

    def on_input_submitted(self) -> None:
        """Enter in the box."""
        if self.list.current is not None:
            self._choose(self.list.current)

    def on_result_list_chosen(self, event: ResultList.Chosen) -> None:
        """Enter or a click in the list."""
        self._choose(event.found)

    def on_filter_chips_clicked(self, event: FilterChips.Clicked) -> None:
        """A chip."""
        if event.off:
            self.box.value = without(self.box.value, self._query, event.name)
        else:
            self.action_turn(event.name)

    def on_descendant_focus(self) -> None:
        """Other keys make sense."""
        self._draw_keys()

    def _choose(self, found: FoundItem) -> None:
        self.dismiss(Place(found, tuple(terms_of(found))))

    # keys

    def action_turn(self, name: FilterName) -> None:
        """The next value of a filter."""
        self.box.value = turned(self.box.value, self._query, name, self._branches)
        self.box.cursor_position = len(self.box.value)

    def action_type(self) -> None:
        """From the list to the box."""
        self.box.focus()

    def action_back(self) -> None:
        """Leave."""
        self.dismiss(None)

    def _say(self, text: str) -> None:
        self.said.update(Content(text))

    def _draw_keys(self) -> None:
        hints = [("Enter", _("go there")), ("↑↓", _("move")), ("Esc", _("close"))]
        for key in FILTER_KEYS:
            given = split(self._keys.get(f"search_{key.name}", key.key))
            if given:
                hints.append((display(given[0], short=True), _(key.word)))
        self.keys_line.show(hints)
