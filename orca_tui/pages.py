"""The pages that lie over the chat: help, settings, doctor. Plain text in, `Content` out."""

from textual.content import Content

from memory.config import Home, Settings
from memory.store.base import Store
from memory.text import clean, label
from memory.types import ItemKind
from orca_tui import keys, message_keys, session_keys
from orca_tui.commands import COMMANDS, Command
from orca_tui.i18n import _
from orca_tui.memory_keys import MEMORY_KEYS, PREFIX, MemoryKey, in_force

EDITOR_KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "Send"),
    ("Ctrl+J, Shift+Enter", "New line"),
    ("↑ ↓", "Earlier inputs, at the first and last line"),
    ("Tab, Shift+Tab", "Next or previous part of the screen"),
    ("j k g G", "Move in the transcript and in lists"),
    ("Alt+Z", "Take back what was typed"),
    ("Backspace", "Before the first letter: leave out the last file"),
    ("Ctrl+C", "Copy what is selected; twice: leave"),
)


MEANING_AT = 28
"""Cells from the left at which the help page says what a key or command does."""


def help_lines(keymap: keys.Keymap, width: int) -> list[Content]:
    """Every command by group, with its keys in force, and the fixed keys of the editor. Lines of `width` cells.

    What is longer goes on below where it began.
    """
    return [line for whole in _help(keymap) for line in _hung(whole, width)]


def _hung(line: Content, width: int) -> list[Content]:
    if line.cell_length <= width or width < MEANING_AT + 10:
        return [line]
    left, right = line.divide([MEANING_AT])
    first, *rest = right.wrap(width - MEANING_AT)
    return [left + first, *(Content(" " * MEANING_AT) + one for one in rest)]


def _help(keymap: keys.Keymap) -> list[Content]:
    lines: list[Content] = []
    for group in dict.fromkeys(command.group for command in COMMANDS):
        lines += [Content(""), Content.styled(_(group), "bold $text-primary")]
        lines += [_command_line(command, keymap) for command in COMMANDS if command.group == group]
    lines += [Content(""), Content.styled(_("Keys"), "bold $text-primary")]
    lines += [_pair(key, _(meaning), MEANING_AT) for key, meaning in EDITOR_KEYS]
    lines += [Content(""), Content.styled(_("On a message of the conversation"), "bold $text-primary")]
    lines += [_message_line(one.name, keymap) for one in message_keys.MESSAGE_KEYS]
    lines += [Content(""), Content.styled(_("On a memory: memory screen, sidebar, why"), "bold $text-primary")]
    lines += [_memory_line(one, keymap) for one in MEMORY_KEYS]
    lines += [Content(""), Content.styled(_("On a session in the list"), "bold $text-primary")]
    lines += [_session_line(one, keymap) for one in session_keys.SESSION_KEYS]
    lines += [
        Content(""),
        Content.styled(_("Any key can be changed in the settings file, below [keys]."), "$text-muted"),
    ]
    return lines[1:]


def item(store: Store, kind: ItemKind, item_id: int) -> tuple[str, list[Content]]:
    """Title and text of one message or memory. Blocking; raises `NotFoundError`."""
    if kind == "message":
        message = store.message(item_id)
        return _("Message"), _text_with_facts(message.content, message.timestamp, _(message.role), message.state)
    if kind == "short_term":
        summary = store.short_term_memory(item_id)
        return _("Summary"), _text_with_facts(
            summary.content, summary.updated_at, _("{n} turns", n=summary.source_count)
        )
    memory = store.memory(item_id)
    facts = (memory.updated_at, memory.memory_type, memory.branch, memory.status, memory.topic_key or "")
    return _("Memory"), _text_with_facts(memory.content, *facts)


def _text_with_facts(text: str, when: str, *facts: str) -> list[Content]:
    line = " · ".join(label(fact) for fact in (when[:16].replace("T", " "), *facts) if fact)
    return [Content.styled(line, "$muted"), Content(""), Content(clean(text).strip())]


async def doctor_lines(home: Home, settings: Settings) -> list[Content]:
    """What `orca-tui doctor` prints, in the language of the screen."""
    from orca_tui.core_words import row_said
    from orca_tui.doctor import examine

    return [Content(clean(line)) for line in (await examine(home, settings)).lines(row_said)]


def _command_line(command: Command, keymap: keys.Keymap) -> Content:
    shown = ", ".join(keys.display(key) for key in keys.split(keymap.keys[command.name])[:2])
    line = _pair(shown, f"/{command.name}", 14)
    line += Content(" " * max(2, MEANING_AT - line.cell_length)) + Content(_(command.summary))
    return line + Content.styled(f"  {command.argument}", "$muted") if command.argument else line


def _memory_line(one: MemoryKey, keymap: keys.Keymap) -> Content:
    shown = " ".join(keys.display(key) for key in in_force(one.name, keymap.others)[:2])
    line = _pair(shown, PREFIX + one.name, 10)
    return line + Content(" " * max(2, MEANING_AT - line.cell_length)) + Content(_(one.summary))


def _message_line(name: str, keymap: keys.Keymap) -> Content:
    shown = " ".join(keys.display(key) for key in message_keys.in_force(name, keymap.others)[:2])
    line = _pair(shown, message_keys.PREFIX + name, 10)
    summary = _(message_keys.BY_NAME[name].summary)
    return line + Content(" " * max(2, MEANING_AT - line.cell_length)) + Content(summary)


def _session_line(one: session_keys.SessionKey, keymap: keys.Keymap) -> Content:
    shown = " ".join(keys.display(key) for key in session_keys.in_force(one.name, keymap.others)[:2])
    line = _pair(shown, session_keys.PREFIX + one.name, 10)
    return line + Content(" " * max(2, MEANING_AT - line.cell_length)) + Content(_(one.summary))


def _pair(left: str, right: str, width: int = 22) -> Content:
    """Two columns: a key or name in `width` cells, and what it is."""
    text = Content.styled(label(left), "bold $text-accent")
    return text + Content(" " * max(2, width - text.cell_length)) + Content(label(right, 2000))
