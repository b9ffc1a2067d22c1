"""The commands about who answers and how: for this session, or by default."""

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory.errors import OrcaError
from memory.options import SessionOptions
from memory.text import label
from orca_tui.action_base import ActionBase
from orca_tui.i18n import _
from orca_tui.settings_room import ONLY_HERE

if TYPE_CHECKING:
    pass

OURS = frozenset(
    {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "n", "max_completion_tokens"}
)
"""Parts of a request that are orca's own affair."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FALSE = frozenset({"none", "default", "reset", "off"})


class AnsweringActions(ActionBase):
    """One method a command, named like it."""

    async def model(self, argument: str) -> None:
        """Choose who answers: from a list, or by name for this session only."""
        from orca_tui.screens.own_model import OwnModel

        name = argument.strip()
        if not name:
            self._app.choose_model()
            return
        if name == ONLY_HERE:
            core, own = self._talk().core, self._options.model
            chosen = await self._app.push_screen_wait(OwnModel(self._app.home, core.settings, own, env=self._app.env))
            if chosen is None:
                return
            name = chosen
        await self._change(model="" if name.lower() in _FALSE else name)
        self._say(_("This session is answered by {name}", name=label(name, 60)) if self._options.model else _usual())

    async def persona(self, argument: str) -> None:
        """Choose a persona of the settings for this session."""
        from orca_tui.screens.personas import PersonaScreen

        personas, name = self._app.settings.personas, argument.strip()
        if not name:
            if not personas:
                raise OrcaError(
                    _("There are no personas yet."),
                    hint=_("Add a section [personas.NAME] with a prompt to config.toml, or use /settings."),
                )
            chosen = await self._app.push_screen_wait(PersonaScreen(personas, self._options.persona))
            if chosen is None:
                return
            name = chosen
        elif name.lower() == "none":
            name = ""
        elif name not in personas:
            known = ", ".join(label(one, 40) for one in [*personas][:20])
            raise OrcaError(_("There is no persona “{name}”.", name=label(name, 60)), hint=known)
        await self._change(persona=name)
        self._say(_("Persona of this session: {name}", name=label(name, 60)) if name else _("No persona"))

    async def system(self, argument: str) -> None:
        """Set the system prompt of this session."""
        from orca_tui.screens.text_form import TextForm

        text: str | None = argument.strip()
        if not text:
            now = self._options.system_prompt or self._app.settings.llm.system_prompt
            about = _("for this session; empty: that of the persona, or of the settings")
            text = await self._app.push_screen_wait(TextForm(_("System prompt"), now, about=about))
            if text is None or text == now:
                return
        elif text.lower() == "reset":
            text = ""
        await self._change(system_prompt=text)
        self._say(_("This session has its own system prompt") if text else _("The usual system prompt"))

    async def set(self, argument: str) -> None:
        """Set a parameter of this session's requests, or tell which there are."""
        name, _blank, value = argument.strip().partition(" ")
        own = self._options
        if not name:
            self._say(_told(own))
            return
        if name.lower() == "reset":
            await self._change(temperature=None, max_tokens=None, parameters={})
            self._say(_("All parameters are as usual again"))
            return
        if not value.strip():
            raise OrcaError(_("Say a value too."), hint=_("/set temperature 0.3 · /set max_tokens 500 · /set reset"))
        await self._change(**_changes(own, name.lower(), value.strip()))
        self._say(_told(self._options))

    @property
    def _options(self) -> SessionOptions:
        return self._app.chat.target.options

    async def _change(self, **fields: Any) -> None:
        await self._talk().choose(replace(self._options, **fields))

    def _say(self, text: str) -> None:
        self._app.chat.composer.focus()
        self._app.chat.hint_line.say(text)


def _usual() -> str:
    return _("This session is answered by the usual model")


def _told(own: SessionOptions) -> str:
    named: dict[str, object] = {"temperature": own.temperature, "max_tokens": own.max_tokens, **own.parameters}
    pairs = [f"{label(name, 40)} {label(str(value), 60)}" for name, value in named.items() if value is not None]
    return _("For this session: {what}", what=" · ".join(pairs)) if pairs else _("No parameters of its own")


def _changes(own: SessionOptions, name: str, value: str) -> dict[str, Any]:
    """What `/set name value` changes. Raises `OrcaError`."""
    off = value.lower() in _FALSE
    if name == "temperature":
        number = None if off else _number(value)
        if number is not None and not 0 <= number <= 2:
            raise OrcaError(_("temperature is a number from 0 to 2."))
        return {"temperature": number}
    if name == "max_tokens":
        if not off and not (value.isascii() and value.isdigit() and int(value[:9]) > 0 and len(value) <= 7):
            raise OrcaError(_("max_tokens is a whole number from 1 to 9,999,999."))
        return {"max_tokens": None if off else int(value)}
    if name in OURS or not _NAME.fullmatch(name):
        raise OrcaError(
            _("{name} cannot be set here.", name=label(name, 60)), hint=_("temperature, max_tokens, top_p, seed, …")
        )
    others = {key: given for key, given in own.parameters.items() if key != name}
    return {"parameters": others if off else {**others, name: _json(value)}}


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise OrcaError(_("temperature is a number from 0 to 2.")) from None


def _json(value: str) -> Any:
    """A value as JSON, or as the text that it is."""
    try:
        found = json.loads(value, parse_constant=str)
    except (ValueError, RecursionError):
        return value
    return found
