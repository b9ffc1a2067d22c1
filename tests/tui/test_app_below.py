"""A reply that goes on below what is being read says so, until the end is in view."""

import asyncio
from pathlib import Path

from app_support import idle, make_app, running, screen_text, until, write

TOLD = "↓ new text below · Ctrl+End"
LINES = "\n\n".join(f"line {number}" for number in range(60))


async def test_new_text_below_is_told_until_one_goes_there(home: Path) -> None:
    go_on, end = asyncio.Event(), asyncio.Event()
    app = make_app(home, [[LINES, go_on, "\n\nmore", end, "\n\nlast"]])
    async with running(app) as pilot:
        await write(pilot, "count")
        await until(pilot, lambda: "line 59" in screen_text(app))
        assert TOLD not in screen_text(app)
        app.chat.transcript.action_scroll_home()
        await until(pilot, lambda: not app.chat.transcript.at_end)
        assert TOLD not in screen_text(app)
        go_on.set()
        await until(pilot, lambda: TOLD in screen_text(app))
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "more" in screen_text(app))
        assert TOLD not in screen_text(app)
        assert app.focused is app.chat.composer
        end.set()
        await idle(pilot)
        assert TOLD not in screen_text(app)
