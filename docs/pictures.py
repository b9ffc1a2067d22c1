"""Makes the pictures of docs/screens from the real app, with scripted replies and the built-in embedder.

    python docs/pictures.py                 # every screen at two sizes; theme and language take turns
    python docs/pictures.py --all FOLDER    # every size with every theme and language
    python docs/pictures.py memories why    # only these

Needs `pip install ".[local,docs]"` and the fonts that drawing.py names. The conversations are made up; everything
around them is what the app shows.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

os.environ |= {"TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor", "TERM": "xterm-256color", "TZ": "UTC"}

from drawing import picture, save
from scene import Script, fill, open_app, ready, say, settle, until
from story import STORIES, Story
from textual.pilot import Pilot

from orca_tui.app import OrcaApp

FOLDER = Path(__file__).parent / "screens"
SIZES = {"small": (80, 24), "large": (200, 60)}
CELL = {"small": 24, "large": 16}
"""Pixels of a cell's height."""
THEMES = {"dark": ("orca-dark", "abyss"), "light": ("orca-light", "paper")}


@dataclass(frozen=True)
class Stage:
    """What a screen is set up with."""

    app: OrcaApp
    pilot: Pilot[object]
    script: Script
    story: Story

    async def press(self, *keys: str) -> None:
        """Keys, and time for what they do."""
        await self.pilot.press(*keys)
        await settle(self.pilot)

    async def command(self, text: str) -> None:
        """A slash command."""
        self.app.chat.composer.load_text(text)
        await self.press("enter")


Setup = Callable[[Stage], Awaitable[None]]


async def pressed(*keys: str, on: Stage) -> None:
    """A screen that keys lead to."""
    await on.press(*keys)


async def commanded(text: str, on: Stage) -> None:
    """A screen that a command leads to."""
    await on.command(text)


async def streaming(stage: Stage) -> None:
    """An agent has worked; the next reply is under way."""
    await say(stage.app, stage.pilot, stage.story.agent[0])
    never = asyncio.Event()

    async def pace(answer: str):
        yield answer[: int(len(answer) * 0.97)]
        await never.wait()

    stage.script.pace = pace
    await say(stage.app, stage.pilot, stage.story.plan[0], whole=False)
    await settle(stage.pilot, 1.5)


async def rollback(stage: Stage) -> None:
    """What would change is shown."""
    await stage.press("f7")
    await stage.press("B")
    await stage.press("ctrl+u", *"2026-04-30")
    await settle(stage.pilot, 1.0)


async def search(stage: Stage) -> None:
    """Words and a filter in the box."""
    await stage.press("ctrl+f")
    for character in stage.story.search:
        await stage.pilot.press(character)
    await settle(stage.pilot, 4.0)
    await stage.press("down")


async def permission(stage: Stage) -> None:
    """The model wants to read a file."""
    await say(stage.app, stage.pilot, stage.story.asked_file, whole=False)
    await until(stage.pilot, lambda: stage.app.screen is not stage.app.chat)
    await settle(stage.pilot)


async def traces(stage: Stage) -> None:
    """What the critic did."""
    await say(stage.app, stage.pilot, stage.story.agent[0])
    await stage.press("f12")


async def tree(stage: Stage) -> None:
    """An earlier message was edited and sent again."""
    await stage.press("shift+tab")
    await stage.press("g", "e")
    await say(stage.app, stage.pilot, stage.story.edited[0])
    await stage.command("/tree")


async def marked(stage: Stage) -> None:
    """Two memories are marked: what that frees is said."""
    await stage.press("f7")
    await stage.press("space", "down", "space")


async def palette(stage: Stage) -> None:
    """Commands that have to do with memory."""
    await stage.press("ctrl+p")
    await stage.press(*"mem")


SCREENS: dict[str, Setup] = {
    "chat": streaming,
    "memories": marked,
    "inbox": partial(commanded, "/memories inbox"),
    "cold": partial(commanded, "/memories cold"),
    "rollback": rollback,
    "why": lambda stage: pressed("f5", on=stage),
    "preview": lambda stage: pressed("alt+p", on=stage),
    "search": search,
    "sessions": lambda stage: pressed("ctrl+o", on=stage),
    "settings": lambda stage: pressed("f10", on=stage),
    "settings-memory": partial(commanded, "/settings memory"),
    "model": lambda stage: pressed("f2", on=stage),
    "permission": permission,
    "traces": traces,
    "tools": partial(commanded, "/tools"),
    "tree": tree,
    "personas": lambda stage: pressed("alt+o", on=stage),
    "help": lambda stage: pressed("f1", on=stage),
    "palette": palette,
}


@dataclass(frozen=True)
class Shot:
    """One picture."""

    screen: str
    size: tuple[int, int]
    height: int
    theme: str
    language: str
    target: Path


def taking_turns(names: Sequence[str]) -> list[Shot]:
    """Each screen small and large: what is dark and English in one is light and Chinese in the other."""
    shots = []
    for at, name in enumerate(SCREENS):
        if name not in names:
            continue
        ways = [("dark", "en"), ("light", "zh"), ("dark", "zh"), ("light", "en")]
        first, second = (ways[at % 4], ways[at % 4 ^ 1])
        for size, (kind, language) in zip(SIZES, (first, second), strict=True):
            target = FOLDER / f"{name}-{size}.png"
            shots.append(Shot(name, SIZES[size], CELL[size], THEMES[kind][at % 2], language, target))
    if "chat" in names:
        shots.append(Shot("chat", (50, 24), 24, "orca-dark", "zh", FOLDER / "chat-narrow.png"))
    for language, end in (("en", ""), ("zh", "-zh")):
        for name, theme in (("chat", "orca-dark"), ("memories", "orca-light")):
            if name in names:
                target = FOLDER.parent / f"orca-{name}{end}.png"
                shots.append(Shot(name, (132, 34), 24, theme, language, target))
    return shots


def everything(names: Sequence[str], folder: Path) -> list[Shot]:
    """Every size with every theme and language."""
    return [
        Shot(name, SIZES[size], CELL[size], THEMES[kind][0], language, folder / f"{name}-{size}-{kind}-{language}.png")
        for name, size, kind, language in product(names, SIZES, THEMES, STORIES)
    ]


def contact_sheet() -> str:
    """The page that shows all pictures, with how each was made."""
    lines = [
        "# Pictures · 截图",
        "",
        "Every screen of the app at 80×24 and at 200×60 cells. To keep the repository small, theme and language take "
        "turns: what is dark in one size is light in the other, what is English in one is Chinese in the other. "
        "`python docs/pictures.py --all FOLDER` draws every size with every theme and language.",
        "",
        "每个界面都有 80×24 和 200×60 两种大小。为了让仓库小一些，配色和语言轮流出现：一种大小是深色，另一种就是浅色；"
        "一种是英文，另一种就是中文。`python docs/pictures.py --all 目录` 画出全部组合。",
        "",
        "[README](../README.md) · [中文](../README.zh-CN.md)",
        "",
    ]
    for screen in SCREENS:
        shots = [shot for shot in taking_turns([screen]) if shot.target.parent == FOLDER]
        lines += [f"## {screen}", ""]
        for shot in shots:
            size = "×".join(map(str, shot.size))
            told = f"{screen}, {size}, {shot.theme}, {shot.language}"
            lines += [f"![{told}](screens/{shot.target.name})", "", f"{size} · {shot.theme} · {shot.language}", ""]
    return "\n".join(lines).rstrip() + "\n"


async def take(shot: Shot, filled: Path) -> None:
    """Set up a screen on a copy of the home, and draw it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(filled, home)
        app, script = await open_app(home, shot.language, shot.theme)
        async with app.run_test(size=shot.size) as pilot:
            await ready(app, pilot)
            await SCREENS[shot.screen](Stage(app, pilot, script, STORIES[shot.language]))
            shot.target.parent.mkdir(parents=True, exist_ok=True)
            save(picture(app, shot.height), shot.target)
            if app.screen is not app.chat and shot.screen == "permission":
                await pilot.press("d")
            await app.leave(0)


async def main() -> None:
    """Draw them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="SCREEN", help=", ".join(SCREENS))
    chosen = parser.parse_args()
    names = chosen.names or list(SCREENS)
    shots = everything(names, chosen.all) if chosen.all else taking_turns(names)
    if not chosen.all:
        (FOLDER.parent / "README.md").write_text(contact_sheet(), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        homes = {language: Path(folder) / language for language in dict.fromkeys(shot.language for shot in shots)}
        for language, home in homes.items():
            await fill(home, language)
        for shot in shots:
            await take(shot, homes[shot.language])
            print(shot.target, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
