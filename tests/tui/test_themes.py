"""Themes: ours are whole and readable; a bad file of the user is told, never a crash."""

from pathlib import Path

import pytest
from hosts import Host
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Static

from orca_tui.themes import COLORS, DEFAULT_THEME, VARIABLES, ThemeProblem, load_themes, variable_defaults

OURS = {theme.name: theme for theme in load_themes(None)[0]}
GROUNDS = ("background", "surface", "panel")
PAIRS = [
    *[
        (text, ground)
        for ground in GROUNDS
        for text in (
            *("foreground", "muted", "primary", "accent", "warning", "error", "success"),
            *("tier-working", "tier-short-term", "tier-long-term", "tier-over"),
        )
    ],
    *[(text, "user-background") for text in ("foreground", "muted", "link")],
    *[(text, "background") for text in ("heading", "link", "reasoning", "user-bar")],
    *[
        (name, "code-background")
        for name in ("foreground", *(name for name in VARIABLES if name.startswith("syntax-")))
    ],
    *[(f"{name}-foreground", f"{name}-background") for name in ("notice", "error", "match", "cursor", "bar")],
    *[(text, "bar-background") for text in ("muted", "primary", "warning", "success", "tier-over")],
    ("footer-foreground", "footer-background"),
    ("footer-key-foreground", "footer-background"),
    ("block-cursor-foreground", "block-cursor-background"),
    ("input-cursor-foreground", "input-cursor-background"),
]
"""What is written on what."""


def value(theme: Theme, name: str) -> Color:
    return Color.parse(theme.variables.get(name) or getattr(theme, name))


def contrast(one: Color, other: Color) -> float:
    """WCAG 2 contrast ratio."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in color.rgb)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_ours_are_all_there() -> None:
    light = {"orca-light", "paper", "blossom", "harbour"}
    dark = {"orca-dark", "high-contrast", "abyss", "forest", "plum", "ember", "mono"}
    assert set(OURS) == light | dark
    assert {theme.name for theme in OURS.values() if not theme.dark} == light
    assert load_themes(None)[1] == []


def test_the_default_values_are_those_of_the_default_theme() -> None:
    theme = OURS[DEFAULT_THEME]
    assert {name: value(theme, name) for name in VARIABLES} == {n: Color.parse(v) for n, v in VARIABLES.items()}


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_theme_is_readable(name: str) -> None:
    least = 7.0 if name in ("high-contrast", "paper") else 4.5
    theme = OURS[name]
    ratios = {(text, ground): contrast(value(theme, text), value(theme, ground)) for text, ground in PAIRS}
    assert not {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least}


@pytest.mark.parametrize("name", sorted(OURS))
async def test_every_theme_can_be_shown(name: str) -> None:
    app = Host(Static("x", markup=False), theme=name)
    async with app.run_test(size=(20, 4)):
        assert set(VARIABLES) <= set(app.theme_variables)


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_other_themes_get_values_of_their_own(name: str) -> None:
    values = variable_defaults(BUILTIN_THEMES[name])
    assert set(values) == set(VARIABLES)
    for text in values.values():
        assert Color.parse(text).a == 1


# the user's files

GOOD = """
name = "mine"
dark = false
[colors]
primary = "#123456"
foreground = "black"
background = "white"
surface = "rgb(250,250,250)"
panel = "#eee"
warning = "#775500"
error = "#aa0000"
success = "#006600"
[variables]
input-selection-background = "#123456 30%"
block-cursor-text-style = "bold underline"
text-muted = "auto 60%"
"""


def user_theme(folder: Path, text: str | bytes, name: str = "mine.toml") -> tuple[dict[str, Theme], list[ThemeProblem]]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    themes, problems = load_themes(folder)
    return {theme.name: theme for theme in themes if theme.name not in OURS}, problems


def test_a_short_theme_is_filled_up(tmp_path: Path) -> None:
    themes, problems = user_theme(tmp_path, GOOD)
    assert set(VARIABLES) <= set(themes["mine"].variables)
    assert themes["mine"].variables["input-selection-background"] == "#123456 30%"
    assert not themes["mine"].dark
    assert [(problem.file, problem.fatal) for problem in problems] == [("mine.toml", False)]
    assert "tier-working" in problems[0].message


async def test_a_users_theme_can_be_shown(tmp_path: Path) -> None:
    themes, _problems = user_theme(tmp_path, GOOD)
    app = Host(Static("x", markup=False))
    app.register_theme(themes["mine"])
    async with app.run_test(size=(20, 4)) as pilot:
        app.theme = "mine"
        await pilot.pause()
        assert app.current_theme.name == "mine"


def test_a_user_may_replace_one_of_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD.replace('"mine"', '"abyss"'))
    themes, _problems = load_themes(tmp_path)
    assert [theme.dark for theme in themes if theme.name == "abyss"] == [False]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "mine"', 'name = "Mine [/]"', "Mine [/]"),
        ('name = "mine"', "name = 7", "7"),
        ("dark = false", 'dark = "no"', '"dark"'),
        ("dark = false", "drak = false", "drak"),
        ('primary = "#123456"', 'primary = "#12345"', "colors.primary"),
        ('primary = "#123456"', "primary = 3", "colors.primary"),
        ('primary = "#123456"', 'primary = "ansi_red"', "without transparency"),
        ('primary = "#123456"', 'primary = "#12345680"', "without transparency"),
        ('primary = "#123456"', "", "primary"),
        ('panel = "#eee"', 'panle = "#eee"', "panle"),
        ("[variables]", '[variables]\ntier-wroking = "#fff"', "tier-wroking"),
        ("[variables]", '[variables]\nmuted = "\\u001b[31m"', "variables.muted"),
        ("[variables]", '[variables]\nmuted = "#ffffff80"', "variables.muted"),
        ('"bold underline"', '"blink"', "text-style"),
        ("[colors]", "[colors", "TOML"),
        ("[colors]", "[[colors]]", '"colors" must be a section'),
    ],
)
def test_mistakes_are_told_by_file(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    themes, problems = user_theme(tmp_path, GOOD.replace(old, new))
    assert themes == {}
    assert [problem.file for problem in problems] == ["mine.toml"]
    assert problems[0].fatal
    assert told in problems[0].message
    assert "\x1b" not in problems[0].message


def test_a_hint_names_what_was_meant(tmp_path: Path) -> None:
    _themes, problems = user_theme(tmp_path, GOOD.replace("panel =", "panle ="))
    assert '"panel"' in problems[0].hint


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\x00", b"", b"name = [" * 100_000])
def test_files_that_are_no_theme_are_told(tmp_path: Path, data: bytes) -> None:
    themes, problems = user_theme(tmp_path, data)
    assert themes == {}
    assert len(problems) == 1


def test_two_files_with_one_name(tmp_path: Path) -> None:
    user_theme(tmp_path, GOOD, "a.toml")
    themes, problems = user_theme(tmp_path, GOOD, "b.toml")
    assert len(themes) == 1
    assert [problem.file for problem in problems if problem.fatal] == ["b.toml"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert load_themes(tmp_path / "none")[1] == []


def test_a_directory_named_like_a_theme(tmp_path: Path) -> None:
    (tmp_path / "x.toml").mkdir()
    assert [problem.file for problem in load_themes(tmp_path)[1]] == ["x.toml"]


def test_colour_names_are_those_that_textual_knows() -> None:
    assert set(COLORS) <= set(Theme.__dataclass_fields__)
