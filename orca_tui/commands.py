"""The one registry of commands: palette, slash commands, keys, help page and the README's table come from here.

A command's `name` is what one types after the slash, the id of its key binding, and the name of its handler in
`orca_tui.actions.Actions`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from orca_tui import keys
from orca_tui.i18n import _
from orca_tui.messages import CommandChosen


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can ask for."""

    name: str
    summary: str
    """One line; the English source of a translated string."""
    group: str
    """Heading on the help page; the English source of a translated string."""
    keys: str = ""
    """Default keys, comma separated; empty: none until `[keys]` gives one."""
    aliases: tuple[str, ...] = ()
    argument: str = ""
    """What may follow the name, as the help page shows it."""
    anywhere: bool = False
    """Its key also works while another screen lies over the chat."""
    lines: bool = False
    """What follows the name may be several lines."""


COMMANDS: tuple[Command, ...] = (
    Command("help", "Show keys and commands", "orca", "f1,ctrl+underscore", ("?",), anywhere=True),
    Command("palette", "Find a command", "orca", "ctrl+p"),
    Command("model", "Choose the model that answers", "orca", "f2", argument="[NAME|default]"),
    Command("persona", "Choose how this session is answered", "Sessions", "alt+o", argument="[NAME|none]"),
    Command("system", "Change the system prompt of this session", "Sessions", argument="[TEXT|reset]"),
    Command("set", "Set temperature, max_tokens or more for this session", "Sessions", argument="[NAME VALUE|reset]"),
    Command("attach", "Send a file along with the next message", "orca", "alt+a", argument="PATH"),
    Command("editor", "Write the message in $EDITOR", "orca", "ctrl+g"),
    Command("theme", "Change the colours", "orca", "f6", argument="[NAME]"),
    Command("language", "Change the language of the screen", "orca", argument="[en|zh|auto]"),
    Command("settings", "Look through and change the settings", "orca", "f10", ("config",), "[PAGE]", True),
    Command("doctor", "Check what works here", "orca"),
    Command("backup", "Back up everything now", "orca", argument="[PATH]"),
    Command("rescue", "Write this session and what is not saved elsewhere", "orca", argument="PATH"),
    Command("suspend", "Go back to the shell; fg brings orca back", "orca", "ctrl+z", anywhere=True),
    Command("quit", "Save and leave", "orca", "ctrl+q", ("exit", "q"), anywhere=True),
    Command("new", "Begin a new session", "Sessions", "ctrl+n"),
    Command("incognito", "Begin a session that is not remembered", "Sessions", "f9"),
    Command("sessions", "Go to the list of sessions", "Sessions", "ctrl+o"),
    Command("panel", "Show or hide the list of sessions", "Sessions", "f4"),
    Command("resume", "Open an earlier session", "Sessions", argument="[ID or words]"),
    Command("rename", "Give this session a title", "Sessions", argument="TITLE"),
    Command("archive", "Archive this session, or bring it back", "Sessions"),
    Command("delete", "Throw this session away (restorable)", "Sessions"),
    Command("export", "Write this session to a file", "Sessions", argument="[md|json] [PATH]"),
    Command("import", "Bring in chats of ChatGPT, Claude, Elia or orca", "Sessions", argument="PATH"),
    Command("stop", "Stop the reply and keep what has arrived", "Reply", "escape"),
    Command("retry", "Ask again for the newest reply", "Reply", "ctrl+r", ("again",)),
    Command("continue", "Let the model go on with a reply that was cut off", "Reply", "alt+c"),
    Command("edit", "Edit an earlier message and send it again, as a fork", "Reply", "alt+e"),
    Command("unqueue", "Take back the messages that wait", "Reply", argument="[all]"),
    Command("tree", "Show this session with all its forks", "Reply", "alt+t"),
    Command("latest", "Go to the newest text", "Reply", "ctrl+end"),
    Command("copy", "Copy the newest reply", "Reply", "f8"),
    Command("why", "Show what memory the newest reply was given", "Reply", "f5"),
    Command("plain", "Ask again, without memory", "Reply", "alt+r", ("again-without-memory",)),
    Command("good", "Rate the newest reply as good", "Reply", "alt+y"),
    Command("bad", "Rate it as bad, and see what it was given", "Reply", "alt+n"),
    Command("preview", "Show the request as it would be sent", "Reply", "alt+p"),
    Command("memories", "Look through and prune long-term memory", "Memory", "f7", (), "[inbox|trash|…]", True),
    Command("scope", "Choose whose memory is meant: yours, or a project's", "Memory", argument="[user|project NAME]"),
    Command("sidebar", "Show or hide the memory sidebar", "Memory", "f3,ctrl+b"),
    Command("search", "Search messages and memories", "Memory", "ctrl+f", ("memory", "find"), "[WORDS]", True),
    Command("agent", "Let an agent do a task", "Agents", argument="NAME TASK", lines=True),
    Command("agents", "Show the agents that there are", "Agents"),
    Command("traces", "Look at the agents at work, and at what they did", "Agents", "f12", anywhere=True),
    Command("tools", "Tools, what is allowed for always, MCP servers", "Agents", aliases=("mcp",)),
)

INTERRUPT = "interrupt"
"""Binding id of Ctrl+C: copies a selection, else stops the reply, else offers to quit."""

BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def default_keys() -> dict[str, str]:
    """Binding id → default keys, for every command and the interrupt key."""
    return {**{command.name: command.keys for command in COMMANDS}, INTERRUPT: "ctrl+c"}


def bindings(keymap: keys.Keymap) -> list[Binding]:
    """The app's bindings with the keys in force. They win over the editor's own, but for Esc and Ctrl+C."""
    found = []
    for command in COMMANDS:
        for key in keys.split(keymap.keys.get(command.name, "")):
            priority = key != "escape"
            found.append(
                Binding(key, f"app.run_command({command.name!r})", command.summary, priority=priority, id=command.name)
            )
    found.extend(
        Binding(key, "app.interrupt", "", show=False, id=INTERRUPT) for key in keys.split(keymap.keys[INTERRUPT])
    )
    return found


@dataclass(frozen=True, slots=True)
class Slash:
    """A slash command as it was typed."""

    name: str
    command: Command | None
    """`None`: there is no such command."""
    argument: str


def parse(text: str) -> Slash | None:
    """Read a slash command; `None` when `text` is something to send.

    One line that begins with one `/` and a word without a second slash is a command: a path is not. Some commands take
    more lines.
    """
    line = text.strip()
    if not line.startswith("/") or line.startswith("//"):
        return None
    name, _space, argument = line[1:].partition(" ")
    if not name or "/" in name:
        return None
    command = BY_NAME.get(name.lower())
    if "\n" in line and (command is None or not command.lines):
        return None
    return Slash(name, command, argument.strip())


def unescape(text: str) -> str:
    """What is sent for `text`: a leading `//` stands for one slash."""
    return text.replace("//", "/", 1) if text.startswith("//") else text


def escape(text: str) -> str:
    """How `text` is written so that `unescape` gives it and it is no command."""
    return f"/{text}" if text.startswith("//") or parse(text) is not None else text


class CommandProvider(Provider):
    """Feeds Textual's command palette from the registry."""

    async def discover(self) -> Hits:
        """All commands, in the order of the registry."""
        for command in COMMANDS:
            if command.name != "palette":
                yield DiscoveryHit(
                    Content(_(command.summary)), self._runner(command), text=_(command.summary), help=f"/{command.name}"
                )

    async def search(self, query: str) -> Hits:
        """Commands whose summary or name matches."""
        matcher = self.matcher(query)
        for command in COMMANDS:
            summary = _(command.summary)
            score = max(matcher.match(summary), matcher.match(command.name))
            if score > 0 and command.name != "palette":
                yield Hit(
                    score, matcher.highlight(summary), self._runner(command), text=summary, help=f"/{command.name}"
                )

    def _runner(self, command: Command) -> Callable[[], bool]:
        return partial(self.app.post_message, CommandChosen(command.name))
