"""Puts the themes into the app: all of them registered, the chosen one in force from the first frame."""

from pathlib import Path
from typing import Any

from textual.app import App

from memory.text import label
from orca_tui.i18n import _
from orca_tui.themes import DEFAULT_THEME, load_themes


def set_up_themes(app: App[Any], folder: Path, wanted: str) -> tuple[list[str], list[str]]:
    """Register ours and those in `folder`, start with `wanted`; tells the names, and what is wrong in one line each.

    For an app that does not run yet.
    """
    themes, problems = load_themes(folder)
    for theme in themes:
        app.register_theme(theme)
    told = [f"{problem.file}: {problem.message}" for problem in problems]
    if wanted not in app.available_themes:
        told.append(_("There is no theme “{name}”.", name=label(wanted, 40)))
        wanted = DEFAULT_THEME
    _start_with(app, wanted)
    return [theme.name for theme in themes], told


def _start_with(app: App[Any], name: str) -> None:
    """Setting `theme` would have all styles parsed once more, before the first frame."""
    app.set_reactive(App.theme, name)
    dark = app.current_theme.dark
    app.update_classes({f"-theme-{name}": True, "-dark-mode": dark, "-light-mode": not dark}, update=False)
    app.stylesheet.set_variables(app.get_css_variables())
