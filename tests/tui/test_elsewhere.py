"""Two windows on one home: what one changes shows in the other."""

from contextlib import closing
from pathlib import Path

from app_support import idle, make_app, running, screen_text, until, write
from textual import events

from memory.store import open_store
from memory.store.base import Store


async def test_a_session_that_another_window_began_is_listed(home: Path) -> None:
    app = make_app(home)
    async with running(app, (160, 40)) as pilot:
        with closing_store(home) as other:
            await app.follow_elsewhere()
            session = other.create_session(title="Begun over there")
            other.add_message(session.id, "user", "hello from there")
            await app.follow_elsewhere()
            await until(pilot, lambda: "Begun over there" in screen_text(app))


async def test_what_is_said_elsewhere_in_the_open_session_is_shown(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        with closing_store(home) as other:
            await write(pilot, "hello")
            await until(pilot, lambda: app.chat.messages)
            await idle(pilot)
            assert app.conversation is not None
            await app.follow_elsewhere()
            other.add_message(str(app.conversation.session_id), "user", "said in the other window")
            await app.follow_elsewhere()
            await until(pilot, lambda: "said in the other window" in screen_text(app))


async def test_what_this_window_writes_is_no_news(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        await app.follow_elsewhere()
        seen = app._elsewhere_seen
        await write(pilot, "hello")
        await until(pilot, lambda: app.chat.messages)
        await idle(pilot)
        await app.follow_elsewhere()
        assert app._elsewhere_seen == seen


async def test_a_window_that_nobody_looks_at_rests(home: Path) -> None:
    app = make_app(home)
    async with running(app) as pilot:
        app.watch_elsewhere(app.set_interval)
        timer = app._elsewhere_timer
        assert timer is not None
        app.post_message(events.AppBlur())
        await until(pilot, lambda: not timer._active.is_set())
        app.post_message(events.AppFocus())
        await until(pilot, lambda: timer._active.is_set())


def closing_store(home: Path) -> closing[Store]:
    """The store of the other window."""
    return closing(open_store(home / "memory.db"))
