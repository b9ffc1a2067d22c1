"""One instance of the soak: talks at random until it is ended, and says on stdout what has been acknowledged.

Arguments: the home, a name, a seed. A line is `said TEXT` for a message that is stored, `kept TEXT` for a memory.
"""

import asyncio
import itertools
import logging
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path

from memory.config import Home
from memory.core import Core
from memory.errors import OrcaError
from memory.events import MessageStored
from memory.settings import load_settings

WORDS = (
    "harbour",
    "tide",
    "boat",
    "tea",
    "rain",
    "Oslo",
    "bridge",
    "winter",
    "港口",
    "潮水",
    "小船",
    "喝茶",
    "下雨",
    "冬天",
)
TURNS_KEPT = 40
"""Turns after which a session is left: what a prompt takes does not grow for ever."""


def tell(kind: str, text: str) -> None:
    sys.stdout.write(f"{kind} {text}\n")
    sys.stdout.flush()


async def talk(core: Core, session: str, text: str, dice: random.Random) -> None:
    """A turn, which is stopped now and then."""
    turn = core.engine.start(session, text, use_memory=dice.random() < 0.7)
    stop_after = dice.choice((None, None, None, 1, 4, 9))
    seen = 0
    async for event in turn:
        seen += 1
        if isinstance(event, MessageStored) and event.message.role == "user":
            tell("said", text)
        if seen == stop_after:
            turn.stop()


async def act(core: Core, session: str, name: str, number: int, dice: random.Random) -> None:
    """Something that a user does."""
    text = f"{name}-{number} {' '.join(dice.choices(WORDS, k=dice.randint(2, 30)))}"
    match dice.choice(("talk", "talk", "talk", "talk", "remember", "search", "change", "undo")):
        case "talk":
            await talk(core, session, text, dice)
        case "remember":
            await asyncio.to_thread(core.curator.add, text, "fact")
            tell("kept", text)
        case "search":
            await core.manager.search(dice.choice(WORDS), limit=20)
        case "change":
            rows = await asyncio.to_thread(lambda: list(core.curator.all()))
            if rows:
                await asyncio.to_thread(core.curator.pin, dice.choice(rows).id)
        case "undo":
            await asyncio.to_thread(core.store.sessions, limit=50)


async def main(home: Home, name: str, seed: int) -> int:
    dice, ended = random.Random(seed), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    core = Core.open(home, load_settings(home, {}), env={})
    await core.start(warm_up=False)
    session = ""
    for number in itertools.count():
        if ended.is_set():
            break
        if number % TURNS_KEPT == 0:
            session = (await asyncio.to_thread(core.store.create_session, title=name)).id
        with suppress(OrcaError):
            await act(core, session, name, number, dice)
        await asyncio.sleep(0)
    await core.close(drain=5.0)
    return 0


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    sys.exit(asyncio.run(main(Home(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3]))))
