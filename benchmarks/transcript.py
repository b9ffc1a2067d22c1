"""How fast the transcript streams and opens, headless, beside Textual's own streaming Markdown widget.

Run: `python benchmarks/transcript.py` (about 20 s). CPU seconds are those of this process, drawing included; the ratios
tell more than the figures. `floor` is the least that the line API can do with the same text: plain rows, no Markdown.
"""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Segment, Strip
from textual.widget import Widget
from textual.widgets import Markdown

from orca_tui.render.entry import Entry
from orca_tui.themes import VARIABLES
from orca_tui.widgets.transcript import Transcript

RATE = 1_000
"""Tokens a second that the model is taken to write."""
FRAME = 1 / 30
PARAGRAPH = (
    "The **harbour** keeps its `tide tables` in a drawer, and *nobody* reads them: 潮汐表放在抽屉里，没有人看它。"
    "See [the log](https://docs.example/log?day=3) for what 2*3*4 means in `List<int>` terms.\n\n"
)
BLOCKS = (
    "## What changes at night\n\n",
    PARAGRAPH,
    "- first **point** of the list\n- second point, with `code`\n  - nested, 中文子项\n- third point\n\n",
    "```python\ndef rows(text: str, width: int) -> list[str]:\n    # cut where it is full\n"
    "    return [text[at : at + width] for at in range(0, len(text), width)]\n```\n\n",
    PARAGRAPH,
    "> a quotation of two lines\n> that goes on\n\n",
    "| name | 名称 | depth |\n|:--|:-:|--:|\n| north quay | 北码头 | 4.20 |\n| south quay | 南码头 | 3.85 |\n\n",
    "1. count the boats\n2. write the number down\n3. go home\n\n",
)


def tokens() -> Iterator[str]:
    """Mixed Markdown without an end, about four characters at a time."""
    number = 0
    while True:
        number += 1
        text = BLOCKS[number % len(BLOCKS)].replace("the log", f"log {number}")
        yield from (text[at : at + 4] for at in range(0, len(text), 4))


class Bench(App[None]):
    """Holds the widget that is measured."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(VARIABLES)

    def compose(self) -> ComposeResult:
        yield self.widget


class Floor(ScrollView):
    """Plain rows: what reaching the screen 30 times a second costs without any Markdown."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Strip] = []
        self.rest = ""

    def feed(self, text: str) -> None:
        *whole, self.rest = (self.rest + text).split("\n")
        self.rows += [Strip([Segment(line[:100])]) for line in whole]
        self.virtual_size = Size(self.size.width, len(self.rows))
        self.scroll_end(animate=False, immediate=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        row = self.rows[at] if at < len(self.rows) else Strip.blank(0)
        return row.adjust_cell_length(self.size.width)


async def stream(count: int, feed: Callable[[str], Awaitable[None] | None]) -> list[float]:
    """Feed tokens at `RATE`, a frame's worth at a time; CPU seconds of each 1,000. Catches up as fast as it can."""
    source, spent, batch = tokens(), [], max(1, int(RATE * FRAME))
    for _thousand in range(count // 1_000):
        started = process_time()
        for _frame in range(1_000 // batch):
            due = perf_counter() + FRAME
            for token in islice(source, batch):
                if (waiting := feed(token)) is not None:
                    await waiting
            await asyncio.sleep(max(0.0, due - perf_counter()))
        spent.append(process_time() - started)
    return spent


async def measure_stream(count: int) -> list[float]:
    view = Transcript()
    app = Bench(view)
    async with app.run_test(size=(110, 45)) as pilot:
        view.begin(Entry("reply", "assistant", ""))
        await pilot.pause()
        return await stream(count, lambda token: view.feed("reply", token))


async def measure_floor(count: int) -> list[float]:
    view = Floor()
    app = Bench(view)
    async with app.run_test(size=(110, 45)) as pilot:
        await pilot.pause()
        waiting: list[str] = []

        def feed(token: str) -> None:
            waiting.append(token)
            if len(waiting) == int(RATE * FRAME):
                view.feed("".join(waiting))
                waiting.clear()

        return await stream(count, feed)


async def measure_stock(count: int) -> list[float]:
    markdown = Markdown()
    app = Bench(VerticalScroll(markdown))
    async with app.run_test(size=(110, 45)) as pilot:
        await pilot.pause()
        app.widget.anchor()
        writer = Markdown.get_stream(markdown)
        started = process_time()
        await stream(count, writer.write)
        await writer.stop()
        return [(process_time() - started) / (count / 1_000)] * (count // 1_000)


async def measure_open(count: int) -> list[float]:
    """Seconds until the end of a session is drawn, for adding an entry to it, a page up, the way to the first and to
    the last entry, and a search."""
    source = tokens()
    entries = [
        Entry(
            str(n), "assistant" if n % 2 else "user", "".join(islice(source, 60)), timestamp="2026-01-05T10:00:00+00:00"
        )
        for n in range(count)
    ]
    view = Transcript()
    app = Bench(view)
    async with app.run_test(size=(110, 45)) as pilot:
        await pilot.pause()
        gc.freeze()  # as the app does when it has started
        view.focus()
        times = []
        for act in (
            lambda: view.set_entries(entries),
            lambda: view.add(Entry("new", "user", "One more question.")),
            view.action_page_up,
            view.action_first,
            view.action_last,
            lambda: view.search("the log 1"),
        ):
            started = perf_counter()
            act()
            view.render_lines(view.size.region)
            times.append(perf_counter() - started)
            await pilot.pause()
        return times


async def main() -> None:
    ours = await measure_stream(10_000)
    floor = await measure_floor(3_000)
    stock = await measure_stock(2_000)
    mean = sum(ours) / len(ours)
    least, theirs = sum(floor) / len(floor), sum(stock) / len(stock)
    print(f"CPU per 1,000 tokens: {mean:.3f} s; plain rows {least:.3f} s (x{mean / least:.2f}); ", end="")
    print(f"stock Markdown, first 2,000 only, {theirs:.3f} s (x{theirs / mean:.1f} of ours)")
    print(f"last 1,000 against first 1,000: x{ours[-1] / ours[0]:.2f}")
    for count in (2_000, 10_000):
        times = await measure_open(count)
        names = ("open", "add", "page up", "first", "last", "search")
        told = ", ".join([f"{name} {time * 1e3:.1f} ms" for name, time in zip(names, times, strict=True)])
        print(f"{count} entries: {told}")


if __name__ == "__main__":
    asyncio.run(main())
