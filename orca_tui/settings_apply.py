"""Puts changed settings in force in the running app, as far as that is possible without a new start."""

from dataclasses import fields
from typing import TYPE_CHECKING

from textual.binding import BindingsMap

from memory.config import Secret, Settings
from memory.errors import OrcaError
from orca_tui import commands, keys
from orca_tui.i18n import set_language

if TYPE_CHECKING:
    from orca_tui.app import OrcaApp


async def apply(app: "OrcaApp", before: Settings, after: Settings) -> OrcaError | None:
    """Go from `before` to `after`. Gives why the model could not follow; the one before then goes on answering."""
    app.settings = after
    if after.ui != before.ui:
        _apply_screen(app, before, after)
    if after.keys != before.keys:
        apply_keys(app, after)
    if app.core is None:
        return None
    app.core.use_settings(after)
    problem = None
    if _model_part(after) != _model_part(before):
        problem = await _apply_model(app, after)
    if app.conversation is not None and problem is None:
        await app.conversation.refresh_memory()
    return problem


def apply_keys(app: "OrcaApp", after: Settings) -> None:
    """New keys, at once and everywhere; what could not be followed is told."""
    app.keymap = keys.resolve(commands.default_keys(), after.keys)
    app._bindings = BindingsMap(commands.bindings(app.keymap))
    app.set_keymap(dict(app.keymap.others))
    app.chat.use_keymap(app.keymap)
    app.warn(app.keymap.problems)


def _apply_screen(app: "OrcaApp", before: Settings, after: Settings) -> None:
    ui = after.ui
    if ui.theme != before.ui.theme and ui.theme in app.themes.names():
        app.theme = ui.theme
    if ui.language != before.ui.language:
        set_language(ui.language)
        app.language_changed()
    app.chat.set_class(ui.sidebar, "-sidebar")
    app.chat.set_class(ui.sessions, "-panel")
    app.chat.composer.cursor_blink = ui.cursor_blink


def _model_part(settings: Settings) -> list[object]:
    """What of the settings the answering model depends on."""
    sections = (settings.llm, settings.siliconflow)
    return [_plain(getattr(section, one.name)) for section in sections for one in fields(section)]


def _plain(value: object) -> object:
    """Secrets are equal when their keys are."""
    return value.reveal() if isinstance(value, Secret) else value


async def _apply_model(app: "OrcaApp", after: Settings) -> OrcaError | None:
    from memory.provider.factory import build_chat_model

    assert app.core is not None  # noqa: S101 - the caller has looked
    try:
        model = await build_chat_model(after, app.home, app.env)
    except OrcaError as error:
        return error
    await app.core.use_chat_model(model)
    await app.tell_model()
    return None
