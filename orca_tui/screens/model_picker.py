"""Who answers: every provider that could, with what is missing, a test call, and the saved choice.

The same screen greets on the first run. Nothing is saved before the model has answered.
"""

import asyncio
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memory.config import Home, Settings
from memory.errors import LocalModelMissing, ModelFileError, OrcaError
from memory.text import clean, label
from orca_tui.core_words import core_said
from orca_tui.i18n import _
from orca_tui.provider_setup import Answer, changes_for, connect, with_changes
from orca_tui.work import start

if TYPE_CHECKING:
    from memory.provider.base import ChatModel
    from memory.provider.factory import ProviderChoice

FIELDS = ("url", "model", "key")
NAME_CELLS = 18
OTHER = "Another server"
"""Label of the choice that asks for an address."""


@dataclass(frozen=True, slots=True)
class Picked:
    """A model that has answered its test call, and the settings that lead to it."""

    model: "ChatModel"
    settings: Settings


@dataclass(frozen=True, slots=True)
class OnlyHere:
    """The model is to be another for the open session only."""


class ModelPicker(ModalScreen[Picked | OnlyHere | None]):
    """Gives what was picked, or `None` when the user left."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, id="model.back"),
        Binding("s", "only_here", show=False, id="model.only_here"),
    ]

    def __init__(
        self, home: Home, settings: Settings, *, env: Mapping[str, str] | None = None, first_run: bool = False
    ) -> None:
        super().__init__(classes="-dialog")
        self._home, self._settings, self._env = home, settings, env
        self._first_run = first_run
        self._choices: list[ProviderChoice] = []
        self._chosen: ProviderChoice | None = None
        self._cancel = threading.Event()
        """Set when the try that runs is given up; each has its own."""
        self._download = threading.Lock()

    def compose(self) -> ComposeResult:
        """Title, list or form, what is going on."""
        with Vertical(classes="dialog"):
            yield Static(classes="dialog-title", markup=False)
            yield Static(classes="dialog-intro", markup=False)
            yield OptionList(id="choices", markup=False)
            with Vertical(id="form"):
                yield Input(placeholder="http://127.0.0.1:8080/v1", id="url")
                yield Input(id="model")
                yield Input(id="key", password=True)
            yield Static(id="state", markup=False)
            hint = _("Enter chooses · Esc goes back")
            hint = hint if self._first_run else f"{hint} · {_('s: only for this session')}"
            yield Static(Content(hint), classes="dialog-hint", markup=False)

    def on_mount(self) -> None:
        """Look what is there."""
        names = (_("Address"), _("Model"), _("Key (hidden; stored in config.toml, readable by you only)"))
        for field, name in zip(FIELDS, names, strict=True):
            found = self.query_one(f"#{field}", Input)
            found.border_title = Content(name)
            found.cursor_blink = self._settings.ui.cursor_blink
        self._show_list()
        self._say(_("looking for models…"))
        start(self, "choices", self._look)

    async def _look(self) -> None:
        from memory.provider.factory import ProviderChoice, list_choices

        found = await list_choices(self._settings, self._home, self._env)
        other = ProviderChoice("openai", OTHER, "", False, _("Any address that speaks OpenAI's protocol."))
        self._choices = [*found[:-1], other, found[-1]]
        options = self.query_one("#choices", OptionList)
        options.add_options([Option(self._line(choice)) for choice in self._choices])
        options.highlighted = first_guess(self._choices)
        self._say("")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Ask for what is missing, or try at once."""
        choice = self._chosen = self._choices[event.option_index]
        asked = fields_of(choice)
        if not asked:
            self._start(Answer(model=choice.model))
            return
        self.add_class("-form")
        for name in FIELDS:
            field = self.query_one(f"#{name}", Input)
            field.display = name in asked
            field.value = choice.model if name == "model" else ""
        self.query_one(".dialog-title", Static).update(Content(label(_(choice.label))))
        self.query_one(".dialog-intro", Static).update(Content(about_form(choice)))
        self._say("")
        self.query_one(f"#{asked[-1] if choice.model else asked[0]}", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to the next field; after the last one the choice is tried."""
        shown = [field for name in FIELDS if (field := self.query_one(f"#{name}", Input)).display]
        needed = ("url",) if shown[0].id == "url" else ("key",)
        if event.input.id in needed and not event.input.value.strip():
            self._say(_("This cannot be empty."), bad=True)
            return
        following = shown[shown.index(event.input) + 1 :]
        if following:
            following[0].focus()
            return
        values = {name: self.query_one(f"#{name}", Input).value for name in FIELDS}
        self._start(Answer(values["url"], values["model"], values["key"]))

    def action_back(self) -> None:
        """From a running try to the form, from the form to the list, from the list to the chat."""
        running = [worker for worker in self.workers if worker.group == "try" and worker.is_running]
        if running:
            self._cancel.set()
            for worker in running:
                worker.cancel()
            self._say(_("cancelled"))
        elif self.has_class("-form"):
            self._show_list()
        else:
            self.dismiss(None)

    def action_only_here(self) -> None:
        """Another model of the same provider, for the open session."""
        if not self._first_run and not self.has_class("-form"):
            self.dismiss(OnlyHere())

    def _show_list(self) -> None:
        title, intro = _("Who answers?"), _("The choice is tested before it is saved.")
        if self._first_run:
            title = _("Welcome to orca")
            intro = _("Choose who you want to talk with. It can be changed at any time with F2.")
        self.query_one(".dialog-title", Static).update(Content(title))
        self.query_one(".dialog-intro", Static).update(Content(intro))
        self.remove_class("-form")
        self._say("")
        self.query_one("#choices", OptionList).focus()

    def _start(self, answer: Answer) -> None:
        self._cancel.set()
        self._cancel = threading.Event()
        start(self, "try", self._try, answer, self._cancel, exclusive=True)

    async def _try(self, answer: Answer, cancel: threading.Event) -> None:
        assert self._chosen is not None  # noqa: S101 - a choice was made before
        changes = changes_for(self._chosen.kind, answer, self._settings)
        try:
            if self._chosen.kind == "local" and not self._chosen.available:
                require_runtime(self._chosen)
                await asyncio.to_thread(self._install, cancel)
            self._say(_("asking it for a word…"))
            model = await connect(self._home, self._settings, changes, self._env)
        except OrcaError as error:
            self._say(f"{_(error.title)}: {core_said(str(error))}", hint=core_said(error.hint), bad=True)
            return
        self.dismiss(Picked(model, with_changes(self._settings, changes)))

    def _install(self, cancel: threading.Event) -> None:
        """Fetch the built-in model; runs in a thread. Raises `ModelFileError`, also when the user cancelled.

        One that was cancelled ends before the next begins.
        """
        from memory.provider.model_files import install_builtin

        def go_on() -> None:
            if cancel.is_set():
                raise ModelFileError(_("The download was cancelled."))

        def progress(done: int, total: int) -> None:
            go_on()
            text = _("fetching the model: {n} %", n=100 * done // max(1, total))
            self.app.call_from_thread(self._say, text)

        with self._download:
            go_on()
            install_builtin(self._home, progress)

    def _say(self, text: str, *, hint: str = "", bad: bool = False) -> None:
        line = Content.styled(clean(text), "$text-error" if bad else "$muted")
        if hint:
            line += Content(f"\n{clean(hint)}")
        self.query_one("#state", Static).update(line)

    def _line(self, choice: "ProviderChoice") -> Content:
        mark = ("● ", "$text-success") if choice.available else ("○ ", "$muted")
        name = Content.styled(f"{label(_(choice.label), 24)}  ", "bold").truncate(NAME_CELLS, pad=True)
        return Content.assemble(mark) + name + Content.styled(label(short_detail(choice), 160), "$muted")


def short_detail(choice: "ProviderChoice") -> str:
    """What it is, or what is missing, in a few words."""
    said = core_said(choice.detail)
    if choice.available:
        return f"{choice.model} · {said}" if choice.model and choice.kind != "demo" else said
    if fields_of(choice) == ("model", "key"):
        return _("needs a key")
    if choice.kind == "local" and has_runtime():
        return _("93 MB, fetched once; small, English only")
    return said


def about_form(choice: "ProviderChoice") -> str:
    """What is to be done in the form of a choice."""
    if fields_of(choice) == ("model", "key"):
        return _("Paste the key below; it is sent to this service only.")
    return label(core_said(choice.detail))


def first_guess(choices: "Sequence[ProviderChoice]") -> int:
    """Where the cursor starts: the first real model that is there, else the one that can be fetched."""
    for index, choice in enumerate(choices):
        if choice.available and choice.kind != "demo":
            return index
    kinds = [choice.kind for choice in choices]
    return kinds.index("local") if has_runtime() and "local" in kinds else 0


def has_runtime() -> bool:
    """Whether what runs model files is installed."""
    from memory.provider.factory import RUNTIME

    return importlib.util.find_spec(RUNTIME) is not None


def require_runtime(choice: "ProviderChoice") -> None:
    """Raise `LocalModelMissing` when a model file alone would not help."""
    if not has_runtime():
        raise LocalModelMissing(_("What runs models inside orca is not installed here."), hint=core_said(choice.detail))


def fields_of(choice: "ProviderChoice") -> tuple[str, ...]:
    """What the user has to type for this choice."""
    if choice.label == OTHER:
        return FIELDS
    if choice.kind in ("openai", "siliconflow") and not choice.available:
        return ("model", "key")
    return ()
