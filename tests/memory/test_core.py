"""The core as a whole: opening, closing, and what is there after a process was killed."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from helpers import NOON, FakeClock, events_of, opened, say, until

from memory.clock import to_iso
from memory.config import Home, Settings
from memory.core import Core
from memory.errors import AuthenticationFailed, LocalModelMissing, StoreOpenError
from memory.events import MemoryChanged, QueueChanged
from memory.provider.local_embed import LocalEmbedder
from memory.provider.scripted import HashEmbedder, ScriptedChat
from memory.turns import owner
from memory.turns.owner import WriterCheck

ROOT = Path(__file__).parents[2]

CHILD = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from memory.config import Home, Settings
    from memory.core import Core
    from memory.provider.scripted import HashEmbedder, ScriptedChat

    async def main():
        home = Home(Path(sys.argv[1]))
        home.ensure()

        async def on_disk():
            # the model goes on only when the store holds what it has said so far
            while "half an answer" not in core.store.path(session.id)[-1].content:
                await asyncio.sleep(0.01)
            print(session.id, flush=True)
            await asyncio.Event().wait()

        chat = ScriptedChat([["half an answer", on_disk, " never"]], tiny=True)
        core = Core.open(home, Settings(), chat=chat, embedder=HashEmbedder())
        await core.start()
        session = core.store.create_session()
        async for event in core.engine.start(session.id, "What is the whole answer?"):
            pass

    asyncio.run(main())
    """
)


def killed_in_a_stream(home: Path) -> str:
    """Run `CHILD` until its reply is half on disk, kill it, and give the session's id."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(home)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    with child.stdout:
        session_id = child.stdout.readline().strip()
        child.send_signal(signal.SIGKILL)
        assert child.wait(20) == -signal.SIGKILL
    return session_id


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
async def test_kill_in_the_middle_of_a_stream(home: Path) -> None:
    session_id = killed_in_a_stream(home)
    model = ScriptedChat(["never asked"], tiny=True)
    clock = FakeClock()
    async with opened(home, model, clock=clock) as core:
        question, answer = core.store.path(session_id)
        assert (question.content, question.state) == ("What is the whole answer?", "complete")
        assert (answer.content, answer.state) == ("half an answer", "stopped")
        assert answer.metadata["interrupted"]
        assert core.interrupted == [answer]
        await core.maintenance.settled()
        assert model.requests == [], "nothing is sent by itself"
        await events_of(core.engine.retry(session_id))
        assert core.store.path(session_id)[-1].content == "never asked"


async def test_a_reply_that_another_process_still_writes_is_left_alone(home: Path) -> None:
    clock = FakeClock()
    async with opened(home, clock=clock, start=False) as core:
        session = core.store.create_session()
        core.store.add_message(session.id, "user", "Who is writing this?")
        other = {"pid": os.getppid(), "host": "elsewhere", "run": "x", "heartbeat": clock.now()}
        row = core.store.add_message(session.id, "assistant", "still", state="streaming", metadata={"stream": other})
        await core.start()
        assert core.interrupted == []
        assert core.store.message(row.id).state == "streaming"
    clock.advance(31)
    async with opened(home, clock=clock) as core:
        assert [message.id for message in core.interrupted] == [row.id]


def test_who_is_still_there() -> None:
    clock = FakeClock()
    check = WriterCheck(clock)
    mine = owner.stamp(clock)
    assert check(mine)
    assert not check({**mine, "run": "an earlier process with this number"})
    assert not check({**mine, "pid": 2**22 + 1}), "no such process"
    assert check({**mine, "host": "elsewhere", "pid": 2**22 + 1})
    assert not check({**mine, "pid": "x", "heartbeat": "not a time"})
    assert not check({})
    clock.advance(31)
    assert not check(mine), "no sign of life for half a minute"
    assert to_iso(NOON) < mine["heartbeat"]


async def test_subscribers_hear_of_memory_and_queue(home: Path) -> None:
    told: list[Any] = []
    async with opened(home) as core:

        def broken(event: object) -> None:
            raise ValueError("a subscriber's own fault")

        core.subscribe(broken)
        leave = core.subscribe(told.append)
        session = core.store.create_session()
        await say(core, session.id, "Remember that I keep bees.")
        kinds = {type(event) for event in told}
        assert MemoryChanged in kinds
        leave()
        leave()
        count = len(told)
        await say(core, session.id, "Remember that I keep geese.")
        assert len(told) == count


async def test_close_embeds_what_waits_and_the_next_start_the_rest(home: Path) -> None:
    async with opened(home) as core:
        told: list[Any] = []
        core.subscribe(told.append)
        session = core.store.create_session()
        await say(core, session.id, "I live in a house by the sea.")
        await core.close(drain=20)
        await core.close()
        assert any(isinstance(event, QueueChanged) for event in told)
    async with opened(home) as core:
        assert core.store.count_waiting(model=HashEmbedder().model) == 0
        assert [memory.content for memory in core.store.memories()] == ["I live in a house by the sea"]


async def test_close_extracts_by_rules_and_asks_nobody(home: Path) -> None:
    model = ScriptedChat(["Lovely.", "no summary"])
    async with opened(home, model) as core:
        session = core.store.create_session()
        await say(core, session.id, "I live in Paris")
        asked = len(model.requests)
        await core.close()
        assert len(model.requests) == asked
    async with opened(home) as core:
        assert [memory.content for memory in core.store.memories()] == ["I live in Paris"]


async def test_another_model_answers_from_the_next_turn_on(home: Path) -> None:
    first, second = ScriptedChat(["first"], tiny=True), ScriptedChat(["second"], name="other", tiny=True)
    async with opened(home, first) as core:
        session = core.store.create_session()
        await say(core, session.id, "Who are you, please?")
        await core.use_chat_model(second)
        assert first.closed
        await say(core, session.id, "And who are you now?")
        assert core.store.path(session.id)[-1].metadata["model"] == "other"
        await core.use_chat_model(second)
        assert not second.closed
    assert second.closed


async def test_a_turn_keeps_its_model_when_another_is_chosen(home: Path) -> None:
    gate = asyncio.Event()
    first, second = ScriptedChat([[gate, "from the first"]], tiny=True), ScriptedChat(["second"], tiny=True)
    async with opened(home, first) as core:
        session = core.store.create_session()
        turn = core.engine.start(session.id, "Take your time with this.")
        await until(lambda: first.requests)
        await core.use_chat_model(second)
        gate.set()
        await events_of(turn)
        assert core.store.path(session.id)[-1].content == "from the first"
    assert first.closed


async def test_no_model_is_an_error_in_the_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def build(*_: Any) -> Any:
        raise AuthenticationFailed("no key", hint="Set one.")

    monkeypatch.setattr("memory.provider.factory.build_chat_model", build)
    place = Home(home)
    place.ensure()
    core = Core.open(place, Settings(), embedder=HashEmbedder(), clock=FakeClock())
    session = core.store.create_session()
    failed = (await events_of(core.engine.start(session.id, "Is there a model?")))[-1]
    question, answer = core.store.path(session.id)
    assert (question.content, answer.state) == ("Is there a model?", "failed")
    assert answer.metadata["error"]["hint"] == "Set one."
    assert failed.message == answer  # type: ignore[union-attr]
    await core.close()


async def test_an_embedder_that_cannot_be_built_pauses_the_queue_and_the_turn_goes_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(*_: Any) -> Any:
        raise AuthenticationFailed("no key for embeddings")

    monkeypatch.setattr("memory.provider.factory.build_embedder", build)
    place = Home(home)
    place.ensure()
    core = Core.open(place, Settings(), chat=ScriptedChat(["ok"], tiny=True), clock=FakeClock())
    await core.start()
    session = core.store.create_session()
    await events_of(core.engine.start(session.id, "Do you work without vectors?"))
    assert core.store.path(session.id)[-1].content == "ok"
    await core.close()
    assert core.queue.status == "paused"
    assert core.queue.problem == "no key for embeddings"


async def test_an_embedder_is_built_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    def build(*_: Any) -> HashEmbedder:
        built.append(1)
        return HashEmbedder()

    monkeypatch.setattr("memory.provider.factory.build_embedder", build)
    place = Home(home)
    place.ensure()
    core = Core.open(place, Settings(), chat=ScriptedChat(["ok"], tiny=True), clock=FakeClock())
    both = await asyncio.gather(core.embedder(), core.embedder())
    assert both[0] is both[1]
    assert built == [1]
    await core.close()


def test_a_home_that_takes_neither_database_nor_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreOpenError):
        Core.open(Home(tmp_path / "file"), Settings())


async def test_opening_without_a_start_and_closing(home: Path) -> None:
    async with opened(home, start=False) as core:
        assert core.queue.status == "idle"


class Warmed(ScriptedChat):
    """Notes when it is loaded."""

    def __init__(self, order: list[str]) -> None:
        super().__init__(["Fine."], tiny=True)
        self._order = order

    async def warm_up(self) -> None:
        self._order.append("chat")


async def test_models_are_loaded_ahead_of_the_first_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Engine:
        model, width = "engine-1", 4

        def load(self) -> None:
            order.append("embedder")

        def embed(self, text: str, kind: str) -> Any:
            import numpy as np

            return np.ones(4, dtype=np.float32)

    order: list[str] = []
    monkeypatch.setattr("memory.core.WARM_UP_AFTER", 0.0)
    async with opened(home, Warmed(order), embedder=LocalEmbedder(Engine())) as core:
        await until(lambda: len(order) == 2)
        assert order == ["chat", "embedder"]
        await until(lambda: core._warming is not None and core._warming.done())


async def test_a_start_without_warming_up_loads_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr("memory.core.WARM_UP_AFTER", 0.0)
    async with opened(home, Warmed(order), start=False) as core:
        await core.start(warm_up=False)
        await say(core, core.store.create_session().id, "Hello, are you warm?")
    assert order == []


async def test_what_fails_while_warming_up_waits_for_the_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Warmed):
        async def warm_up(self) -> None:
            raise LocalModelMissing("not here")

    monkeypatch.setattr("memory.core.WARM_UP_AFTER", 0.0)
    async with opened(home, Broken([])) as core:
        await until(lambda: core._warming is not None and core._warming.done())
        assert core._warming is not None
        assert core._warming.exception() is None
