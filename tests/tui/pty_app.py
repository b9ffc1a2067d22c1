"""What `test_pty` runs: the real app with a scripted model, in a real terminal."""

import os
import sys
from pathlib import Path

from memory.config import Home, LLMSettings, Settings, UISettings
from memory.provider.scripted import HashEmbedder, ScriptedChat
from orca_tui.app import OrcaApp

HOSTILE = "before \x1b]52;c;aGk=\x07 \x1b]0;title\x07 \x9b2J \x1b[2J [/x] [@click=app.quit]x[/] after"


class Crashing(OrcaApp):
    """Has a mistake in it."""

    def on_mount(self) -> None:
        self.call_after_refresh(self.fail, "sk-never" + "-shown")

    def fail(self, secret: str) -> None:
        raise KeyError("a key that is not there" + secret[:0])


def main() -> int:
    settings = Settings(llm=LLMSettings(provider="demo"), ui=UISettings(language="en"))
    kind = Crashing if "--crash" in sys.argv else OrcaApp
    app = kind(
        Home(Path(os.environ["ORCA_HOME"])),
        settings,
        chat=ScriptedChat([HOSTILE, "second reply"]),
        embedder=HashEmbedder(),
        env={},
    )
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
