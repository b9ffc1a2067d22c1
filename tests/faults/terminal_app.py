"""What `test_terminal` runs: the app with a mistake somewhere, or a model that hangs in the middle of a reply."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from memory.config import Home, LLMSettings, Settings, UISettings
from memory.provider.scripted import HashEmbedder, ScriptedChat
from orca_tui.app import OrcaApp

SECRET = "sk-never" + "-shown"


class WidgetFails(OrcaApp):
    """A handler of a widget's message raises."""

    def on_descendant_focus(self, event: Any) -> None:
        secret = SECRET
        raise KeyError(len(secret))


class WorkerFails(OrcaApp):
    """A worker raises."""

    def on_ready(self) -> None:
        super().on_ready()
        self.spawn("fails", self.fail, SECRET)

    async def fail(self, secret: str) -> None:
        raise ValueError(len(secret))


async def hang() -> None:
    await asyncio.Event().wait()


def fail() -> None:
    secret = SECRET
    raise RuntimeError(len(secret))


def main(kind: str) -> int:
    classes = {"widget": WidgetFails, "worker": WorkerFails}
    replies = {"core": ["Half of it. ", fail], "hang": ["Half of it. ", hang]}
    app = classes.get(kind, OrcaApp)(
        Home(Path(os.environ["ORCA_HOME"])),
        Settings(llm=LLMSettings(provider="demo"), ui=UISettings(language="en")),
        chat=ScriptedChat([replies.get(kind, "All of it.")]),
        embedder=HashEmbedder(),
        env={},
    )
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
