"""Several instances on one home: nothing fails, nothing is lost, nothing is there or done twice.

Each writes a few turns; `ORCA_SWEEP=full` lets them write for about a minute.
"""

import os
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from helpers import opened, until
from homes import OLD_STEPS, OLD_TEXTS, assert_in_step, old_database
from loopback import Handler

from memory.config import EmbeddingSettings, Settings
from memory.provider.scripted import HashEmbedder
from memory.store import health, migrations, open_store
from memory.store.presence import Claim, Presence, alone

WRITERS = 4
TURNS = 200 if os.environ.get("ORCA_SWEEP") == "full" else 6
ROOT = Path(__file__).parents[2]


def test_four_writers_at_once(home: Path, model_url: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = str(Path(__file__).with_name("writer.py"))
    Handler.embedded.clear()
    writers = [
        subprocess.Popen(
            [sys.executable, script, str(home), f"w{number}", str(TURNS), model_url],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(WRITERS)
    ]
    home.mkdir(exist_ok=True)
    ended = [writer.communicate(timeout=600) for writer in writers]
    assert [(writer.returncode, told[1]) for writer, told in zip(writers, ended, strict=True)] == [(0, "")] * WRITERS
    acknowledged = Counter(line for told in ended for line in told[0].splitlines())
    assert len(acknowledged) == WRITERS * TURNS
    with closing(open_store(home / "memory.db")) as store:
        sessions = store.sessions()
        assert len(sessions) == WRITERS
        said = Counter(message.content for session in sessions for message in store.path(session.id))
        assert {text: said[text] for text in acknowledged} == dict(acknowledged), "each once"
        facts = Counter(memory.content for memory in store.memories(limit=10_000) if memory.content.startswith("Fact"))
        assert facts == Counter({f"Fact {turn} of w{number}": 1 for number in range(WRITERS) for turn in range(TURNS)})
        assert store.count_waiting(model="vectors") == 0
    asked = Counter(text for text in Handler.embedded if text in acknowledged)
    assert asked == acknowledged, "each was embedded once"
    assert health.examine(home / "memory.db").ok
    with closing(apsw.Connection(str(home / "memory.db"))) as connection:
        assert_in_step(connection)


def test_one_upgrades_while_the_others_wait(home: Path) -> None:
    home.mkdir()
    old_database(home)
    code = "import sys, pathlib, memory.store as s; s.open_store(pathlib.Path(sys.argv[1])).close()"
    command = [sys.executable, "-c", code, str(home / "memory.db")]
    starts = [subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}) for _ in range(WRITERS)]
    assert [process.wait(timeout=120) for process in starts] == [0] * WRITERS
    with closing(apsw.Connection(str(home / "memory.db"))) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY rowid")]
    assert names == [name for name, _ in migrations.MIGRATIONS]
    with closing(open_store(home / "memory.db")) as store:
        assert [message.content for message in store.path(store.sessions()[0].id)] == OLD_TEXTS
    first = migrations.MIGRATIONS[OLD_STEPS][0]
    assert [path.name for path in home.glob("*.before-*")] == [f"memory.db.before-{first}"]


def test_an_upgrade_that_takes_long_is_waited_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than a writer waits otherwise."""
    home.mkdir()
    old_database(home)
    monkeypatch.setattr("memory.store.connection.BUSY_TIMEOUT", 0.05)
    waited = threading.Event()
    with closing(apsw.Connection(str(home / "memory.db"))) as upgrading:
        upgrading.execute("BEGIN IMMEDIATE")
        opener = threading.Thread(target=lambda: (open_store(home / "memory.db").close(), waited.set()))
        opener.start()
        opener.join(0.5)
        assert not waited.is_set()
        upgrading.execute("ROLLBACK")
    opener.join(60)
    assert waited.is_set()


class Slow(HashEmbedder):
    """Remembers what it was asked for."""

    asked: list[str] = []

    async def embed(self, texts: list[str], kind: str) -> "np.ndarray":
        if kind == "passage":
            self.asked += texts
        return await super().embed(texts, kind)


async def test_two_queues_embed_nothing_twice(home: Path) -> None:
    with closing(open_store(home / "memory.db")) as store:
        session = store.create_session()
        for number in range(30):
            store.add_message(session.id, "user", f"message number {number} about the harbour")
    settings = Settings(embedding=EmbeddingSettings(batch_wait=0.0))
    Slow.asked = []
    async with (
        opened(home, settings=settings, embedder=Slow()) as one,
        opened(home, settings=settings, embedder=Slow()) as other,
    ):
        await until(lambda: one.store.count_waiting(model=Slow().model) == 0)
        other.queue.wake()
        await until(lambda: other.queue.waiting == 0 and one.queue.waiting == 0)
    asked = Counter(text for text in Slow.asked if text.startswith("message"))
    assert set(asked.values()) == {1}
    assert len(asked) == 30


def test_a_claim_goes_with_its_holder(home: Path) -> None:
    home.mkdir()
    first, second = Claim(home / "claim"), Claim(home / "claim")
    assert first.take()
    assert first.take()
    assert not second.take()
    first.let_go()
    assert second.take()
    second.let_go()


@pytest.mark.skipif(os.name == "nt", reason="no shared locks on directories")
def test_a_home_is_alone_only_when_nobody_is_in(home: Path) -> None:
    home.mkdir()
    one, two = Presence.enter(home), Presence.enter(home)
    one.leave()
    with pytest.raises(Exception, match="open in another window"), alone(home):
        pass
    two.leave()
    two.leave()
    with alone(home):
        pass
