"""Themes: one TOML file each, ours from the package, the user's from `$ORCA_HOME/themes/`.

A file has `name`, `dark`, `[colors]` (Textual's theme colours) and `[variables]` (ours, see `VARIABLES`, and Textual's
own). A file that cannot be used becomes a `ThemeProblem`; the others load. What a theme leaves out is derived from its
colours, so a dozen lines make a theme.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

import orca_tui
from memory.text import label
from orca_tui.i18n import _

DEFAULT_THEME = "orca-dark"

COLORS = (
    "primary", "secondary", "accent", "foreground", "background", "surface", "panel", "boost",
    "warning", "error", "success",
)  # fmt: skip
"""What `[colors]` may hold: `textual.theme.Theme`'s colours."""
REQUIRED = ("primary", "foreground", "background", "surface", "panel", "warning", "error", "success")

VARIABLES: dict[str, str] = {
    "muted": "#93a3b5",  # secondary text: times, counts, hints
    "faint": "#3a4756",  # lines and marks that carry no meaning
    "heading": "#8fcaf2",
    "link": "#79bdf0",
    "reasoning": "#93a3b5",
    "user-bar": "#6cb6e8",  # the bar left of what the user wrote
    "user-background": "#18222d",
    "assistant-bar": "#3a4756",
    "quote-bar": "#4c5b6c",
    "code-background": "#0c1117",
    "syntax-comment": "#8493a4",
    "syntax-keyword": "#c49df0",
    "syntax-string": "#8fd0a6",
    "syntax-number": "#efb679",
    "syntax-function": "#79bdf0",
    "syntax-type": "#e3c787",
    "notice-foreground": "#b9c9da",
    "notice-background": "#17242f",
    "error-foreground": "#f7b0b4",
    "error-background": "#2c191d",
    "match-foreground": "#11161d",  # search hits in text
    "match-background": "#e9c46a",
    "cursor-foreground": "#f2f7fc",  # the row under the cursor of a list
    "cursor-background": "#24435c",
    "bar-foreground": "#c3cfdc",  # status bar
    "bar-background": "#1b2530",
    "tier-working": "#6cb6e8",
    "tier-short-term": "#c49df0",
    "tier-long-term": "#efb679",
    "tier-free": "#2c3947",  # the empty part of a budget bar
    "tier-over": "#f2858b",  # a budget that is exceeded
}
"""Variables of our own that CSS and line renderers use: name → value in `orca-dark`. All are opaque colours."""

STYLE_WORDS = frozenset(["none", "not", "bold", "b", "italic", "i", "underline", "u", "reverse", "dim", "strike"])
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class ThemeProblem:
    """What is wrong with a theme file, for a person."""

    file: str
    message: str
    hint: str
    fatal: bool = True
    """False when the theme was loaded all the same."""


class _BadTheme(Exception):
    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def load_themes(user_dir: Path | None) -> tuple[list[Theme], list[ThemeProblem]]:
    """Every theme, ours first, with all `VARIABLES` set; and what is wrong with the files that are not (all) usable.

    A theme of the user with the name of one of ours takes its place.
    """
    themes: dict[str, Theme] = {}
    problems: list[ThemeProblem] = []
    for files in (sorted(_packaged_folder().glob("*.toml")), _user_files(user_dir, problems)):
        seen: dict[str, str] = {}
        for file in files:
            theme, found = _load(file)
            problems += found
            if theme is None:
                continue
            if theme.name in seen:
                message = _('The name "{name}" is taken by {file}.', name=theme.name, file=seen[theme.name])
                problems.append(ThemeProblem(_shown(file), message, _("Give this theme another name.")))
                continue
            seen[theme.name] = _shown(file)
            themes[theme.name] = theme
    return list(themes.values()), problems


def packaged_theme(name: str) -> Theme | None:
    """One of ours, by itself; `None` when there is none of that name."""
    file = _packaged_folder() / f"{name}.toml"
    if not NAME.fullmatch(name) or not file.is_file():
        return None
    theme, _problems = _load(file)
    return theme if theme is not None and theme.name == name else None


def has_files(user_dir: Path) -> bool:
    """Whether there are themes of the user's to look at."""
    return bool(_user_files(user_dir, []))


def variable_defaults(theme: Theme) -> dict[str, str]:
    """All of `VARIABLES`, derived from the colours of `theme` (which need not be ours)."""
    return _derived(theme, theme.to_color_system().generate())


def _derived(theme: Theme, colors: Mapping[str, str]) -> dict[str, str]:
    back, fore, surface, panel, primary, accent, error = (
        _opaque(colors[name], theme.dark)
        for name in ("background", "foreground", "surface", "panel", "primary", "accent", "error")
    )
    success, warning = _opaque(colors["success"], theme.dark), _opaque(colors["warning"], theme.dark)
    muted, faint = fore.blend(back, 0.28), fore.blend(back, 0.72)
    derived = {
        "muted": muted,
        "faint": faint,
        "heading": primary,
        "link": primary,
        "reasoning": muted,
        "user-bar": primary,
        "user-background": surface,
        "assistant-bar": faint,
        "quote-bar": faint,
        "code-background": surface,
        "syntax-comment": muted,
        "syntax-keyword": accent,
        "syntax-string": success,
        "syntax-number": warning,
        "syntax-function": primary,
        "syntax-type": warning,
        "notice-foreground": fore,
        "notice-background": panel,
        "error-foreground": fore,
        "error-background": back.blend(error, 0.18),
        "match-foreground": back,
        "match-background": warning,
        "cursor-foreground": fore,
        "cursor-background": back.blend(primary, 0.3),
        "bar-foreground": fore,
        "bar-background": panel,
        "tier-working": primary,
        "tier-short-term": accent,
        "tier-long-term": warning,
        "tier-free": faint,
        "tier-over": error,
    }
    return {name: color.hex6 for name, color in derived.items()}


def _opaque(value: str, dark: bool) -> Color:
    """`value` as a plain colour; the terminal's own colours become black or white."""
    try:
        color = Color.parse(value)
    except ColorParseError:
        return Color(255, 255, 255) if dark else Color(0, 0, 0)
    return Color(color.r, color.g, color.b)


def _packaged_folder() -> Path:
    """Our own files: inside the wheel, or beside the package in a checkout."""
    package = Path(orca_tui.__file__).parent
    packaged = package / "_themes"
    return packaged if packaged.is_dir() else package.parent / "themes"


def _user_files(folder: Path | None, problems: list[ThemeProblem]) -> list[Path]:
    try:
        return sorted(folder.glob("*.toml")) if folder is not None and folder.is_dir() else []
    except OSError as error:
        message = _("The themes folder cannot be read: {reason}", reason=label(error.strerror or ""))
        problems.append(ThemeProblem(label(str(folder)), message, _("Check its permissions.")))
        return []


def _shown(file: Path) -> str:
    return label(file.name)


def _load(file: Path) -> tuple[Theme | None, list[ThemeProblem]]:
    """One file's theme, or `None` and why; a theme may come with problems that are not fatal."""
    try:
        data = _read(file)
        theme, missing = _parse(data, file.stem)
    except _BadTheme as error:
        return None, [ThemeProblem(_shown(file), str(error), error.hint)]
    if not missing:
        return theme, []
    message = _("{n} variables are not set: {names}", n=len(missing), names=", ".join(missing))
    return theme, [ThemeProblem(_shown(file), message, _("They are derived from the theme's colours."), fatal=False)]


def _read(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        reason = label(error.strerror or "")
        raise _BadTheme(_("It cannot be read: {reason}", reason=reason), _("Check its permissions.")) from None
    except UnicodeDecodeError:
        raise _BadTheme(_("It is not UTF-8 text."), _("Save the file as UTF-8.")) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _BadTheme(
            _("It is not valid TOML: {reason}", reason=label(str(error))), _("Correct that line.")
        ) from None


def _parse(data: Mapping[str, Any], stem: str) -> tuple[Theme, list[str]]:
    """The theme and the names of `VARIABLES` that it leaves out."""
    _known(data, ("name", "dark", "colors", "variables"), "")
    name = data.get("name", stem)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise _BadTheme(
            _('"{name}" cannot be a theme\'s name.', name=label(str(name), 60)),
            _("Use small letters, digits and hyphens, at most 40."),
        )
    dark = data.get("dark", True)
    if not isinstance(dark, bool):
        raise _BadTheme(_('"dark" must be true or false.'), "")
    colors: dict[str, Any] = {
        key: _color(value, f"colors.{key}", opaque=key != "boost")
        for key, value in _table(data, "colors", COLORS).items()
    }
    lacking = [key for key in REQUIRED if key not in colors]
    if lacking:
        raise _BadTheme(_("These colours are missing: {names}", names=", ".join(lacking)), _("Add them to [colors]."))
    bare = Theme(name=name, dark=dark, **colors)
    generated = bare.to_color_system().generate()
    variables = _table(data, "variables", (*VARIABLES, *generated))
    given = {key: _variable(key, value) for key, value in variables.items()}
    missing = [key for key in VARIABLES if key not in given]
    bare.variables = (_derived(bare, generated) if missing else {}) | given
    return bare, missing


def _table(data: Mapping[str, Any], name: str, allowed: Iterable[str]) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, Mapping):
        raise _BadTheme(
            _('"{name}" must be a section.', name=name), _("Write [{name}] on a line of its own.", name=name)
        )
    _known(table, tuple(allowed), f"{name}.")
    return table


def _known(table: Mapping[str, Any], allowed: tuple[str, ...], prefix: str) -> None:
    for key in table:
        if key in allowed:
            continue
        close = difflib.get_close_matches(key, allowed, n=1)
        hint = _('Did you mean "{name}"?', name=close[0]) if close else _("Remove it.")
        raise _BadTheme(_('"{name}" is not known.', name=label(prefix + key, 60)), hint)


def _variable(key: str, value: object) -> str:
    """One value of `[variables]`: ours are opaque colours, Textual's also styles and faded colours (`#fff 30%`)."""
    where = f"variables.{key}"
    if key in VARIABLES:
        return _color(value, where)
    if key.endswith("-style"):
        words = value.split() if isinstance(value, str) else []
        if not words or not STYLE_WORDS.issuperset(words):
            raise _BadTheme(_('"{name}" is not a text style.', name=where), " ".join(sorted(STYLE_WORDS)))
        return " ".join(words)
    faded = re.fullmatch(r"(.+?)\s+(\d{1,3}%)", value) if isinstance(value, str) else None
    base, fade = faded.groups() if faded else (value, "")
    if base == "auto":
        return f"auto {fade}".strip()
    return f"{_color(base, where, opaque=False)} {fade}".strip()


def _color(value: object, where: str, *, opaque: bool = True) -> str:
    """`value` as Textual reads colours, normalised. `opaque` refuses transparency and the terminal's own colours."""
    hint = _('Write it like "#6cb6e8".')
    try:
        color = Color.parse(value) if isinstance(value, str) else None
    except ColorParseError:
        color = None
    if color is None:
        raise _BadTheme(_('"{name}" is not a colour: {value}', name=where, value=label(str(value), 40)), hint)
    if opaque and (color.a < 1 or color.ansi is not None):
        raise _BadTheme(_('"{name}" must be a plain colour without transparency.', name=where), hint)
    return color.css if color.ansi is not None else color.hex
