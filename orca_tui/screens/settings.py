"""The settings: pages to the left, their fields to the right, what the field under the cursor is for below.

A change is written when Enter is pressed, key by key, and holds at once where that is possible.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from memory.config import Secret
from memory.errors import OrcaError
from memory.text import clean, label
from orca_tui import settings_fields, settings_pages
from orca_tui.core_words import core_said, error_said
from orca_tui.i18n import _
from orca_tui.screens.settings_acts import SettingsActs
from orca_tui.settings_fields import Field
from orca_tui.settings_file import MISSING, ChangedMeanwhile, KeyPath
from orca_tui.settings_keys import KeyRow
from orca_tui.settings_pages import PAGES, Heading, PageName
from orca_tui.widgets.hint_line import HintLine
from orca_tui.widgets.settings_list import FieldList, PageList, Shown
from orca_tui.work import start

if TYPE_CHECKING:
    from orca_tui.settings_desk import SettingsDesk

SLIM = 64
"""Cells below which pages and fields are shown one after the other."""


class SettingsScreen(SettingsActs, Screen[None]):
    """Works on a desk; closing it changes nothing, since all is written by then."""

    CSS_PATH = Path(__file__).with_name("settings.tcss")
    AUTO_FOCUS = "#settings-pages"
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (SLIM, "-broad")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, id="settings_back"),
        Binding("q", "close", show=False, id="settings_close"),
    ]

    def __init__(self, desk: "SettingsDesk", *, page: PageName = "providers") -> None:
        super().__init__()
        self.desk = desk
        self.page: PageName = page
        self._edited: Field | None = None
        self._explained: KeyPath | None = None
        self._clashed: Mapping[KeyPath, str | None] | None = None
        """What could not be written because the file has another value by now; the same once more writes it."""

    def compose(self) -> ComposeResult:
        """Title, the two lists, the input, what a field is for, keys."""
        self.title_line = Static(id="settings-title", markup=False)
        self.pages = PageList(self.page, id="settings-pages")
        self.fields = FieldList(id="settings-fields")
        self.field_input = Input(id="settings-input")
        self.field_input.cursor_blink = self.desk.settings.ui.cursor_blink
        self.about = Static(id="settings-about", markup=False)
        self.keys_line = HintLine(id="settings-keys")
        yield self.title_line
        with Horizontal(id="settings-body"):
            yield self.pages
            yield self.fields
        yield self.field_input
        yield self.about
        yield self.keys_line

    def on_mount(self) -> None:
        """What the file says now."""
        self.show_page()
        start(self, "look", self.look)

    def on_app_focus(self, _event: events.AppFocus) -> None:
        """The file may have been edited while the user was elsewhere."""
        start(self, "look", self.look)

    async def look(self) -> None:
        """Read the file, and show what is new in it."""
        try:
            await self.desk.look()
        except OrcaError as error:
            self.tell(f"{_(error.title)}: {error_said(error)}", bad=True)
            return
        self.show_page()

    # what is shown

    def show_page(self) -> None:
        """The page under the cursor of the pages."""
        if not self.is_attached:  # closed while the file was read
            return
        settings = self.desk.settings
        items: list[Heading | settings_pages.Picture | Shown] = list(settings_pages.items(self.page, settings))
        if self.page == "keys":
            for row in self.desk.key_rows():
                if not any(isinstance(item, Heading) and item.text == row.heading for item in items):
                    items.append(Heading(row.heading))
                items.append(row)
        title = f"{_('Settings')} · {_(PAGES[self.page])}"
        self.title_line.update(Content.styled(title, "bold"))
        self.fields.show(items, value=self._value, is_set=lambda field: self.desk.is_set(field.path))
        self.draw_shares()
        self._show_keys()

    def draw_shares(self, typed: Mapping[str, float] | None = None) -> None:
        """The picture of the budget, with what is being typed in it."""
        memory = self.desk.settings.memory
        shares = {
            "budget": memory.budget_share,
            "working": memory.working_share,
            "short_term": memory.short_term_share,
            "long_term": memory.long_term_share,
        }
        self.fields.draw_shares({**shares, **(typed or {})}, self.desk.window)

    def tell(self, text: str, *, bad: bool = False, more: str = "") -> None:
        """Say something about the field under the cursor, below the list."""
        line = Content.styled(clean(text), "$text-error" if bad else "$text-success")
        self.about.update(line + Content(f"\n{clean(more)}") if more else line)

    def _value(self, field: Field) -> object:
        return settings_fields.value_of(self.desk.settings, field.path)

    def _explain(self, item: Shown | None) -> None:
        self._explained = item.path if item is not None else None
        if isinstance(item, Field):
            value = self._value(item)
            facts = [self.desk.origin(item.path, value)]
            if value != item.default and not isinstance(item.default, Secret) and item.default not in (None, "", ()):
                facts.append(_("default: {value}", value=settings_fields.shown(item.default)))
            if allowed := settings_fields.allowed(item):
                facts.append(allowed)
            if item.waits:
                facts.append(_("changes hold after a restart"))
            self.about.update(Content(label(item.help)) + Content.styled(f"\n{label(' · '.join(facts))}", "$muted"))
        elif isinstance(item, KeyRow):
            told = _("default: {value}", value=self.default_keys(item))
            self.about.update(Content(f"[keys] {label(item.id, 60)}") + Content.styled(f"\n{told}", "$muted"))
        else:
            self.about.update(Content(self.desk.place))

    def _show_keys(self) -> None:
        pairs: list[tuple[str, str]]
        if self._edited is not None:
            pairs = [("Enter", _("save")), ("Esc", _("leave it"))]
        elif self.focused is not self.fields:
            pairs = [("Enter", _("open")), ("↑ ↓", _("pages"))]
        elif self.page == "keys":
            pairs = [("Enter", _("press a key")), ("+", _("one more")), ("Del", _("default")), ("/", _("filter"))]
        else:
            pairs = [("Enter", _("change")), ("← →", _("less, more")), ("Del", _("default")), ("/", _("filter"))]
        ends = _("back") if self.focused is self.fields else _("close")
        self.keys_line.show(pairs if self._edited is not None else [*pairs, ("Esc", ends)])

    # what comes from the lists and the input

    def on_page_list_moved(self, event: PageList.Moved) -> None:
        """Another page."""
        if event.page != self.page:
            self.page = event.page
            self.fields.clear_filter()
            self.show_page()
            self.fields.action_first()

    def on_page_list_opened(self, _event: PageList.Opened) -> None:
        """To its fields."""
        self.add_class("-inside")
        self.fields.focus()

    def on_field_list_moved(self, event: FieldList.Moved) -> None:
        """Explain another field."""
        path = event.item.path if event.item is not None else None
        if self._edited is None and path != self._explained:
            self._clashed = None
            self._explain(event.item)

    def on_descendant_focus(self) -> None:
        """Other keys make sense."""
        self._show_keys()

    def edit(self, field: Field) -> None:
        """Type a value for a field."""
        self._edited = field
        secret = field.kind == "secret"
        self.field_input.password = secret
        self.field_input.border_title = Content(label(field.name, 60))
        self.field_input.placeholder = _("paste it here; nothing leaves it as it is") if secret else ""
        value = self._value(field)
        self.field_input.value = "" if secret else settings_fields.as_text(value)
        self.add_class("-editing")
        self.field_input.focus()
        self.field_input.action_end()
        self._explain(field)
        self._show_keys()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What it would be like, and whether it may be so."""
        field = self._edited
        if field is None:
            return
        problem = settings_fields.problem(field, event.value)
        if problem:
            self.tell(problem, bad=True)
        elif field.path[:1] == ("memory",) and field.path[-1].endswith("_share") and event.value.strip():
            self.draw_shares({field.path[-1].removesuffix("_share"): float(event.value)})
            self._explain(field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write it."""
        event.stop()
        field = self._edited
        if field is None:
            return
        problem = settings_fields.problem(field, event.value)
        if problem:
            self.tell(problem, bad=True)
        elif field.kind == "secret" and not event.value.strip():
            self._end_edit()
        else:
            text = event.value.strip() if field.kind != "text" else event.value
            empty = not text and (field.kind in ("whole", "number", "value") or field.optional)
            start(self, "save", self.save, {field.path: None if empty else text})

    async def save(self, texts: Mapping[KeyPath, str | None]) -> None:
        """Write it, put it in force and say so; errors are told where they were made."""
        if self._clashed == texts:
            await self.look()
        self._clashed = None
        try:
            problem = await self.desk.save(texts)
        except ChangedMeanwhile as error:
            self._clashed = texts
            now = _("not there any more") if error.now is MISSING else settings_fields.as_text(error.now)
            if error.path[-1] == "api_key":
                now = _("another key")
            self.tell(
                _("Changed in the file meanwhile; it is {value} now.", value=label(now, 80)),
                bad=True,
                more=_("The same once more writes yours. Esc keeps the file's."),
            )
            return
        except OrcaError as error:
            self.tell(core_said(str(error)), bad=True, more=core_said(error.hint))
            return
        self._end_edit()
        self.show_page()
        if problem is not None:
            self.tell(
                _("Saved. The model before goes on answering: {why}", why=core_said(str(problem))),
                bad=True,
                more=core_said(problem.hint),
            )
        else:
            waits = any(settings_fields.waits(path) for path in texts)
            self.tell(_("Saved; it holds after a restart.") if waits else _("Saved."))

    def _end_edit(self) -> None:
        if self._edited is not None:
            self._edited = None
            self.remove_class("-editing")
            self.field_input.value = ""
            self.fields.focus()
            self._explain(self.fields.item)
            self._show_keys()

    def action_back(self) -> None:
        """From the input to the field, from the fields to the pages, from the pages to the chat."""
        if self._edited is not None:
            clashed, self._clashed = self._clashed, None
            self._end_edit()
            self.draw_shares()
            if clashed is not None:
                start(self, "look", self.look)
        elif self.stop_test() or self.fields.clear_filter():
            pass
        elif self.focused is self.fields:
            self.remove_class("-inside")
            self.pages.focus()
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """To the chat."""
        self.dismiss(None)
