"""One of several instances that write to the same home at once, with everything that a turn writes.

Arguments: the home, a name, how many turns, and the address of the model. Prints a line for each stored message.
"""

import asyncio
import logging
import sys
from pathlib import Path

from memory.config import EmbeddingSettings, Home, LLMSettings, Secret, Settings
from memory.core import Core
from memory.errors import StoreError
from memory.provider.scripted import ScriptedChat
from memory.types import NewMemory


async def turn(core: Core, session_id: str, name: str, number: int) -> None:
    text = f"Message number {number} of writer {name} about the harbour"
    running = core.engine.start(session_id, text, use_memory=False)  # with memory, the question is embedded too
    async for _event in running:
        pass
    assert running.outcome is not None
    fact = NewMemory(f"Fact {number} of {name}", "fact", "short_term_fact", "user", topic_key=f"{name}.{number}")
    await asyncio.to_thread(core.store.add_memory, fact, actor="user")
    sys.stdout.write(f"{running.outcome.user.content}\n")
    sys.stdout.flush()


async def main(home: Path, name: str, turns: int, url: str) -> int:
    embedding = EmbeddingSettings(provider="openai", base_url=url, model="vectors", api_key=Secret("k"), batch_wait=0.0)
    settings = Settings(llm=LLMSettings(provider="demo"), embedding=embedding)
    core = Core.open(Home(home), settings, chat=ScriptedChat([f"Noted, {name}."], tiny=True), env={})
    await core.start(warm_up=False)
    errors = 0
    session = await asyncio.to_thread(core.store.create_session, title=name)
    for number in range(turns):
        try:
            await turn(core, session.id, name, number)
        except (StoreError, AssertionError) as error:
            errors += 1
            sys.stderr.write(f"{error}\n")
    while core.queue.waiting:  # noqa: ASYNC110 - another instance may have them
        await asyncio.sleep(0.05)
    await core.close()
    return int(bool(errors))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])))
