"""A store that takes nothing for a while: a reply stays in the core's hands until it is written."""

from pathlib import Path
from typing import Any

import pytest
from helpers import FakeClock, events_of, opened, say, until

from memory.core import Core
from memory.errors import NotFoundError, StoreError, StoreFullError
from memory.events import SavingChanged, TurnFailed, TurnFinished
from memory.provider.scripted import ScriptedChat
from memory.types import Message, Session


class Disk:
    """Replies can be written while it is not `full`."""

    def __init__(self, core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.error: StoreError = StoreFullError("the disk is full", hint="Make room.")
        real = core.store.update_message

        def maybe(*args: Any, **kwargs: Any) -> Message:
            if self.full:
                raise self.error
            return real(*args, **kwargs)

        monkeypatch.setattr(core.store, "update_message", maybe)
        monkeypatch.setattr("memory.turns.reply.RETRY_WAITS", (0.0, 0.0))
        monkeypatch.setattr("memory.turns.unsaved.FIRST_WAIT", 0.001)
        monkeypatch.setattr("memory.turns.unsaved.LONGEST_WAIT", 0.001)
        self.told: list[SavingChanged] = []
        core.subscribe(lambda event: self.told.append(event) if isinstance(event, SavingChanged) else None)


def chat(*replies: Any) -> ScriptedChat:
    return ScriptedChat(replies, tiny=True)


def last(core: Core, session: Session) -> tuple[str, str]:
    message = core.store.path(session.id)[-1]
    return message.content, message.state


async def test_a_reply_is_written_as_soon_as_there_is_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home, chat("All of the answer.")) as core:
        disk = Disk(core, monkeypatch)
        session = core.store.create_session()
        disk.full = True
        failed = (await events_of(core.engine.start(session.id, "Answer into a full disk.")))[-1]
        assert isinstance(failed, TurnFailed)
        assert isinstance(failed.error, StoreFullError)
        assert failed.message.content == "All of the answer."
        assert "as soon as" in failed.error.hint
        assert core.unsaved == 1
        assert (disk.told[-1].unsaved, disk.told[-1].problem) == (1, "the disk is full")
        disk.full = False
        await until(lambda: core.unsaved == 0)
        assert last(core, session) == ("All of the answer.", "complete")
        assert disk.told[-1] == SavingChanged(0, "", "", core.store.path(session.id)[-1])
        await core.maintenance.settled()
        assert [row.content for row in core.store.short_term(session.id)]  # the turn counts like any other


async def test_it_is_tried_once_more_at_the_close(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home, chat("All of the answer.")) as core:
        disk = Disk(core, monkeypatch)
        monkeypatch.setattr("memory.turns.unsaved.FIRST_WAIT", 3600.0)
        session = core.store.create_session()
        disk.full = True
        await events_of(core.engine.start(session.id, "Answer into a full disk."))
        disk.full = False
    assert core.unsaved == 0
    async with opened(home) as again:
        assert again.interrupted == []
        assert last(again, session) == ("All of the answer.", "complete")


async def test_what_is_lost_at_the_end_is_counted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home, chat("All of the answer.")) as core:
        disk = Disk(core, monkeypatch)
        session = core.store.create_session()
        disk.full = True
        await events_of(core.engine.start(session.id, "Answer into a full disk."))
    assert core.unsaved == 1


async def test_a_reply_that_was_deleted_meanwhile_is_let_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home, chat("All of the answer.")) as core:
        disk = Disk(core, monkeypatch)
        session = core.store.create_session()
        disk.full = True
        await events_of(core.engine.start(session.id, "Answer into a full disk."))
        disk.error = NotFoundError("no such message")
        await until(lambda: core.unsaved == 0)
        assert disk.told[-1].stored is None


async def test_a_mark_of_interruption_does_not_stay(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have taken the row for one that was left behind."""
    async with opened(home, chat("All of the answer.")) as core:
        disk = Disk(core, monkeypatch)
        monkeypatch.setattr("memory.turns.unsaved.FIRST_WAIT", 3600.0)
        session = core.store.create_session()
        disk.full = True
        await events_of(core.engine.start(session.id, "Answer into a full disk."))
        core.store.recover_interrupted(lambda stamp: False)
        disk.full = False
    async with opened(home) as again:
        message = again.store.path(session.id)[-1]
        assert (message.content, message.state) == ("All of the answer.", "complete")
        assert "interrupted" not in message.metadata


async def test_a_checkpoint_that_fails_is_told_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    seen: list[int] = []

    async def failed_once() -> None:
        await until(lambda: disk.told)
        seen.append(disk.told[-1].unsaved)
        disk.full = False
        clock.advance(2.0)

    def fill() -> None:
        disk.full = True
        clock.advance(2.0)

    steps: list[Any] = ["first ", fill, "second ", failed_once, "third"]
    async with opened(home, chat(steps), clock=clock) as core:
        disk = Disk(core, monkeypatch)
        session = core.store.create_session()
        events = await say(core, session.id, "Stream while the disk is full.")
        assert isinstance(events[-1], TurnFinished)
        assert seen == [1]
        assert disk.told[0].problem == "the disk is full"
        assert "Make room." in disk.told[0].hint
        assert disk.told[-1] == SavingChanged(0, "", "", None)
        assert core.unsaved == 0
        assert last(core, session) == ("first second third", "complete")


async def test_one_that_waits_does_not_keep_others_from_being_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home, chat("One.", "Two.")) as core:
        disk = Disk(core, monkeypatch)
        session, other = core.store.create_session(), core.store.create_session()
        disk.full = True
        await events_of(core.engine.start(session.id, "The first of two questions."))
        await events_of(core.engine.start(other.id, "The second of two questions."))
        assert core.unsaved == 2
        disk.full = False
        await until(lambda: core.unsaved == 0)
        assert (last(core, session), last(core, other)) == (("One.", "complete"), ("Two.", "complete"))
