"""Makes docs/orca.gif: the real app, driven by keys, with scripted replies and the built-in embedder.

    python docs/recording.py

Needs what pictures.py needs. Every frame is what the app shows after a key or a word of a reply, so the same frames
come out each time; only what is recalled depends on the embedder.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

os.environ |= {"TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor", "TERM": "xterm-256color", "TZ": "UTC"}

from drawing import picture
from PIL import Image
from scene import Script, fill, open_app, ready, settle, until
from story import ENGLISH
from textual.pilot import Pilot

from orca_tui.app import OrcaApp

SIZE = (112, 30)
HEIGHT = 18
"""Pixels of a cell's height."""
TARGET = Path(__file__).parent / "orca.gif"
COLOURS = 48
WORDS = 4
"""Words of a reply in one frame."""


class Film:
    """Frames with how long each is shown, in milliseconds."""

    def __init__(self, app: OrcaApp, pilot: Pilot[object]) -> None:
        self.app, self.pilot = app, pilot
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def shoot(self, milliseconds: int) -> None:
        """A frame; one that looks like the last makes that one longer."""
        frame = picture(self.app, HEIGHT)
        if self.frames and self.frames[-1].tobytes() == frame.tobytes():
            self.times[-1] += milliseconds
        else:
            self.frames.append(frame)
            self.times.append(milliseconds)

    async def type(self, text: str, step: int = 3) -> None:
        """Letters, some to a frame."""
        for at in range(0, len(text), step):
            for character in text[at : at + step]:
                await self.pilot.press("space" if character == " " else character)
            await self.pilot.pause()
            self.shoot(90)

    async def press(self, key: str, milliseconds: int, wait: float = 0.6) -> None:
        """A key, and what it leads to."""
        await self.pilot.press(key)
        await settle(self.pilot, wait)
        self.shoot(milliseconds)

    async def ask(self, text: str, hold: int) -> None:
        """A question, its answer word by word, and what the sidebar then says."""
        await self.type(text)
        await self.pilot.press("enter")
        core = self.app.core
        assert core is not None
        await until(self.pilot, lambda: not self.app.chat.composer.text)
        await until(self.pilot, lambda: not core.engine.live)
        await core.maintenance.settled()
        await until(self.pilot, lambda: not core.queue.waiting)
        await settle(self.pilot)
        self.shoot(hold)

    async def pace(self, answer: str) -> AsyncIterator[str]:
        """Some words at a time, each drawn before the next."""
        words = answer.split(" ")
        for at in range(0, len(words), WORDS):
            yield " ".join(words[at : at + WORDS]) + (" " if at + WORDS < len(words) else "")
            await asyncio.sleep(0.15)
            self.shoot(120)

    def save(self, target: Path) -> None:
        """One palette for all frames; only what changed is written."""
        tall = Image.new("RGB", (self.frames[0].width, self.frames[0].height * 4))
        for number in range(4):
            frame = self.frames[(len(self.frames) - 1) * number // 3]
            tall.paste(frame, (0, number * frame.height))
        palette = tall.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
        first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        first.save(target, save_all=True, append_images=rest, duration=self.times, loop=0, optimize=False)


async def play(film: Film, script: Script) -> None:
    """Ask, look at what is remembered, prune, take it back, and find the place where something was said."""
    script.pace = film.pace
    film.shoot(900)
    for (question, _answer), hold in zip(ENGLISH.now, (2200, 2600), strict=True):
        await film.ask(question, hold)
    await film.press("f7", 1600, 1.5)
    for key, milliseconds in (("G", 900), ("space", 600), ("up", 400), ("space", 1500), ("d", 1800)):
        await film.press(key, milliseconds)
    await film.press("enter", 1800, 1.0)
    await film.press("u", 1800, 1.0)
    await film.press("escape", 700)
    await film.press("ctrl+f", 500)
    await film.type("when do corrections come")
    await settle(film.pilot, 4.0)
    film.shoot(1800)
    await film.press("enter", 3000, 1.5)


async def main() -> None:
    """Record it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        await fill(home, "en", whole=False)
        app, script = await open_app(home, "en", "orca-dark", newest=False)
        async with app.run_test(size=SIZE) as pilot:
            await ready(app, pilot)
            film = Film(app, pilot)
            await play(film, script)
            await app.leave(0)
    film.save(TARGET)
    print(f"{len(film.frames)} frames, {sum(film.times) / 1000:.1f} s, {TARGET.stat().st_size // 1000} kB")


if __name__ == "__main__":
    asyncio.run(main())
