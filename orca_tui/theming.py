"""Puts the themes into the app: the chosen one in force from the first frame, the others when they are asked for."""

from pathlib import Path
from typing import Any

from textual.app import App

from memory.text import label
from orca_tui.i18n import _
from orca_tui.themes import DEFAULT_THEME, has_files, load_themes, packaged_theme


class ThemeShelf:
    """Ours, and those in the user's folder."""

    def __init__(self, app: App[Any], folder: Path) -> None:
        self._app = app
        self._folder = folder
        self._names: list[str] | None = None

    def start_with(self, wanted: str) -> list[str]:
        """Put `wanted` in force in an app that does not run yet; tells what is wrong with the themes, a line each."""
        told: list[str] = []
        theme = None if has_files(self._folder) else packaged_theme(wanted)
        if theme is not None:
            self._app.register_theme(theme)
        else:
            told = self._load()
        if wanted not in self._app.available_themes:
            told.append(_("There is no theme “{name}”.", name=label(wanted, 40)))
            wanted = DEFAULT_THEME
        self._put_on(wanted)
        return told

    def names(self) -> list[str]:
        """Every theme of ours and the user's, registered by now."""
        if self._names is None:
            self._load()
        return list(self._names or ())

    def _load(self) -> list[str]:
        themes, problems = load_themes(self._folder)
        self._names = [theme.name for theme in themes]
        for theme in themes:
            self._app.register_theme(theme)
        return [f"{problem.file}: {problem.message}" for problem in problems]

    def _put_on(self, name: str) -> None:
        """Setting `theme` would have all styles parsed once more, before the first frame."""
        app = self._app
        app.set_reactive(App.theme, name)
        dark = app.current_theme.dark
        app.update_classes({f"-theme-{name}": True, "-dark-mode": dark, "-light-mode": not dark}, update=False)
        app.stylesheet.set_variables(app.get_css_variables())
