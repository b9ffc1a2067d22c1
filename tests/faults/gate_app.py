"""What `test_gate_screen` runs in a real terminal: the real app with hostile text in one of its sinks, entry by entry.

Between two entries it writes a mark that no terminal knows, so that every byte can be told to its entry.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual import events

from memory.config import Home, LLMSettings, Settings, UISettings
from memory.errors import OrcaError
from memory.events import SavingChanged, UpkeepChanged
from memory.provider.scripted import HashEmbedder, ScriptedChat
from orca_tui import background
from orca_tui.app import OrcaApp
from orca_tui.memory_desk import MemoryDesk
from orca_tui.screens.ask import Ask
from orca_tui.screens.choose import Choice, Choose
from orca_tui.screens.memories import MemoriesScreen
from tests.faults.gate_corpus import Entry, part

MARK = "\x1b]7777;{}\x07"
REPLY = """{text}

# {text}

- {text}

> {text}

| {line} | b |
| --- | --- |
| {line} | `{line}` |

```
{text}
```

[{line}](https://a.example/{line}) [x]({line} "{line}") ![{line}](https://a.example/i.png) &#x202E; &#27; {text}
"""


class GateApp(OrcaApp):
    """Walks through the entries as soon as it is up, then leaves."""

    def __init__(self, sink: str, result: Path) -> None:
        self.replies: list[Any] = []
        self.model = ScriptedChat([lambda _messages: self.replies.pop(0) if self.replies else "fine"])
        settings = Settings(llm=LLMSettings(provider="demo"), ui=UISettings(language="en"))
        root = Home(Path(os.environ["ORCA_HOME"]))
        super().__init__(root, settings, chat=self.model, embedder=HashEmbedder(), env={})
        self.sink, self.result = sink, result
        self.shown: dict[str, bool] = {}
        self.walking: asyncio.Task[None] | None = None

    def on_ready(self) -> None:
        """Textual calls the app's own as well."""
        self.walking = asyncio.create_task(self.walk())

    async def walk(self) -> None:
        """Each entry in turn."""
        told: dict[str, Any] = {"shown": self.shown}
        try:
            await self.until(lambda: self.conversation is not None and self.chat.status.status.model)
            for entry in given(self.sink):
                self.write_mark(entry.id)
                await SINKS[self.sink](self, entry)
                self.shown[entry.id] = await self.seen(entry)
                await self.close_all()
            self.write_mark("end")
        except BaseException as error:
            told["error"] = repr(error)
            raise
        finally:
            self.result.write_text(json.dumps(told), "utf-8")
            await self.leave(0)

    def write_mark(self, name: str) -> None:
        """Between two entries."""
        assert self._driver is not None
        self._driver.write(MARK.format(name))

    async def painted(self) -> None:
        """Wait until what was put in is on the screen."""
        for _ in range(2):
            done = asyncio.Event()
            if self.screen.call_after_refresh(done.set):
                await asyncio.wait_for(done.wait(), 20)

    async def seen(self, entry: Entry) -> bool:
        """Whether the entry comes on the screen, soon."""
        for _ in range(8):
            await self.painted()
            if entry.tag in self.drawn():
                return True
        return False

    def drawn(self) -> str:
        """What is on the screen."""
        strips = self.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for it."""
        async with asyncio.timeout(60):
            while not holds():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.005)

    async def close_all(self) -> None:
        """Back to the chat."""
        self.clear_notifications()
        while self.screen is not self.chat:
            self.screen.dismiss(None)
            await self.painted()


Sink = Callable[[GateApp, Entry], Awaitable[None]]
SINKS: dict[str, Sink] = {}


def sink(shown: Sink) -> Sink:
    """A place where foreign text is shown, by the function's name."""
    SINKS[shown.__name__] = shown
    return shown


async def open_session(app: GateApp, title: str, *said: tuple[Any, str]) -> str:
    """A stored conversation, on the screen."""
    assert app.core is not None
    assert app.conversation is not None
    session = app.core.store.create_session(title=title)
    for role, text in said:
        app.core.store.add_message(session.id, role, text)
    await app.conversation.open(session.id)
    return session.id


@sink
async def user_message(app: GateApp, entry: Entry) -> None:
    await open_session(app, "talk", ("user", entry.text))


@sink
async def reply_with_code_table_and_links(app: GateApp, entry: Entry) -> None:
    await open_session(
        app,
        "talk",
        ("user", "hello"),
        ("assistant", REPLY.format(text=entry.text, line=entry.line)),
        ("tool", entry.text),
    )


@sink
async def streaming(app: GateApp, entry: Entry) -> None:
    app.replies = [[entry.tag, " ", *entry.pieces, " end ", entry.tag]]  # the last stays in view
    asked = len(app.model.requests)
    await open_session(app, "talk")
    app.chat.composer.insert("go on")
    app.chat.composer.action_send()
    talk = app.conversation
    assert talk is not None
    await app.until(lambda: len(app.model.requests) > asked and not talk.busy)
    await app.painted()


@sink
async def session_title(app: GateApp, entry: Entry) -> None:
    await open_session(app, entry.text, ("user", "hello"))
    assert app.conversation is not None
    await app.conversation.refresh()


@sink
async def toast(app: GateApp, entry: Entry) -> None:
    app.tell_error(OrcaError(entry.text, hint=entry.text))


@sink
async def toast_of_the_settings(app: GateApp, entry: Entry) -> None:
    app.warn([entry.text])


@sink
async def toast_of_upkeep(app: GateApp, entry: Entry) -> None:
    background.show(app, UpkeepChanged({}, entry.text))


@sink
async def banner(app: GateApp, entry: Entry) -> None:
    background.show(app, SavingChanged(1, entry.text, entry.text))


@sink
async def notice_error_and_hint(app: GateApp, entry: Entry) -> None:
    await open_session(app, "talk")
    app.chat.add_error(OrcaError(entry.text, hint=entry.text))
    app.chat.add_notice(entry.text)
    app.chat.hint_line.say(entry.text)


@sink
async def dialog(app: GateApp, entry: Entry) -> None:
    app.push_screen(Ask("Do it?", [entry.text, entry.text]))


@sink
async def list_of_choices(app: GateApp, entry: Entry) -> None:
    app.push_screen(Choose(entry.text, [Choice("a", entry.text, entry.text), Choice("b", "b")]))


@sink
async def status_bar(app: GateApp, entry: Entry) -> None:
    app.chat.set_model(entry.text, "")
    app.chat.show_queue(3, "paused", entry.text)


@sink
async def paste(app: GateApp, entry: Entry) -> None:
    app.chat.composer.text = ""
    app.chat.composer.post_message(events.Paste(entry.text))
    await app.until(lambda: app.chat.composer.text)


@sink
async def input_history(app: GateApp, entry: Entry) -> None:
    app.chat.composer.text = ""
    app.chat.composer.set_history([entry.text])
    app.chat.composer.action_cursor_up()


@sink
async def memory_list_and_detail(app: GateApp, entry: Entry) -> None:
    assert app.core is not None
    row = app.core.curator.add(entry.text, "fact")
    screen = MemoriesScreen(MemoryDesk(app, app.core), memory_id=row.id)
    app.push_screen(screen)
    await app.until(lambda: screen.is_mounted and screen._shown == row.id)


@sink
async def remembered_and_sidebar(app: GateApp, entry: Entry) -> None:
    """The toast about a new memory, and the sidebar that shows what the next prompt is given."""
    assert app.core is not None
    app.core.curator.pin(app.core.curator.add(entry.text, "fact").id)
    app.core.curator.propose(entry.text)
    await open_session(app, "talk", ("user", entry.text), ("assistant", entry.text))
    app.core.store.add_short_term(app.conversation.session_id or "", entry.text)  # type: ignore[union-attr]
    await app.conversation.refresh_memory()  # type: ignore[union-attr]


@sink
async def search_hit(app: GateApp, entry: Entry) -> None:
    assert app.core is not None
    session = app.core.store.create_session(title=entry.text)
    app.core.store.add_message(session.id, "user", entry.text)
    app.core.curator.add(entry.text, "fact")
    app.sending.start("memory", entry.tag)
    await app.until(lambda: app.screen is not app.chat)


@sink
async def request_preview(app: GateApp, entry: Entry) -> None:
    await open_session(app, "talk", ("user", entry.text), ("assistant", entry.text))
    app.chat.composer.text = "next"
    app.sending.start("preview")
    await app.until(lambda: app.screen is not app.chat)


def given(name: str) -> list[Entry]:
    """What a sink is shown: every entry is shared out to one of them."""
    return part(list(SINKS).index(name), len(SINKS))


def main() -> int:
    name, result = sys.argv[1:]
    app = GateApp(name, Path(result))
    with suppress(KeyboardInterrupt):
        app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main())
