"""Makes the pictures of the README from the real app, with scripted replies and the built-in embedder.

    python docs/pictures.py        # writes docs/*.svg; `rsvg-convert` (librsvg) turns them into PNG when it is there

The conversations are made up; everything around them is what the app shows.
"""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ |= {"TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor", "TERM": "xterm-256color", "TZ": "UTC"}

from textual.pilot import Pilot

from memory.config import Home, Language, LLMSettings, Settings, UISettings
from memory.errors import ServerFailed
from memory.provider.base import ChatMessage, ChatOptions, ChatPart, FinishPart, TextPart
from memory.provider.local_embed import local_embedder
from memory.types import ContextWindow
from orca_tui.app import OrcaApp

FOLDER = Path(__file__).parent
TURN_SECONDS = 60.0


@dataclass(frozen=True)
class Picture:
    """One picture: what was said before, what is being said, and how it looks."""

    name: str
    language: Language
    theme: str
    earlier: Sequence[tuple[str, str]]
    now: Sequence[tuple[str, str]]
    size: tuple[int, int] = (148, 40)
    keys: tuple[str, ...] = ()


EN_EARLIER = [
    ("My name is Ada and I live in Kyoto. Please always answer briefly.", "Noted, Ada. I will keep it short."),
    (
        "I decided to write the harbour project in Rust, because the tide tables must be fast.",
        "Rust it is: fast, and one binary to ship.",
    ),
    ("Remember that the demo for the harbour office is on 12 May.", "I will: the demo is on 12 May."),
    ("我喜欢吃辣，但是不喜欢吃香菜。", "记住了：爱吃辣，不要香菜。"),
]
EN_NOW = [
    (
        "Which language did I choose for the harbour project, and why?",
        "**Rust**, because the tide tables must be fast.",
    ),
    (
        "Show me how its first function could look.",
        """A small one, with the unit in its name:

```rust
/// Height of the tide above chart datum, in metres.
fn tide_height_m(hours: f64, mean: f64, range: f64) -> f64 {
    mean + range / 2.0 * (hours / 12.42 * std::f64::consts::TAU).cos()
}
```

| hours | height |
| ----: | -----: |
|     0 | 3.10 m |
|   6.2 | 0.90 m |

- `12.42` h is the period of the moon's tide
- the demo on 12 May could draw this as a line""",
    ),
]
ZH_EARLIER = [
    ("我叫小林，住在杭州。请用中文简短回答。", "好的，小林，我会简短回答。"),
    ("我决定用 Rust 写潮汐项目，因为计算要快。", "Rust 很合适：快，而且只有一个文件要发布。"),
    ("记住：给港务局的演示在五月十二号。", "记住了，演示在五月十二号。"),
    ("I would like to see the maple leaves in Kyoto this autumn.", "Late November is the best time."),
]
ZH_NOW = [
    ("我想去哪里看红叶？", "**京都**。你说过今年秋天想去，十一月下旬最好 🍁。"),
    (
        "潮汐项目的第一个函数怎么写？",
        """可以这样开始，单位写在名字里：

```rust
/// 潮高，单位：米。
fn tide_height_m(hours: f64, mean: f64, range: f64) -> f64 {
    mean + range / 2.0 * (hours / 12.42 * std::f64::consts::TAU).cos()
}
```

| 小时 | 潮高 |
| ---: | ---: |
| 0 | 3.10 米 |
| 6.2 | 0.90 米 |

- `12.42` 小时是月球潮汐的周期
- 五月十二号的演示可以画成曲线""",
    ),
]
PICTURES = [
    Picture("orca", "en", "orca-dark", EN_EARLIER, EN_NOW),
    Picture("orca-zh", "zh", "abyss", ZH_EARLIER, ZH_NOW),
    Picture("orca-memories", "en", "orca-light", EN_EARLIER, EN_NOW[:1], keys=("f7",)),
]


class Script:
    """A chat model that knows the answers by heart; it is asked for nothing else, so rules write the summaries."""

    name = "Qwen3-8B"
    tiny = False

    def __init__(self, answers: Sequence[tuple[str, str]]) -> None:
        self._answers = dict(answers)

    async def context_window(self) -> ContextWindow:
        """A small window, so that the bars show something."""
        return ContextWindow(8192, "served")

    async def stream(
        self, messages: Sequence[ChatMessage], options: ChatOptions | None = None
    ) -> AsyncIterator[ChatPart]:
        """The answer to the newest message, at once."""
        asked = messages[-1].content
        answer = next((reply for text, reply in self._answers.items() if asked.endswith(text)), "")
        if not answer:
            raise ServerFailed("not in the script")
        yield TextPart(answer)
        yield FinishPart("stop")

    async def close(self) -> None:
        """Nothing to let go of."""


async def turn(app: OrcaApp, pilot: Pilot[object], text: str) -> None:
    """Send `text` and wait until the turn, its summary and its vectors are done."""
    app.chat.composer.load_text(text)
    await pilot.press("enter")
    async with asyncio.timeout(TURN_SECONDS):
        while app.chat.composer.text or (app.core and app.core.engine.live):
            await pilot.pause()
        if app.core is not None:
            await app.core.maintenance.settled()
            while app.core.queue.waiting:
                await pilot.pause(0.1)
    await pilot.pause()


async def draw(picture: Picture, home: Path) -> Path:
    """Talk, and export what is on the screen as SVG."""
    settings = Settings(llm=LLMSettings(provider="demo"), ui=UISettings(theme=picture.theme, language=picture.language))
    chat = Script([*picture.earlier, *picture.now])
    app = OrcaApp(Home(home), settings, chat=chat, embedder=local_embedder(), env={})
    async with app.run_test(size=picture.size) as pilot:
        async with asyncio.timeout(TURN_SECONDS):
            while app.conversation is None or not app.chat.status.status.model:
                await pilot.pause()
        for text, _ in picture.earlier[:2]:
            await turn(app, pilot, text)
        for text, _ in picture.earlier[2:]:
            await pilot.press("ctrl+n")
            await turn(app, pilot, text)
        await pilot.press("ctrl+n")
        for text, _ in picture.now:
            await turn(app, pilot, text)
        await pilot.press(*picture.keys)
        for _ in range(20):
            await pilot.pause(0.05)
        svg = app.export_screenshot(title="orca-tui")
        await app.leave(0)
    target = FOLDER / f"{picture.name}.svg"
    # Renderers other than browsers trim spaces, and set text in the font's own width: 12.2 units a cell at this size.
    kept = svg.replace("<svg ", '<svg xml:space="preserve" ', 1).replace("&#160;", " ")
    kept = re.sub(r"@font-face\s*\{[^}]*\}", "", kept).replace("font-size: 20px", "font-size: 20.26px")
    target.write_text(kept.replace("Fira Code", "DejaVu Sans Mono"), "utf-8")
    return target


def main() -> None:
    """Draw all pictures."""
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as home:
            svg = asyncio.run(draw(picture, Path(home)))
        if shutil.which("rsvg-convert"):
            png = svg.with_suffix(".png")
            subprocess.run(["rsvg-convert", "--width", "1800", "--output", str(png), str(svg)], check=True)
            svg.unlink()


if __name__ == "__main__":
    main()
