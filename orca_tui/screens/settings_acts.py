"""What the keys of the settings screen do to a field, a deed or a binding."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memory.errors import OrcaError
from memory.text import label
from orca_tui import keys, settings_fields, settings_keys
from orca_tui.core_words import core_said
from orca_tui.i18n import _
from orca_tui.screens.ask import Ask
from orca_tui.screens.choose import Choice, Choose
from orca_tui.screens.key_capture import KeyCapture
from orca_tui.screens.settings_dialogs import LongText, NewName
from orca_tui.settings_fields import Field
from orca_tui.settings_file import KeyPath
from orca_tui.settings_keys import KeyRow
from orca_tui.settings_pages import Deed
from orca_tui.settings_words import WORD_MEANINGS
from orca_tui.widgets.settings_list import Act, FieldList
from orca_tui.work import start

if TYPE_CHECKING:
    from orca_tui.settings_desk import SettingsDesk

NEW: Mapping[str, Mapping[str, str]] = {
    "branches": {"searched": "true"},
    "personas": {"prompt": ""},
    "agents": {"description": ""},
    "mcp": {"command": ""},
}
"""What a new section of each kind begins with."""


class SettingsActs:
    """Mixed into the settings screen."""

    desk: "SettingsDesk"
    fields: FieldList
    workers: Any
    app: Any
    tell: Callable[..., None]
    edit: Callable[[Field], None]

    async def save(self, texts: Mapping[KeyPath, str | None]) -> None:
        """Write it, put it in force and say so."""
        raise NotImplementedError

    def on_field_list_asked(self, event: FieldList.Asked) -> None:
        """A key or a click on an item."""
        match event.item:
            case Field():
                self._act_on_field(event.act, event.item)
            case Deed() if event.act == "choose":
                self._do(event.item)
            case KeyRow():
                self._act_on_keys(event.act, event.item)

    def write(self, texts: Mapping[KeyPath, str | None]) -> None:
        """Save beside the screen's own work."""
        start(self, "save", self.save, texts)  # type: ignore[arg-type] # it is mixed into a screen

    # fields

    def _act_on_field(self, act: Act, field: Field) -> None:
        value = settings_fields.value_of(self.desk.settings, field.path)
        match act:
            case "default":
                self.write({field.path: None})
            case "choose" if field.kind == "choice":
                self._choose(field, value)
            case "choose" if field.kind == "long":
                self._write_long(field, value)
            case "choose" if field.kind != "switch":
                self.edit(field)
            case "choose" | "more" | "less":
                text = settings_fields.stepped(field, value, -1 if act == "less" else 1, self._choices(field))
                if text is not None:
                    self.write({field.path: text})

    def _choices(self, field: Field) -> Sequence[str]:
        return field.choices or self.desk.themes

    def _choose(self, field: Field, value: str) -> None:
        choices = [
            Choice(word, word, _(WORD_MEANINGS[word]) if word in WORD_MEANINGS else "") for word in self._choices(field)
        ]
        preview = self.desk.preview_theme if field.path == ("ui", "theme") else None

        def chosen(word: str | None) -> None:
            if word is not None:
                self.write({field.path: word})

        self.app.push_screen(Choose(field.name, choices, current=value, preview=preview), chosen)

    def _write_long(self, field: Field, value: str) -> None:
        def written(text: str | None) -> None:
            if text is not None:
                self.write({field.path: text})

        screen = LongText(field.name, value or "", blink=self.desk.settings.ui.cursor_blink)
        self.app.push_screen(screen, written)

    # deeds

    def _do(self, deed: Deed) -> None:
        match deed.act:
            case "test":
                self.tell(_("asking it for a word…") if deed.path == ("llm",) else _("asking for a vector…"))
                start(self, "test", self._test, deed.path[0], exclusive=True)  # type: ignore[arg-type]
            case "add":
                self._add(deed)
            case "delete":
                self._delete(deed)

    async def _test(self, section: str) -> None:
        try:
            self.tell(f"✓ {await self.desk.test(section)}")
        except OrcaError as error:
            self.tell(f"✗ {_(error.title)}: {core_said(str(error))}", bad=True, more=core_said(error.hint))

    def stop_test(self) -> bool:
        """End a test that runs; tells whether there was one."""
        running = [worker for worker in self.workers if worker.group == "test" and worker.is_running]
        for worker in running:
            worker.cancel()
        if running:
            self.tell(_("cancelled"), bad=True)
        return bool(running)

    def _add(self, deed: Deed) -> None:
        table = settings_fields.value_of(self.desk.settings, deed.path) or {}

        def check(name: str) -> str:
            if not re.fullmatch(r"[\w-]{1,64}", name):
                return _("Letters, digits, _ and -, at most 64.")
            return _("There is one of this name.") if name in table else ""

        def named(name: str | None) -> None:
            if name is None:
                return
            if deed.path[-1] in NEW:
                self.write({(*deed.path, name, key): text for key, text in NEW[deed.path[-1]].items()})
            else:
                self.edit(Field((*deed.path, name), "value", None, optional=True))

        self.app.push_screen(NewName(_(deed.text), check, blink=self.desk.settings.ui.cursor_blink), named)

    def _delete(self, deed: Deed) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.write({deed.path: None})

        question = _("Delete “{name}” from the settings?", name=label(deed.path[-1], 60))
        self.app.push_screen(Ask(question, [f"[{'.'.join(deed.path)}]"]), answered)

    # keys

    def default_keys(self, row: KeyRow) -> str:
        """As a person reads them."""
        return ", ".join(keys.display(key) for key in keys.split(row.default)) or "–"

    def _act_on_keys(self, act: Act, row: KeyRow) -> None:
        if act == "default":
            self.write(settings_keys.given(row, keys.split(row.default)))
        elif act in ("choose", "add"):
            self._capture(row, more=act == "add")

    def _capture(self, row: KeyRow, *, more: bool) -> None:
        others = self.desk.key_rows()

        def clash(key: str) -> str:
            owner = settings_keys.owner(key, row, others)
            return f"{owner.id}: {_(owner.summary)}" if owner is not None else ""

        def pressed(key: str | None) -> None:
            if key is not None:
                wanted = [*row.keys, key] if more and key not in row.keys else [key]
                self.write(settings_keys.given(row, wanted, settings_keys.owner(key, row, others)))

        self.app.push_screen(KeyCapture(f"{row.id}: {_(row.summary)}", clash), pressed)
